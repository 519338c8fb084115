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

// Strips of STRIP columns by the blocks of a cluster, each of which has PART of at most ROWS rows: a thread
// has a vector of columns in each of its rows, in registers. Maxima and sums are combined by the threads of a
// column, and through the shared memory of the cluster.
Schedule gpu_cluster(const OperatorTypes& types) {
  Schedule s;
  const int width = 16 / types.all().bytes();
  const Knob rows = s.knob("ROWS", 4096), part = s.knob("PART", 512), strip = s.knob("STRIP", 8 * width),
             vector = s.knob("VECTOR", width), threads = s.knob("THREADS", 32);
  s.assume("R", Assumption::range(1, rows)).assume("N", Assumption::multiple(strip));
  // A block of the cluster has a part, its threads along y take turns with the rows of that.
  const auto in_parts = [&](Stage stage, const std::string& row) {
    stage.split(row, "part", "own", part).split("own", "turn", "row", threads).unroll("turn");
  };
  s["out"].compute_root().split("c", "strip", "ci", strip).vectorize("ci", vector);
  in_parts(s["out"], "r");
  s["out"].reorder("ci.v", "turn", "ci.o", "row", "part", "strip");
  s["out"].gpu_threads("ci.o", "row").cluster("part").gpu_blocks("strip");
  for (const char* stage : {"value", "e"}) s[stage].compute_inline();
  Stage x = s.in("x");
  x.compute_at("out", "strip").store_in(Memory::Register).vectorize("d0", vector);
  in_parts(x, "d1");
  x.reorder("d0.v", "turn", "d0.o", "row", "part").gpu_threads("d0.o", "row").cluster("part");
  for (const char* stage : {"peak", "total", "scale"})
    s[stage].compute_at("out", "strip").store_in(Memory::Register).vectorize("c", vector).gpu_threads("c.o");
  // First the threads of a block combine what they have, then one result of each block goes to the others.
  for (const auto& [stage, k] : {std::pair("peak", "k"), {"total", "q"}}) {
    Stage update = s[stage].update().split(k, "part", "own", part);
    Stage of_block = s[update.rfactor({{"part", "block"}}, std::string(stage) + "_of_block")];
    of_block.compute_at("out", "strip").store_in(Memory::Register).vectorize("c", vector).gpu_threads("c.o");
    of_block.cluster("block");
    Stage own = of_block.update().split("own", "turn", "row", threads).unroll("turn").vectorize("c", vector);
    own.reorder("c.v", "turn", "row", "c.o", "block").gpu_threads("c.o", "row").cluster("block");
    update.vectorize("c", vector).reorder("c.v", "part", "c.o").gpu_threads("c.o").cluster("part");
  }
  return s;
}

CALOTYPE_SCHEDULES(softmax_columns)
    .schedule("naive", Target::Kind::Host, "every stage at root, the output serial", naive)
    .schedule("host", Target::Kind::Host, "strips of columns that stay in the cache, in vectors", host)
    .schedule("gpu", Target::Kind::Cuda, "a thread a column", gpu)
    .schedule("gpu_cluster", Target::Kind::Cuda, "strips of columns by the blocks of a cluster", gpu_cluster);

}  // namespace
