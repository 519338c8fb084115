// Schedules of conv2d_nhwc_relu: from the plainest to the one that is shipped.
#include <calotype/operator.h>

namespace {

using namespace calotype;

// Seven loops, input channels innermost of the sums.
Schedule naive(const OperatorTypes&) {
  Schedule s;
  s["acc"].compute_root();
  s["out"].compute_root().serial("n");
  return s;
}

// TX neighbouring pixels of TC output channels are summed in registers: each weight that is loaded serves TX
// pixels, each sample TC channels. Rows in parallel.
Schedule host(const OperatorTypes&) {
  Schedule s;
  const Knob channels = s.knob("TC", 64), pixels = s.knob("TX", 5), vector = s.knob("VECTOR", 16);
  s["out"]
      .compute_root()
      .tile("co", "i", "cb", "ib", "cr", "ir", channels, pixels)
      .reorder("cr", "ir", "ib", "cb", "j", "n")
      .vectorize("cr", vector)
      .unroll("ir")
      .parallel("j")
      .parallel("n");
  s["acc"].compute_at("out", "ib").store_in(Memory::Stack).vectorize("co", vector).unroll("i");
  s["acc"]
      .update()
      .reorder("co", "i", "ci", "ki", "kj", "j", "n")
      .vectorize("co", vector)
      .unroll("co.o")
      .unroll("i");
  return s;
}

// A thread a pixel of an output channel, of every image of the batch; neighbours along the channels.
Schedule gpu(const OperatorTypes&) {
  Schedule s;
  const Knob channels = s.knob("CHANNELS", 32), pixels = s.knob("PIXELS", 4);
  s["out"]
      .compute_root()
      .tile("co", "i", "cb", "ib", "ct", "it", channels, pixels)
      .reorder("n", "ct", "it", "cb", "ib", "j")
      .gpu_blocks("cb", "ib", "j")
      .gpu_threads("ct", "it");
  s["acc"].compute_at("out", "n").store_in(Memory::Register);
  return s;
}

CALOTYPE_SCHEDULES(conv2d_nhwc_relu)
    .schedule("naive", Target::Kind::Host, "seven loops", naive)
    .schedule("host", Target::Kind::Host, "tiles of pixels and channels in registers, rows in parallel", host)
    .schedule("gpu", Target::Kind::Cuda, "a thread a pixel of a channel", gpu);

}  // namespace
