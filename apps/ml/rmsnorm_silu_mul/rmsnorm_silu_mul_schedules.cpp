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

// The rows, vectorised; a sum of squares for each lane, added up at the end of the row.
Schedule host(const OperatorTypes&) {
  Schedule s;
  const Knob lanes = s.knob("LANES", 16), vector = s.knob("VECTOR", 8);
  s["value"].compute_inline();
  s["out"].compute_root().vectorize("c", vector).parallel("r");
  s["squares"].compute_at("out", "r");
  s["squares"].update().split("k", "ko", "ki", lanes);
  Stage partial = s["squares"].update().rfactor({{"ki", "lane"}}, "partial");
  s[partial].compute_at("out", "r").vectorize("lane", vector);
  s[partial].update().reorder("lane", "ko").vectorize("lane", vector);
  s["scale"].compute_at("out", "r");
  return s;
}

// A row a block: each thread adds squares of its own, 32 threads add those up, and one adds the 32.
Schedule gpu(const OperatorTypes&) {
  Schedule s;
  const Knob threads = s.knob("THREADS", 256);
  s["value"].compute_inline();
  s["out"].compute_root().gpu_blocks("r").vectorize("c", 8).gpu_threads("c.o", threads);
  s["squares"].compute_at("out", "r").store_in(Memory::Shared);
  s["squares"].update().split("k", "ko", "ki", threads);
  Stage partial = s["squares"].update().rfactor({{"ki", "t"}}, "partial");
  s[partial].compute_at("out", "r").store_in(Memory::Shared).gpu_threads("t");
  s[partial].update().reorder("ko", "t").gpu_threads("t");
  s["scale"].compute_at("out", "r").store_in(Memory::Shared);
  return s;
}

CALOTYPE_SCHEDULES(rmsnorm_silu_mul)
    .schedule("naive", Target::Kind::Host, "sums of squares of all rows first, serial", naive)
    .schedule("rows", Target::Kind::Host, "a row at a time, in parallel", rows)
    .schedule("host", Target::Kind::Host, "the rows vectorised, a sum of squares for each lane", host)
    .schedule("gpu", Target::Kind::Cuda, "a row a block, a sum of squares for each thread", gpu);

}  // namespace
