// Random directives on the loops of a stage.
#include <fmt/format.h>

#include <algorithm>

#include "fuzz/propose.h"
#include "schedule/loops.h"

namespace calotype::fuzz {

namespace {

/// Some of the names, in random order.
std::vector<std::string> some(Random& random, std::vector<std::string> names, std::size_t least,
                              std::size_t most) {
  if (names.size() < least) return {};
  for (std::size_t i = names.size(); i > 1; --i)
    std::swap(names[i - 1], names[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)))]);
  const auto n = static_cast<std::size_t>(random.within(
      static_cast<std::int64_t>(least), static_cast<std::int64_t>(std::min(most, names.size()))));
  names.resize(n);
  return names;
}

std::vector<LoopName> as_loops(const std::vector<std::string>& names) { return {names.begin(), names.end()}; }

/// A loop whose number of iterations is a small constant.
std::vector<std::string> constant_loops(const Draft& d, std::int64_t most, bool pure_only) {
  std::vector<std::string> names;
  for (const schedule::LoopId id : d.state().loops_of(d.func, d.stage).loops) {
    const schedule::Loop& l = d.state().loop(id);
    const auto extent = schedule::constant_extent(d.state(), d.func, d.stage, id);
    if (l.binding == ir::Binding::Serial && !(pure_only && l.reduction) && extent && *extent <= most)
      names.push_back(l.name);
  }
  return names;
}

}  // namespace

void propose_split(Draft& d) {
  const auto loops = d.free_loops();
  if (loops.empty()) return;
  const std::string loop = d.random.pick(loops), outer = d.fresh("o"), inner = d.fresh("i");
  const Factor by = d.factor(32);
  const Tail tail = d.tail();
  const bool named = d.random.chance(80);
  d.record_stage([&](Stage& s) {
    if (named)
      s.split(loop, outer, inner, by, tail);
    else
      s.split(loop, by, tail);
  });
}

void propose_fuse(Draft& d) {
  const auto loops = some(d.random, d.free_loops(), 2, 2);
  if (loops.empty()) return;
  const std::string fused = d.fresh("f");
  d.record_stage([&](Stage& s) { s.fuse(loops[0], loops[1], fused); });
}

void propose_tile(Draft& d) {
  const auto loops = some(d.random, d.free_loops(d.random.chance(80)), 1, 3);
  if (loops.empty()) return;
  std::vector<LoopName> outer, inner;
  std::vector<Factor> by;
  for (std::size_t i = 0; i < loops.size(); ++i) {
    outer.emplace_back(d.fresh("o"));
    inner.emplace_back(d.fresh("i"));
    by.push_back(d.factor(16));
  }
  const Tail tail = d.tail();
  d.record_stage([&](Stage& s) { s.tile(as_loops(loops), outer, inner, by, tail); });
}

void propose_reorder(Draft& d) {
  std::vector<std::string> all;
  for (const schedule::LoopId id : d.state().loops_of(d.func, d.stage).loops)
    all.push_back(d.state().loop(id).name);
  const auto loops = some(d.random, all, 2, 4);
  if (!loops.empty()) d.record_stage([&](Stage& s) { s.reorder(as_loops(loops)); });
}

void propose_serial(Draft& d) {
  const auto loops = d.free_loops();
  if (loops.empty()) return;
  const std::string loop = d.random.pick(loops);
  d.record_stage([&](Stage& s) { s.serial(loop); });
}

void propose_unroll(Draft& d) {
  const auto whole = constant_loops(d, 16, false), all = d.free_loops();
  if (!whole.empty() && d.random.chance(60)) {
    const std::string loop = d.random.pick(whole);
    d.record_stage([&](Stage& s) { s.unroll(loop); });
  } else if (!all.empty()) {
    const std::string loop = d.random.pick(all);
    const Factor by = d.factor(5);
    const Tail tail = d.tail();
    d.record_stage([&](Stage& s) { s.unroll(loop, by, tail); });
  }
}

void propose_vectorize(Draft& d) {
  const bool pure_only = d.random.chance(60);
  const auto whole = constant_loops(d, 32, pure_only), all = d.free_loops(pure_only);
  if (!whole.empty() && d.random.chance(50)) {
    const std::string loop = d.random.pick(whole);
    d.record_stage([&](Stage& s) { s.vectorize(loop); });
  } else if (!all.empty()) {
    const std::string loop = d.random.chance(70) ? all.front() : d.random.pick(all);
    const Factor by = d.factor(d.target.is_gpu() ? 4 : 32);
    const Tail tail = d.tail();
    d.record_stage([&](Stage& s) { s.vectorize(loop, by, tail); });
  }
}

void propose_parallel(Draft& d) {
  const auto loops = d.free_loops(d.random.chance(60));
  if (loops.empty()) return;
  const std::string loop = d.random.chance(70) ? loops.back() : d.random.pick(loops);
  d.record_stage([&](Stage& s) { s.parallel(loop); });
}

/// With a reduction loop that needs it or not.
void propose_atomic(Draft& d) {
  if (d.stage == 0 || !d.record_stage([](Stage& s) { s.atomic(); })) return;
  std::vector<std::string> loops;
  for (const schedule::LoopId id : d.state().loops_of(d.func, d.stage).loops)
    if (const schedule::Loop& l = d.state().loop(id); l.reduction && l.binding == ir::Binding::Serial)
      loops.push_back(l.name);
  if (loops.empty() || d.random.chance(30)) return;
  const std::string loop = d.random.pick(loops);
  const Factor by = d.factor(16);
  const bool lanes = d.random.chance(40);
  d.record_stage([&](Stage& s) {
    if (lanes)
      s.vectorize(loop, by);
    else if (d.target.is_gpu())
      s.gpu_threads(loop, by);
    else
      s.parallel(loop);
  });
}

/// The outermost loops, x the innermost of them.
void propose_gpu_blocks(Draft& d) {
  std::vector<LoopName> blocks;
  const auto& loops = d.state().loops_of(d.func, d.stage).loops;
  const std::int64_t most = d.random.within(1, 3);
  const bool pure_only = d.random.chance(70);
  for (auto it = loops.rbegin(); it != loops.rend() && static_cast<std::int64_t>(blocks.size()) < most;
       ++it) {
    const schedule::Loop& l = d.state().loop(*it);
    if ((l.reduction && pure_only) || l.binding != ir::Binding::Serial) break;
    blocks.insert(blocks.begin(), l.name);
  }
  if (blocks.empty()) return;
  d.record_stage([&](Stage& s) { s.gpu_blocks(blocks); });
  if (d.random.chance(12)) d.record_stage([&](Stage& s) { s.partition(blocks.front(), Partition::Always); });
}

namespace {

/// Now and then the Func goes to registers: threads may then have partial results of a reduction, and others
/// read what they hold.
void keep_in_registers(Draft& d) {
  const schedule::FuncSchedule& f = d.state().out.of(d.func);
  if (f.compute.kind == schedule::Place::Kind::At && f.memory == Memory::Auto &&
      d.random.chance(d.stage > 0 ? 50 : 40))
    d.record([&](Schedule& s) { s[d.func_def().name].store_in(Memory::Register); });
}

/// Binds a loop, whole or by a factor, with `bind(stage, loop)` and `bind(stage, loop, factor, tail)`.
template <class Whole, class Split>
void propose_part(Draft& d, Whole whole, Split split) {
  keep_in_registers(d);
  const bool pure_only = d.random.chance(60);
  const auto small = constant_loops(d, 32, pure_only), all = d.free_loops(pure_only);
  if (!small.empty() && d.random.chance(50)) {
    const std::string loop = d.random.pick(small);
    d.record_stage([&](Stage& s) { whole(s, loop); });
  } else if (!all.empty()) {
    const std::string loop = d.random.pick(all);
    const Factor by = d.factor(32);
    const Tail tail = d.tail();
    d.record_stage([&](Stage& s) { split(s, loop, by, tail); });
  }
}

/// How many loops of the stage at hand are bound to blocks.
std::ptrdiff_t block_loops(const Draft& d) {
  const auto& loops = d.state().loops_of(d.func, d.stage).loops;
  return std::count_if(loops.begin(), loops.end(), [&](schedule::LoopId id) {
    return d.state().loop(id).binding == ir::Binding::GpuBlock;
  });
}

}  // namespace

void propose_gpu_lanes(Draft& d) {
  propose_part(
      d, [](Stage& s, const std::string& loop) { s.gpu_lanes(loop); },
      [](Stage& s, const std::string& loop, Factor by, Tail tail) { s.gpu_lanes(loop, by, tail); });
}

void propose_gpu_warps(Draft& d) {
  propose_part(
      d, [](Stage& s, const std::string& loop) { s.gpu_warps(loop); },
      [](Stage& s, const std::string& loop, Factor by, Tail tail) { s.gpu_warps(loop, by, tail); });
}

void propose_gpu_tile(Draft& d) {
  const auto loops = some(d.random, d.free_loops(d.random.chance(80)), 1, 3);
  if (loops.empty()) return;
  std::vector<LoopName> blocks, threads;
  std::vector<Factor> by;
  for (std::size_t i = 0; i < loops.size(); ++i) {
    blocks.emplace_back(d.fresh("b"));
    threads.emplace_back(d.fresh("t"));
    by.push_back(d.factor(8));
  }
  const Tail tail = d.tail();
  d.record_stage([&](Stage& s) { s.gpu_tile(as_loops(loops), blocks, threads, by, tail); });
}

/// Few iterations of the outermost loop that is left.
void propose_cluster(Draft& d) {
  keep_in_registers(d);
  const auto small = constant_loops(d, 8, d.random.chance(60));
  const auto free = d.free_loops();
  if (free.empty() || std::find(small.begin(), small.end(), free.back()) == small.end()) return;
  d.record_stage([&](Stage& s) { s.cluster(free.back()); });
}

void propose_persistent(Draft& d) {
  if (block_loops(d) == 0 && d.random.chance(80)) propose_gpu_blocks(d);
  d.record_stage([](Stage& s) { s.persistent(); });
}

void propose_raster(Draft& d) {
  if (block_loops(d) == 0 && d.random.chance(80)) propose_gpu_blocks(d);
  const Factor strip = d.factor(6);
  d.record_stage([&](Stage& s) { s.raster(Grouped{strip}); });
}

void propose_gpu_threads(Draft& d) {
  keep_in_registers(d);
  const bool pure_only = d.random.chance(70);
  const auto whole = constant_loops(d, 32, pure_only), all = d.free_loops(pure_only);
  const auto several = some(d.random, whole, 1, 3);
  if (!several.empty() && d.random.chance(70)) {
    d.record_stage([&](Stage& s) { s.gpu_threads(as_loops(several)); });
  } else if (!all.empty()) {
    const std::string loop = d.random.pick(all);
    const Factor by = d.factor(32);
    const Tail tail = d.tail();
    d.record_stage([&](Stage& s) { s.gpu_threads(loop, by, tail); });
  }
}

namespace {

/// A condition on a size or Param that some calls may meet; empty where the program has neither.
std::string some_condition(Draft& d) {
  std::vector<std::pair<std::string, std::int64_t>> values;
  for (const auto& [name, value] : d.program.runs[0]) values.emplace_back(name, value);
  for (const ParamSpec& p : d.program.params)
    if (!p.type.is_bool()) values.emplace_back(p.name, p.value);
  if (values.empty()) return "";
  const auto& [name, value] = d.random.pick(values);
  switch (d.random.below(4)) {
    case 0:
      return fmt::format("{} == {}", name, std::max<std::int64_t>(value, 0));
    case 1:
      return fmt::format("{}%{} == 0", name, d.random.within(2, 8));
    case 2:
      return fmt::format("{} > {}", name, d.random.within(0, 20));
    default:
      return fmt::format("{} <= {} || {} == {}", name, d.random.within(0, 9), name,
                         std::max<std::int64_t>(value, 0));
  }
}

}  // namespace

void propose_specialize(Draft& d) {
  const std::string condition = some_condition(d);
  const auto loops = d.free_loops(true);
  if (condition.empty()) return;
  const bool gpu = d.target.is_gpu();
  const std::string outer = d.fresh("o"), inner = d.fresh("i");
  const Factor by = d.factor(8);
  const std::int64_t what = loops.empty() ? 0 : d.random.within(0, 3);
  const std::string loop = loops.empty() ? "" : d.random.pick(loops);
  d.record_stage([&](Stage& s) {
    Stage branch = s.specialize(condition);
    if (what == 1) branch.split(loop, outer, inner, by);
    if (what == 2) branch.unroll(loop, 2);
    if (what == 3 && !gpu) branch.vectorize(loop, by);
  });
}

void propose_specialize_fail(Draft& d) {
  const std::string condition = some_condition(d);
  if (condition.empty()) return;
  d.record_stage([&](Stage& s) {
    s.specialize(condition);
    s.specialize_fail("neither this nor that");
  });
}

}  // namespace calotype::fuzz
