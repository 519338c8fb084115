// Schedules of transpose: from the plainest to the one that is shipped.
#include <calotype/operator.h>

namespace {

using namespace calotype;

// One element after the other along rows of the output, down a column of x.
Schedule naive(const OperatorTypes&) {
  Schedule s;
  s["out"].compute_root().serial("b");
  return s;
}

// Tiles: each cache line of x is used as a whole before it is lost.
Schedule tiles(const OperatorTypes&) {
  Schedule s;
  const Knob width = s.knob("WIDTH", 64), height = s.knob("HEIGHT", 64);
  s["out"].compute_root().tile("m", "n", "mo", "no", "mi", "ni", width, height).parallel("b").parallel("no");
  return s;
}

// The tiles, in registers: 16 bytes of each of VECTOR rows of x, of which the columns are vectors of the
// output. The tile's rows of x are read in order, its rows of the output written in whole lines.
Schedule host(const OperatorTypes& types) {
  Schedule s;
  const int bytes = types.all().bytes();
  const Knob vector = s.knob("VECTOR", bytes == 1 ? 64 : 128 / bytes),
             height = s.knob("HEIGHT", 4096 / bytes), block = s.knob("BLOCK", 16 / bytes);
  s["out"]
      .compute_root()
      .stream_stores()
      .split("m", "mo", "lane", vector)
      .split("n", "no", "ni", height)
      .split("ni", "nb", "row", block)
      .reorder("lane", "row", "nb", "mo", "no", "b")
      .vectorize("lane")
      .unroll("row")
      .parallel("b")
      .parallel("no");
  Stage run = s.in("x", {"out"});
  s[run].compute_at("out", "nb").store_in(Memory::Stack).vectorize("d0").unroll("d1");
  return s;
}

// Tiles of 32 x 32 through shared memory, padded so that its columns lie in different banks: rows of x are
// read, and rows of the output written, by neighbouring threads.
Schedule gpu_elements(const OperatorTypes&) {
  Schedule s;
  s["out"]
      .compute_root()
      .tile("m", "n", "mo", "no", "mi", "ni", 32, 32)
      .split("ni", "nr", "nt", 8)
      .reorder("mi", "nt", "nr", "mo", "no", "b")
      .gpu_blocks("mo", "no", "b")
      .gpu_threads("mi", "nt");
  Stage tile = s.in("x", {"out"});
  s[tile]
      .compute_at("out", "mo")
      .store_in(Memory::Shared)
      .pad("d0", 1)
      .split("d1", "dr", "dt", 8)
      .reorder("d0", "dt", "dr")
      .gpu_threads("d0", "dt");
  return s;
}

// Tiles of whole lines, 128 bytes of x by HEIGHT rows: copied to shared memory in pieces of 16 bytes that no
// register holds, so that all of a tile is under way at once, and written in pieces of 16 bytes, eight
// threads a line. A thread takes 4 bytes of each of as many rows as a piece of the output has elements. In
// memory rows that neighbouring threads read stand one behind the other, and the swizzle puts them into
// different banks.
Schedule gpu(const OperatorTypes& types) {
  Schedule s;
  const int bytes = types.all().bytes(), piece = 16 / bytes, word = bytes < 4 ? 4 / bytes : 1;
  const std::string rows = std::to_string(piece);
  const Knob height = s.knob("HEIGHT", bytes == 1 ? 128 : 64);
  s["out"]
      .compute_root()
      .tile("m", "n", "mo", "no", "mi", "ni", height, 128 / bytes)
      .split("mi", "mt", "mj", 8 * piece)
      .split("mj", "mp", "lane", piece)
      .split("ni", "nt", "nw", word)
      .reorder("lane", "nw", "mt", "mp", "nt", "mo", "no", "b")
      .vectorize("lane")
      .unroll("nw")
      .unroll("mt")
      .gpu_blocks("mo", "no", "b")
      .gpu_threads("mp", "nt");
  Stage tile = s.in("x", {"out"});
  if (word > 1) {
    Stage words = s.in(tile.func(), {"out"});
    s[words].compute_at("out", "mt").store_in(Memory::Register).vectorize("d0").unroll("d1");
  }
  s[tile]
      .compute_at("out", "mo")
      .store_in(Memory::Shared)
      .layout({"d0", "d1 / " + rows, "d1 % " + rows, "d2"})
      .swizzle(128)
      .vectorize("d0", piece)
      .copy(Copy::Async);
  return s;
}

CALOTYPE_SCHEDULES(transpose)
    .schedule("naive", Target::Kind::Host, "rows of the output, the output serial", naive)
    .schedule("tiles", Target::Kind::Host, "tiles, in parallel", tiles)
    .schedule("host", Target::Kind::Host, "tiles in registers, whole lines written past the caches", host)
    .schedule("gpu_elements", Target::Kind::Cuda, "tiles of 32 x 32 through shared memory", gpu_elements)
    .schedule("gpu", Target::Kind::Cuda, "tiles of whole lines, copied and written 16 bytes at a time", gpu);

}  // namespace
