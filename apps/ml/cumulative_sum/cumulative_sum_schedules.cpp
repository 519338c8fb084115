// Schedules of cumulative_sum: from the plainest to the one that is shipped.
#include <calotype/operator.h>

namespace {

using namespace calotype;

// All rows copied, then added up, then stored.
Schedule naive(const OperatorTypes&) {
  Schedule s;
  s["value"].compute_inline();
  s["running"].compute_root();
  s["out"].compute_root().serial("l");
  return s;
}

// ROWS rows side by side, a lane each. They lie across memory, so x goes through tiles of 4 columns as its
// rows lie there, in one run, of which every fourth element is a column; the sums likewise on their way out.
Schedule host(const OperatorTypes&) {
  Schedule s;
  const Knob rows = s.knob("ROWS", 16), columns = s.knob("COLUMNS", 64), block = s.knob("BLOCK", 4);
  s["value"].compute_inline();
  s["out"]
      .compute_root()
      .stream_stores()
      .split("i", "io", "ii", rows)
      .split("ii", "ib", "row", block)
      .split("n", "no", "lane", columns)
      .reorder("lane", "row", "ib", "no", "io", "j", "l")
      .vectorize("lane")
      .unroll("row")
      .parallel("io")
      .parallel("j")
      .parallel("l");
  s["running"].compute_at("out", "io").reorder_storage("i", "n");
  s["running"]
      .update()
      .split("k", "ko", "kb", block)
      .reorder("i", "kb", "ko")
      .vectorize("i", rows)
      .unroll("kb");
  Stage in = s.in("x", {"value"}), back = s.in("running", {"out"});
  s[in].compute_at(s["running"].update(), "ko").store_in(Memory::Stack).vectorize("d0").unroll("d1");
  s[back]
      .compute_at("out", "ib")
      .store_in(Memory::Stack)
      .reorder_storage("i", "n")
      .reorder("i", "n")
      .vectorize("i")
      .unroll("n");
  return s;
}

// A thread a row; the running sums in memory.
Schedule gpu(const OperatorTypes&) {
  Schedule s;
  const Knob threads = s.knob("THREADS", 128);
  s["value"].compute_inline();
  s["out"].compute_root().fuse("j", "l", "jl").gpu_threads("n", threads).gpu_blocks("n.o", "i", "jl");
  s["running"].compute_root().fuse("j", "l", "jl").gpu_threads("n", threads).gpu_blocks("n.o", "i", "jl");
  s["running"].update().reorder("k", "i", "j", "l").gpu_threads("i", threads).gpu_blocks("i.o", "j", "l");
  return s;
}

CALOTYPE_SCHEDULES(cumulative_sum)
    .schedule("naive", Target::Kind::Host, "copied, added up, stored, the output serial", naive)
    .schedule("host", Target::Kind::Host, "rows side by side, in parallel", host)
    .schedule("gpu", Target::Kind::Cuda, "a thread a row", gpu);

}  // namespace
