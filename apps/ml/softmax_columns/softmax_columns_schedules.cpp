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

// Strips of STRIP columns by the blocks of a cluster, each of which has PART of at most ROWS rows.
struct PartsOfColumns {
  PartsOfColumns(Schedule& s, const OperatorTypes& types, int of_part, int of_strip, int of_threads)
      : part(s.knob("PART", of_part)),
        vector(s.knob("VECTOR", 16 / types.all().bytes())),
        threads(s.knob("THREADS", of_threads)) {
    const Knob rows = s.knob("ROWS", 4096), strip = s.knob("STRIP", of_strip);
    s.assume("R", Assumption::range(1, rows)).assume("N", Assumption::multiple(strip));
    s["out"].compute_root().split("c", "strip", "ci", strip).reorder("ci", "r", "strip");
    deal_out(s["out"], "ci", "r");
  }
  Knob part, vector, threads;

  /// The threads of a block along y take turns with its rows, those along x have a vector of columns each.
  void deal_out(Stage stage, const std::string& column, const std::string& row) const {
    stage.vectorize(column, vector).split(row, "part", "own", part).split("own", "turn", "row", threads);
    stage.unroll("turn").reorder(column + ".v", "turn", column + ".o", "row", "part");
    stage.gpu_threads(column + ".o", "row").cluster("part");
  }

  /// A value a column at the loop `at` of out.
  void a_column(Stage stage, const std::string& at) const {
    stage.compute_at("out", at).store_in(Memory::Register).vectorize("c", vector).gpu_threads("c.o");
  }

  /// `of`, a reduction over k: first the threads of a block combine what they have, then one result of each
  /// block goes to the others.
  void reduce_in_steps(Schedule& s, const std::string& of, const std::string& k,
                       const std::string& at) const {
    a_column(s[of], at);
    Stage update = s[of].update().split(k, "part", "own", part);
    Stage of_block = s[update.rfactor({{"part", "block"}}, of + "_of_block")];
    a_column(of_block, at);
    of_block.cluster("block");
    Stage own = of_block.update().split("own", "turn", "row", threads).unroll("turn").vectorize("c", vector);
    own.reorder("c.v", "turn", "row", "c.o", "block").gpu_threads("c.o", "row").cluster("block");
    update.vectorize("c", vector).reorder("c.v", "part", "c.o").gpu_threads("c.o").cluster("part");
  }
};

// A thread has a vector of columns in each of its rows, in registers. Maxima and sums are combined by the
// threads of a column, and through the shared memory of the cluster.
Schedule gpu_cluster(const OperatorTypes& types) {
  Schedule s;
  const PartsOfColumns parts(s, types, 512, 128 / types.all().bytes(), 32);
  s["out"].gpu_blocks("strip");
  for (const char* stage : {"value", "e"}) s[stage].compute_inline();
  Stage x = s.in("x");
  x.compute_at("out", "strip").store_in(Memory::Register);
  parts.deal_out(x, "d0", "d1");
  parts.a_column(s["scale"], "strip");
  for (const auto& [stage, k] : {std::pair("peak", "k"), {"total", "q"}})
    parts.reduce_in_steps(s, stage, k, "strip");
  return s;
}

// The strips in turn by PLACES clusters, DEPTH of them in a ring in shared memory: the next ones are on their
// way while the blocks of a cluster wait for each other. A part of a strip is boxes of up to 256 rows, which
// a thread asks for.
Schedule gpu_ring(const OperatorTypes& types) {
  Schedule s;
  const PartsOfColumns parts(s, types, 256, 256 / types.all().bytes(), 16);
  const Knob places = s.knob("PLACES", 7), depth = s.knob("DEPTH", 2);
  s["out"].split("strip", "lap", "place", places).reorder("lap", "place");
  s["out"].gpu_blocks("place").pipeline("lap", depth);
  s["value"].compute_inline();
  s["e"].compute_at("out", "lap").store_in(Memory::Register);
  parts.deal_out(s["e"], "c", "r");
  Stage x = s.in("x");
  x.compute_at("out", "lap").store_in(Memory::Shared).copy(Copy::Tma);
  x.split("d1", "part", "own", parts.part).split("own", "box", "row", 256).cluster("part");
  parts.a_column(s["scale"], "lap");
  for (const auto& [stage, k] : {std::pair("peak", "k"), {"total", "q"}})
    parts.reduce_in_steps(s, stage, k, "lap");
  return s;
}

CALOTYPE_SCHEDULES(softmax_columns)
    .schedule("naive", Target::Kind::Host, "every stage at root, the output serial", naive)
    .schedule("host", Target::Kind::Host, "strips of columns that stay in the cache, in vectors", host)
    .schedule("gpu", Target::Kind::Cuda, "a thread a column", gpu)
    .schedule("gpu_cluster", Target::Kind::Cuda, "strips of columns by the blocks of a cluster", gpu_cluster)
    .schedule("gpu_ring", Target::Kind::Cuda, "as gpu_cluster, strips copied ahead into a ring", gpu_ring);

}  // namespace
