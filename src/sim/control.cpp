// Control flow of a warp: branches and loops by masks of lanes, checks, barriers.

#include <fmt/format.h>

#include <bit>
#include <string>
#include <vector>

#include "sim/machine.h"

namespace calotype::sim {

LaneMask true_lanes(const Warp& warp, Register r) {
  const Cell* cells = warp.read(r);
  if (r.uniform) return cells[0].i != 0 ? ~LaneMask{0} : 0;
  LaneMask lanes = 0;
  for (int lane = 0; lane < kWarp; ++lane) lanes |= LaneMask{cells[lane].i != 0} << lane;
  return lanes;
}

namespace {

LaneMask positive_lanes(const Warp& warp, Register r) {
  const Cell* cells = warp.read(r);
  if (r.uniform) return cells[0].i > 0 ? ~LaneMask{0} : 0;
  LaneMask lanes = 0;
  for (int lane = 0; lane < kWarp; ++lane) lanes |= LaneMask{cells[lane].i > 0} << lane;
  return lanes;
}

void leave(Warp& warp) {
  warp.mask = warp.frames.back().outer;
  warp.frames.pop_back();
}

std::string value_text(Type type, Cell cell) {
  if (type.is_float()) return fmt::format("{}", cell.f);
  if (type.is_bool()) return cell.i != 0 ? "true" : "false";
  return type.is_uint() ? fmt::format("{}", static_cast<std::uint64_t>(cell.i)) : fmt::format("{}", cell.i);
}

/// The text of a check with the values that a lane has.
std::string check_text(const CheckSite& site, const Warp& warp, int lane) {
  std::string text = site.text;
  std::size_t from = 0;
  for (std::size_t i = 0; i < site.values.size(); ++i) {
    const std::size_t at = text.find("{}", from);
    if (at == std::string::npos) break;
    const Register r = site.values[i];
    const std::string value = value_text(site.types[i], warp.read(r)[r.uniform ? 0 : lane]);
    text.replace(at, 2, value);
    from = at + value.size();
  }
  return text;
}

}  // namespace

void run_if(Machine&, Warp& warp, const Instruction& i) {
  const LaneMask holds = true_lanes(warp, i.a);
  warp.frames.push_back({warp.mask, warp.mask & ~holds});
  warp.mask &= holds;
  if (warp.mask == 0) warp.next = i.target;
}

void run_else(Machine&, Warp& warp, const Instruction& i) {
  warp.mask = warp.frames.back().otherwise;
  if (warp.mask == 0) warp.next = i.target;
}

void run_end_if(Machine&, Warp& warp, const Instruction&) { leave(warp); }

void run_enter_loop(Machine&, Warp& warp, const Instruction& i) {
  warp.frames.push_back({warp.mask, 0});
  warp.mask &= positive_lanes(warp, i.b);
  if (warp.mask != 0) return;
  leave(warp);
  warp.next = i.target;
}

void run_next(Machine&, Warp& warp, const Instruction& i) {
  Cell* variable = warp.write(i.result);
  Cell* left = warp.write(i.b);
  for (int k = 0; k < i.result.cells(); ++k) {
    const auto following = static_cast<std::int64_t>(static_cast<std::uint64_t>(variable[k].i) + 1);
    variable[k].i = i.site == 32 ? static_cast<std::int32_t>(following) : following;
    if (left[k].i > 0) --left[k].i;
  }
  warp.mask &= positive_lanes(warp, i.b);
  if (warp.mask != 0) {
    warp.next = i.target;
  } else {
    leave(warp);
  }
}

void run_check(Machine& m, Warp& warp, const Instruction& i) {
  const LaneMask failing = warp.mask & ~true_lanes(warp, i.a);
  if (failing == 0) return;
  const int lane = std::countr_zero(failing);
  const int thread = m.thread(warp, lane);
  m.findings.add(Fault::CheckFailed, m.place(i), [&] {
    return Finding{
        .message = fmt::format("{}, in {}", check_text(m.code.checks[i.site], warp, lane), m.who(thread)),
        .block = m.block,
        .threads = {m.coordinates(thread)}};
  });
  m.stopped = true;
}

void run_print(Machine& m, Warp& warp, const Instruction& i) {
  const CheckSite& site = m.code.checks[i.site];
  for_lanes(warp.mask & true_lanes(warp, i.a), [&](int lane) {
    std::vector<std::int64_t> values;
    std::string kinds;
    for (std::size_t k = 0; k < site.values.size(); ++k) {
      const Register r = site.values[k];
      const Cell cell = warp.read(r)[r.uniform ? 0 : lane];
      const Type t = site.types[k];
      values.push_back(!t.is_float()  ? cell.i
                       : t.bits == 64 ? std::bit_cast<std::int64_t>(cell.f)
                                      : std::bit_cast<std::uint32_t>(static_cast<float>(cell.f)));
      kinds += t.is_bool() ? 'b' : t.is_int() ? 'i' : t.is_uint() ? 'u' : t.bits == 64 ? 'd' : 's';
    }
    if (m.launch.print) m.launch.print(site.text.c_str(), values.data(), kinds.c_str());
  });
}

void Machine::require_whole(const Warp& warp, const Instruction& i, const std::string& what) {
  const LaneMask missing = warp.live & ~warp.mask;
  if (missing == 0) return;
  const int here = thread(warp, std::countr_zero(warp.mask));
  const int elsewhere = thread(warp, std::countr_zero(missing));
  findings.add(Fault::Divergence, place(i), [&] {
    return Finding{.message = fmt::format("{} is reached by {} but not by {} of the same warp", what,
                                          who(here), who(elsewhere)),
                   .block = block,
                   .threads = {coordinates(here), coordinates(elsewhere)}};
  });
}

namespace {

void wait_at_barrier(Machine& m, Warp& warp, const Instruction& i, Warp::State state) {
  warp.state = state;
  m.require_whole(warp, i, fmt::format("the barrier ({})", m.code.barriers[i.site].reason));
}

}  // namespace

void run_barrier(Machine& m, Warp& warp, const Instruction& i) {
  wait_at_barrier(m, warp, i, Warp::State::AtBarrier);
}

void run_cluster_barrier(Machine& m, Warp& warp, const Instruction& i) {
  wait_at_barrier(m, warp, i, Warp::State::AtClusterBarrier);
}

void run_exit(Machine& m, Warp& warp, const Instruction&) {
  m.end_departures(warp);
  warp.state = Warp::State::Ended;
}

}  // namespace calotype::sim
