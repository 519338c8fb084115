// Schedules of histogram_equalize.
#include <calotype/operator.h>

namespace {

using namespace calotype;

void tables(Schedule& s) {
  for (const char* stage : {"up_to", "fewest", "curve"}) s[stage].compute_root();
}

// Points are counted one after the other.
Schedule naive(const OperatorTypes&) {
  Schedule s;
  tables(s);
  s["gray"].compute_inline();
  s["count"].compute_root();
  s["out"].compute_root().serial("c");
  return s;
}

// Strips of rows in parallel: each has counts of its own, which are then added up; so has the result.
Schedule host(const OperatorTypes&) {
  Schedule s;
  const Knob strip = s.knob("STRIP", 64), vector = s.knob("VECTOR", 32);
  tables(s);
  s["count"].compute_root().vectorize("i", vector);
  s["count"].update().split("r.y", "strip", "row", strip);
  Stage parts = s["count"].update().rfactor({{"strip", "s"}}, "counts");
  s[parts].compute_root().vectorize("i", vector).parallel("s");
  s[parts].update().reorder("r.x", "row", "s").parallel("s");
  s[s.in("gray", {"counts"})].compute_at("counts.update(0)", "row").vectorize("x", vector);
  s[s.in("gray", {"out"})].compute_at("out", "yi").vectorize("x", vector);
  s["gray"].compute_inline();
  s["out"]
      .compute_root()
      .split("y", "yo", "yi", strip)
      .reorder("x", "c", "yi", "yo")
      .vectorize("x", vector)
      .parallel("yo");
  return s;
}

CALOTYPE_SCHEDULES(histogram_equalize)
    .schedule("naive", Target::Kind::Host, "counted one after the other", naive)
    .schedule("host", Target::Kind::Host, "strips of rows with counts of their own", host);

}  // namespace
