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

// The rows, vectorised; maximum and sum are kept for each lane and combined at the end of the row.
Schedule host(const OperatorTypes&) {
  Schedule s;
  const Knob lanes = s.knob("LANES", 16), vector = s.knob("VECTOR", 8);
  s["value"].compute_inline();
  s["out"].compute_root().fuse("i", "j", "ij").fuse("ij", "l", "row").vectorize("n", vector).parallel("row");
  s["peak"].compute_at("out", "row");
  s["peak"].update().split("k", "ko", "ki", lanes);
  Stage peaks = s["peak"].update().rfactor({{"ki", "lane"}}, "peaks");
  s[peaks].compute_at("out", "row").vectorize("lane", vector);
  s[peaks].update().reorder("lane", "ko").vectorize("lane", vector);
  s["e"].compute_at("out", "row").vectorize("n", vector);
  s["total"].compute_at("out", "row");
  s["total"].update().split("k", "ko", "ki", lanes);
  Stage totals = s["total"].update().rfactor({{"ki", "lane"}}, "totals");
  s[totals].compute_at("out", "row").vectorize("lane", vector);
  s[totals].update().reorder("lane", "ko").vectorize("lane", vector);
  return s;
}

// A row a block: each thread keeps a maximum and a sum of its own in shared memory, which one thread
// combines.
Schedule gpu(const OperatorTypes&) {
  Schedule s;
  const Knob threads = s.knob("THREADS", 128);
  s["value"].compute_inline();
  s["e"].compute_inline();
  s["out"]
      .compute_root()
      .fuse("i", "j", "ij")
      .fuse("ij", "l", "row")
      .gpu_blocks("row")
      .gpu_threads("n", threads);
  s["peak"].compute_at("out", "row").store_in(Memory::Shared);
  s["peak"].update().split("k", "ko", "ki", threads);
  Stage peaks = s["peak"].update().rfactor({{"ki", "lane"}}, "peaks");
  s[peaks].compute_at("out", "row").store_in(Memory::Shared).gpu_threads("lane");
  s[peaks].update().reorder("ko", "lane").gpu_threads("lane");
  s["total"].compute_at("out", "row").store_in(Memory::Shared);
  s["total"].update().split("k", "ko", "ki", threads);
  Stage totals = s["total"].update().rfactor({{"ki", "lane"}}, "totals");
  s[totals].compute_at("out", "row").store_in(Memory::Shared).gpu_threads("lane");
  s[totals].update().reorder("ko", "lane").gpu_threads("lane");
  return s;
}

CALOTYPE_SCHEDULES(softmax)
    .schedule("naive", Target::Kind::Host, "every stage at root, serial", naive)
    .schedule("rows", Target::Kind::Host, "a row at a time, in parallel", rows)
    .schedule("host", Target::Kind::Host, "the rows vectorised, a maximum and a sum for each lane", host)
    .schedule("gpu", Target::Kind::Cuda, "a row a block, a maximum and a sum for each thread", gpu);

}  // namespace
