// Schedules of depthwise_separable_conv: from the plainest to the one that is shipped.
#include <calotype/operator.h>

namespace {

using namespace calotype;

// The filtered channels of the whole image, then the products, serial.
Schedule naive(const OperatorTypes&) {
  Schedule s;
  s["filtered"].compute_root();
  s["acc"].compute_root();
  s["out"].compute_root().serial("n");
  return s;
}

// PX pixels of a row at a time, rows in parallel: all their filtered channels, which stay in the nearest
// cache; then TC output channels of TX pixels at a time, summed in registers.
Schedule host(const OperatorTypes&) {
  Schedule s;
  const Knob block = s.knob("PX", 20), channels = s.knob("TC", 32), pixels = s.knob("TX", 10),
             vector = s.knob("VECTOR", 16);
  s["out"]
      .compute_root()
      .split("i", "ib", "ii", block)
      .tile("co", "ii", "cb", "it", "cr", "ir", channels, pixels)
      .reorder("cr", "ir", "it", "cb", "ib", "j", "n")
      .vectorize("cr", vector)
      .unroll("ir")
      .parallel("j")
      .parallel("n");
  s["filtered"].compute_at("out", "ib").vectorize("c", vector);
  s["filtered"].update().reorder("c", "ki", "kj", "i", "j", "n").vectorize("c", vector);
  s["acc"].compute_at("out", "it").store_in(Memory::Stack).vectorize("co", vector).unroll("i");
  s["acc"].update().reorder("co", "i", "ci", "j", "n").vectorize("co", vector).unroll("co.o").unroll("i");
  return s;
}

// The filtered channels in a kernel of their own; a thread a sample of each.
Schedule gpu(const OperatorTypes&) {
  Schedule s;
  const Knob channels = s.knob("CHANNELS", 32), pixels = s.knob("PIXELS", 4);
  const auto by_tiles = [&](Stage stage, const char* channel) {
    stage.tile(channel, "i", "cb", "ib", "ct", "it", channels, pixels)
        .reorder("n", "ct", "it", "cb", "ib", "j")
        .gpu_blocks("cb", "ib", "j")
        .gpu_threads("ct", "it");
  };
  by_tiles(s["filtered"].compute_root(), "c");
  by_tiles(s["filtered"].update().reorder("ki", "kj", "n", "c", "i", "j"), "c");
  by_tiles(s["out"].compute_root(), "co");
  s["acc"].compute_at("out", "n").store_in(Memory::Register);
  return s;
}

CALOTYPE_SCHEDULES(depthwise_separable_conv)
    .schedule("naive", Target::Kind::Host, "filtered channels of the whole image first, the output serial",
              naive)
    .schedule("host", Target::Kind::Host, "filtered channels of a few pixels in the cache, sums in registers",
              host)
    .schedule("gpu", Target::Kind::Cuda, "a thread a sample, filtered channels in memory", gpu);

}  // namespace
