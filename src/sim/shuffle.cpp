// Shuffles: lanes of a warp read each other's values. Every lane of the warp takes part in one.

#include <fmt/format.h>

#include <algorithm>
#include <array>
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

void report_missing(Machine& m, const Warp& warp, const Instruction& i) {
  const LaneMask missing = warp.live & ~warp.mask;
  if (missing == 0 || warp.mask == 0) return;
  const int lane = std::countr_zero(warp.mask), other = std::countr_zero(missing);
  report(m, warp, i, lane, fmt::format("is not reached by {} of the same warp", m.who(m.thread(warp, other))),
         other);
}

/// The lane that each one reads, or -1: it needs none, or there is none.
template <class Source>
std::array<int, kWarp> sources(Machine& m, const Warp& warp, const Instruction& i, Source source) {
  std::array<int, kWarp> result;
  result.fill(-1);
  for_lanes(warp.mask, [&](int lane) {
    const std::int64_t other = source(lane);
    if (other >= 0 && other < kWarp && (warp.mask >> other & 1) != 0)
      result[lane] = static_cast<int>(other);
    else if (other != -1)
      report(m, warp, i, lane, fmt::format("reads lane {}, which does not take part", other), lane);
  });
  return result;
}

void exchange(Warp& warp, const std::array<int, kWarp>& from, const Cell* values, Cell* to) {
  std::array<Cell, kWarp> before;
  std::copy_n(values, kWarp, before.begin());
  for_lanes(warp.mask, [&](int lane) {
    to[lane] = from[lane] >= 0 ? before[static_cast<std::size_t>(from[lane])]
                               : of_int(-1);  // like what nobody wrote
  });
}

}  // namespace

void run_shuffle(Machine& m, Warp& warp, const Instruction& i) {
  report_missing(m, warp, i);
  for (int k = 0; k < i.result.components; ++k) {
    const Cell* lanes = warp.read(i.b.component(k));
    const auto from = sources(m, warp, i, [&](int lane) { return lanes[lane].i; });
    exchange(warp, from, warp.read(i.a.component(k)), warp.write(i.result.component(k)));
  }
}

/// Lanes whose element nobody asks for need not have it.
void run_shuffle_load(Machine& m, Warp& warp, const Instruction& i) {
  report_missing(m, warp, i);
  for (int k = 0; k < i.result.components; ++k) {
    const Cell* lanes = warp.read(i.b.component(k));
    const auto from = sources(m, warp, i, [&](int lane) { return lanes[lane].i; });
    LaneMask asked = 0;
    for (const int lane : from)
      if (lane >= 0) asked |= LaneMask{1} << lane;
    std::array<std::int64_t, kWarp> index;
    const Cell* at = warp.read(i.a.component(k));
    for (int lane = 0; lane < kWarp; ++lane) index[lane] = at[lane].i;
    std::array<Cell, kWarp> cells;
    cells.fill(of_int(-1));
    m.spaces[m.code.accesses[i.site].buffer]->load({m, warp, i, asked, index.data(), false, cells.data()});
    exchange(warp, from, cells.data(), warp.write(i.result.component(k)));
  }
}

void run_shuffle_xor(Machine& m, Warp& warp, const Instruction& i) {
  report_missing(m, warp, i);
  for (int k = 0; k < i.result.components; ++k) {
    const auto from = sources(m, warp, i, [&](int lane) { return std::int64_t{lane ^ i.site}; });
    exchange(warp, from, warp.read(i.a.component(k)), warp.write(i.result.component(k)));
  }
}

}  // namespace calotype::sim
