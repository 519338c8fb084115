// Schedules of softmax_columns: from the plainest to the one that is shipped.
#include <calotype/operator.h>

namespace {

using namespace calotype;

// Every stage at root, loops serial: each column is read from top to bottom, a cache line for each element.
Schedule naive(const OperatorTypes&) {
  Schedule s;
  s["value"].compute_inline();
  for (const char* stage : {"peak", "e", "total", "scale"}) s[stage].compute_root();
  s["out"].compute_root().serial("r");
  return s;
}

// Strips of COLUMNS columns in parallel, so narrow that all rows of a strip stay in the cache. A strip is
// copied together as it is read: rows of x may lie a power of two apart, and would then push each other out.
// Three passes over it, in vectors along the rows: the copy with the maxima, the exponentials with their
// sums, the quotients. Maxima and sums stay in registers.
Schedule host(const OperatorTypes&) {
  Schedule s;
  const Knob columns = s.knob("COLUMNS", 64), vector = s.knob("VECTOR", 32), ahead = s.knob("AHEAD", 16);
  s["out"]
      .compute_root()
      .stream_stores()
      .split("c", "co", "ci", columns)
      .reorder("ci", "r", "co")
      .vectorize("ci", vector)
      .unroll("ci.o")
      .parallel("co");
  const auto in_vectors = [&](Stage stage) { stage.vectorize("c", vector).unroll("c.o"); };
  for (const char* func : {"value", "peak", "e", "total", "scale"}) {
    s[func].compute_at("out", "co");
    in_vectors(s[func]);
  }
  for (const char* func : {"peak", "total"}) s[func].store_in(Memory::Stack);
  s["value"].prefetch("x", "r", "r", ahead);
  in_vectors(s["peak"].update().reorder("c", "k"));
  s["peak"].update().compute_with("value", "r");
  in_vectors(s["total"].update().reorder("c", "q"));
  s["total"].update().compute_with("e", "r");
  return s;
}

// A thread a column: neighbours read neighbours. Exponentials are computed twice rather than stored.
Schedule gpu(const OperatorTypes&) {
  Schedule s;
  const Knob threads = s.knob("THREADS", 64);
  s["value"].compute_inline();
  s["e"].compute_inline();
  s["out"].compute_root().gpu_threads("c", threads).reorder("r", "c.t", "c.o").gpu_blocks("c.o");
  for (const char* stage : {"peak", "total", "scale"})
    s[stage].compute_at("out", "c.t").store_in(Memory::Register);
  return s;
}

CALOTYPE_SCHEDULES(softmax_columns)
    .schedule("naive", Target::Kind::Host, "every stage at root, the output serial", naive)
    .schedule("host", Target::Kind::Host, "strips of columns that stay in the cache, in vectors", host)
    .schedule("gpu", Target::Kind::Cuda, "a thread a column", gpu);

}  // namespace
