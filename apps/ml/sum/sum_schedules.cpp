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

// Chunks of CHUNK elements of a row, one a block, in accesses of 16 bytes; then one block adds what the
// chunks have (or several, each what GROUP of them have, which are added last).
Schedule gpu_all(const OperatorTypes& types) {
  Schedule s;
  const Knob chunk = s.knob("CHUNK", 32768), threads = s.knob("THREADS", 256),
             vector = s.knob("VECTOR", 16 / types.of("x").bytes()), unroll = s.knob("UNROLL", 4),
             group = s.knob("GROUP", 4096);
  s["value"].compute_inline();
  s["out"].compute_root();
  s["total"].compute_root();
  Stage total = s["total"].update();

  total.split("k.x", "kc", "ki", chunk);
  Stage parts = total.rfactor({{"kc", "chunk"}, {"k.y", "i"}, {"k.z", "j"}, {"k.w", "l"}}, "parts");
  Stage stored_parts = s.in("parts", {"total"});
  stored_parts.compute_root().reorder("l", "chunk", "i", "j").gpu_blocks("chunk", "i", "j");
  parts.compute_at(stored_parts, "l").store_in(Memory::Register);
  parts.update().vectorize("ki", vector).gpu_threads("ki.o", threads).unroll("ki.o.o", unroll);

  total.split("kc", "kg", "kr", group).split("kr", "ko", "kt", 32).split("k.y", "yo", "yt", 32);
  Stage sums = total.rfactor({{"kg", "group"}}, "sums");
  Stage stored_sums = s.in("sums", {"total"});
  stored_sums.compute_root().gpu_blocks("group");
  sums.compute_at(stored_sums, "group").store_in(Memory::Register);
  sums.update().gpu_threads("kt", "yt");
  return s;
}

// A row a block, in accesses of 16 bytes.
Schedule gpu_rows(const OperatorTypes& types) {
  Schedule s;
  const Knob threads = s.knob("THREADS", 256), vector = s.knob("VECTOR", 16 / types.of("x").bytes()),
             unroll = s.knob("UNROLL", 4);
  s["value"].compute_inline();
  s["out"].compute_root().gpu_blocks("i", "j", "l");
  s["total"].compute_at("out", "i").store_in(Memory::Register);
  s["total"].update().vectorize("k", vector).gpu_threads("k.o", threads).unroll("k.o.o", unroll);
  return s;
}

// Short rows: a row a warp.
Schedule gpu_short_rows(const OperatorTypes& types) {
  Schedule s;
  const Knob columns = s.knob("COLUMNS", 1024), warps = s.knob("WARPS", 8),
             vector = s.knob("VECTOR", 16 / types.of("x").bytes());
  s.assume("N", Assumption::range(1, columns));
  s["value"].compute_inline();
  s["out"].compute_root().gpu_warps("i", warps).gpu_blocks("i.o", "j", "l");
  s["total"].compute_at("out", "i.o").store_in(Memory::Register).gpu_warps("i", warps);
  s["total"].update().vectorize("k", vector).gpu_lanes("k.o", 32).unroll("k.o.o").gpu_warps("i", warps);
  return s;
}

CALOTYPE_SCHEDULES(sum)
    .schedule("naive", Target::Kind::Host, "one addition after the other", naive)
    .schedule("host", Target::Kind::Host, "chunks in parallel, a sum for each lane", host_all)
    .schedule("gpu", Target::Kind::Cuda, "chunks by the threads of a block each, then theirs", gpu_all);

CALOTYPE_SCHEDULES(sum_rows)
    .schedule("naive", Target::Kind::Host, "one addition after the other", naive)
    .schedule("host", Target::Kind::Host, "rows in parallel, a sum for each lane", host_rows)
    .schedule("gpu", Target::Kind::Cuda, "a row a block, in vectors", gpu_rows)
    .schedule("gpu_short", Target::Kind::Cuda, "a row a warp, in vectors", gpu_short_rows);

}  // namespace
