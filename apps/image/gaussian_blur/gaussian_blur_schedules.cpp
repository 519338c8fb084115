// Schedules of gaussian_blur.
#include <calotype/operator.h>

#include <string>

namespace {

using namespace calotype;

// Every stage at root, serial.
Schedule naive(const OperatorTypes&) {
  Schedule s;
  s["samples"].compute_inline();
  for (const char* stage : {"coefficients", "columns_down", "columns_up", "turned", "rows_down", "rows_up"})
    s[stage].compute_root();
  s["out"].compute_root().serial("c");
  return s;
}

// Strips of columns in parallel, whose samples of a row are the lanes of vectors: down and up a strip while
// it is in the cache, then it is turned. The same again for the rows.
Schedule host(const OperatorTypes&) {
  Schedule s;
  const Knob strip = s.knob("STRIP", 64), vector = s.knob("VECTOR", 16);
  s["samples"].compute_inline();
  s["coefficients"].compute_root();
  auto scans = [&](const std::string& name, const std::string& reader, const std::string& across) {
    s[reader]
        .compute_root()
        .split(across, "strip", "lane", strip)
        .reorder("lane", across == "x" ? "y" : "x", "strip", "c")
        .vectorize("lane", vector)
        .parallel("c")
        .parallel("strip");
    for (const std::string way : {"_down", "_up"}) {
      s[name + way].compute_at(reader, "strip").vectorize("x", vector);
      s[name + way].update().reorder("x", name + (way == "_up" ? "_q" : "_r")).vectorize("x", vector);
    }
  };
  scans("columns", "turned", "x");
  scans("rows", "out", "y");
  return s;
}

CALOTYPE_SCHEDULES(gaussian_blur)
    .schedule("naive", Target::Kind::Host, "every scan at root, the output serial", naive)
    .schedule("host", Target::Kind::Host, "strips in parallel, scanned both ways and turned", host);

}  // namespace
