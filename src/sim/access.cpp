// Arithmetic and memory instructions of a warp: operands gathered, components handed to the memory one by
// one.

#include <array>

#include "sim/machine.h"

namespace calotype::sim {

void run_compute(Machine& m, Warp& warp, const Instruction& i) {
  i.compute(m.code.operations[i.site], warp.write(i.result), warp.read(i.a), warp.read(i.b), warp.read(i.c),
            i.result.cells());
}

namespace {

/// Lane by lane what may be uniform.
class Indices {
 public:
  Indices(const Warp& warp, Register index, int component) {
    const Cell* cells = warp.read(index.component(component));
    for (int lane = 0; lane < kWarp; ++lane) values_[lane] = cells[index.uniform ? 0 : lane].i;
  }
  const std::int64_t* data() const { return values_.data(); }

 private:
  std::array<std::int64_t, kWarp> values_;
};

LaneMask taking_part(const Machine& m, const Warp& warp, const Instruction& i, int component) {
  if (!m.code.accesses[i.site].predicated) return warp.mask;
  return warp.mask & true_lanes(warp, i.b.component(component));
}

Space& space_of(Machine& m, const Instruction& i) { return *m.spaces[m.code.accesses[i.site].buffer]; }

}  // namespace

void run_load(Machine& m, Warp& warp, const Instruction& i) {
  Space& space = space_of(m, i);
  const bool predicated = m.code.accesses[i.site].predicated;
  for (int k = 0; k < i.result.components; ++k) {
    const Indices index(warp, i.a, k);
    const LaneMask lanes = taking_part(m, warp, i, k);
    Cell* cells = warp.write(i.result.component(k));
    if (predicated)
      for (int lane = 0; lane < kWarp; ++lane) cells[lane].i = 0;  // also the float 0
    space.load({m, warp, i, lanes, index.data(), i.a.uniform, cells});
    m.report.loads += std::popcount(lanes);
  }
}

namespace {

/// Hands each component of a value to `access`.
template <class Access>
void for_components(Machine& m, Warp& warp, const Instruction& i, Access access) {
  for (int k = 0; k < i.c.components; ++k) {
    const Indices index(warp, i.a, k);
    const LaneMask lanes = taking_part(m, warp, i, k);
    std::array<Cell, kWarp> cells;
    const Cell* value = warp.read(i.c.component(k));
    for (int lane = 0; lane < kWarp; ++lane) cells[lane] = value[i.c.uniform ? 0 : lane];
    access(WarpAccess{m, warp, i, lanes, index.data(), i.a.uniform, cells.data()});
    m.report.stores += std::popcount(lanes);
  }
}

}  // namespace

void run_store(Machine& m, Warp& warp, const Instruction& i) {
  for_components(m, warp, i, [&](const WarpAccess& access) { space_of(m, i).store(access); });
}

void run_async_store(Machine& m, Warp& warp, const Instruction& i) {
  for_components(m, warp, i, [&](const WarpAccess& access) { space_of(m, i).start(access); });
}

void run_ring_store(Machine& m, Warp& warp, const Instruction& i) {
  const Indices slot(warp, i.b, 0);
  const auto ring = static_cast<std::size_t>(m.code.accesses[i.site].ring);
  for_components(m, warp, i, [&](const WarpAccess& all) {
    for_lanes(all.lanes, [&](int lane) {
      WarpAccess access = all;
      access.lanes = LaneMask{1} << lane;
      access.slot =
          &m.rings[static_cast<std::size_t>(warp.rank)][ring].at(static_cast<std::size_t>(slot.data()[lane]));
      space_of(m, i).start(access);
    });
  });
}

void run_commit(Machine&, Warp& warp, const Instruction&) {
  for_lanes(warp.mask, [&](int lane) { ++warp.flights[static_cast<std::size_t>(lane)].groups; });
}

void run_wait(Machine& m, Warp& warp, const Instruction& i) {
  for_lanes(warp.mask, [&](int lane) {
    Flights& own = warp.flights[static_cast<std::size_t>(lane)];
    for (; !own.waiting.empty() && own.waiting.front().group < own.groups - i.site; own.waiting.pop_front())
      m.spaces[own.waiting.front().buffer]->land(m, m.thread(warp, lane), own.waiting.front());
  });
}

namespace {

/// To the slot that is in use of the ring of another block.
void send(Machine& m, WarpAccess access, int ring, int lane, std::int64_t rank) {
  const Code& code = m.code;
  const Register turn = code.ring_turns[static_cast<std::size_t>(ring)];
  const bool turns = code.rings[static_cast<std::size_t>(ring)]->turn != nullptr;
  const auto number = static_cast<std::size_t>(turns ? access.warp.read(turn)[0].i : 0);
  access.lanes = LaneMask{1} << lane;
  if (rank < 0 || rank >= code.cluster) return space_of(m, access.instruction).store(access);  // is found
  access.slot = &m.rings[static_cast<std::size_t>(rank)][static_cast<std::size_t>(ring)].at(number);
  space_of(m, access.instruction).start(access);
  count_sent(m, *access.slot, code.buffers[code.accesses[access.instruction.site].buffer].type.bytes());
}

}  // namespace

void run_remote_store(Machine& m, Warp& warp, const Instruction& i) {
  const Indices rank(warp, i.b, 0);
  const int ring = m.code.accesses[i.site].ring;
  for_components(m, warp, i, [&](WarpAccess access) {
    access.rank = rank.data();
    if (ring < 0) return space_of(m, i).store(access);
    for_lanes(access.lanes, [&](int lane) { send(m, access, ring, lane, rank.data()[lane]); });
  });
}

void run_atomic(Machine& m, Warp& warp, const Instruction& i) {
  const Operation& operation = m.code.operations[m.code.accesses[i.site].operation];
  for_components(m, warp, i, [&](const WarpAccess& access) { space_of(m, i).update(access, operation); });
}

void run_allocate(Machine& m, Warp& warp, const Instruction& i) {
  m.spaces[i.site]->allocate(warp, warp.mask);
}

}  // namespace calotype::sim
