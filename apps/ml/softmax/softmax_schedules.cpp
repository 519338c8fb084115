// Schedules of softmax: from the plainest to the one that is shipped.
#include <calotype/operator.h>

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
  s["e"].compute_at("out", "row").vectorize("n", vector);
  reduce_in_lanes(s, "total", lanes, vector);
  return s;
}

/// The update of `of`, a reduction over k, by the threads of a block: each combines terms of its own, in
/// vectors; GROUPS threads combine what the threads have, and every thread combines what these found.
void reduce_by_threads(Schedule& s, const std::string& of, const Knob& threads, const Knob& vector,
                       const Knob& unroll, const Knob& groups) {
  s[of].compute_at("out", "row").store_in(Memory::Register);
  s[of].update().split("k", "kc", "kv", vector).split("kc", "ko", "kt", threads);
  Stage lanes = s[of].update().rfactor({{"kv", "v"}, {"kt", "t"}}, of + "_lanes");
  s[lanes].compute_at("out", "row").store_in(Memory::Register).vectorize("v").gpu_threads("t");
  s[lanes].update().reorder("v", "ko", "t").vectorize("v").gpu_threads("t").unroll("ko", unroll);
  Stage own = s[of].update().rfactor({{"kt", "t"}}, of + "_own");
  s[own].compute_at("out", "row").store_in(Memory::Register).gpu_threads("t");
  s[own].update().reorder("kv", "t").gpu_threads("t").unroll("kv");
  s[of].update().split("kt", "tr", "g", groups);
  Stage group = s[of].update().rfactor({{"g", "g"}}, of + "_group");
  s[group].compute_at("out", "row").store_in(Memory::Register).gpu_threads("g");
  s[group].update().reorder("tr", "g").gpu_threads("g").unroll("tr");
  s[of].update().unroll("g");
  s[s.in(of + "_own", {of + "_group"})].compute_at("out", "row").store_in(Memory::Shared).gpu_threads("t");
  s[s.in(of + "_group", {of})].compute_at("out", "row").store_in(Memory::Shared).gpu_threads("g");
}

// A row a block, in accesses of 16 bytes. Only the first reading of the row comes from memory, and
// exponentials are computed twice rather than stored.
Schedule gpu(const OperatorTypes& types) {
  Schedule s;
  const Knob threads = s.knob("THREADS", 128), vector = s.knob("VECTOR", 16 / types.all().bytes()),
             unroll = s.knob("UNROLL", types.all() == BFloat(16) ? 2 : 4), groups = s.knob("GROUPS", 16);
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
  reduce_by_threads(s, "peak", threads, vector, unroll, groups);
  reduce_by_threads(s, "total", threads, vector, unroll, groups);
  return s;
}

CALOTYPE_SCHEDULES(softmax)
    .schedule("naive", Target::Kind::Host, "every stage at root, the output serial", naive)
    .schedule("rows", Target::Kind::Host, "a row at a time, in parallel", rows)
    .schedule("host", Target::Kind::Host, "the rows vectorised, a maximum and a sum for each lane", host)
    .schedule("gpu", Target::Kind::Cuda, "a row a block, maxima and sums by its threads in vectors", gpu);

}  // namespace
