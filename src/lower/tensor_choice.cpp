// Which instruction of tensor cores carries out a tile, with how many groups of four warps: see
// tensor_tiles.cpp.
#include <fmt/format.h>

#include <algorithm>

#include "instr/matrix.h"
#include "lower/tensor_tiles.h"
#include "lower/thread_groups.h"

namespace calotype::lower {
namespace {

using instr::Number;

constexpr std::int64_t kSums = 128;  // that a thread holds, before there are more groups
constexpr std::int64_t kMostThreads = 1024;

std::optional<Number> number_of(Type type) {
  for (const Number n : {Number::F16, Number::BF16, Number::E4M3, Number::E5M2, Number::S8, Number::U8})
    if (instr::type_of(n) == type) return n;
  return std::nullopt;
}

class Chooser {
 public:
  Chooser(LoopTree& tree, StageRef stage)
      : tree_(tree), stage_(stage), asked_(*tree.schedule_of(stage).tensor_core) {}

  TensorTile run(KernelInfo& kernel, const std::vector<const Node*>& around) {
    require_alone(around);
    if (asked_.m.size() > 1 || asked_.n.size() > 1)
      refuse("several loops along one side of the tile", tree_.loop(asked_.m.front()).name,
             "one loop in 'm' and in 'n', as fuse makes it");
    tile_.m = asked_.m.front();
    tile_.n = asked_.n.front();
    tile_.k = asked_.k;
    tile_.rows = extent(tile_.m);
    tile_.columns = extent(tile_.n);
    tile_.depth = extent(tile_.k.back());
    find_operands();
    const instr::TensorRule& rule = find_rule();
    find_groups(kernel);
    tile_.record = &instr::product(rule, {.n = columns_of_product(rule)});
    if (tile_.depth % rule.products != 0)
      refuse(fmt::format("the tile has {} along '{}'", tile_.depth, tree_.loop(tile_.k.back()).name),
             std::to_string(tile_.depth), fmt::format("a multiple of {}", rule.products));
    require_registers();
    return tile_;
  }

 private:
  [[noreturn]] void refuse(std::string message, std::string value, std::string legal) const {
    const lang::FuncDef& func = tree_.func(stage_.func);
    throw Error({.kind = ErrorKind::Schedule,
                 .message = std::move(message),
                 .func = func.name,
                 .stage = lang::stage_name(func, stage_.stage),
                 .directive = asked_.origin,
                 .value = std::move(value),
                 .legal = std::move(legal)});
  }

  std::int64_t extent(LoopId id) const {
    return constant_extent(tree_, tree_.loop(id), "loop of a tile", asked_.origin);
  }

  void require_alone(const std::vector<const Node*>& around) const {
    for (const Node* node : around)
      if (node->kind == NodeKind::Loop && tree_.loop(node->loop).binding == ir::Binding::GpuThread)
        refuse("the tile stands inside a loop over threads, and all of them carry it out",
               tree_.loop(node->loop).name, "sums computed at a loop over blocks, or a serial one inside it");
    if (tree_.def(stage_).predicate.defined())
      refuse("the sum is over points where a condition holds, and the instruction adds all",
             ir::to_string(tree_.def(stage_).predicate), "a factor that is 0 where it does not");
    require_untraced(stage_.func);
  }

  void require_untraced(FuncId func) const {
    for (const schedule::Traced& traced : tree_.scheduled.traced)
      if (traced.of == tree_.func(func).name)
        refuse(fmt::format("{} asks for lines of '{}', and the instruction prints none", traced.origin,
                           traced.of),
               traced.of, "a trace of what reads the sums");
  }

  // ---- Operands

  /// What is read, below a conversion to the type of the sum.
  Expr operand(const Expr& factor) const {
    const Expr inner = ir::is(factor, ir::Op::Cast) ? factor->args[0] : factor;
    if (ir::is(inner, ir::Op::Call) && ir::callee_of(inner)->kind == ir::CalleeKind::Func) return inner;
    const bool input = ir::is(inner, ir::Op::Call);
    refuse(fmt::format("{} is multiplied, which {}", ir::to_string(inner),
                       input ? "is read from the memory of the call" : "is computed on the way"),
           ir::to_string(inner),
           input ? "a copy of it in shared memory, by in() and store_in(shared)"
                 : "a Func of its own for it, in shared memory");
  }

  void find_operands() {
    const Expr& term = tree_.def(stage_).reduce_term;
    if (!ir::is(term, ir::Op::Mul))
      refuse(fmt::format("{} is added, which is no product of two operands", ir::to_string(term)),
             ir::to_string(term), "f(...) += a(...) * b(...)");
    const Expr x = operand(term->args[0]), y = operand(term->args[1]);
    const bool x_is_a = uses(x, tile_.m) && !uses(x, tile_.n);
    tile_.a = x_is_a ? x : y;
    tile_.b = x_is_a ? y : x;
    for (const auto& [call, own, other] :
         {std::tuple(tile_.a, tile_.m, tile_.n), {tile_.b, tile_.n, tile_.m}}) {
      if (uses(call, own) && !uses(call, other)) continue;
      refuse(fmt::format("{} does not depend on '{}' alone of the two sides of the tile", ir::to_string(call),
                         tree_.loop(own).name),
             ir::to_string(call), "operands that each have one side of the tile, and what is summed");
    }
    for (const Expr& call : {tile_.a, tile_.b}) require_shared(FuncId{ir::callee_of(call)->index});
  }

  bool uses(const Expr& call, LoopId loop) const {
    const StageInfo& info = tree_.stages.at(stage_);
    for (std::size_t i = 0; i < info.dims.size(); ++i)
      if (info.coordinates[i].defined() && ir::uses(call, info.dims[i]) &&
          ir::uses(info.coordinates[i], tree_.loop(loop).var))
        return true;
    return false;
  }

  void require_shared(FuncId func) const {
    require_untraced(func);
    if (tree_.scheduled.of(func).memory == Memory::Shared) return;
    refuse(fmt::format("the operand '{}' is not in shared memory", tree_.func(func).name),
           tree_.func(func).name, fmt::format("store_in(shared) on '{}'", tree_.func(func).name));
  }

  void require_registers() const {
    const schedule::FuncSchedule& sums = tree_.scheduled.of(stage_.func);
    if (sums.memory == Memory::Register) return;
    refuse(fmt::format("'{}' is not in registers", tree_.func(stage_.func).name),
           tree_.func(stage_.func).name, "store_in(register), computed at a loop over blocks or inside one");
  }

  // ---- The instruction

  const instr::TensorRule& find_rule() const {
    const Type a = ir::callee_of(tile_.a)->type, b = ir::callee_of(tile_.b)->type,
               sum = tree_.func(stage_.func).type();
    const std::string& arch = tree_.scheduled.target.arch;  // empty: that of the GPU which is there
    if (!arch.empty() && arch != "sm_90a")
      refuse(fmt::format("the target {} has no products of four warps", tree_.scheduled.target.str()),
             "wgmma", "the target cuda-sm_90a");
    const auto of_a = number_of(a), of_b = number_of(b);
    const instr::TensorRule* rule =
        of_a && of_b ? instr::find_rule("wgmma", *of_a, *of_b, sum == Float(16)) : nullptr;
    const bool fits = rule && sum == (rule->integer() ? Int(32) : rule->to_f16 ? Float(16) : Float(32));
    if (!fits)
      refuse(fmt::format("there is no instruction that adds products of {} and {} to {}", a.str(), b.str(),
                         sum.str()),
             sum.str(), "two of f16 or bf16 added to f32, of f16, e4m3 or e5m2 to f16, s8 and u8 to s32");
    if (!rule->integer() && rule->kept < 24 && sum == Float(32))
      refuse(fmt::format("the instruction adds products of {} and {} with {} bits, where the sum is of {}",
                         a.str(), b.str(), rule->kept, sum.str()),
             sum.str(), "a sum of f16, which has fewer; or operands of 16 bits");
    return *rule;
  }

  /// Threads that are bound already say how many there are; else a thread has so many sums.
  void find_groups(KernelInfo& kernel) {
    const std::int64_t blocks_of_rows = tile_.rows / kWideRows;
    if (tile_.rows % kWideRows != 0)
      refuse(fmt::format("the tile has {} rows, along '{}'", tile_.rows, tree_.loop(tile_.m).name),
             std::to_string(tile_.rows), fmt::format("a multiple of {}", kWideRows));
    std::int64_t& threads = kernel.threads[0];
    const std::int64_t bound = threads * kernel.threads[1] * kernel.threads[2];
    if (kernel.threads[1] * kernel.threads[2] > 1)
      refuse("other loops of the block are bound to threads along y or z", std::to_string(bound),
             "gpu_threads along x alone in this block");
    const std::int64_t wanted =
        bound > 1 ? (bound + kWideThreads - 1) / kWideThreads
                  : (tile_.rows * tile_.columns + kWideThreads * kSums - 1) / (kWideThreads * kSums);
    tile_.groups = std::clamp<std::int64_t>(wanted, 1, blocks_of_rows);
    while (blocks_of_rows % tile_.groups != 0) --tile_.groups;
    threads =
        std::max((threads + kWideThreads - 1) / kWideThreads * kWideThreads, tile_.groups * kWideThreads);
    if (threads > kMostThreads)
      refuse(fmt::format("a tile of {} by {} would take {} threads", tile_.rows, tile_.columns, threads),
             std::to_string(threads), "smaller tiles");
  }

  /// The most that divide the tile.
  int columns_of_product(const instr::TensorRule& rule) const {
    for (int n = 256; n >= 8; n -= 8)
      if (tile_.columns % n == 0 && instr::allows(rule, n)) return n;
    refuse(fmt::format("the tile has {} columns, along '{}'", tile_.columns, tree_.loop(tile_.n).name),
           std::to_string(tile_.columns), rule.integer() ? "a multiple of 16" : "a multiple of 8");
  }

  LoopTree& tree_;
  const StageRef stage_;
  const schedule::TensorCore& asked_;
  TensorTile tile_;
};

}  // namespace

void choose_tensor_tiles(LoopTree& tree, const Node& nest, KernelInfo& kernel) {
  visit(nest, [&](const Node& node, const std::vector<const Node*>& around) {
    if (node.kind != NodeKind::Body || !tree.schedule_of(node.stage).tensor_core) return;
    tree.tensor_tiles[node.stage] = Chooser(tree, node.stage).run(kernel, around);
  });
}

}  // namespace calotype::lower
