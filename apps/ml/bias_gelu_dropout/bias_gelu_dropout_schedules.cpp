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
  s["out"].compute_root().stream_stores().vectorize("c", vector).parallel("r");
  return s;
}

// A thread VECTOR elements, in accesses of 16 bytes.
Schedule gpu(const OperatorTypes& types) {
  Schedule s;
  const Knob threads = s.knob("THREADS", 256), vector = s.knob("VECTOR", 16 / types.all().bytes());
  s["gelu"].compute_inline();
  s["kept"].compute_inline();
  s["key"].compute_inline();
  s["out"].compute_root().vectorize("c", vector).gpu_threads("c.o", threads).gpu_blocks("c.o.o", "r");
  return s;
}

CALOTYPE_SCHEDULES(bias_gelu_dropout)
    .schedule("naive", Target::Kind::Host, "one element after the other", naive)
    .schedule("host", Target::Kind::Host, "rows in vectors and in parallel", host)
    .schedule("gpu", Target::Kind::Cuda, "a thread a vector", gpu);

}  // namespace
