// Conversions of layouts: a stage reads what other threads hold in registers.
//
// Requires: resolved loops, thread groups, layouts. Leaves: for each stage and Func with such reads how they
// are carried out. Lanes of one warp give each other their elements by shuffles: one for each slot of the
// holder that the element may lie in, which is as many as instructions. Where the holder may be in another
// warp, there are too many slots, or the reader does not run in all lanes (inside the threads of another
// stage), the Func's elements are copied to shared memory once they are computed. Whatever cannot be had
// either way is left without an entry, and refused where the stage is emitted: elements of another block of
// the cluster, and a stage's own Func, whose elements change meanwhile.
#include "lower/convert_layouts.h"

#include <algorithm>

#include "ir/questions.h"
#include "lower/holders.h"
#include "lower/passes.h"
#include "lower/thread_groups.h"

namespace calotype::lower {
namespace {

bool is_thread_loop(const LoopInfo& loop) { return loop.binding == ir::Binding::GpuThread; }

class Converter {
 public:
  Converter(LoopTree& tree, const KernelInfo& kernel) : tree_(tree), kernel_(kernel) {}

  void run(Node& nest) {
    visit(nest, [&](const Node& node, const std::vector<const Node*>& chain) {
      const bool decided = node.kind != NodeKind::Body || tree_.tensor_tiles.count(node.stage) != 0;
      if (!decided && !tree_.def(node.stage).function()) decide(node.stage, chain);
    });
    for (const auto& [stage, loops] : shuffling_) run_whole_warps(stage, loops);
    publish_in(nest);
  }

 private:
  void decide(StageRef reader, const std::vector<const Node*>& chain) {
    std::vector<LoopId> open;
    for (const Node* node : chain)
      if (node->kind == NodeKind::Loop) open.push_back(node->loop);
    const bool whole = can_run_whole_warps(reader, chain);
    std::optional<Holders> holders;
    lang::StageDef def = tree_.def(reader);
    def.reduction.clear();
    for (const Expr& call : calls_in(def)) {
      const ir::Callee& callee = *ir::callee_of(call);
      if (callee.kind != ir::CalleeKind::Func) continue;
      const FuncId func{callee.index};
      const auto storage = tree_.storage.find(func);
      if (func == reader.func || storage == tree_.storage.end() || !storage->second.layout) continue;
      if (tree_.scheduled.of(func).memory == Memory::Shared) continue;  // of the blocks of a cluster
      if (tree_.own_slot(reader, func, placed(call->args, reader)).defined()) continue;
      if (!holders) holders.emplace(tree_, kernel_, reader, open);
      const Held held = holders->of(func, placed(call->args, reader));
      if (held.own) continue;
      const bool near = whole && held.in_warp && !reads_to_tell(call) && !addresses(def, call) &&
                        !holders->slots_of(held.slot, kMostShuffles).empty();
      if (near || (held.in_block && can_be_published(func)))
        note({reader, func}, near ? Conversion::Shuffles : Conversion::Shared);
    }
    if (tree_.shuffles(reader)) shuffling_[reader] = std::move(open);
  }

  /// Whether the element is told by what is read, which may be done only under the stage's guards.
  static bool reads_to_tell(const Expr& call) {
    return std::any_of(call->args.begin(), call->args.end(),
                       [](const Expr& e) { return ir::reads_memory(e); });
  }

  /// Whether the read tells which place is written, maybe behind a reduction.
  static bool addresses(const lang::StageDef& def, const Expr& call) {
    return std::any_of(def.lhs.begin(), def.lhs.end(), [&](const Expr& e) {
      return ir::any_of(e, [&](const Expr& n) { return ir::equal(n, call); });
    });
  }

  /// One read that needs memory makes all of them use it.
  void note(const std::pair<StageRef, FuncId>& read, Conversion conversion) {
    const auto [entry, is_new] = tree_.conversions.try_emplace(read, conversion);
    if (conversion == Conversion::Shared) entry->second = conversion;
  }

  std::vector<Expr> placed(const std::vector<Expr>& coordinates, StageRef reader) const {
    const ir::Substitution values = tree_.coordinates_of(reader);
    std::vector<Expr> result;
    for (const Expr& c : coordinates) result.push_back(ir::substitute(c, values));
    return result;
  }

  // ---- Shuffles

  /// Whether every lane can reach the definition: threads are bound by the stage's own loops alone.
  bool can_run_whole_warps(StageRef stage, const std::vector<const Node*>& chain) const {
    std::vector<ir::SymbolPtr> threads;
    for (const Node* node : chain) {
      if (node->kind != NodeKind::Loop) continue;
      const LoopInfo& loop = tree_.loop(node->loop);
      const bool own = node->stage == stage && loop.sharers.empty();
      if (is_thread_loop(loop) && !own) return false;
      if (is_thread_loop(loop)) threads.push_back(loop.var);
      if (own && varies(loop, threads) && !ir::constant_upper_bound(loop.extent, tree_.facts)) return false;
      if (!own && (varies(loop, threads) || loop.binding == ir::Binding::Vector)) return false;
    }
    return true;
  }

  static bool varies(const LoopInfo& loop, const std::vector<ir::SymbolPtr>& threads) {
    return std::any_of(threads.begin(), threads.end(),
                       [&](const ir::SymbolPtr& s) { return ir::uses(loop.extent, s); });
  }

  void run_whole_warps(StageRef stage, const std::vector<LoopId>& open) {
    std::vector<ir::SymbolPtr> threads;
    for (LoopId id : open) {
      LoopInfo& loop = tree_.loop(id);
      if (is_thread_loop(loop)) {
        run_to(tree_, loop, all_positions(loop, kernel_), stage);
        threads.push_back(loop.var);
      } else if (varies(loop, threads)) {
        run_to(tree_, loop, constant_extent(tree_, loop, "loop around shuffles", loop.origin), stage);
      }
    }
  }

  // ---- Shared memory

  bool can_be_published(FuncId func) const {
    return sharing(tree_.scheduled, func).size() == 1 && !tree_.def({func, 0}).predicate.defined() &&
           !tree_.storage.at(func).layout->uses(layout::Axis::Rank);
  }

  bool is_published(FuncId func) const {
    return std::any_of(tree_.conversions.begin(), tree_.conversions.end(), [&](const auto& entry) {
      return entry.first.second == func && entry.second == Conversion::Shared;
    });
  }

  /// The loops of the first definition, which computes all elements, once more behind the last update.
  void publish_in(Node& node) {
    for (Node& child : node.children) publish_in(child);
    if (node.kind != NodeKind::Produce || !tree_.storage.contains(node.func) || !is_published(node.func))
      return;
    const StageRef first{node.func, 0};
    Node nest{.kind = NodeKind::Publish, .stage = first};
    for (LoopId id : tree_.schedule_of(first).loops) {  // innermost first
      Node loop{.kind = NodeKind::Loop, .stage = first, .loop = id};
      loop.children.push_back(std::move(nest));
      nest = std::move(loop);
    }
    node.children.push_back(std::move(nest));
  }

  LoopTree& tree_;
  const KernelInfo& kernel_;
  std::map<StageRef, std::vector<LoopId>> shuffling_;  ///< the loops around their definitions
};

}  // namespace

void convert_layouts(LoopTree& tree, const KernelInfo& kernel, Node& nest) {
  Converter(tree, kernel).run(nest);
}

}  // namespace calotype::lower
