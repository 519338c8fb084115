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

RingSlot& slot_at(Machine& m, const Warp& warp, const Instruction& i) {
  return m.rings[static_cast<std::size_t>(warp.rank)][static_cast<std::size_t>(i.site)].at(slot_of(warp, i));
}

/// All threads of a warp are there.
void require_whole(Machine& m, const Warp& warp, const Instruction& i) {
  const LaneMask missing = warp.live & ~warp.mask;
  if (missing == 0) return;
  const int here = m.thread(warp, std::countr_zero(warp.mask));
  const int elsewhere = m.thread(warp, std::countr_zero(missing));
  m.findings.add(Fault::Divergence, m.place(i), [&] {
    return Finding{.message = fmt::format("{} is reached by {} but not by {} of the same warp",
                                          m.code.rings[static_cast<std::size_t>(i.site)]->name, m.who(here),
                                          m.who(elsewhere)),
                   .block = m.block,
                   .threads = {m.coordinates(here), m.coordinates(elsewhere)}};
  });
}

/// Complete if all warps have arrived and all bytes have come.
void settle(RingSlot& slot) {
  if (std::find(slot.arrived.begin(), slot.arrived.end(), false) != slot.arrived.end()) return;
  if (slot.sent != slot.due) return;
  slot.arrived.assign(slot.arrived.size(), false);
  slot.sent = slot.due = 0;
  ++slot.turns;
  slot.complete.insert(slot.complete.end(), slot.started.begin(), slot.started.end());
  slot.started.clear();
}

void misused(Machine& m, const Warp& warp, const Instruction& i, const char* how) {
  const int first = m.thread(warp, 0);
  m.findings.add(Fault::PhaseMisuse, m.place(i), [&] {
    return Finding{
        .message = fmt::format("the warp of {} {} slot {} of {}", m.who(first), how, slot_of(warp, i),
                               m.code.rings[static_cast<std::size_t>(i.site)]->name),
        .block = m.block,
        .threads = {m.coordinates(first)}};
  });
}

bool is_complete(Machine& m, const Warp& warp, const Instruction& i) {
  return slot_at(m, warp, i).turns >= warp.arrivals[static_cast<std::size_t>(i.site)].at(slot_of(warp, i));
}

}  // namespace

void run_arrive(Machine& m, Warp& warp, const Instruction& i) {
  require_whole(m, warp, i);
  RingSlot& slot = slot_at(m, warp, i);
  ++warp.arrivals[static_cast<std::size_t>(i.site)].at(slot_of(warp, i));
  if (warp.number == 0) slot.due += i.target;
  std::vector<bool>::reference here = slot.arrived[static_cast<std::size_t>(warp.number)];
  if (here) misused(m, warp, i, "arrives for the second time in one phase of");
  here = true;
  settle(slot);
}

void count_sent(RingSlot& slot, std::int64_t bytes) {
  slot.sent += bytes;
  settle(slot);
}

void run_turn(Machine& m, Warp& warp, const Instruction& i) {
  const ir::Ring& ring = *m.code.rings[static_cast<std::size_t>(i.site)];
  Cell* turn = warp.write(m.code.ring_turns[static_cast<std::size_t>(i.site)]);
  turn->i = (turn->i + 1) % ring.slots;
}

void run_await(Machine& m, Warp& warp, const Instruction& i) {
  require_whole(m, warp, i);
  if (!is_complete(m, warp, i)) {
    warp.state = Warp::State::AtRing;
    return;
  }
  RingSlot& slot = slot_at(m, warp, i);
  const std::int64_t arrivals = warp.arrivals[static_cast<std::size_t>(i.site)].at(slot_of(warp, i));
  std::int64_t& waits = warp.waits[static_cast<std::size_t>(i.site)].at(slot_of(warp, i));
  if (++waits > arrivals) misused(m, warp, i, "waits for a phase that it has not arrived in of");
  if (waits < arrivals) misused(m, warp, i, "waits for a phase behind which it has arrived in another of");
  // What was sent is there for all who wait for it, what was copied behind a barrier.
  const Clock now = m.clock;
  if (m.code.rings[static_cast<std::size_t>(i.site)]->of_cluster) m.clock.now = m.clock.others - 1;
  for (const RingSlot::Copy& copy : slot.complete)
    m.spaces[static_cast<std::size_t>(copy.flight.buffer)]->land(m, copy.thread, copy.flight);
  m.clock = now;
  slot.complete.clear();
}

void Machine::make_rings() {
  rings.assign(static_cast<std::size_t>(code.cluster), {});
  RingSlot empty;
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

/// Warps whose slot is complete by now wait once more, which lets them pass.
bool Machine::release_rings() {
  bool any = false;
  for (Warp& warp : warps) {
    if (warp.state != Warp::State::AtRing) continue;
    const Instruction& i = code.instructions[static_cast<std::size_t>(warp.next - 1)];
    if (!is_complete(*this, warp, i)) continue;
    warp.state = Warp::State::Running;
    --warp.next;
    any = true;
  }
  return any;
}

void Machine::stuck_at_rings() {
  for (const Warp& warp : warps) {
    if (warp.state != Warp::State::AtRing) continue;
    const Instruction& i = code.instructions[static_cast<std::size_t>(warp.next - 1)];
    findings.add(Fault::Deadlock, place(i), [&] {
      const int first = thread(warp, 0);
      return Finding{.message = fmt::format("the warp of {} waits for {}, at which others never arrive",
                                            who(first), code.rings[static_cast<std::size_t>(i.site)]->name),
                     .block = block,
                     .threads = {coordinates(first)}};
    });
  }
}

}  // namespace calotype::sim
