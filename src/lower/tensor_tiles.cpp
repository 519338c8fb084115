// Tiles of tensor cores: which instruction, and which thread holds what of its result.
//
// Requires: resolved loops. Leaves: LoopTree::tensor_tiles; the layout of the sums, which is the
// instruction's repeated over groups of four warps and the rest of the tile; the loops of their first
// definition, and of stages that read them element by element, dealt out alike, so that every thread has what
// it uses; one body under a loop over threads in the place of the tile's loops. A part of the tiles pass.

#include "lower/tensor_tiles.h"

#include <fmt/format.h>

#include <algorithm>

#include "instr/matrix.h"

namespace calotype::lower {
namespace {

using layout::Axis;
using layout::Digit;

// ---- Layouts

/// The dimension of the sums along which a loop of the tile goes.
int dim_of(const LoopTree& tree, StageRef stage, LoopId loop) {
  const StageInfo& info = tree.stages.at(stage);
  for (int d = 0; d < tree.func(stage.func).rank(); ++d) {
    const auto at = static_cast<std::size_t>(d);
    if (info.coordinates[at].defined() && ir::uses(info.coordinates[at], tree.loop(loop).var)) return d;
  }
  throw Error({.kind = ErrorKind::Internal, .message = "a loop of a tile moves no coordinate"});
}

/// The instruction's, repeated: rows of other groups, then the columns and rows of further products.
layout::Layout layout_of(const LoopTree& tree, StageRef stage, const TensorTile& tile) {
  const int m = dim_of(tree, stage, tile.m), n = dim_of(tree, stage, tile.n);
  const layout::Layout& one = tile.record->operands[0].layouts[0];
  std::vector<Digit> rows, columns;
  for (Digit digit : one.digits()) {
    std::vector<Digit>& side = digit.dim == 0 ? columns : rows;
    digit.dim = digit.dim == 0 ? n : m;
    side.push_back(digit);
  }
  const std::int64_t registers = one.size(Axis::Register);
  columns.push_back({n, one.extent(0), tile.products_along_n(), Axis::Register, registers});
  rows.push_back({m, kWideRows, tile.groups, Axis::ThreadX, kWideThreads});
  rows.push_back({m, kWideRows * tile.groups, tile.products_along_m(), Axis::Register,
                  registers * tile.products_along_n()});
  std::vector<Digit> all = m < n ? rows : columns;
  const std::vector<Digit>& other = m < n ? columns : rows;
  all.insert(all.end(), other.begin(), other.end());
  return layout::Layout(std::move(all), tree.func(stage.func).rank());
}

// ---- Dealing out

class Dealer {
 public:
  Dealer(LoopTree& tree, StageRef stage, TensorTile& tile) : tree_(tree), stage_(stage), tile_(tile) {}

  void run(Node& nest) {
    Storage& sums = tree_.storage.at(stage_.func);
    sums.layout = layout_of(tree_, stage_, tile_);
    require_whole(sums);
    walk(nest);
    if (!tile_.thread.valid())
      refuse(stage_, "other stages run in the loops of the tile", tree_.loop(tile_.m).name,
             "loops of this stage alone");
    for (const Expr& call : {tile_.a, tile_.b}) copy_whole_tiles(FuncId{ir::callee_of(call)->index});
    set_at_first(nest);
  }

 private:
  [[noreturn]] void refuse(StageRef reader, std::string message, std::string value, std::string legal) const {
    const lang::FuncDef& func = tree_.func(reader.func);
    throw Error({.kind = ErrorKind::Schedule,
                 .message = std::move(message),
                 .func = func.name,
                 .stage = lang::stage_name(func, reader.stage),
                 .directive = origin(),
                 .value = std::move(value),
                 .legal = std::move(legal)});
  }

  const std::string& origin() const { return tree_.schedule_of(stage_).tensor_core->origin; }

  /// The tile is all of the sums that there are at a time.
  void require_whole(const Storage& sums) const {
    const std::string& name = tree_.func(stage_.func).name;
    for (std::size_t d = 0; d < sums.shape.size(); ++d) {
      const std::int64_t held = sums.layout->extent(static_cast<int>(d));
      if (sums.shape[d] >= 0 && sums.shape[d] <= held) continue;
      const std::string& arg = tree_.func(stage_.func).args[d]->name;
      refuse(stage_, fmt::format("the tile has {} of '{}' along '{}', and not all of it", held, name, arg),
             sums.shape[d] < 0 ? "no constant bound" : std::to_string(sums.shape[d]),
             fmt::format("'{}' computed at a loop where it is one tile, and its loops whole", name));
    }
    if (sums.copies > 1)
      refuse(stage_, fmt::format("'{}' has a ring of {} slots", name, sums.copies),
             std::to_string(sums.copies), fmt::format("no ring_buffer on '{}'", name));
  }

  /// What a directive says of a loop that is gone would be lost.
  void require_plain(StageRef stage, LoopId id) const {
    const LoopInfo& loop = tree_.loop(id);
    const std::string lost =
        !loop.prefetches.empty() ? loop.prefetches.front().origin : loop.partition_origin;
    if (!lost.empty())
      refuse(stage,
             fmt::format("the loop '{}' becomes the instruction's, and {} has no effect", loop.name, lost),
             loop.name, "that directive on another loop");
  }

  static const Node* body_of(const Node& node) {
    if (node.kind == NodeKind::Body) return &node;
    return node.kind == NodeKind::Loop && node.children.size() == 1 ? body_of(node.children[0]) : nullptr;
  }

  void walk(Node& node) {
    const bool blocks = node.kind == NodeKind::Loop && is_of_blocks(tree_.loop(node.loop));
    const Node* body = blocks ? nullptr : body_of(node);
    if (!body) {
      for (Node& child : node.children) walk(child);
      return;
    }
    if (body->stage == stage_) return replace_tile(node);
    if (body->stage == StageRef{stage_.func, 0} || reads_sums(body->stage)) deal_out(node, body->stage);
  }

  static bool is_of_blocks(const LoopInfo& loop) {
    return loop.binding == ir::Binding::GpuBlock || loop.binding == ir::Binding::GpuCluster;
  }

  std::vector<Expr> reads_of_sums(StageRef reader) const {
    std::vector<Expr> all;
    for (const Expr& call : calls_in(tree_.def(reader)))
      if (ir::callee_of(call)->kind == ir::CalleeKind::Func &&
          FuncId{ir::callee_of(call)->index} == stage_.func)
        all.push_back(call);
    return all;
  }
  bool reads_sums(StageRef reader) const { return !reads_of_sums(reader).empty(); }

  // ---- The tile itself

  /// The loops of the tile, and the guards that test them, are the instruction's.
  void replace_tile(Node& node) {
    Node* top = &node;
    while (top->kind == NodeKind::Loop && !is_of_tile(top->loop)) top = &top->children[0];
    for (const Node* n = top; n->kind == NodeKind::Loop; n = &n->children[0]) require_plain(stage_, n->loop);
    tile_.thread = thread_loop(stage_);
    Node loop{.kind = NodeKind::Loop, .stage = stage_, .loop = tile_.thread};
    loop.children.push_back({.kind = NodeKind::Body, .stage = stage_, .instruction = tile_.record});
    *top = std::move(loop);
    drop_guards();
  }

  bool is_of_tile(LoopId id) const {
    return id == tile_.m || id == tile_.n || std::find(tile_.k.begin(), tile_.k.end(), id) != tile_.k.end();
  }

  /// Rows and columns beyond the end are sums that nobody reads. What is beyond the end of what is summed has
  /// to be zeros.
  void drop_guards() {
    for (const LoopId id : tile_.k) {
      const LoopInfo& loop = tree_.loop(id);
      const Expr all = ir::index(*ir::constant_upper_bound(loop.extent, tree_.facts));
      if (ir::prove_equal(loop.extent, all, tree_.facts)) continue;
      Expr end = loop.extent;
      if (ir::is(end, ir::Op::Min)) end = ir::as_int(end->args[0]) ? end->args[1] : end->args[0];
      require_zeros(ir::make_var(loop.var) - loop.min < end);
    }
    StageInfo& info = tree_.stages.at(stage_);
    std::erase_if(info.guards, [&](const Guard& guard) {
      const auto tests = [&](LoopId id) { return ir::uses(guard.condition, tree_.loop(id).var); };
      const bool summed = std::any_of(tile_.k.begin(), tile_.k.end(), tests);
      if (summed) require_zeros(guard.condition);
      return summed || tests(tile_.m) || tests(tile_.n);
    });
  }

  void require_zeros(const Expr& condition) const {
    require_zeros(condition, tile_.a);
    require_zeros(condition, tile_.b);
  }

  /// Boxes are filled with zeros beyond the end of the tensor, which is to be the end of what is summed.
  void require_zeros(const Expr& condition, const Expr& call) const {
    const FuncId copy{ir::callee_of(call)->index};
    const lang::StageDef& def = tree_.def({copy, 0});
    const bool box = tree_.scheduled.of(copy).copy == Copy::Tma && ir::is(def.value, ir::Op::Call);
    const Expr gap = ir::index(ir::is(condition, ir::Op::Le) ? 1 : 0);
    const bool compares = ir::is(condition, ir::Op::Lt) || ir::is(condition, ir::Op::Le);
    for (std::size_t d = 0; box && compares && d < def.value->args.size(); ++d) {
      const Expr at = placed(stage_, ir::substitute(def.value->args[d], arguments(copy, call)));
      if (ir::prove_equal(condition->args[0] - condition->args[1] - gap, at - extent_of(def.value, d),
                          tree_.facts))
        return;
    }
    refuse(stage_,
           fmt::format("the last tile along what is summed is cut off where {}, and '{}' is not known to be "
                       "zeros from there on",
                       ir::to_string(condition), tree_.func(copy).name),
           ir::to_string(condition),
           "extents that are multiples of the tile, by assume; or copy(tma) of operands that end where the "
           "sum ends");
  }

  ir::Substitution arguments(FuncId func, const Expr& call) const {
    ir::Substitution all;
    for (std::size_t d = 0; d < call->args.size(); ++d)
      all.emplace_back(tree_.func(func).args[d], call->args[d]);
    return all;
  }

  Expr extent_of(const Expr& call, std::size_t dim) const {
    const ir::Callee& source = *ir::callee_of(call);
    if (source.kind == ir::CalleeKind::Input)
      return tree_.inputs[static_cast<std::size_t>(source.index)]->extents[dim];
    const ir::Interval& box = tree_.storage.at(FuncId{source.index}).box[dim];
    return box.max + ir::index(1);
  }

  Expr placed(StageRef stage, const Expr& e) const { return ir::substitute(e, tree_.coordinates_of(stage)); }

  /// Boxes beyond the end are zeros, so that ragged tiles are copied whole.
  void copy_whole_tiles(FuncId operand) {
    if (tree_.scheduled.of(operand).copy != Copy::Tma) return;
    for (const LoopId id : tree_.schedule_of({operand, 0}).loops) {
      LoopInfo& loop = tree_.loop(id);
      const auto bound = ir::constant_upper_bound(loop.extent, tree_.facts);
      if (!bound) continue;
      loop.extent = ir::index(*bound);
      tree_.facts.set_range(loop.var, loop.min, ir::simplify(loop.min + ir::index(*bound - 1), tree_.facts));
    }
    tree_.stages.at({operand, 0}).guards.clear();
  }

  /// Sums that begin with zeros need not be filled where there is a first product: that one adds to nothing.
  void set_at_first(Node& node) {
    if (node.kind != NodeKind::Produce || node.func != stage_.func) {
      for (Node& child : node.children) set_at_first(child);
      return;
    }
    const StageRef fill{stage_.func, 0};
    const bool two = node.children.size() == 2 && node.children[0].stage == fill &&
                     node.children[1].stage == stage_ && tree_.stages.at(stage_).guards.empty();
    if (!two || !ir::is_zero(tree_.def(fill).value)) return;
    std::vector<LoopId> around;
    bool runs = true;
    visit(node.children[1], [&](const Node& n, const std::vector<const Node*>& parents) {
      if (n.kind != NodeKind::Body || n.stage != stage_) return;
      for (const Node* parent : parents) {
        if (parent->kind != NodeKind::Loop || parent->loop == tile_.thread) continue;
        const LoopInfo& loop = tree_.loop(parent->loop);
        runs &= loop.reduction && loop.binding == ir::Binding::Serial &&
                ir::prove(loop.extent >= ir::index(1), tree_.facts);
        around.push_back(parent->loop);
      }
    });
    if (!runs) return;
    tile_.sets = std::move(around);
    tree_.dealt_out.erase(fill);
    node.children.erase(node.children.begin());
  }

  // ---- Element by element

  LoopId add_loop(StageRef stage, std::string name, ir::Binding binding, std::int64_t extent) {
    const LoopId id = tree_.add_loop(stage, std::move(name), binding, origin());
    LoopInfo& loop = tree_.loop(id);
    loop.extent = ir::index(extent);
    loop.partition = ir::Partition::Never;
    loop.in_text = true;
    tree_.facts.set_range(loop.var, loop.min, ir::index(extent - 1));
    return id;
  }

  LoopId thread_loop(StageRef stage) {
    return add_loop(stage, tree_.func(stage.func).name + ".t", ir::Binding::GpuThread,
                    tile_.groups * kWideThreads);
  }

  /// How a stage goes along a dimension of the sums: by a loop from `base` on, over a part of it.
  struct Along {
    LoopId loop;  ///< invalid: there is one element
    Expr base;    ///< a multiple of the extent
    std::int64_t extent = 1;
  };

  /// The loops that deal out one element after the other, threads outermost, and what they say of it; the
  /// positions are counted from each base.
  DealtOut make_loops(StageRef reader, const std::vector<Along>& along, std::vector<LoopId>& loops) {
    const layout::Layout& layout = *tree_.storage.at(stage_.func).layout;
    loops.push_back(thread_loop(reader));
    const Expr thread = ir::make_var(tree_.loop(loops.front()).var);
    DealtOut dealt{stage_.func, std::vector<Expr>(static_cast<std::size_t>(layout.rank()), ir::index(0)),
                   ir::index(0)};
    std::vector<std::pair<std::int64_t, LoopId>> by_weight;
    for (const Digit& digit : layout.digits()) {
      const Along& part = along[static_cast<std::size_t>(digit.dim)];
      Expr value = ir::index(0);
      if (digit.axis == Axis::ThreadX) {
        value = thread / ir::index(digit.weight);
        if (digit.weight * digit.extent < tile_.groups * kWideThreads)
          value = value % ir::index(digit.extent);
      } else if (const std::int64_t rounds = std::min(digit.extent, part.extent / digit.stride); rounds > 1) {
        const LoopId id =
            add_loop(reader, fmt::format("{}.r{}", tree_.func(reader.func).name, digit.weight),
                     is_vector(reader, digit) ? ir::Binding::Vector : ir::Binding::Unrolled, rounds);
        by_weight.emplace_back(digit.weight, id);
        value = ir::make_var(tree_.loop(id).var);
        dealt.slot = dealt.slot + value * ir::index(digit.weight);
      }
      if (digit.axis == Axis::Register && digit.stride * digit.extent > part.extent)
        dealt.slot = dealt.slot +
                     part.base / ir::index(digit.stride) % ir::index(digit.extent) * ir::index(digit.weight);
      Expr& position = dealt.positions[static_cast<std::size_t>(digit.dim)];
      position = position + value * ir::index(digit.stride);
    }
    std::sort(by_weight.begin(), by_weight.end(),
              [](const auto& x, const auto& y) { return x.first > y.first; });
    for (const auto& [weight, id] : by_weight) loops.push_back(id);
    for (Expr& position : dealt.positions) position = ir::simplify(position, tree_.facts);
    dealt.slot = ir::simplify(dealt.slot, tree_.facts);
    return dealt;
  }

  /// Registers next to each other are elements next to each other in shared memory.
  bool is_vector(StageRef reader, const Digit& digit) const {
    if (reader.func == stage_.func || digit.weight != 1 || digit.stride != 1) return false;
    const Expr& along = reads_of_sums(reader).front()->args[static_cast<std::size_t>(digit.dim)];
    return tree_.scheduled.of(reader.func).memory == Memory::Shared &&
           ir::equal(along, tree_.def(reader).lhs.front());
  }

  void deal_out(Node& node, StageRef reader) {
    const std::vector<Along> along = loops_along(node, reader);
    std::vector<LoopId> moved;
    for (const Along& part : along) moved.push_back(part.loop);
    require_own_places(reader, moved);
    std::vector<LoopId> kept, order;
    for (Node* n = &node; n->kind == NodeKind::Loop; n = &n->children[0]) {
      if (std::find(moved.begin(), moved.end(), n->loop) == moved.end()) kept.push_back(n->loop);
      if (tree_.loop(n->loop).binding != ir::Binding::Serial)
        refuse(reader,
               fmt::format("'{}' is dealt out as '{}' is, and its loop '{}' is {}",
                           tree_.func(reader.func).name, tree_.func(stage_.func).name,
                           tree_.loop(n->loop).name, ir::to_string(tree_.loop(n->loop).binding)),
               tree_.loop(n->loop).name,
               "loops of the tile that are neither bound nor vectorised nor unrolled");
    }
    DealtOut dealt = make_loops(reader, along, order);
    substitute_loops(reader, along, dealt);
    for (std::size_t d = 0; d < along.size(); ++d)
      if (along[d].loop.valid())
        dealt.positions[d] = ir::simplify(along[d].base + dealt.positions[d], tree_.facts);
    order.insert(order.begin(), kept.begin(), kept.end());
    Node inner{.kind = NodeKind::Body, .stage = reader};
    for (auto id = order.rbegin(); id != order.rend(); ++id) {
      Node loop{.kind = NodeKind::Loop, .stage = reader, .loop = *id};
      loop.children.push_back(std::move(inner));
      inner = std::move(loop);
    }
    node = std::move(inner);
    tree_.dealt_out[reader] = dealt;
  }

  /// What threads compute of their sums goes where no other thread's does, and is not dealt out otherwise.
  void require_own_places(StageRef reader, const std::vector<LoopId>& moved) const {
    const std::string &name = tree_.func(reader.func).name, &sums = tree_.func(stage_.func).name;
    for (const LoopId id : moved) {
      if (!id.valid()) continue;
      require_plain(reader, id);
      if (tree_.loop(id).reduction)
        refuse(reader,
               fmt::format("'{}' reduces '{}' along the tile, which threads have parts of", name, sums),
               tree_.loop(id).name,
               fmt::format("a copy of '{}' in shared memory, and the reduction of that", sums));
    }
    if (reader.func != stage_.func && tree_.scheduled.of(reader.func).memory == Memory::Register)
      refuse(reader,
             fmt::format("'{}' is computed of '{}' element by element, in registers of its own", name, sums),
             name, fmt::format("'{}' inlined, or in shared memory", name));
  }

  /// By dimension of the sums, how the stage goes along it.
  std::vector<Along> loops_along(const Node& node, StageRef reader) const {
    std::vector<Expr> coordinates;
    if (reader.func == stage_.func) {
      for (const ir::SymbolPtr& arg : tree_.func(stage_.func).args) coordinates.push_back(ir::make_var(arg));
    } else {
      coordinates = reads_of_sums(reader).front()->args;
    }
    const Box& box = tree_.storage.at(stage_.func).box;
    std::vector<Along> loops;
    for (std::size_t d = 0; d < coordinates.size(); ++d) {
      const Expr at = ir::simplify(placed(reader, coordinates[d]) - box[d].min, tree_.facts);
      Along found;
      for (const Node* n = &node; n->kind == NodeKind::Loop; n = &n->children[0])
        if (const std::optional<Along> part = part_along(at, n->loop, static_cast<int>(d))) found = *part;
      if (!found.loop.valid() && tree_.storage.at(stage_.func).layout->extent(static_cast<int>(d)) > 1)
        refuse(reader,
               fmt::format("'{}' reads '{}' at {} of the tile, which is no loop of its own",
                           tree_.func(reader.func).name, tree_.func(stage_.func).name, ir::to_string(at)),
               ir::to_string(coordinates[d]),
               "one loop along each side of the tile, as tile makes them, and the element at its place");
      loops.push_back(found);
    }
    return loops;
  }

  /// With what names of regions stand for.
  Expr without_names(Expr e) const {
    for (;;) {
      ir::Substitution values;
      for (const ir::SymbolPtr& s : ir::free_symbols(e))
        if (const ir::Facts::Known* known = tree_.facts.find(s); known && known->value.defined())
          values.emplace_back(s, known->value);
      if (values.empty()) return e;
      e = ir::substitute(e, values);
    }
  }

  /// The loop goes along a dimension of the sums from where others say on: over all of it, or over as much as
  /// some of a thread's registers have.
  std::optional<Along> part_along(const Expr& at, LoopId id, int dim) const {
    const LoopInfo& loop = tree_.loop(id);
    const layout::Layout& layout = *tree_.storage.at(stage_.func).layout;
    const Expr base = ir::simplify(without_names(at - (ir::make_var(loop.var) - loop.min)), tree_.facts);
    if (ir::uses(base, loop.var)) return std::nullopt;
    if (ir::is_zero(base)) return Along{id, base, layout.extent(dim)};
    const std::optional<std::int64_t> extent = ir::constant_upper_bound(loop.extent, tree_.facts);
    if (!extent || ir::known_multiple(base, tree_.facts) % *extent != 0) return std::nullopt;
    for (const Digit& digit : layout.digits()) {
      if (digit.dim != dim || digit.stride * digit.extent <= *extent) continue;
      const bool divides = digit.stride >= *extent || *extent % digit.stride == 0;
      if (digit.extent > 1 && (digit.axis != Axis::Register || !divides)) return std::nullopt;
    }
    return Along{id, base, *extent};
  }

  /// Whether what the call reads is there beyond the ends too: of a tile that boxes fill, in the places that
  /// the stage's whole tile has.
  bool is_there(StageRef reader, const std::vector<Along>& along, const Expr& call) const {
    const ir::Callee& callee = *ir::callee_of(call);
    if (callee.kind != ir::CalleeKind::Func) return false;
    const FuncId func{callee.index};
    const bool box = tree_.scheduled.of(func).copy == Copy::Tma && !tree_.scheduled.sends_boxes(func);
    if (!box || !tree_.storage.count(func)) return false;
    ir::Facts facts = tree_.facts;
    for (const Along& part : along) {
      if (!part.loop.valid()) continue;
      const LoopInfo& loop = tree_.loop(part.loop);
      const Expr first = ir::simplify(without_names(loop.min), facts);
      facts.set_range(loop.var, first, ir::simplify(first + ir::index(part.extent - 1), facts));
    }
    const Box& stored = tree_.storage.at(func).box;
    for (std::size_t d = 0; d < stored.size(); ++d) {
      const Expr at = without_names(placed(reader, call->args[d]) - stored[d].min);
      const Expr extent = stored[d].max - stored[d].min + ir::index(1);
      const auto room = ir::constant_upper_bound(without_names(extent), tree_.facts);
      if (!room || !ir::prove(at < ir::index(*room), facts) || !ir::prove(at >= ir::index(0), facts))
        return false;
    }
    return true;
  }

  /// Whether the stage can be computed beyond the ends of what is read: its place is a tile of its own, as
  /// large as what threads have of it, and what else it reads is as large.
  bool is_whole(StageRef reader, const std::vector<Along>& along) const {
    if (reader.func == stage_.func) return reader.stage == 0;
    const std::vector<Expr> calls = calls_in(tree_.def(reader));
    const bool has_room = std::all_of(along.begin(), along.end(), [&](const Along& part) {
      return !part.loop.valid() ||
             ir::constant_upper_bound(tree_.loop(part.loop).extent, tree_.facts) == part.extent;
    });
    const auto has_all = [&](const Expr& call) {
      return ir::callee_of(call)->kind == ir::CalleeKind::Func &&
             (FuncId{ir::callee_of(call)->index} == stage_.func || is_there(reader, along, call));
    };
    return has_room && tree_.scheduled.of(reader.func).memory == Memory::Shared && !tree_.is_copy(reader) &&
           std::all_of(calls.begin(), calls.end(), has_all);
  }

  void substitute_loops(StageRef reader, const std::vector<Along>& along, const DealtOut& dealt) {
    StageInfo& info = tree_.stages.at(reader);
    const bool fills = is_whole(reader, along);  // the whole tile, ragged or not
    if (reader == StageRef{stage_.func, 0} && !calls_in(tree_.def(reader)).empty())
      refuse(reader,
             fmt::format("'{}' begins from what is read, and a tile is filled beyond the ends of that",
                         tree_.func(stage_.func).name),
             ir::to_string(tree_.def(reader).value),
             "a sum from a constant, and the rest added by what reads it");
    ir::Substitution values;
    std::vector<Guard> ends;
    for (std::size_t d = 0; d < along.size(); ++d) {
      if (!along[d].loop.valid()) continue;
      const LoopInfo& loop = tree_.loop(along[d].loop);
      values.emplace_back(loop.var, loop.min + dealt.positions[d]);
      if (!fills && !ir::prove_equal(loop.extent, ir::index(along[d].extent), tree_.facts))
        ends.push_back({dealt.positions[d] < loop.extent, Tail::Predicate, loop.origin});
    }
    for (Expr& e : info.coordinates)
      if (e.defined()) e = ir::simplify(ir::substitute(e, values), tree_.facts);
    if (fills) {
      info.guards.clear();
      for (const Expr& call : calls_in(tree_.def(reader)))
        if (const FuncId read{ir::callee_of(call)->index}; read != stage_.func) copy_whole_tiles(read);
    }
    for (Guard& g : info.guards) {
      g.condition = ir::simplify(ir::substitute(g.condition, values), tree_.facts);
      g.tail = Tail::Predicate;
    }
    info.guards.insert(info.guards.end(), ends.begin(), ends.end());
    std::erase_if(info.guards, [](const Guard& g) { return ir::is_one(g.condition); });
  }

  LoopTree& tree_;
  const StageRef stage_;
  TensorTile& tile_;
};

}  // namespace

void deal_tensor_tiles(LoopTree& tree, Node& nest) {
  std::vector<StageRef> stages;
  visit(nest, [&](const Node& node, const std::vector<const Node*>&) {
    if (node.kind == NodeKind::Body && tree.tensor_tiles.count(node.stage)) stages.push_back(node.stage);
  });
  for (const StageRef stage : stages) Dealer(tree, stage, tree.tensor_tiles.at(stage)).run(nest);
}

}  // namespace calotype::lower
