// Schedules of sum and sum_rows: from the plainest to those that are shipped.
#include <calotype/operator.h>

namespace {

using namespace calotype;

// One addition after the other.
Schedule naive(const OperatorTypes&) {
  Schedule s;
  s["value"].compute_inline();
  s["total"].compute_root();
  s["out"].compute_root();
  return s;
}

// Chunks of CHUNK elements of a row, STREAMS of them side by side, so that memory is read in as many places
// at a time; in a chunk a sum for each of LANES, in vectors. The last group of chunks has tests for the end
// of the row in it; rows of whole groups, which may be short, do without.
Schedule host_all(const OperatorTypes&) {
  Schedule s;
  const Knob chunk = s.knob("CHUNK", 1024), streams = s.knob("STREAMS", 4), lanes = s.knob("LANES", 32),
             vector = s.knob("VECTOR", 16);
  s["value"].compute_inline();
  s["out"].compute_root();
  s["total"].compute_root();
  s["total"].update().split("k.x", "kc", "ki", chunk).split("ki", "ko", "kl", lanes);
  Stage parts =
      s["total"].update().rfactor({{"kc", "chunk"}, {"k.y", "i"}, {"k.z", "j"}, {"k.w", "l"}}, "parts");
  s[parts].compute_root();
  s[parts]
      .update()
      .split("chunk", "co", "ci", streams)
      .parallel("co")
      .parallel("i")
      .parallel("j")
      .parallel("l");
  Stage sums = s[parts].update().rfactor({{"kl", "lane"}}, "sums");
  s[sums]
      .compute_at(s[parts].update(), "co")
      .store_in(Memory::Stack)
      .reorder_storage("lane", "chunk")
      .vectorize("lane", vector);
  s[sums].update().reorder("lane", "chunk", "ko").vectorize("lane", vector).unroll("lane.o").unroll("chunk");
  s[parts].update().vectorize("kl");
  s["out"].specialize("N%4096 == 0");
  return s;
}

// ROWS rows side by side, so that memory is read in as many places at a time; in a row a sum for each of
// LANES, in vectors.
Schedule host_rows(const OperatorTypes&) {
  Schedule s;
  const Knob rows = s.knob("ROWS", 4), lanes = s.knob("LANES", 32), vector = s.knob("VECTOR", 16);
  s["value"].compute_inline();
  s["out"].compute_root().split("i", "io", "ii", rows).parallel("io").parallel("j").parallel("l");
  s["total"].compute_at("out", "io");
  s["total"].update().split("k", "ko", "kl", lanes);
  Stage sums = s["total"].update().rfactor({{"kl", "lane"}}, "sums");
  s[sums]
      .compute_at("out", "io")
      .store_in(Memory::Stack)
      .reorder_storage("lane", "i")
      .vectorize("lane", vector);
  s[sums].update().reorder("lane", "i", "ko").vectorize("lane", vector).unroll("lane.o").unroll("i");
  s["total"].update().vectorize("kl");
  return s;
}

// LANES threads in blocks of THREADS: each adds vectors of VEC elements, 16 bytes, that stand LANES vectors
// apart, so that neighbours read neighbours, UNROLL of them at a time. A block adds up what its threads have,
// in columns and then across; a second kernel, of one block, does so with what the blocks have.
Schedule gpu_all(const OperatorTypes& types) {
  Schedule s;
  const Knob vec = s.knob("VEC", 16 / types.of("x").bytes()), lanes = s.knob("LANES", 135168),
             threads = s.knob("THREADS", 256), unroll = s.knob("UNROLL", 4);
  s["value"].compute_inline();
  s["out"].compute_root();
  s["total"].compute_root();
  s["total"]
      .update()
      .split("k.x", "kq", "kv", vec)
      .split("kq", "ko", "kl", lanes)
      .split("kl", "kb", "kt", threads);
  Stage blocks = s["total"].update().rfactor({{"kb", "block"}}, "blocks");
  Stage sums = s.in("blocks", {"total"});
  s[sums].compute_root().gpu_blocks("block");
  s[blocks].compute_at(sums, "block").store_in(Memory::Register);
  Stage parts = s[blocks].update().rfactor({{"kt", "thread"}}, "parts");
  s[parts].compute_at(sums, "block").store_in(Memory::Shared).gpu_threads("thread");
  s[parts]
      .update()
      .split("ko", "koo", "ku", unroll)
      .reorder("kv", "ku", "koo", "k.y", "k.z", "k.w", "thread", "block")
      .gpu_threads("thread")
      .vectorize("kv")
      .unroll("ku");
  s[blocks].update().split("kt", "ki", "kj", 32);
  Stage columns = s[blocks].update().rfactor({{"kj", "column"}}, "columns");
  s[columns].compute_at(sums, "block").store_in(Memory::Shared).gpu_threads("column");
  s[columns].update().reorder("ki", "column", "block").gpu_threads("column").vectorize("ki");
  s[blocks].update().vectorize("kj", 4);
  s["total"].update().split("kb", "kbo", "kbt", 256);
  Stage slots = s["total"].update().rfactor({{"kbt", "slot"}}, "slots");
  s["total"].update().split("kbt", "one", "kbi", 256).vectorize("kbi", 4).gpu_blocks("one");
  s[slots].compute_at(s["total"].update(), "one").store_in(Memory::Shared).gpu_threads("slot");
  s[slots].update().gpu_threads("slot");
  return s;
}

// A thread a row.
Schedule gpu_rows(const OperatorTypes&) {
  Schedule s;
  const Knob threads = s.knob("THREADS", 128);
  s["value"].compute_inline();
  s["out"].compute_root().gpu_threads("i", threads).gpu_blocks("i.o", "j", "l");
  s["total"].compute_at("out", "i.t").store_in(Memory::Register);
  return s;
}

CALOTYPE_SCHEDULES(sum)
    .schedule("naive", Target::Kind::Host, "one addition after the other", naive)
    .schedule("host", Target::Kind::Host, "chunks in parallel, a sum for each lane", host_all)
    .schedule("gpu", Target::Kind::Cuda, "sums of threads, of blocks, then of these", gpu_all);

CALOTYPE_SCHEDULES(sum_rows)
    .schedule("naive", Target::Kind::Host, "one addition after the other", naive)
    .schedule("host", Target::Kind::Host, "rows in parallel, a sum for each lane", host_rows)
    .schedule("gpu", Target::Kind::Cuda, "a thread a row", gpu_rows);

}  // namespace
