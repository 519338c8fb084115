// Schedules of matmul, from the plainest on; those that it shares with other products are in
// product_schedules.h.
#include "../product_schedules.h"

namespace {

using namespace calotype;

// The textbook's three loops, k innermost.
Schedule naive(const OperatorTypes&) {
  Schedule s;
  s["C"].compute_root().serial("m");
  s["acc"].compute_root();
  return s;
}

// n innermost and vectorised: rows of B and of the sums are read in order, one element of A is used 8 times.
Schedule rows(const OperatorTypes&) {
  Schedule s;
  s["C"].compute_root().vectorize("n", 8);
  s["acc"].compute_root().vectorize("n", 8);
  s["acc"].update().reorder("n", "k", "m").vectorize("n", 8);
  return s;
}

// A tile of sums stays in registers through all of k.
Schedule registers(const OperatorTypes&) {
  Schedule s;
  const Knob height = s.knob("TM", 6), width = s.knob("TN", 16), vector = s.knob("VECTOR", 8);
  s["C"]
      .compute_root()
      .tile("n", "m", "no", "mo", "ni", "mi", width, height)
      .vectorize("ni", vector)
      .unroll("mi");
  s["acc"].compute_at("C", "no").store_in(Memory::Stack).vectorize("n", vector).unroll("m");
  s["acc"].update().reorder("n", "m", "k").vectorize("n", vector).unroll("n.o").unroll("m");
  return s;
}

// The same from a B that is packed first: panels as wide as a tile, each read from its start to its end.
Schedule packed(const OperatorTypes& types) {
  Schedule s = registers(types);
  Stage panels = s.in("B", {"acc"});
  s[panels].compute_root().layout({"d0 % 16", "d1", "d0 / 16"}).vectorize("d0", 16);
  return s;
}

// A tile of 128 x 128 a block, 8 x 8 sums a thread in registers; tiles of A and B, DEPTH of k at a time, are
// copied to shared memory STAGES - 1 iterations ahead of their use.
Schedule gpu_pipelined(const OperatorTypes&) {
  Schedule s;
  const Knob depth = s.knob("DEPTH", 16), stages = s.knob("STAGES", 3);
  // A thread's columns are two vectors of 4, so that 16 threads read 64 neighbours; its rows are 16 apart.
  const auto tile = [&](Stage stage, const char* n, const char* m) -> Stage {
    stage.split(n, "nh", "nj", 64).split("nj", "nt", "nv", 4).split(m, "mr", "mt", 16);
    return stage;
  };
  tile(s["C"].compute_root().tile("n", "m", "no", "mo", "ni", "mi", 128, 128), "ni", "mi")
      .reorder("nv", "nh", "mr", "nt", "mt", "no", "mo")
      .gpu_blocks("no", "mo")
      .gpu_threads("nt", "mt")
      .vectorize("nv")
      .unroll("nh")
      .unroll("mr");
  tile(s["acc"].compute_at("C", "no").store_in(Memory::Register), "n", "m")
      .reorder("nv", "nh", "mr", "nt", "mt")
      .gpu_threads("nt", "mt")
      .vectorize("nv")
      .unroll("nh")
      .unroll("mr");
  tile(s["acc"].update().split("k", "ko", "ki", depth), "n", "m")
      .reorder("nv", "nh", "mr", "ki", "nt", "mt", "ko")
      .gpu_threads("nt", "mt")
      .vectorize("nv")
      .unroll("nh")
      .unroll("mr")
      .pipeline("ko", stages);
  Stage a = s.in("A", {"acc"}), b = s.in("B", {"acc"});
  for (const Stage& copy : {a, b})
    s[copy].compute_at(s["acc"].update(), "ko").store_in(Memory::Shared).vectorize("d0", 4).copy(Copy::Async);
  s[a].pad("d0", 4);  // so that rows lie in different banks
  return s;
}

CALOTYPE_SCHEDULES(matmul)
    .schedule("naive", Target::Kind::Host, "three loops, k innermost", naive)
    .schedule("rows", Target::Kind::Host, "n innermost and vectorised", rows)
    .schedule("registers", Target::Kind::Host, "tiles of sums in registers through all of k", registers)
    .schedule("packed", Target::Kind::Host, "the same from panels of B as wide as a tile", packed)
    .schedule("gpu_threads", Target::Kind::Cuda, "a thread a sum",
              [](const OperatorTypes&) { return apps::thread_a_sum(); })
    .schedule("gpu_pipelined", Target::Kind::Cuda, "8 x 8 sums a thread, tiles copied ahead of their use",
              gpu_pipelined);

[[maybe_unused]] const bool added = [] {
  apps::add_product_schedules("matmul", {});
  apps::add_product_schedules("matmul_nt", {.b = true});
  apps::add_product_schedules("matmul_tn", {.a = true});
  apps::add_product_schedules("matmul_tt", {.a = true, .b = true});
  return true;
}();

}  // namespace
