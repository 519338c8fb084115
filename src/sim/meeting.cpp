// Barriers of some of a block's warps, registers that warps hand on, and what is to be said when nobody can
// go on.

#include <fmt/format.h>

#include "sim/machine.h"

namespace calotype::sim {
namespace {

constexpr int kRegisters = 65536;  // of a multiprocessor
constexpr int kRegisterStep = 8, kFewestRegisters = 24, kMostRegisters = 256;

std::string name_of(const Instruction& i) { return fmt::format("barrier {}", i.site); }

Meeting& meeting_of(Machine& m, const Warp& warp, const Instruction& i) {
  return m.meetings[static_cast<std::size_t>(warp.rank)].at(static_cast<std::size_t>(i.site));
}

void misused(Machine& m, const Warp& warp, const Instruction& i, const std::string& how) {
  const int first = m.thread(warp, 0);
  m.findings.add(Fault::PhaseMisuse, m.place(i), [&] {
    return Finding{.message = fmt::format("the warp of {} comes to {} of {} threads, {}", m.who(first),
                                          name_of(i), i.target, how),
                   .block = m.block,
                   .threads = {m.coordinates(first)}};
  });
}

/// The warp has come; whether it was the last.
bool come(Machine& m, Warp& warp, const Instruction& i) {
  m.require_whole(warp, i, name_of(i));
  Meeting& meeting = meeting_of(m, warp, i);
  if (meeting.threads == 0) meeting.expected = i.target;
  if (meeting.expected != i.target)
    misused(m, warp, i, fmt::format("where others are for {}", meeting.expected));
  meeting.known.learn(m.tell(warp));
  meeting.threads += kWarp;
  if (meeting.threads > meeting.expected) misused(m, warp, i, "at which more have come");
  return meeting.threads >= meeting.expected;
}

void let_go(Machine& m, const Warp& last, Meeting& meeting) {
  for (Warp& warp : m.warps)
    for (const int number : meeting.waiting)
      if (warp.rank == last.rank && warp.number == number) {
        m.learn(warp, meeting.known);
        warp.state = Warp::State::Running;
      }
  meeting = {.known = m.nothing_known()};
  ++m.report.barriers;
}

}  // namespace

void run_meet(Machine& m, Warp& warp, const Instruction& i) {
  const bool last = come(m, warp, i);
  Meeting& meeting = meeting_of(m, warp, i);
  meeting.waiting.push_back(warp.number);
  warp.state = Warp::State::AtMeeting;
  if (last) let_go(m, warp, meeting);
}

void run_meet_arrive(Machine& m, Warp& warp, const Instruction& i) {
  if (come(m, warp, i)) let_go(m, warp, meeting_of(m, warp, i));
}

void Machine::make_meetings() {
  Meeting none{.known = nothing_known()};
  meetings.assign(static_cast<std::size_t>(code.cluster), {});
  for (std::array<Meeting, 16>& of_block : meetings) of_block.fill(none);
  const std::int64_t each =
      std::min<std::int64_t>(kMostRegisters, kRegisters / threads_ / kRegisterStep * kRegisterStep);
  for (Warp& warp : warps) warp.register_count = static_cast<int>(each);
  free_registers.assign(static_cast<std::size_t>(code.cluster), 0);
}

// ---- Registers

void run_registers(Machine& m, Warp& warp, const Instruction& i) {
  m.require_whole(warp, i, "a change of registers");
  const int wanted = i.site;
  if (wanted % kRegisterStep != 0 || wanted < kFewestRegisters || wanted > kMostRegisters)
    m.findings.add(Fault::Registers, m.place(i), [&] {
      return Finding{.message = fmt::format("{} registers a thread are asked for, where multiples of {} from "
                                            "{} to {} are legal",
                                            wanted, kRegisterStep, kFewestRegisters, kMostRegisters),
                     .block = m.block,
                     .threads = {m.coordinates(m.thread(warp, 0))}};
    });
  std::int64_t& free = m.free_registers[static_cast<std::size_t>(warp.rank)];
  const std::int64_t more = std::int64_t{kWarp} * (wanted - warp.register_count);
  if (more > free) {
    warp.state = Warp::State::AtRegisters;
    return;
  }
  free -= more;
  warp.register_count = wanted;
}

bool Machine::release_registers() {
  bool any = false;
  for (Warp& warp : warps) {
    if (warp.state != Warp::State::AtRegisters) continue;
    const int wanted = code.instructions[static_cast<std::size_t>(warp.next - 1)].site;
    if (std::int64_t{kWarp} * (wanted - warp.register_count) >
        free_registers[static_cast<std::size_t>(warp.rank)])
      continue;
    warp.state = Warp::State::Running;
    --warp.next;
    any = true;
  }
  return any;
}

// ---- Nobody goes on

void Machine::report_stuck() {
  for (const Warp& warp : warps) {
    std::string what;
    const Instruction& i = code.instructions[static_cast<std::size_t>(std::max(warp.next - 1, 0))];
    if (warp.state == Warp::State::AtRing)
      what = awaited(warp, i);
    else if (warp.state == Warp::State::AtMeeting)
      what = fmt::format("{} of {} threads, at which others never arrive", name_of(i), i.target);
    else if (warp.state == Warp::State::AtRegisters)
      what = fmt::format("{} registers a thread, which others never give back", i.site);
    else
      continue;
    findings.add(Fault::Deadlock, place(i), [&] {
      const int first = thread(warp, 0);
      return Finding{.message = fmt::format("the warp of {} waits for {}", who(first), what),
                     .block = block,
                     .threads = {coordinates(first)}};
    });
  }
}

}  // namespace calotype::sim
