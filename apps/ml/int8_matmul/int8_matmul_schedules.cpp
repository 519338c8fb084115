// Schedules of int8_matmul: from the plainest to the one that is shipped.
#include <calotype/operator.h>

namespace {

using namespace calotype;

// The textbook's three loops, k innermost.
Schedule naive(const OperatorTypes&) {
  Schedule s;
  s["acc"].compute_root();
  s["out"].compute_root().serial("m");
  return s;
}

// A tile of TM x TN sums stays in registers through all of k; blocks of ROWS rows, which
// share TN columns of B while those are in the cache, run in parallel.
Schedule registers(const OperatorTypes&) {
  Schedule s;
  const Knob height = s.knob("TM", 8), width = s.knob("TN", 32), vector = s.knob("VECTOR", 16),
             rows = s.knob("ROWS", 64);
  s["out"]
      .compute_root()
      .split("m", "mb", "mi", rows)
      .tile("n", "mi", "no", "mo", "nr", "mr", width, height)
      .reorder("nr", "mr", "mo", "no", "mb")
      .vectorize("nr", vector)
      .unroll("mr")
      .parallel("mb");
  s["acc"].compute_at("out", "mo").store_in(Memory::Stack).vectorize("n", vector).unroll("m");
  s["acc"].update().reorder("n", "m", "k").vectorize("n", vector).unroll("n.o").unroll("m");
  return s;
}

// The same tiles from panels of B: 16 columns of 4 rows side by side, whose products with 4 of A in each row
// are one dot product of 16 lanes.
Schedule host(const OperatorTypes&) {
  Schedule s;
  const Knob height = s.knob("TM", 4), width = s.knob("TN", 64), rows = s.knob("ROWS", 64);
  s["out"]
      .compute_root()
      .split("m", "mb", "mi", rows)
      .tile("n", "mi", "no", "mo", "nr", "mr", width, height)
      .reorder("nr", "mr", "mo", "no", "mb")
      .vectorize("nr", 16)
      .unroll("nr.o")
      .unroll("mr")
      .parallel("mb");
  s["acc"].compute_at("out", "mo").store_in(Memory::Stack).vectorize("n", 16).unroll("n.o").unroll("m");
  s["acc"]
      .update()
      .split("k", "ko", "ki", 4)
      .split("n", "nv", "ni", 16)
      .reorder("ki", "ni", "nv", "m", "ko")
      .vectorize("ki")
      .vectorize("ni")
      .unroll("nv")
      .unroll("m");
  const Stage panels = s.in("B", {"acc"});
  s[panels].compute_root().layout({"d1 % 4", "d0 % 16", "d1 / 4", "d0 / 16"});
  s[panels]
      .tile("d0", "d1", "d0o", "d1o", "d0i", "d1i", 16, 4)
      .vectorize("d0i")
      .vectorize("d1i")
      .parallel("d1o");
  return s;
}

// A thread a sum, operands straight from memory.
Schedule gpu(const OperatorTypes&) {
  Schedule s;
  s["out"]
      .compute_root()
      .tile("n", "m", "no", "mo", "ni", "mi", 32, 8)
      .gpu_blocks("no", "mo")
      .gpu_threads("ni", "mi");
  s["acc"].compute_at("out", "ni").store_in(Memory::Register);
  return s;
}

CALOTYPE_SCHEDULES(int8_matmul)
    .schedule("naive", Target::Kind::Host, "three loops, k innermost", naive)
    .schedule("registers", Target::Kind::Host, "tiles of sums in registers through all of k", registers)
    .schedule("host", Target::Kind::Host, "the same from panels of B, by dot products", host)
    .schedule("gpu", Target::Kind::Cuda, "a thread a sum", gpu);

}  // namespace
