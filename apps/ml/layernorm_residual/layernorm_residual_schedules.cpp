// Schedules of layernorm_residual: from the plainest to the one that is shipped.
#include <calotype/operator.h>

#include "../parts_of_rows.h"

namespace {

using namespace calotype;

// Every stage for all rows before the next, loops serial.
Schedule naive(const OperatorTypes&) {
  Schedule s;
  for (const char* stage : {"h", "total", "squares", "scale"}) s[stage].compute_root();
  s["out"].compute_root().serial("r");
  return s;
}

// `of`, a sum over k in each row: one for each of LANES, in vectors, added up at the end.
void add_in_lanes(Schedule& s, const std::string& of, const Knob& lanes, const Knob& vector) {
  s[of].compute_at("out", "r");
  s[of].update().split("k", "ko", "ki", lanes);
  Stage own = s[of].update().rfactor({{"ki", "lane"}}, of + "_lanes");
  s[own].compute_at("out", "r").store_in(Memory::Stack).vectorize("lane", vector).unroll("lane.o");
  s[own].update().reorder("lane", "ko").vectorize("lane", vector).unroll("lane.o");
  s[of].update().vectorize("ki");
}

// A row at a time, in parallel: x and the residual come from memory once. In f32 they come from the nearest
// cache twice more, and while a row is written the next one is fetched. In bf16 the conversions are most of
// the work, and h is stored in f32.
Schedule host(const OperatorTypes& types) {
  Schedule s;
  const bool narrow = types.all() == BFloat(16);
  const Knob lanes = s.knob("LANES", 64), vector = s.knob("VECTOR", narrow ? 64 : 16);
  s["out"].compute_root().stream_stores().vectorize("c", vector).parallel("r");
  if (narrow) {
    s["h"].compute_at("out", "r").vectorize("c", vector);
  } else {
    s["h"].compute_inline();
    s["out"].prefetch("x", "c.o", "r", 1).prefetch("residual", "c.o", "r", 1);
  }
  add_in_lanes(s, "total", lanes, vector);
  add_in_lanes(s, "squares", lanes, vector);
  s["scale"].compute_at("out", "r");
  return s;
}

// A row a block, in accesses of 16 bytes, of any length: only the first reading of the row comes from memory.
Schedule gpu(const OperatorTypes& types) {
  Schedule s;
  const Knob threads = s.knob("THREADS", 256), vector = s.knob("VECTOR", 16 / types.all().bytes()),
             unroll = s.knob("UNROLL", 2);
  s["h"].compute_inline();
  s["out"]
      .compute_root()
      .gpu_blocks("r")
      .vectorize("c", vector)
      .gpu_threads("c.o", threads)
      .unroll("c.o.o", unroll);
  s["scale"].compute_at("out", "r").store_in(Memory::Register);
  for (const char* stage : {"total", "squares"}) {
    s[stage].compute_at("out", "r").store_in(Memory::Register);
    s[stage].update().vectorize("k", vector).gpu_threads("k.o", threads).unroll("k.o.o", unroll);
  }
  return s;
}

// Rows of at most COLUMNS: each thread has its part of h in registers, all of whose loads are under way at
// once; the variance takes a second pass over them.
Schedule gpu_registers(const OperatorTypes& types) {
  Schedule s;
  const Knob columns = s.knob("COLUMNS", 8192), threads = s.knob("THREADS", 512),
             vector = s.knob("VECTOR", 16 / types.all().bytes());
  s.assume("N", Assumption::range(1, columns));
  s["h"].compute_at("out", "r").store_in(Memory::Register);
  s["h"].vectorize("c", vector).gpu_threads("c.o", threads).unroll("c.o.o");
  s["out"].compute_root().gpu_blocks("r");
  s["out"].vectorize("c", vector).gpu_threads("c.o", threads).unroll("c.o.o");
  s["scale"].compute_at("out", "r").store_in(Memory::Register);
  for (const char* stage : {"total", "squares"}) {
    s[stage].compute_at("out", "r").store_in(Memory::Register);
    s[stage].update().vectorize("k", vector).gpu_threads("k.o", threads).unroll("k.o.o");
  }
  return s;
}

// Short rows, of at most COLUMNS: a row a warp, in registers; no barrier is needed.
Schedule gpu_short(const OperatorTypes& types) {
  Schedule s;
  const Knob columns = s.knob("COLUMNS", 1024), warps = s.knob("WARPS", 4),
             vector = s.knob("VECTOR", 16 / types.all().bytes());
  const auto a_row_a_warp = [&](Stage stage, const std::string& loop) {
    stage.vectorize(loop, vector).gpu_lanes(loop + ".o", 32).unroll(loop + ".o.o").gpu_warps("r", warps);
  };
  s.assume("N", Assumption::range(1, columns));
  s["out"].compute_root();
  a_row_a_warp(s["out"], "c");
  s["out"].gpu_blocks("r.o");
  s["h"].compute_at("out", "r.o").store_in(Memory::Register);
  a_row_a_warp(s["h"], "c");
  s["scale"].compute_at("out", "r.o").store_in(Memory::Register).gpu_warps("r", warps);
  for (const char* stage : {"total", "squares"}) {
    s[stage].compute_at("out", "r.o").store_in(Memory::Register).gpu_warps("r", warps);
    a_row_a_warp(s[stage].update(), "k");
  }
  return s;
}

// Rows of at most COLUMNS by the blocks of a cluster, which have PART columns each: as in one block, and sums
// are combined through their shared memory.
Schedule gpu_cluster(const OperatorTypes& types) {
  Schedule s;
  const apps::PartsOfRows parts(s, types, 65536, 8192, 512);
  s["h"].compute_at("out", "r").store_in(Memory::Register);
  parts.deal_out(s["h"], "c");
  s["out"].compute_root().gpu_blocks("r");
  parts.deal_out(s["out"], "c");
  s["scale"].compute_at("out", "r").store_in(Memory::Register);
  for (const char* stage : {"total", "squares"}) {
    s[stage].compute_at("out", "r").store_in(Memory::Register);
    parts.deal_out(s[stage].update(), "k");
  }
  return s;
}

// As gpu_cluster, but PLACES clusters take the rows in turn, and a ring in shared memory has DEPTH rows of
// each input: the next ones are on their way while the blocks of a cluster wait for each other.
Schedule gpu_ring(const OperatorTypes& types) {
  Schedule s;
  const apps::PartsOfRows parts(s, types, 65536, 8192, 512);
  const Knob places = s.knob("PLACES", 15), depth = s.knob("DEPTH", 2);
  s["out"].compute_root().split("r", "turn", "place", places).reorder("c", "turn", "place");
  s["out"].gpu_blocks("place").pipeline("turn", depth);
  parts.deal_out(s["out"], "c");
  for (const char* input : {"x", "residual"}) parts.copy_ahead(s, input, "turn");
  s["h"].compute_at("out", "turn").store_in(Memory::Register);
  parts.deal_out(s["h"], "c");
  s["scale"].compute_at("out", "turn").store_in(Memory::Register);
  for (const char* stage : {"total", "squares"}) parts.reduce_in_steps(s, stage, "turn");
  return s;
}

CALOTYPE_SCHEDULES(layernorm_residual)
    .schedule("naive", Target::Kind::Host, "every stage for all rows, the output serial", naive)
    .schedule("host", Target::Kind::Host, "a row at a time, in vectors and in parallel", host)
    .schedule("gpu", Target::Kind::Cuda, "a row a block, sums by its threads in vectors", gpu)
    .schedule("gpu_registers", Target::Kind::Cuda, "as gpu, the row in registers", gpu_registers)
    .schedule("gpu_short", Target::Kind::Cuda, "a row a warp, in registers", gpu_short)
    .schedule("gpu_cluster", Target::Kind::Cuda, "a row by the blocks of a cluster", gpu_cluster)
    .schedule("gpu_ring", Target::Kind::Cuda, "as gpu_cluster, rows copied ahead into a ring", gpu_ring);

}  // namespace
