// Schedules of bias_gelu_dropout: from the plainest to the one that is shipped.
#include <calotype/operator.h>

namespace {

using namespace calotype;

// One element after the other.
Schedule naive(const OperatorTypes&) {
  Schedule s;
  s["gelu"].compute_inline();
  s["kept"].compute_inline();
  s["key"].compute_inline();
  s["words"].compute_inline();
  s["threshold"].compute_inline();
  s["scale"].compute_inline();
  s["out"].compute_root().serial("r");
  return s;
}

// Rows in parallel, written past the caches, in pairs of vectors: each is a long chain of operations, and two
// of them side by side keep the machine busy.
Schedule host(const OperatorTypes& types) {
  Schedule s;
  const Knob vector = s.knob("VECTOR", 128 / types.all().bytes());
  s["gelu"].compute_inline();
  s["kept"].compute_inline();
  s["key"].compute_inline();
  s["words"].compute_inline();
  s["threshold"].compute_inline();
  s["scale"].compute_inline();
  s["out"].compute_root().stream_stores().vectorize("c", vector).parallel("r");
  return s;
}

// A thread UNROLL vectors of VECTOR elements, in accesses of 16 bytes: what depends on the row alone is
// computed once for them, and their loads are on their way together.
Schedule gpu(const OperatorTypes& types) {
  Schedule s;
  const Knob threads = s.knob("THREADS", 256), vector = s.knob("VECTOR", 16 / types.all().bytes()),
             unroll = s.knob("UNROLL", 2);
  s["gelu"].compute_inline();
  s["kept"].compute_inline();
  s["out"]
      .compute_root()
      .vectorize("c", vector)
      .gpu_threads("c.o", threads)
      .unroll("c.o.o", unroll)
      .gpu_blocks("c.o.o.o", "r");
  // One thread of a block makes the key of the row, by some twenty operations.
  s["key"].compute_at("out", "c.o.o.o").store_in(Memory::Shared);
  for (const char* once : {"threshold", "scale"})
    s[once].compute_at("out", "c.o.o.o").store_in(Memory::Register);
  s["words"].compute_at("out", "c.o.t").store_in(Memory::Register).unroll("four");
  return s;
}

CALOTYPE_SCHEDULES(bias_gelu_dropout)
    .schedule("naive", Target::Kind::Host, "one element after the other", naive)
    .schedule("host", Target::Kind::Host, "rows in vectors and in parallel", host)
    .schedule("gpu", Target::Kind::Cuda, "vectors in threads", gpu);

}  // namespace
