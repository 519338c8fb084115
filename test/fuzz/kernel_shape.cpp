// Kernels as someone would write them for a GPU.
#include "fuzz/kernel_shape.h"

#include <algorithm>

namespace calotype::fuzz {

namespace {

Tail some_tail(Random& random) {
  static const std::vector<Tail> tails = {Tail::Auto, Tail::Auto, Tail::Auto, Tail::Guard, Tail::Predicate};
  return random.pick(tails);
}

std::int64_t pick(Random& random, std::vector<std::int64_t> numbers) { return random.pick(numbers); }

void append(std::vector<LoopName>& all, const std::vector<std::string>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

/// The loops of a stage while it is cut up, each list innermost first.
struct KernelShape::Cut {
  std::vector<std::string> inside, threads, turns, cluster, blocks;
};

KernelShape::KernelShape(Draft& draft, const Wishes& wishes)
    : func(draft.func),
      stage(draft.stage),
      d_(draft),
      wishes_(wishes),
      warps_(draft.random.chance(40)),
      turns_in_cluster_(wishes.cluster && draft.random.chance(40)) {}

std::vector<std::string> KernelShape::loops_of(bool reduction) const {
  std::vector<std::string> names;
  for (const schedule::LoopId id : d_.state().loops_of(d_.func, d_.stage).loops) {
    const schedule::Loop& l = d_.state().loop(id);
    if (l.binding == ir::Binding::Serial && l.reduction == reduction) names.push_back(l.name);
  }
  return names;
}

bool KernelShape::split(const std::string& loop, const std::string& outer, const std::string& inner,
                        std::int64_t by) {
  const Tail tail = some_tail(d_.random);
  return d_.record_stage([&](Stage& s) { s.split(loop, outer, inner, by, tail); });
}

/// Blocks and threads of one coordinate, with blocks of a cluster between them in the first.
bool KernelShape::cut_loop(const std::string& loop, bool first, Cut& cut) {
  const std::string outer = d_.fresh("b"), inner = d_.fresh("t");
  if (!first && (wishes_.whole || d_.random.chance(45))) {
    cut.blocks.push_back(loop);
    return true;
  }
  const std::int64_t by = first ? pick(d_.random, {4, 8, 8, 16, 32}) : pick(d_.random, {1, 2, 3, 4});
  if (first && wishes_.cluster) {
    parts_ = pick(d_.random, {2, 2, 2, 4});
    const std::string both = d_.fresh("a"), part = d_.fresh("c");
    if (!split(loop, outer, both, by * parts_) || !split(both, part, inner, by)) return false;
    cut.cluster.push_back(part);
  } else if (!split(loop, outer, inner, by)) {
    return false;
  }
  cut.blocks.push_back(outer);
  (first || d_.random.chance(70) ? cut.threads : cut.inside).push_back(inner);
  return true;
}

/// The threads of a block go along the row, part by part.
bool KernelShape::cut_row(const std::string& loop, Cut& cut) {
  const std::string outer = d_.fresh("p"), inner = d_.fresh("t");
  cut.inside.push_back(outer);
  cut.threads.push_back(inner);
  return split(loop, outer, inner, pick(d_.random, {4, 8, 16, 32}));
}

/// A part of a block loop, a whole one where others are left, or a part of the reduction.
bool KernelShape::take_turns(Cut& cut) {
  const std::string outer = d_.fresh("b"), turn = d_.fresh("s");
  if (!cut.inside.empty() && d_.stage > 0 && d_.random.chance(60)) {
    const std::string loop = cut.inside.back(), rest = d_.fresh("r");
    if (!split(loop, turn, rest, pick(d_.random, {2, 4, 4, 8}))) return false;
    cut.inside.back() = rest;
  } else if (cut.blocks.size() > 1 && (wishes_.whole || d_.random.chance(50))) {
    cut.turns.push_back(cut.blocks.back());
    cut.blocks.pop_back();
    return true;
  } else {
    const std::string loop = cut.blocks.back();
    if (!split(loop, outer, turn, pick(d_.random, {2, 3, 4}))) return false;
    cut.blocks.back() = outer;
  }
  cut.turns.push_back(turn);
  return true;
}

bool KernelShape::bind_threads(const std::vector<std::string>& loops) {
  if (loops.empty()) return true;
  if (!warps_)
    return d_.record_stage(
        [&](Stage& s) { s.gpu_threads(std::vector<LoopName>(loops.begin(), loops.end())); });
  if (!d_.record_stage([&](Stage& s) { s.gpu_lanes(loops[0]); })) return false;
  return loops.size() < 2 || d_.record_stage([&](Stage& s) { s.gpu_warps(loops[1]); });
}

bool KernelShape::cut() {
  const Addressed here(d_, func, stage);
  if (!d_.state().out.graph.is_output(func) && d_.state().funcs[func.value].compute_directive < 0 &&
      !d_.record([&](Schedule& s) { s[d_.func_def().name].compute_root(); }))
    return false;
  const std::vector<std::string> pure = loops_of(false);
  if (pure.empty()) return false;
  Cut cut;
  cut.inside = loops_of(true);
  const bool rows = wishes_.rows && pure.size() > 1;
  if (rows && !cut_row(pure[0], cut)) return false;
  for (std::size_t i = rows ? 1 : 0; i < pure.size(); ++i)
    if (!cut_loop(pure[i], cut.blocks.empty(), cut)) return false;
  if (wishes_.turns && !take_turns(cut)) return false;
  std::vector<LoopName> order;
  append(order, cut.inside);
  append(order, cut.threads);
  append(order, turns_in_cluster_ ? cut.turns : cut.cluster);
  append(order, turns_in_cluster_ ? cut.cluster : cut.turns);
  append(order, cut.blocks);
  if (order.size() > 1 && !d_.record_stage([&](Stage& s) { s.reorder(order); })) return false;
  const std::vector<LoopName> blocks(cut.blocks.begin(), cut.blocks.end());
  if (!d_.record_stage([&](Stage& s) { s.gpu_blocks(blocks); }) || !bind_threads(cut.threads)) return false;
  block = cut.blocks.front();
  if (!cut.turns.empty()) turns = cut.turns.front();
  if (!cut.cluster.empty()) cluster = cut.cluster.front();
  return cluster.empty() || d_.record_stage([&](Stage& s) { s.cluster(cluster); });
}

std::string KernelShape::stage_text() const {
  const lang::FuncDef& f = d_.state().def(func);
  return stage == 0 && f.stages.size() > 1 ? f.name + ".pure" : lang::stage_name(f, stage);
}

bool KernelShape::compute_inside(schedule::FuncId inner, const std::string& loop, Memory memory) {
  const std::string at = stage_text();
  const Addressed here(d_, inner, 0);
  if (!d_.record_stage([&](Stage& s) { s.compute_at(at, loop); })) return false;
  return memory == Memory::Auto || d_.record_stage([&](Stage& s) { s.store_in(memory); });
}

void KernelShape::deal_out(schedule::FuncId inner, int inner_stage) {
  const Addressed here(d_, inner, inner_stage);
  const std::vector<std::string> pure = loops_of(false);
  if (pure.empty()) return;
  const std::int64_t by = pick(d_.random, {4, 8, 16, 32});
  const Tail tail = some_tail(d_.random);
  if (!warps_) {
    d_.record_stage([&](Stage& s) { s.gpu_threads(pure[0], by, tail); });
    return;
  }
  d_.record_stage([&](Stage& s) { s.gpu_lanes(pure[0], by, tail); });
  if (pure.size() > 1 && d_.random.chance(60))
    d_.record_stage([&](Stage& s) { s.gpu_warps(pure[1], d_.random.within(1, 4), tail); });
}

bool KernelShape::reduce(schedule::FuncId inner, int inner_stage) {
  const Addressed here(d_, inner, inner_stage);
  const std::vector<std::string> loops = loops_of(true);
  if (loops.empty()) return false;
  std::string loop = d_.random.pick(loops);
  if (!cluster.empty() && d_.random.chance(70)) {
    const std::string outer = d_.fresh("ro"), both = d_.fresh("rb"), part = d_.fresh("rc"),
                      rest = d_.fresh("ri");
    const std::int64_t by = pick(d_.random, {4, 8, 16});
    if (!split(loop, outer, both, by * parts_) || !split(both, part, rest, by) ||
        !d_.record_stage([&](Stage& s) { s.cluster(part); }))
      return false;
    loop = rest;
  }
  const std::int64_t by = pick(d_.random, {2, 4, 8, 16, 32, 32});
  const Tail tail = some_tail(d_.random);
  if (!warps_) return d_.record_stage([&](Stage& s) { s.gpu_threads(loop, by, tail); });
  if (!d_.record_stage([&](Stage& s) { s.gpu_lanes(loop, by, tail); })) return false;
  if (d_.random.chance(60))
    d_.record_stage([&](Stage& s) { s.gpu_warps(loop + ".o", d_.random.within(1, 4), tail); });
  return true;
}

}  // namespace calotype::fuzz
