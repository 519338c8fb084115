// A box as the iterations of loops: its sides, where it begins in the tensor and in shared memory.
//
// The hardware takes boxes of up to 256 elements a side of tensors of up to 5 dimensions, the first one
// dense, and packs their rows, of whole 16 bytes, one behind the other (PTX ISA, "Tensors").
#include "lower/box_copy.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/known_condition.h"
#include "lower/multicast.h"
#include "lower/passes.h"
#include "runtime/plan.h"

namespace calotype::lower {
namespace {

using instr::kBoxSide;
using instr::kBulkBytes;

class TensorBox : CopiedLoops {
 public:
  /// `blocks` of a cluster have some of the boxes each, and send them to all.
  TensorBox(const LoopTree& tree, StageRef stage, const PlaceIn& place, bool out, std::int64_t blocks)
      : CopiedLoops(tree, stage, "in boxes",
                    out ? "no copy directive on it, which leaves it to the threads" : "copy(async)"),
        place_(place),
        out_(out),
        blocks_(blocks) {}

  ir::Stmt run(const ir::Stmt& loops) {
    find(loops);
    refuse_threads();
    const Expr& load = store_->exprs[0];
    tensor_ = out_ ? store_->buffer() : ir::buffer_of(load);
    memory_ = out_ ? ir::buffer_of(load) : store_->buffer();
    refuse_tensor();
    whole_ = start_ = coordinates();
    index_ = out_ ? load->args.back() : store_->exprs[2];
    extents_.assign(start_.size(), 1);
    while (!loops_.empty() && takes(loops_.back())) loops_.pop_back();
    for (const Around& loop : loops_) require_no_vector(loop.info.var->name, loop.info.binding);
    finish_rows();
    if (reaches_further_ && !out_) require_room();
    if (blocks_ > 1) require_all_boxes();
    ir::Stmt s = finished(statement(), conditions_);
    for (auto loop = loops_.rbegin(); loop != loops_.rend(); ++loop)
      s = blocks_ > 1 && is_dealt_out(loop->info.var) ? dealt_out(*loop, s)
                                                      : ir::for_loop(loop->info, loop->min, loop->extent, s);
    return s;
  }

 private:
  std::int64_t bytes() const { return memory_->type.bytes(); }

  // ---- What can be copied so at all

  void refuse_threads() const {
    for (const Around& loop : loops_)
      if (loop.info.binding == ir::Binding::GpuThread)
        refuse(fmt::format("one thread starts them all, but '{}' is bound to threads", loop.info.var->name),
               loop.info.var->name, fmt::format("serial loops; or {}", out_ ? otherwise_ : "copy(bulk)"));
  }

  void refuse_tensor() const {
    const std::size_t rank = tensor_->extents.size();
    if (rank > CALOTYPE_TENSOR_RANK)
      refuse(fmt::format("'{}' has {} dimensions", tensor_->name, rank), std::to_string(rank),
             fmt::format("a tensor of at most {}; or {}", int{CALOTYPE_TENSOR_RANK}, otherwise_));
    if (out_) return;
    const ir::Callee& callee = *ir::callee_of(tree_.def(stage_).value);
    const FuncId of{callee.index};
    if (callee.kind == ir::CalleeKind::Input || !tree_.storage.count(of)) return;
    const Storage& storage = tree_.storage.at(of);
    const bool plain = tree_.scheduled.of(of).storage.layout.empty() && storage.copies == 1 &&
                       std::all_of(storage.folds.begin(), storage.folds.end(), [](auto f) { return f == 0; });
    if (!plain || !ir::is_one(tensor_->strides[0]))
      refuse(fmt::format("'{}' does not lie in memory as a tensor of its coordinates, '{}' innermost",
                         callee.name, tree_.func(of).args[0]->name),
             callee.name,
             fmt::format("no reorder_storage, layout, fold_storage and ring_buffer on '{}'; or copy(async)",
                         callee.name));
  }

  /// Of the element at hand in the tensor.
  std::vector<Expr> coordinates() const {
    const std::vector<Expr>& at = out_ ? tree_.def(stage_).lhs : tree_.def(stage_).value->args;
    std::vector<Expr> all;
    for (std::size_t d = 0; d < at.size(); ++d)
      all.push_back(simple(cast(Int(64), place_(at[d])) - tensor_->mins[d]));
    return all;
  }

  // ---- Blocks of a cluster that copy for each other

  const LoopInfo& dealt_out_loop() const {
    return tree_.loop(tree_.scheduled.of(func().id).stages.front().multicast->loop);
  }
  bool is_dealt_out(const ir::SymbolPtr& variable) const { return variable == dealt_out_loop().var; }

  /// Iterations of the block's own, which are consecutive.
  ir::Stmt dealt_out(const Around& loop, const ir::Stmt& body) const {
    const std::int64_t own = *ir::as_int(loop.extent) / blocks_;
    const LoopInfo& cluster = tree_.loop(*cluster_around(tree_, func().id));
    const Expr first = loop.min + (ir::make_var(cluster.var) - cluster.min) * ir::index(own);
    const Expr iteration = ir::make_var(loop.info.var);
    return ir::for_loop(loop.info, ir::index(0), ir::index(own),
                        ir::substitute(body, {{loop.info.var, first + iteration}}));
  }

  /// What a block is sent is counted by bytes: those of all that is stored, always.
  void require_all_boxes() const {
    const LoopInfo& dealt = dealt_out_loop();
    std::int64_t boxes = 1;
    bool found = false;
    for (const Around& loop : loops_) {
      found |= is_dealt_out(loop.info.var);
      const std::optional<std::int64_t> extent = ir::as_int(loop.extent);
      if (!extent || (is_dealt_out(loop.info.var) && *extent % blocks_ != 0))
        refuse_multicast(tree_, func().id,
                         fmt::format("the loop '{}' around boxes has {} iterations, and clusters {} blocks",
                                     loop.info.var->name, ir::to_string(loop.extent), blocks_),
                         ir::to_string(loop.extent), fmt::format("a multiple of {}", blocks_));
      boxes *= *extent;
    }
    if (!found)
      refuse_multicast(tree_, func().id, fmt::format("the loop '{}' is part of a box", dealt.name),
                       dealt.name, "a split of it, the outer part to be dealt out");
    for (const Expr& condition : conditions_)
      if (const Expr holds = simple(condition); !ir::is_one(holds))
        refuse_multicast(
            tree_, func().id,
            fmt::format("boxes of '{}' are left out unless {}", func().name, ir::to_string(holds)),
            ir::to_string(holds), "tiles of which every block has all boxes");
    std::int64_t bytes = boxes * memory_->type.bytes();
    for (const std::int64_t extent : extents_) bytes *= extent;
    if (const std::int64_t stored = stored_bytes(tree_, func().id); bytes != stored)
      refuse_multicast(
          tree_, func().id,
          fmt::format("boxes of '{}' have {} of the {} bytes stored", func().name, bytes, stored),
          std::to_string(bytes), "boxes that fill the memory");
  }

  // ---- Loops that become sides

  /// Makes a loop part of the box, if it can be; refused if it is the first one and cannot.
  bool takes(const Around& loop) {
    const ir::SymbolPtr& variable = loop.info.var;
    const std::optional<std::int64_t> most = ir::constant_upper_bound(loop.extent, tree_.facts);
    if (blocks_ > 1 && is_dealt_out(variable)) return false;
    if (loop.info.binding != ir::Binding::Serial)
      return ends(fmt::format("the loop '{}' is {}", variable->name, ir::to_string(loop.info.binding)),
                  variable->name, "a serial loop");
    if (!most)
      return ends(fmt::format("the loop '{}' has no constant bound", variable->name),
                  ir::to_string(loop.extent), "a split by a factor; or a bound on the size it follows from");
    if (*most > kBoxSide)
      return ends(fmt::format("the loop '{}' has up to {} iterations", variable->name, *most),
                  std::to_string(*most),
                  fmt::format("at most {}: split by a factor, the outer part outside", kBoxSide));
    if (*most > 1 && !becomes_side(variable, *most)) return false;
    begin_at(loop, *most);
    return true;
  }

  bool becomes_side(const ir::SymbolPtr& variable, std::int64_t most) {
    const std::optional<std::size_t> side = side_of(variable);
    if (!side)
      return ends(fmt::format("the iterations of '{}' do not advance one coordinate of '{}' by 1",
                              variable->name, tensor_->name),
                  variable->name,
                  fmt::format("loops over coordinates that are taken as they are; or {}", otherwise_));
    if (*side < next_side_ || (*side != 0 && next_side_ == 0))
      return ends(fmt::format("'{}' runs over dimension {} of '{}', out of turn", variable->name, *side,
                              tensor_->name),
                  variable->name, "loops in the order of the tensor's dimensions, the first one innermost");
    const Expr step_in_memory = step(index_, variable);
    const std::optional<std::int64_t> stride =
        step_in_memory.defined() ? ir::as_int(step_in_memory) : std::nullopt;
    if (!stride || !fills_up_to(*stride))
      return ends(fmt::format("the elements of '{}' do not lie densely behind each other in its memory",
                              variable->name),
                  step_in_memory.defined() ? ir::to_string(step_in_memory) : ir::to_string(index_),
                  "loops in the order of the memory, innermost what has neighbours there");
    next_side_ = *side + 1;
    last_side_ = *side;
    extents_[*side] = most;
    packed_ *= most;
    return true;
  }

  /// The loop ends the box. If it is the first, there is none.
  bool ends(const std::string& why, std::string value, std::string legal) const {
    if (next_side_ == 0) refuse(why, std::move(value), std::move(legal));
    return false;
  }

  /// The dimension of the tensor that the loop moves along.
  std::optional<std::size_t> side_of(const ir::SymbolPtr& variable) const {
    std::optional<std::size_t> side;
    for (std::size_t d = 0; d < start_.size(); ++d) {
      const Expr by = step(start_[d], variable);
      if (by.defined() && ir::is_zero(by)) continue;
      if (side || !by.defined() || !ir::is_one(by)) return std::nullopt;
      side = d;
    }
    return side;
  }

  /// Whether the box, or one with as many elements more along its last side as there is unused room for, has
  /// `elements` elements.
  bool fills_up_to(std::int64_t elements) {
    if (next_side_ == 0) return elements == 1;
    if (elements == packed_) return true;
    const std::int64_t others = packed_ / extents_[last_side_], longer = elements / others;
    if (elements < packed_ || elements % others != 0 || longer > kBoxSide) return false;
    // Else the room is that of other boxes.
    if (ir::known_multiple(simple(index_), tree_.facts) % elements != 0) return false;
    extents_[last_side_] = longer;
    packed_ = elements;
    return true;
  }

  /// The box begins where the loop does. Conditions have to hold there, and cut off its end.
  void begin_at(const Around& loop, std::int64_t most) {
    const ir::SymbolPtr& variable = loop.info.var;
    for (Expr& condition : conditions_) {
      if (!ir::uses(condition, variable)) continue;
      end_of(condition, variable);
      if (out_) require_end_of_tensor(condition);
      condition = at(condition, variable, loop.min);
      reaches_further_ = true;
    }
    if (!ir::is_one(simple(loop.extent == ir::index(most)))) {
      if (out_) require_end_of_tensor(ir::make_var(variable) < loop.min + loop.extent);
      conditions_.push_back(simple(loop.extent > ir::index(0)));
      reaches_further_ = true;
    }
    for (Expr& e : start_) e = at(e, variable, loop.min);
    index_ = at(index_, variable, loop.min);
    ends_.emplace_back(variable, loop.min + ir::index(most - 1));
  }

  /// What is sent beyond the last iterations is left out where the tensor ends, and nowhere else.
  void require_end_of_tensor(const Expr& condition) const {
    const bool less = ir::is(condition, ir::Op::Lt), most = ir::is(condition, ir::Op::Le);
    std::vector<Expr> ends;  // of which the least is the end; a constant one is the box's
    if (less || most) ends = {condition->args[1]};
    if (!ends.empty() && ir::is(ends.front(), ir::Op::Min)) ends = ends.front()->args;
    std::erase_if(ends, [&](const Expr& e) { return ends.size() > 1 && ir::as_int(e).has_value(); });
    for (std::size_t d = 0; ends.size() == 1 && d < whole_.size(); ++d) {
      const Expr beyond = condition->args[0] - ends.front() - ir::index(most ? 1 : 0);
      if (ir::prove_equal(beyond, whole_[d] - tensor_->extents[d], tree_.facts)) return;
    }
    refuse(fmt::format("its last box is cut off where {}, which is not where '{}' ends",
                       ir::to_string(condition), tensor_->name),
           ir::to_string(condition), "tiles that are cut off at the ends of the output alone");
  }

  /// Rows are longer if memory has unused room at their ends. Swizzled ones are those of the memory.
  void finish_rows() {
    const int swizzle = memory_->swizzle;
    const auto row = [&] { return extents_[0] * bytes(); };
    const auto whole = [&] { return swizzle != 0 ? row() == swizzle : row() % kBulkBytes == 0; };
    if (packed_ == extents_[0] && !whole()) fills_up_to(row_in_memory());
    if (whole()) return;
    const std::int64_t elements = (swizzle != 0 ? swizzle : kBulkBytes) / bytes();
    refuse(
        fmt::format("rows of the box take {} bytes, {} {}", row(),
                    swizzle != 0 ? "and those that are swizzled" : "no multiple of", elements * bytes()),
        std::to_string(row()),
        fmt::format("tiles of {} elements{}; align_storage by that on '{}', where no layout says how it lies",
                    elements, swizzle != 0 ? "" : " or multiples of it", func().name));
  }

  /// Elements from one to the next of what has neighbours in memory.
  std::int64_t row_in_memory() const {
    const ir::Buffer& b = *memory_;
    for (std::size_t d = 0; d < b.strides.size(); ++d)
      if (ir::is_one(b.strides[d]) && !ir::is_one(b.extents[d])) return *ir::as_int(b.extents[d]);
    return 1;
  }

  // ---- What a box reaches beyond its iterations

  /// What is behind the last iterations has places of its own: along each coordinate of the Func that the box
  /// has a side of they lie in what is allocated.
  void require_room() const {
    ir::Facts facts = tree_.facts;
    for (const Expr& condition : conditions_) ir::learn(facts, condition);
    const Storage& storage = tree_.storage.at(stage_.func);
    for (std::size_t d = 0; d < storage.box.size(); ++d) {
      const Expr coordinate = cast(Int(64), place_(tree_.def(stage_).lhs[d]));
      const Expr last = ir::substitute(coordinate, ends_), room = ir::index(allocated(storage, d));
      if (last.same_as(coordinate) || ir::prove(last - storage.box[d].min < room, facts)) continue;
      const Expr behind = ir::simplify(last - storage.box[d].min + ir::index(1), facts);
      refuse(fmt::format("the last box along '{}' ends at {} elements, where memory has {}",
                         func().args[d]->name, ir::to_string(behind), ir::to_string(room)),
             ir::to_string(behind),
             "a factor that divides; or align_storage by the factor along that coordinate");
    }
  }

  std::int64_t allocated(const Storage& storage, std::size_t d) const {
    const ir::Buffer& b = *memory_;
    const bool by_coordinates = !storage.layout && tree_.scheduled.of(func().id).storage.layout.empty();
    return by_coordinates ? *ir::as_int(b.extents[d]) : storage.shape[d];
  }

  ir::Stmt statement() const {
    const ir::BufferPtr& to = memory_;
    const auto map = std::make_shared<const ir::TensorMap>(ir::TensorMap{
        tensor_->name + ".boxes", tensor_, extents_, to->swizzle, tree_.scheduled.of(func().id).copy_origin});
    if (out_)
      return ir::box_store({.buffer = to, .map = map, .out = true},
                           {.index = index_, .slot = ir::index(0), .start = start_});
    const bool of_warp = ring().arrivals > 0;  // a role's
    return ir::box_store({to, ring().ring, !of_warp, map, of_warp},
                         {.index = index_,
                          .slot = ring().slot,
                          .start = start_,
                          .receivers = blocks_ > 1 ? ir::index((1 << blocks_) - 1) : Expr()});
  }

  const PlaceIn& place_;
  const bool out_;
  const std::int64_t blocks_;
  ir::BufferPtr tensor_, memory_;
  std::vector<Expr> whole_;  ///< coordinates of the element at hand in the tensor
  std::vector<Expr> start_;  ///< of the box there
  Expr index_;               ///< and in shared memory
  std::vector<std::int64_t> extents_;
  std::int64_t packed_ = 1;                    ///< elements so far
  std::size_t next_side_ = 0, last_side_ = 0;  ///< dimensions of the source
  bool reaches_further_ = false;               ///< than the iterations do
  ir::Substitution ends_;                      ///< the last values of the loops that are sides
};

}  // namespace

ir::Stmt box_copy(const LoopTree& tree, const KernelInfo& kernel, StageRef stage, const ir::Stmt& loops,
                  const PlaceIn& place) {
  const std::int64_t blocks = is_multicast(tree, stage.func) ? kernel.cluster : 1;
  return TensorBox(tree, stage, place, false, blocks).run(loops);
}

ir::Stmt box_out(const LoopTree& tree, StageRef stage, const ir::Stmt& loops, const PlaceIn& place) {
  return TensorBox(tree, stage, place, true, 1).run(loops);
}

}  // namespace calotype::lower
