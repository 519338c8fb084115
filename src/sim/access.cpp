// Arithmetic and memory instructions of a warp: operands gathered, components handed to the memory one by
// one.

#include <fmt/format.h>

#include <array>

#include "sim/machine.h"

namespace calotype::sim {

void run_compute(Machine& m, Warp& warp, const Instruction& i) {
  i.compute(m.code.operations[i.site], warp.write(i.result), warp.read(i.a), warp.read(i.b), warp.read(i.c),
            i.result.cells());
}

namespace {

bool leaves_type(const Operation& operation, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  const bool beyond_64 = operation.op == ir::Op::Add   ? __builtin_add_overflow(a, b, &result)
                         : operation.op == ir::Op::Sub ? __builtin_sub_overflow(a, b, &result)
                                                       : __builtin_mul_overflow(a, b, &result);
  return beyond_64 || (operation.type.bits == 32 && result != static_cast<std::int32_t>(result));
}

void report_overflow(Machine& m, const Warp& warp, const Instruction& i, int lane, std::int64_t a,
                     std::int64_t b) {
  const Operation& operation = m.code.operations[static_cast<std::size_t>(i.site)];
  const int thread = m.thread(warp, lane);
  m.findings.add(Fault::IndexOverflow, m.place(i), [&] {
    const char* sign = operation.op == ir::Op::Add ? "+" : operation.op == ir::Op::Sub ? "-" : "*";
    return Finding{.message = fmt::format("an index of {} leaves {}: {} {} {}", m.who(thread),
                                          operation.type.str(), a, sign, b),
                   .block = m.block,
                   .threads = {m.coordinates(thread)},
                   .accesses = {m.access_of(warp, lane, i, "computes", fmt::format("{} {} {}", a, sign, b))}};
  });
}

}  // namespace

void run_index(Machine& m, Warp& warp, const Instruction& i) {
  run_compute(m, warp, i);
  const Operation& operation = m.code.operations[static_cast<std::size_t>(i.site)];
  const LaneMask lanes = i.result.uniform ? 1 : warp.mask;
  for (int k = 0; k < i.result.components; ++k) {
    const Cell *a = warp.read(i.a.component(k)), *b = warp.read(i.b.component(k));
    for_lanes(lanes, [&](int lane) {
      if (leaves_type(operation, a[lane].i, b[lane].i))
        report_overflow(m, warp, i, lane, a[lane].i, b[lane].i);
    });
  }
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

/// For the figures: the elements that each component asks for.
void count_request(Machine& m, const Warp& warp, const Instruction& i, int components, bool stores) {
  const AccessSite& site = m.code.accesses[static_cast<std::size_t>(i.site)];
  const BufferUse& buffer = m.code.buffers[static_cast<std::size_t>(site.buffer)];
  if (buffer.is_private()) return;
  if (site.in_bulk || (stores && site.ring >= 0 && i.run == run_ring_store)) {
    const std::int64_t lanes = std::popcount(warp.mask);
    return m.figures->bulk(i, site.buffer, lanes * components * buffer.type.bytes(), stores);
  }
  std::vector<Figures::Elements> elements;
  for (int k = 0; k < components; ++k) {
    const Indices index(warp, i.a, k);
    Figures::Elements& e = elements.emplace_back();
    e.lanes = taking_part(m, warp, i, k);
    for_lanes(e.lanes, [&](int lane) {
      e.address[static_cast<std::size_t>(lane)] =
          m.spaces[static_cast<std::size_t>(site.buffer)]->address(index.data()[lane]);
    });
  }
  m.figures->request(i, elements, stores);
}

Space& space_of(Machine& m, const Instruction& i) { return *m.spaces[m.code.accesses[i.site].buffer]; }

}  // namespace

void run_load(Machine& m, Warp& warp, const Instruction& i) {
  Space& space = space_of(m, i);
  const bool predicated = m.code.accesses[i.site].predicated;
  if (m.figures) count_request(m, warp, i, i.result.components, false);
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
  if (m.figures) count_request(m, warp, i, i.c.components, true);
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

const AccessSite& WarpAccess::access() const {
  return machine.code.accesses[static_cast<std::size_t>(site >= 0 ? site : instruction.site)];
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
      tell_slot(m, warp, *access.slot);
    });
  });
}

void run_commit(Machine&, Warp& warp, const Instruction&) {
  for_lanes(warp.mask, [&](int lane) { ++warp.flights[static_cast<std::size_t>(lane)].groups; });
}

void run_wait(Machine& m, Warp& warp, const Instruction& i) {
  for_lanes(warp.mask, [&](int lane) {
    Flights& own = warp.flights[static_cast<std::size_t>(lane)];
    for (; !own.waiting.empty() && own.waiting.front().group < own.groups - i.site; own.waiting.pop_front()) {
      Flight& flight = own.waiting.front();
      flight.interval = m.clock.now;
      m.spaces[flight.buffer]->land(m.thread(warp, lane), flight);
    }
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
  tell_slot(m, access.warp, *access.slot);
  count_sent(*code.rings[static_cast<std::size_t>(ring)], *access.slot,
             code.buffers[code.accesses[access.instruction.site].buffer].type.bytes());
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
