// Shuffles: lanes of a warp read each other's values. Every lane of the warp takes part in one.

#include <fmt/format.h>

#include <bit>

#include "sim/machine.h"

namespace calotype::sim {
namespace {

void report(Machine& m, const Warp& warp, const Instruction& i, int lane, const std::string& what,
            int other_lane) {
  const int thread = m.thread(warp, lane), other = m.thread(warp, other_lane);
  m.findings.add(Fault::Divergence, m.place(i), [&] {
    return Finding{.message = fmt::format("a shuffle of {} {}", m.who(thread), what),
                   .block = m.block,
                   .threads = {m.coordinates(thread), m.coordinates(other)}};
  });
}

template <class Source>
void shuffle(Machine& m, Warp& warp, const Instruction& i, Source source) {
  const Cell* from = warp.read(i.a);
  Cell* to = warp.write(i.result);
  if (const LaneMask missing = warp.live & ~warp.mask; missing != 0 && warp.mask != 0) {
    const int lane = std::countr_zero(warp.mask), other = std::countr_zero(missing);
    report(m, warp, i, lane,
           fmt::format("is not reached by {} of the same warp", m.who(m.thread(warp, other))), other);
  }
  for_lanes(warp.mask, [&](int lane) {
    const std::int64_t other = source(lane);
    if (other >= 0 && other < kWarp && (warp.mask >> other & 1) != 0) {
      to[lane] = from[other];
      return;
    }
    to[lane] = of_int(-1);  // like what nobody wrote
    report(m, warp, i, lane, fmt::format("reads lane {}, which does not take part", other), lane);
  });
}

}  // namespace

void run_shuffle(Machine& m, Warp& warp, const Instruction& i) {
  const Cell* lanes = warp.read(i.b);
  shuffle(m, warp, i, [&](int lane) { return lanes[lane].i; });
}

void run_shuffle_xor(Machine& m, Warp& warp, const Instruction& i) {
  shuffle(m, warp, i, [&](int lane) { return std::int64_t{lane ^ i.site}; });
}

}  // namespace calotype::sim
