// Schedules of rmsnorm_silu_mul: from the plainest to the one that is shipped.
#include <calotype/operator.h>

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

// A row a block, in accesses of 16 bytes. Each thread adds squares of its own, GROUPS threads add what the
// threads have, and every thread adds what these found.
Schedule gpu(const OperatorTypes& types) {
  Schedule s;
  const Knob threads = s.knob("THREADS", types.all() == BFloat(16) ? 128 : 256),
             vector = s.knob("VECTOR", 16 / types.all().bytes()), unroll = s.knob("UNROLL", 2),
             groups = s.knob("GROUPS", 16);
  s["value"].compute_inline();
  s["out"]
      .compute_root()
      .gpu_blocks("r")
      .vectorize("c", vector)
      .gpu_threads("c.o", threads)
      .unroll("c.o.o", unroll);
  s["squares"].compute_at("out", "r").store_in(Memory::Register);
  s["scale"].compute_at("out", "r").store_in(Memory::Register);
  s["squares"].update().split("k", "kc", "kv", vector).split("kc", "ko", "kt", threads);
  Stage lanes = s["squares"].update().rfactor({{"kv", "v"}, {"kt", "t"}}, "lanes");
  s[lanes].compute_at("out", "r").store_in(Memory::Register).vectorize("v").gpu_threads("t");
  s[lanes].update().reorder("v", "ko", "t").vectorize("v").gpu_threads("t").unroll("ko", unroll);
  Stage own = s["squares"].update().rfactor({{"kt", "t"}}, "own");
  s[own].compute_at("out", "r").store_in(Memory::Register).gpu_threads("t");
  s[own].update().reorder("kv", "t").gpu_threads("t").unroll("kv");
  s["squares"].update().split("kt", "i", "g", groups);
  Stage sums = s["squares"].update().rfactor({{"g", "g"}}, "sums");
  s[sums].compute_at("out", "r").store_in(Memory::Register).gpu_threads("g");
  s[sums].update().reorder("i", "g").gpu_threads("g").unroll("i");
  s["squares"].update().unroll("g");
  s[s.in("own", {"sums"})].compute_at("out", "r").store_in(Memory::Shared).gpu_threads("t");
  s[s.in("sums", {"squares"})].compute_at("out", "r").store_in(Memory::Shared).gpu_threads("g");
  return s;
}

CALOTYPE_SCHEDULES(rmsnorm_silu_mul)
    .schedule("naive", Target::Kind::Host, "sums of squares of all rows first, the output serial", naive)
    .schedule("rows", Target::Kind::Host, "a row at a time, in parallel", rows)
    .schedule("host", Target::Kind::Host, "the rows vectorised, a sum of squares for each lane", host)
    .schedule("gpu", Target::Kind::Cuda, "a row a block, squares added by its threads in vectors", gpu);

}  // namespace
