// Schedules of softmax: from the plainest to the one that is shipped.
#include <calotype/operator.h>

#include "../parts_of_rows.h"

namespace {

using namespace calotype;

// Every stage at root, loops serial.
Schedule naive(const OperatorTypes&) {
  Schedule s;
  s["value"].compute_inline();
  for (const char* stage : {"peak", "e", "total"}) s[stage].compute_root();
  s["out"].compute_root().serial("l");
  return s;
}

// A row at a time, in parallel: its exponentials stay in the cache.
Schedule rows(const OperatorTypes&) {
  Schedule s;
  s["value"].compute_inline();
  s["out"].compute_root().fuse("i", "j", "ij").fuse("ij", "l", "row").parallel("row");
  for (const char* stage : {"peak", "e", "total"}) s[stage].compute_at("out", "row");
  return s;
}

/// `of`, a reduction over k in each row: a result for each of LANES, in vectors, combined at the end.
void reduce_in_lanes(Schedule& s, const std::string& of, const Knob& lanes, const Knob& vector) {
  s[of].compute_at("out", "row");
  s[of].update().split("k", "ko", "ki", lanes);
  Stage own = s[of].update().rfactor({{"ki", "lane"}}, of + "_lanes");
  s[own].compute_at("out", "row").store_in(Memory::Stack).vectorize("lane", vector).unroll("lane.o");
  s[own].update().reorder("lane", "ko").vectorize("lane", vector).unroll("lane.o");
  s[of].update().vectorize("ki");
}

// The rows, vectorised; maximum and sum are kept for each lane and combined at the end of the row. The output
// is written past the caches.
Schedule host(const OperatorTypes&) {
  Schedule s;
  const Knob lanes = s.knob("LANES", 64), vector = s.knob("VECTOR", 32);
  s["value"].compute_inline();
  s["out"]
      .compute_root()
      .stream_stores()
      .fuse("i", "j", "ij")
      .fuse("ij", "l", "row")
      .vectorize("n", vector)
      .parallel("row");
  reduce_in_lanes(s, "peak", lanes, vector);
  // The next row comes from memory while the exponentials of this one are computed.
  s["e"].compute_at("out", "row").vectorize("n", vector).prefetch("x", "n.o", "i", 1);
  reduce_in_lanes(s, "total", lanes, vector);
  return s;
}

// A row a block, in accesses of 16 bytes, of any length. Only the first reading of the row comes from memory,
// and exponentials are computed twice rather than stored.
Schedule gpu(const OperatorTypes& types) {
  Schedule s;
  const Knob threads = s.knob("THREADS", 256), vector = s.knob("VECTOR", 16 / types.all().bytes()),
             unroll = s.knob("UNROLL", types.all() == BFloat(16) ? 2 : 4);
  s["value"].compute_inline();
  s["e"].compute_inline();
  s["out"]
      .compute_root()
      .fuse("i", "j", "ij")
      .fuse("ij", "l", "row")
      .gpu_blocks("row")
      .vectorize("n", vector)
      .gpu_threads("n.o", threads)
      .unroll("n.o.o", unroll);
  for (const char* stage : {"peak", "total"}) {
    s[stage].compute_at("out", "row").store_in(Memory::Register);
    s[stage].update().vectorize("k", vector).gpu_threads("k.o", threads).unroll("k.o.o", unroll);
  }
  return s;
}

// Rows of at most COLUMNS: each thread has its part in registers, all of whose loads are under way at once.
Schedule gpu_registers(const OperatorTypes& types) {
  Schedule s;
  const Knob columns = s.knob("COLUMNS", 8192), threads = s.knob("THREADS", 256),
             vector = s.knob("VECTOR", 16 / types.all().bytes());
  s.assume("N", Assumption::range(1, columns));
  s["out"].compute_root().gpu_blocks("i", "j", "l").vectorize("n", vector).gpu_threads("n.o", threads);
  s["out"].unroll("n.o.o");
  Stage row = s.in("x");
  row.compute_at("out", "i").store_in(Memory::Register);
  row.vectorize("d0", vector).gpu_threads("d0.o", threads).unroll("d0.o.o");
  s["value"].compute_inline();
  s["e"].compute_inline();
  for (const char* stage : {"peak", "total"}) {
    s[stage].compute_at("out", "i").store_in(Memory::Register);
    s[stage].update().vectorize("k", vector).gpu_threads("k.o", threads).unroll("k.o.o");
  }
  return s;
}

// Short rows, of at most COLUMNS: a row a warp, whose lanes have it in registers; no barrier is needed.
Schedule gpu_short(const OperatorTypes& types) {
  Schedule s;
  const Knob columns = s.knob("COLUMNS", 1024), warps = s.knob("WARPS", 4),
             vector = s.knob("VECTOR", 16 / types.all().bytes());
  s.assume("N", Assumption::range(1, columns));
  const auto a_row_a_warp = [&](Stage stage, const std::string& loop) {
    stage.vectorize(loop, vector).gpu_lanes(loop + ".o", 32).unroll(loop + ".o.o").gpu_warps("i", warps);
  };
  s["out"].compute_root();
  a_row_a_warp(s["out"], "n");
  s["out"].gpu_blocks("i.o", "j", "l");
  s["value"].compute_at("out", "i.o").store_in(Memory::Register);
  a_row_a_warp(s["value"], "n");
  s["e"].compute_inline();
  for (const char* stage : {"peak", "total"}) {
    s[stage].compute_at("out", "i.o").store_in(Memory::Register).gpu_warps("i", warps);
    a_row_a_warp(s[stage].update(), "k");
  }
  return s;
}

// Rows of at most 16 * PART by the blocks of a cluster, which have PART columns each: as in one block, and
// maxima and sums are combined through their shared memory.
Schedule gpu_cluster(const OperatorTypes& types) {
  Schedule s;
  const apps::PartsOfRows parts(s, types, 65536, 8192, types.all() == BFloat(16) ? 256 : 512);
  s["out"].compute_root().gpu_blocks("i", "j", "l");
  parts.deal_out(s["out"], "n");
  Stage row = s.in("x");
  row.compute_at("out", "i").store_in(Memory::Register);
  parts.deal_out(row, "d0");
  s["value"].compute_inline();
  s["e"].compute_inline();
  for (const char* stage : {"peak", "total"}) {
    s[stage].compute_at("out", "i").store_in(Memory::Register);
    parts.deal_out(s[stage].update(), "k");
  }
  return s;
}

// As gpu_cluster, but PLACES clusters take the rows in turn, and a ring in shared memory has DEPTH of them:
// the next rows are on their way while the blocks of a cluster wait for each other.
Schedule gpu_ring(const OperatorTypes& types) {
  Schedule s;
  const apps::PartsOfRows parts(s, types, 65536, 32768 / types.all().bytes(), 512);
  const Knob places = s.knob("PLACES", 15), depth = s.knob("DEPTH", 3);
  s["out"].compute_root().split("i", "turn", "place", places).reorder("n", "turn", "place");
  s["out"].gpu_blocks("place", "j", "l").pipeline("turn", depth);
  parts.deal_out(s["out"], "n");
  parts.copy_ahead(s, "x", "turn");
  s["value"].compute_inline();
  s["e"].compute_at("out", "turn").store_in(Memory::Register);
  parts.deal_out(s["e"], "n");
  for (const char* stage : {"peak", "total"}) parts.reduce_in_steps(s, stage, "turn");
  return s;
}

CALOTYPE_SCHEDULES(softmax)
    .schedule("naive", Target::Kind::Host, "every stage at root, the output serial", naive)
    .schedule("rows", Target::Kind::Host, "a row at a time, in parallel", rows)
    .schedule("host", Target::Kind::Host, "the rows vectorised, a maximum and a sum for each lane", host)
    .schedule("gpu", Target::Kind::Cuda, "a row a block, maxima and sums by its threads in vectors", gpu)
    .schedule("gpu_registers", Target::Kind::Cuda, "as gpu, the row in registers", gpu_registers)
    .schedule("gpu_short", Target::Kind::Cuda, "a row a warp, in registers", gpu_short)
    .schedule("gpu_cluster", Target::Kind::Cuda, "a row by the blocks of a cluster", gpu_cluster)
    .schedule("gpu_ring", Target::Kind::Cuda, "as gpu_cluster, rows copied ahead into a ring", gpu_ring);

}  // namespace
