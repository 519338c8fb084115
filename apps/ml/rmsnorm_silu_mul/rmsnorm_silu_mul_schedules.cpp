// Schedules of rmsnorm_silu_mul: from the plainest to the one that is shipped.
#include <calotype/operator.h>

#include <string>
#include <vector>

#include "../parts_of_rows.h"

namespace {

using namespace calotype;

// The sums of squares of all rows first, then the rest, loops serial.
Schedule naive(const OperatorTypes&) {
  Schedule s;
  s["value"].compute_inline();
  s["squares"].compute_root();
  s["scale"].compute_root();
  s["out"].compute_root().serial("r");
  return s;
}

// A row at a time, in parallel: its second reading comes from the cache.
Schedule rows(const OperatorTypes&) {
  Schedule s;
  s["value"].compute_inline();
  s["out"].compute_root().parallel("r");
  s["squares"].compute_at("out", "r");
  s["scale"].compute_at("out", "r");
  return s;
}

// The rows, vectorised; a sum of squares for each lane, added up at the end of the row. While a row is
// written, past the caches, the next one is fetched.
Schedule host(const OperatorTypes&) {
  Schedule s;
  const Knob lanes = s.knob("LANES", 64), vector = s.knob("VECTOR", 64);
  s["value"].compute_inline();
  s["out"].compute_root().stream_stores().vectorize("c", vector).parallel("r");
  s["out"].prefetch("x", "c.o", "r", 1);
  s["squares"].compute_at("out", "r");
  s["squares"].update().split("k", "ko", "ki", lanes);
  Stage partial = s["squares"].update().rfactor({{"ki", "lane"}}, "partial");
  s[partial].compute_at("out", "r").store_in(Memory::Stack).vectorize("lane", 16).unroll("lane.o");
  s[partial].update().reorder("lane", "ko").vectorize("lane", 16).unroll("lane.o");
  s["squares"].update().vectorize("ki");
  s["scale"].compute_at("out", "r");
  return s;
}

// A row a block, in accesses of 16 bytes, of any length: its second reading comes from the cache.
Schedule gpu(const OperatorTypes& types) {
  Schedule s;
  const Knob threads = s.knob("THREADS", 256), vector = s.knob("VECTOR", 16 / types.all().bytes()),
             unroll = s.knob("UNROLL", 2);
  s["value"].compute_inline();
  s["out"]
      .compute_root()
      .gpu_blocks("r")
      .vectorize("c", vector)
      .gpu_threads("c.o", threads)
      .unroll("c.o.o", unroll);
  for (const char* stage : {"squares", "scale"}) s[stage].compute_at("out", "r").store_in(Memory::Register);
  s["squares"].update().vectorize("k", vector).gpu_threads("k.o", threads).unroll("k.o.o", unroll);
  return s;
}

using Inputs = std::vector<std::string>;

// Rows of at most COLUMNS: each thread has its part of the inputs in registers, all of whose loads are under
// way at once.
Schedule in_registers(const OperatorTypes& types, const Inputs& inputs) {
  Schedule s;
  const Knob columns = s.knob("COLUMNS", 8192), threads = s.knob("THREADS", 512),
             vector = s.knob("VECTOR", 16 / types.all().bytes());
  s.assume("N", Assumption::range(1, columns));
  s["value"].compute_inline();
  s["out"].compute_root().gpu_blocks("r");
  for (const char* stage : {"squares", "scale"}) s[stage].compute_at("out", "r").store_in(Memory::Register);
  s["squares"].update().vectorize("k", vector).gpu_threads("k.o", threads).unroll("k.o.o");
  s["out"].vectorize("c", vector).gpu_threads("c.o", threads).unroll("c.o.o");
  for (const std::string& input : inputs) {
    Stage row = s.in(input);
    row.compute_at("out", "r").store_in(Memory::Register);
    row.vectorize("d0", vector).gpu_threads("d0.o", threads).unroll("d0.o.o");
  }
  return s;
}

Schedule gpu_registers(const OperatorTypes& types) { return in_registers(types, {"x", "up"}); }

// Few rows: the weights too are loaded at the start, where many rows would rather have room for more blocks.
Schedule gpu_few_rows(const OperatorTypes& types) { return in_registers(types, {"x", "up", "w"}); }

// The loads of up follow when the sum is known.
Schedule gpu_registers_x(const OperatorTypes& types) { return in_registers(types, {"x"}); }

// Short rows, of at most COLUMNS: a row a warp, in registers; no barrier is needed.
Schedule gpu_short(const OperatorTypes& types) {
  Schedule s;
  const Knob columns = s.knob("COLUMNS", 1024), warps = s.knob("WARPS", 4),
             vector = s.knob("VECTOR", 16 / types.all().bytes());
  const auto a_row_a_warp = [&](Stage stage, const std::string& loop, const std::string& row) {
    stage.vectorize(loop, vector).gpu_lanes(loop + ".o", 32).unroll(loop + ".o.o").gpu_warps(row, warps);
  };
  s.assume("N", Assumption::range(1, columns));
  s["value"].compute_inline();
  s["out"].compute_root();
  a_row_a_warp(s["out"], "c", "r");
  s["out"].gpu_blocks("r.o");
  for (const char* stage : {"squares", "scale"})
    s[stage].compute_at("out", "r.o").store_in(Memory::Register).gpu_warps("r", warps);
  a_row_a_warp(s["squares"].update(), "k", "r");
  for (const char* input : {"x", "up"}) {
    Stage row = s.in(input);
    row.compute_at("out", "r.o").store_in(Memory::Register);
    a_row_a_warp(row, "d0", "d1");
  }
  return s;
}

// Rows of at most COLUMNS by the blocks of a cluster, which have PART columns each: as in one block, and the
// sum of squares is combined through their shared memory.
Schedule in_clusters(const OperatorTypes& types, const Inputs& inputs) {
  Schedule s;
  const apps::PartsOfRows parts(s, types, 65536, 8192, 512);
  s["value"].compute_inline();
  s["out"].compute_root().gpu_blocks("r");
  parts.deal_out(s["out"], "c");
  for (const char* stage : {"squares", "scale"}) s[stage].compute_at("out", "r").store_in(Memory::Register);
  parts.deal_out(s["squares"].update(), "k");
  for (const std::string& input : inputs) {
    Stage row = s.in(input);
    row.compute_at("out", "r").store_in(Memory::Register);
    parts.deal_out(row, "d0");
  }
  return s;
}

Schedule gpu_cluster(const OperatorTypes& types) { return in_clusters(types, {"x", "up"}); }
Schedule gpu_cluster_x(const OperatorTypes& types) { return in_clusters(types, {"x"}); }

// As gpu_cluster_x, but PLACES clusters take the rows in turn, and a ring in shared memory has DEPTH rows of
// x: the next ones are on their way while the blocks of a cluster wait for each other.
Schedule gpu_ring(const OperatorTypes& types) {
  Schedule s;
  const apps::PartsOfRows parts(s, types, 65536, 8192, 512);
  const Knob places = s.knob("PLACES", 15), depth = s.knob("DEPTH", 2);
  s["value"].compute_inline();
  s["out"].compute_root().split("r", "turn", "place", places).reorder("c", "turn", "place");
  s["out"].gpu_blocks("place").pipeline("turn", depth);
  parts.deal_out(s["out"], "c");
  s["scale"].compute_at("out", "turn").store_in(Memory::Register);
  parts.reduce_in_steps(s, "squares", "turn");
  parts.copy_ahead(s, "x", "turn");
  return s;
}

CALOTYPE_SCHEDULES(rmsnorm_silu_mul)
    .schedule("naive", Target::Kind::Host, "sums of squares of all rows first, the output serial", naive)
    .schedule("rows", Target::Kind::Host, "a row at a time, in parallel", rows)
    .schedule("host", Target::Kind::Host, "the rows vectorised, a sum of squares for each lane", host)
    .schedule("gpu", Target::Kind::Cuda, "a row a block, squares added by its threads in vectors", gpu)
    .schedule("gpu_registers", Target::Kind::Cuda, "as gpu, the rows of x and up in registers", gpu_registers)
    .schedule("gpu_few_rows", Target::Kind::Cuda, "as gpu_registers, the weights too", gpu_few_rows)
    .schedule("gpu_registers_x", Target::Kind::Cuda, "as gpu, the row of x in registers", gpu_registers_x)
    .schedule("gpu_short", Target::Kind::Cuda, "a row a warp, in registers", gpu_short)
    .schedule("gpu_cluster", Target::Kind::Cuda, "as gpu_registers, by the blocks of a cluster", gpu_cluster)
    .schedule("gpu_cluster_x", Target::Kind::Cuda, "as gpu_registers_x, by the blocks of a cluster",
              gpu_cluster_x)
    .schedule("gpu_ring", Target::Kind::Cuda, "as gpu_cluster_x, rows of x copied ahead into a ring",
              gpu_ring);

}  // namespace
