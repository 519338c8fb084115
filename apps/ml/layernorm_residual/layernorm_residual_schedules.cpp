// Schedules of layernorm_residual: from the plainest to the one that is shipped.
#include <calotype/operator.h>

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

/// `of`, a sum over k in each row, by the threads of a block: each adds terms of its own, GROUPS threads add
/// what the threads have, and every thread adds what these found.
void add_by_threads(Schedule& s, const std::string& of, const Knob& threads, const Knob& groups) {
  s[of].compute_at("out", "r").store_in(Memory::Register);
  s[of].update().split("k", "ko", "kt", threads);
  Stage own = s[of].update().rfactor({{"kt", "t"}}, of + "_own");
  s[own].compute_at("out", "r").store_in(Memory::Register).gpu_threads("t");
  s[own].update().reorder("ko", "t").gpu_threads("t");
  s[of].update().split("kt", "tr", "g", groups);
  Stage group = s[of].update().rfactor({{"g", "g"}}, of + "_group");
  s[group].compute_at("out", "r").store_in(Memory::Register).gpu_threads("g");
  s[group].update().reorder("tr", "g").gpu_threads("g").unroll("tr");
  s[of].update().unroll("g");
  s[s.in(of + "_own", {of + "_group"})].compute_at("out", "r").store_in(Memory::Shared).gpu_threads("t");
  s[s.in(of + "_group", {of})].compute_at("out", "r").store_in(Memory::Shared).gpu_threads("g");
}

// A row a block; only the first reading of the row comes from memory.
Schedule gpu(const OperatorTypes&) {
  Schedule s;
  const Knob threads = s.knob("THREADS", 128), groups = s.knob("GROUPS", 16);
  s["h"].compute_inline();
  s["out"].compute_root().gpu_blocks("r").gpu_threads("c", threads);
  s["scale"].compute_at("out", "r").store_in(Memory::Register);
  add_by_threads(s, "total", threads, groups);
  add_by_threads(s, "squares", threads, groups);
  return s;
}

CALOTYPE_SCHEDULES(layernorm_residual)
    .schedule("naive", Target::Kind::Host, "every stage for all rows, the output serial", naive)
    .schedule("host", Target::Kind::Host, "a row at a time, in vectors and in parallel", host)
    .schedule("gpu", Target::Kind::Cuda, "a row a block, sums by its threads", gpu);

}  // namespace
