// Rings of barriers that count arrivals and bulk copies: a slot is complete when every warp of the block has
// arrived, and what has been copied to it by then happens as late as it may, when the first warp goes on that
// has waited for it.

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "sim/machine.h"

namespace calotype::sim {
namespace {

/// The number of the slot, which is one for all lanes.
std::size_t slot_of(const Warp& warp, const Instruction& i) {
  const int lane = i.a.uniform ? 0 : std::countr_zero(warp.mask);
  return static_cast<std::size_t>(warp.read(i.a)[lane].i);
}

RingSlot& slot_at(Machine& m, const Warp& warp, const Instruction& i, std::int64_t rank) {
  return m.rings[static_cast<std::size_t>(rank)][static_cast<std::size_t>(i.site)].at(slot_of(warp, i));
}

RingSlot& slot_at(Machine& m, const Warp& warp, const Instruction& i) {
  return slot_at(m, warp, i, warp.rank);
}

std::string name_of(const Machine& m, const Instruction& i) {
  return m.code.rings[static_cast<std::size_t>(i.site)]->name;
}

const ir::Ring& ring_of(const Machine& m, const Instruction& i) {
  return *m.code.rings[static_cast<std::size_t>(i.site)];
}

/// Complete if all warps have arrived and all bytes have come.
void settle(const ir::Ring& ring, RingSlot& slot) {
  if (slot.came != (ring.arrivals > 0 ? ring.arrivals : static_cast<int>(slot.arrived.size()))) return;
  if (slot.sent != slot.due) return;
  slot.arrived.assign(slot.arrived.size(), false);
  slot.came = 0;
  slot.sent = slot.due = 0;
  ++slot.turns;
  slot.known = slot.arriving;
  slot.complete.insert(slot.complete.end(), slot.started.begin(), slot.started.end());
  slot.started.clear();
}

void misused(Machine& m, const Warp& warp, const Instruction& i, const char* how) {
  const int first = m.thread(warp, 0);
  m.findings.add(Fault::PhaseMisuse, m.place(i), [&] {
    return Finding{.message = fmt::format("the warp of {} {} slot {} of {}", m.who(first), how,
                                          slot_of(warp, i), name_of(m, i)),
                   .block = m.block,
                   .threads = {m.coordinates(first)}};
  });
}

/// How often the slot is to have been complete before the warp goes on.
std::int64_t wanted_turns(const Machine& m, const Warp& warp, const Instruction& i) {
  const auto ring = static_cast<std::size_t>(i.site);
  if (ring_of(m, i).arrivals == 0) return warp.arrivals[ring].at(slot_of(warp, i));
  return warp.waits[ring].at(slot_of(warp, i)) + (ring_of(m, i).open ? 0 : 1);
}

/// Of rings between roles the hardware tells only whether the phase is even or odd.
bool passes(Machine& m, const Warp& warp, const Instruction& i) {
  const std::int64_t turns = slot_at(m, warp, i).turns, wanted = wanted_turns(m, warp, i);
  return ring_of(m, i).arrivals == 0 ? turns >= wanted : (turns - wanted) % 2 == 0;
}

void check_phase(Machine& m, Warp& warp, const Instruction& i) {
  const auto ring = static_cast<std::size_t>(i.site);
  std::int64_t& waits = warp.waits[ring].at(slot_of(warp, i));
  if (ring_of(m, i).arrivals > 0) {
    if (slot_at(m, warp, i).turns < wanted_turns(m, warp, i))
      misused(m, warp, i, "goes on by the phase before the one that it waits for of");
    ++waits;
    return;
  }
  const std::int64_t arrivals = warp.arrivals[ring].at(slot_of(warp, i));
  if (++waits > arrivals) misused(m, warp, i, "waits for a phase that it has not arrived in of");
  if (waits < arrivals) misused(m, warp, i, "waits for a phase behind which it has arrived in another of");
}

}  // namespace

void run_arrive(Machine& m, Warp& warp, const Instruction& i) {
  m.require_whole(warp, i, name_of(m, i));
  RingSlot& slot = slot_at(m, warp, i);
  ++warp.arrivals[static_cast<std::size_t>(i.site)].at(slot_of(warp, i));
  slot.arriving.learn(m.tell(warp));
  if (warp.number == 0 || ring_of(m, i).arrivals > 0) slot.due += i.target;
  if (ring_of(m, i).arrivals == 0) {
    std::vector<bool>::reference here = slot.arrived[static_cast<std::size_t>(warp.number)];
    if (here) misused(m, warp, i, "arrives for the second time in one phase of");
    slot.came += here ? 0 : 1;
    here = true;
  } else {
    ++slot.came;
  }
  settle(ring_of(m, i), slot);
}

namespace {

void no_block(Machine& m, const Warp& warp, const Instruction& i, Fault fault, const std::string& whose) {
  const int first = m.thread(warp, 0);
  m.findings.add(fault, m.place(i), [&] {
    return Finding{.message = fmt::format("the warp of {} arrives at slot {} of {} of {}", m.who(first),
                                          slot_of(warp, i), name_of(m, i), whose),
                   .block = m.block,
                   .threads = {m.coordinates(first)}};
  });
}

}  // namespace

void run_remote_arrive(Machine& m, Warp& warp, const Instruction& i) {
  m.require_whole(warp, i, name_of(m, i));
  const std::int64_t rank = warp.read(i.b)[i.b.uniform ? 0 : std::countr_zero(warp.mask)].i;
  if (rank < 0 || rank >= m.code.cluster)
    return no_block(m, warp, i, Fault::OutOfBounds,
                    fmt::format("the block of rank {} in a cluster of {}", rank, m.code.cluster));
  if (!m.runs(warp, rank))
    no_block(m, warp, i, Fault::NotRunning,
             fmt::format("the block of rank {}, which may not have begun or has ended", rank));
  m.reach(warp, i, rank);
  RingSlot& slot = slot_at(m, warp, i, rank);
  slot.arriving.learn(m.tell(warp));
  ++slot.came;
  settle(ring_of(m, i), slot);
}

void count_sent(const ir::Ring& ring, RingSlot& slot, std::int64_t bytes) {
  slot.sent += bytes;
  settle(ring, slot);
}

void tell_slot(Machine& m, Warp& warp, RingSlot& slot) {
  slot.arriving.ordered[index_of(warp)] = m.advance(warp);
}

void run_turn(Machine& m, Warp& warp, const Instruction& i) {
  const ir::Ring& ring = *m.code.rings[static_cast<std::size_t>(i.site)];
  Cell* turn = warp.write(m.code.ring_turns[static_cast<std::size_t>(i.site)]);
  turn->i = (turn->i + 1) % ring.slots;
}

void run_await(Machine& m, Warp& warp, const Instruction& i) {
  m.require_whole(warp, i, name_of(m, i));
  if (!passes(m, warp, i)) {
    warp.state = Warp::State::AtRing;
    return;
  }
  check_phase(m, warp, i);
  RingSlot& slot = slot_at(m, warp, i);
  m.learn(warp, slot.known);
  for (const RingSlot::Copy& copy : slot.complete)
    m.spaces[static_cast<std::size_t>(copy.flight.buffer)]->land(copy.thread, copy.flight);
  slot.complete.clear();
}

void Machine::make_rings() {
  rings.assign(static_cast<std::size_t>(code.cluster), {});
  RingSlot empty;
  empty.arriving = empty.known = nothing_known();
  empty.arrived.assign(warps.size() / static_cast<std::size_t>(code.cluster), false);
  for (auto& of_block : rings)
    for (const ir::RingPtr& ring : code.rings)
      of_block.emplace_back(static_cast<std::size_t>(ring->slots), empty);
  for (Warp& warp : warps) {
    warp.arrivals.clear();
    for (const ir::RingPtr& ring : code.rings)
      warp.arrivals.emplace_back(static_cast<std::size_t>(ring->slots), 0);
    warp.waits = warp.arrivals;
    for (std::size_t i = 0; i < code.rings.size(); ++i)
      if (code.rings[i]->turn) *warp.write(code.ring_turns[i]) = of_int(0);
  }
}

std::string Machine::awaited(const Warp& warp, const Instruction& i) {
  const RingSlot& slot = slot_at(*this, warp, i);
  const std::string name = name_of(*this, i);
  if (slot.sent == slot.due || slot.came == 0) return name + ", at which others never arrive";
  return fmt::format("{}, to which {} bytes have come where {} are expected", name, slot.sent, slot.due);
}

/// Warps whose slot is complete by now wait once more, which lets them pass.
bool Machine::release_rings() {
  bool any = false;
  for (Warp& warp : warps) {
    if (warp.state != Warp::State::AtRing) continue;
    const Instruction& i = code.instructions[static_cast<std::size_t>(warp.next - 1)];
    if (!passes(*this, warp, i)) continue;
    warp.state = Warp::State::Running;
    --warp.next;
    any = true;
  }
  return any;
}

}  // namespace calotype::sim
