// Bounds inference: the region that every stage must produce, from what its consumers read, and with it the
// extent of every loop, the coordinates and guards of every body, and what the inputs must cover.
//
// Requires: a placed tree. Leaves: LoopTree::loops, stages, storage boxes, inputs, outputs, facts and checks.
// Consumers are resolved before producers: a producer's region at its compute site is the union over the
// bodies that read it of the read coordinates, with the loops between site and body eliminated innermost
// first.

#include <fmt/format.h>

#include <algorithm>

#include "ir/questions.h"
#include "lower/call_values.h"
#include "lower/domain_condition.h"
#include "lower/enlarged_regions.h"
#include "lower/index_condition.h"
#include "lower/passes.h"

namespace calotype::lower {
namespace {

using ir::Interval;
using schedule::Place;

// Expressions up to this many nodes are repeated where they are used instead of being named.
constexpr std::size_t kRepeatNodes = 5;

class Inference {
 public:
  explicit Inference(LoopTree& tree) : tree_(tree), algebra_(tree.facts) {}

  void run() {
    declare_arguments(tree_);
    const std::vector<FuncId>& order = tree_.scheduled.order;
    for (auto it = order.rbegin(); it != order.rend(); ++it) infer_in_group(*it);
    for (const lang::InputDef& input : graph().inputs) check_input(input);
    for (auto& [ref, info] : tree_.stages)
      if (tree_.def(ref).function()) find_boxes(ref, info);
    for (const auto& [ref, info] : tree_.stages)
      for (const schedule::Prefetch& p : tree_.schedule_of(ref).prefetches) prefetch(ref, p);
  }

 private:
  lang::Graph& graph() { return tree_.scheduled.graph; }
  Expr simple(const Expr& e) { return algebra_.simplify(e); }

  void require(Expr condition, std::string message, std::string subject, std::vector<Expr> values,
               std::string legal) {
    lower::require(tree_, {std::move(condition), std::move(message), std::move(subject), std::move(values),
                           std::move(legal)});
  }

  // ---- Regions

  /// Funcs that share loops stand together in the order: with the first one all are resolved.
  void infer_in_group(FuncId id) {
    if (tree_.inlined(id)) return;
    infer(id);
    const std::vector<FuncId> funcs = sharing(tree_.scheduled, id);
    if (funcs.front() != id) return;
    if (funcs.size() > 1) join_loops(tree_, algebra_, funcs);
    for (FuncId func : funcs) fold_scan(tree_, func);
  }

  void infer(FuncId id) {
    const lang::FuncDef& func = tree_.func(id);
    const schedule::FuncSchedule& sched = tree_.scheduled.of(id);
    Box box = required(id, *func.callee(), sched.compute);
    if (const lang::OutputDef* output = output_def(id)) {
      include_output(box, *output);
      check_aligned(tree_, id, box);
    }
    std::vector<Box> needs = stage_needs(func, box);
    if (output_def(id)) keep_inside(func, box, needs);
    if (!graph().is_output(id)) keep_promises(tree_, id, needs);
    Box& all = needs[0];
    round_region(tree_, id, all);
    Box first = all;
    if (!graph().is_output(id)) {
      Storage storage;
      name_bounds(func, all, sched.compute, "");
      storage.box = with_room_past_end(tree_, id, all);
      if (!same_site(sched.compute, sched.store)) {
        for (Interval& i : storage.box)
          i = eliminate_to(i, site_loops(tree_, sched.compute), sched.store, func.name);
        name_bounds(func, storage.box, sched.store, ".stored");
        slide_window(tree_, id, all, storage);
        if (func.stages.size() == 1) name_bounds(func, all, sched.compute, ".new");
      }
      if (storage.folds.empty()) storage.folds.assign(storage.box.size(), 0);
      first = all;
      begin_scan(tree_, id, storage, first);
      shape_storage(tree_, id, storage);
      tree_.storage[id] = std::move(storage);
    }
    resolve_stage({id, 0}, first, all);
    for (std::size_t s = 1; s < func.stages.size(); ++s)
      resolve_stage({id, static_cast<int>(s)}, merge(needs[s], all), all);
  }

  // Stages after the first range over what later stages and consumers need of them; where that is the whole
  // region the same (named) ends are used.
  Box merge(const Box& need, const Box& all) {
    Box result = need;
    for (std::size_t d = 0; d < need.size(); ++d)
      if (&need == &all || !need[d].bounded() || same_when_named(need[d], all[d])) result[d] = all[d];
    return result;
  }
  bool same_when_named(const Interval& a, const Interval& named) {
    return ir::prove_equal(a.min, named.min, tree_.facts) && ir::prove_equal(a.max, named.max, tree_.facts);
  }

  static bool same_site(const Place& a, const Place& b) {
    return a.kind == b.kind && (a.kind != Place::Kind::At || a.loop == b.loop);
  }

  const lang::OutputDef* output_def(FuncId id) {
    for (const lang::OutputDef& o : graph().outputs)
      if (o.func == id) return &o;
    return nullptr;
  }

  void include_output(Box& box, const lang::OutputDef& output) {
    Box own;
    for (std::size_t d = 0; d < output.extents.size(); ++d)
      own.push_back({output.mins[d], simple(output.mins[d] + output.extents[d] - ir::index(1))});
    // Other Funcs may read an output, but only what the caller's buffer holds.
    for (std::size_t d = 0; d < box.size(); ++d)
      if (box[d].bounded())
        require(box[d].min >= own[d].min && box[d].max <= own[d].max,
                fmt::format("coordinates {{}} to {{}} of dimension {} are read inside the pipeline", d),
                tree_.func(output.func).name, {box[d].min, box[d].max, own[d].min, own[d].max},
                "coordinates {} to {}, which the buffer holds");
    box = own;
  }

  // The updates of an output write, and read, only what the caller's buffer holds.
  void keep_inside(const lang::FuncDef& func, const Box& own, std::vector<Box>& needs) {
    for (std::size_t d = 0; d < own.size(); ++d)
      require(needs[0][d].min >= own[d].min && needs[0][d].max <= own[d].max,
              fmt::format("updates touch coordinates {{}} to {{}} of dimension {}", d), func.name,
              {needs[0][d].min, needs[0][d].max, own[d].min, own[d].max},
              "coordinates {} to {}, which the buffer holds; or a Func of its own before the output");
    for (Box& need : needs) need = own;
  }

  /// Union over every read of a Func or input, at the site.
  Box required(FuncId self, const ir::Callee& source, const Place& site) {
    Box box(source.rank);
    for (FuncId consumer : tree_.scheduled.order) {
      if (consumer == self || tree_.inlined(consumer)) continue;
      const lang::FuncDef& func = tree_.func(consumer);
      for (std::size_t s = 0; s < func.stages.size(); ++s) {
        Reads reads{.reader = {consumer, static_cast<int>(s)}, .site = site};
        for_each_read(func.stages[s], [&](const Expr& call, const Expr& condition) {
          if (ir::same_source(*ir::callee_of(call), source)) include_read(box, call, condition, reads);
        });
      }
    }
    return box;
  }

  /// What one stage reads of a callee, as ranges at a site. Calls share most of their coordinates.
  struct Reads {
    StageRef reader;
    const Place& site;
    Expr condition = {};  ///< known to hold where they are read
    std::vector<std::pair<Expr, Interval>> ranges = {};
  };

  void include_read(Box& box, const Expr& call, const Expr& condition, Reads& reads) {
    if (reads.condition.node() != condition.node()) {
      reads.condition = condition;
      reads.ranges.clear();
    }
    for (std::size_t d = 0; d < call->args.size(); ++d) {
      const Interval i = range_read(call->args[d], reads, *ir::callee_of(call));
      if (!i.bounded()) refuse_unbounded(call, static_cast<int>(d), reads.reader);
      box[d] = box[d].bounded() ? algebra_.interval_union(box[d], i) : i;
    }
  }

  Interval range_read(const Expr& coordinate, Reads& reads, const ir::Callee& callee) {
    const std::string& name = callee.name;
    for (const auto& [known, range] : reads.ranges)
      if (ir::equal(known, coordinate)) return range;
    const ir::Scope scope = body_scope(reads.reader, reads.condition);
    const std::vector<LoopId> loops = enclosing_loops(tree_, reads.reader);
    Interval i = eliminate_to(algebra_.bounds_of(coordinate, scope), loops, reads.site, name);
    const Interval promised = range_by_condition(algebra_, coordinate, reads.condition, scope);
    intersect(i, eliminate_to(promised, loops, reads.site, name));
    // Loops that were fused and split again give values that go through products of sizes, and then say less
    // than the region as a whole. So does a quotient of a sum of loops: it is taken apart, and what its parts
    // have to do with each other is lost. And so do loops of a region that moves with a loop around: where it
    // starts and how far it goes are taken apart. Inside loops the index alone is looked at: there fused
    // coordinates are exact, and a second bound would only be one more term.
    const bool root = reads.site.kind == Place::Kind::Root;
    const bool moves = tree_.scheduled.of(reads.reader.func).compute.kind == Place::Kind::At;
    if (!i.bounded() || divides(coordinate) || (root && (moves || range_divides(coordinate, scope)))) {
      const Interval whole = algebra_.bounds_of(coordinate, whole_scope(reads.reader));
      intersect(i, eliminate_to(whole, loops, reads.site, name));
    }
    // Where several coordinates together make a clamp needless, the clamp still bounds the index when their
    // loops are gone.
    if (callee.kind == ir::CalleeKind::Input) {
      ir::Scope anywhere = ir::make_scope();
      for (const ir::SymbolPtr& dim : tree_.stages.at(reads.reader).dims) anywhere[dim] = {};
      intersect(i, algebra_.bounds_of(coordinate, anywhere));
    }
    i = widened_for_calls(i, tree_.facts);
    reads.ranges.emplace_back(coordinate, i);
    return i;
  }

  // Ends are compared only when both are eliminated: before that the tighter one may depend on more loops,
  // and lose more with them.
  void intersect(Interval& i, const Interval& other) { lower::intersect(algebra_, i, other); }

  /// Whether a symbol of the coordinate has a range that divides.
  static bool range_divides(const Expr& coordinate, const ir::Scope& scope) {
    const std::vector<ir::SymbolPtr> symbols = ir::free_symbols(coordinate);
    return std::any_of(symbols.begin(), symbols.end(), [&](const ir::SymbolPtr& s) {
      const auto range = scope.find(s);
      return range != scope.end() && (divides(range->second.min) || divides(range->second.max));
    });
  }

  [[noreturn]] void refuse_unbounded(const Expr& call, int dim, StageRef reader) {
    throw Error(
        {.kind = ErrorKind::Algorithm,
         .subject = tree_.scheduled.graph.subject_of(ir::callee_of(call)->name),
         .message = fmt::format("the coordinates of dimension {} at which '{}' is read have no bounds", dim,
                                ir::callee_of(call)->name),
         .func = ir::callee_of(call)->name,
         .stage = lang::stage_name(tree_.func(reader.func), reader.stage),
         .value = ir::to_string(call),
         .legal = "an index whose range follows from loops, sizes or a type of at most 16 bits; clamp() "
                  "gives it one"});
  }

  /// Ranges of a stage's dimensions at its body where the condition holds, for the current values of its
  /// loops.
  ir::Scope body_scope(StageRef ref, const Expr& condition) {
    ir::Scope scope = ir::make_scope();
    const StageInfo& info = tree_.stages.at(ref);
    for (std::size_t i = 0; i < info.dims.size(); ++i) {
      if (!info.coordinates[i].defined()) continue;
      Interval range{info.starts[i], info.limits[i]};
      if (condition.defined()) tighten(range, condition, info.dims[i], info);
      scope[info.dims[i]] = range;
    }
    return scope;
  }

  /// Ranges of a stage's dimensions over all its loops.
  ir::Scope whole_scope(StageRef ref) {
    ir::Scope scope = ir::make_scope();
    const StageInfo& info = tree_.stages.at(ref);
    for (std::size_t d = 0; d < info.read.size(); ++d)
      if (info.coordinates[d].defined()) scope[info.dims[d]] = info.read[d];
    for (const lang::ReductionDim& r : tree_.def(ref).reduction)
      scope[r.symbol] = {r.min, simple(r.min + r.extent - ir::index(1))};
    return scope;
  }

  // A predicate of the reduction domain narrows the range of its coordinates.
  void tighten(Interval& range, const Expr& predicate, const ir::SymbolPtr& dim, const StageInfo& info) {
    std::optional<Interval> solved = ir::solve_for(predicate, dim);
    if (!solved) return;
    ir::Scope others = ir::make_scope();
    for (std::size_t i = 0; i < info.dims.size(); ++i)
      if (info.dims[i] != dim && info.coordinates[i].defined())
        others[info.dims[i]] = {info.starts[i], info.limits[i]};
    if (solved->min.defined()) {
      Interval low = algebra_.bounds_of(solved->min, others);
      if (low.min.defined()) range.min = simple(max(range.min, low.min));
    }
    if (solved->max.defined()) {
      Interval high = algebra_.bounds_of(solved->max, others);
      if (high.max.defined()) range.max = simple(min(range.max, high.max));
    }
  }

  /// Eliminate loops, innermost first, until the site's loop: what it fixes stays.
  Interval eliminate_to(Interval i, const std::vector<LoopId>& loops, const Place& site,
                        const std::string& name) {
    for (LoopId id : loops) {
      if (site.kind == Place::Kind::At && id == site.loop) return i;
      i = eliminate(i, id);
    }
    if (site.kind == Place::Kind::At)
      throw Error(
          {.kind = ErrorKind::Schedule,
           .message = fmt::format("'{}' is computed at a loop that does not enclose every consumer", name),
           .func = name,
           .value = tree_.loop(site.loop).name,
           .legal = "a loop around all consumers, or compute_root"});
    return i;
  }

  Interval eliminate(Interval i, LoopId id) {
    if (!i.min.defined() && !i.max.defined()) return i;
    const LoopInfo& loop = tree_.loop(id);
    for (auto let = loop.lets.rbegin(); let != loop.lets.rend(); ++let) {
      const ir::Substitution map{{let->symbol, let->value}};
      if (i.min.defined()) i.min = ir::substitute(i.min, map);
      if (i.max.defined()) i.max = ir::substitute(i.max, map);
    }
    ir::Scope scope = ir::make_scope();
    scope[loop.var] = {loop.min, simple(loop.min + loop.extent - ir::index(1))};
    Interval range = algebra_.bounds_of(i, scope);
    if (!i.bounded()) return range;
    const bool vague = range.bounded() && has_vague_part(i, loop.var);
    if (range.bounded() && !vague) return range;
    const Interval apart = algebra_.bounds_of(with_parts_apart(i, loop.var, scope), scope);
    if (vague) intersect(range, apart);
    return {range.min.defined() ? range.min : apart.min, range.max.defined() ? range.max : apart.max};
  }

  /// Whether a loop that is a part of this one has a constant extent, but its values are quotients by none:
  /// what they can be is then lost with the loop.
  bool has_vague_part(const Interval& i, const ir::SymbolPtr& loop) const {
    return std::any_of(tree_.fused_parts.begin(), tree_.fused_parts.end(), [&](const FusedPart& part) {
      const auto stands = [&](const Expr& e) {
        return ir::any_of(e, [&](const Expr& n) { return ir::equal(n, part.value); });
      };
      return ir::as_int(part.extent) && !ir::as_int(part.value->args[1]) && ir::uses(part.value, loop) &&
             (stands(i.min) || stands(i.max));
    });
  }

  /// Quotients and remainders by sizes, which fused loops have become, as symbols with the ranges of those
  /// loops: then they have ends, though not what they have to do with each other.
  Interval with_parts_apart(Interval i, const ir::SymbolPtr& loop, ir::Scope& scope) {
    std::vector<std::pair<Expr, Expr>> symbols;
    for (const FusedPart& part : tree_.fused_parts) {
      if (!ir::uses(part.value, loop)) continue;
      const ir::SymbolPtr symbol = ir::make_symbol(ir::SymbolKind::Let, "part");
      symbols.emplace_back(part.value, ir::make_var(symbol));
      scope[symbol] = {ir::index(0), simple(part.extent - ir::index(1))};
    }
    const auto replaced = [&](const Expr& e) {
      return ir::rewrite(e, [&](const Expr& n) {
        for (const auto& [value, symbol] : symbols)
          if (ir::equal(n, value)) return symbol;
        return n;
      });
    };
    return {replaced(i.min), replaced(i.max)};
  }

  /// What each stage must range over so that the later ones find what they read and write. Index 0 is
  /// everything.
  std::vector<Box> stage_needs(const lang::FuncDef& func, const Box& box) {
    std::vector<Box> needs(func.stages.size());
    Box need = box;
    for (std::size_t s = func.stages.size(); s-- > 0;) {
      if (!graph().is_output(func.id)) align_region(tree_, func.id, need);
      needs[s] = need;
      if (s > 0) include_own_accesses(func, static_cast<int>(s), need);
    }
    return needs;
  }

  void include_own_accesses(const lang::FuncDef& func, int s, Box& need) {
    const lang::StageDef& def = func.stages[s];
    ir::Scope scope = ir::make_scope();
    for (int d = 0; d < func.rank(); ++d) scope[func.args[d]] = need[d];
    StageInfo ranges;
    for (int d = 0; d < func.rank(); ++d) add_range(ranges, func.args[d], need[d]);
    for (const lang::ReductionDim& r : def.reduction)
      add_range(ranges, r.symbol, {r.min, simple(r.min + r.extent - ir::index(1))});
    const auto narrow = [&](const Expr& condition) {
      for (std::size_t i = 0; i < ranges.dims.size(); ++i) {
        Interval range{ranges.coordinates[i], ranges.limits[i]};
        if (condition.defined()) tighten(range, condition, ranges.dims[i], ranges);
        scope[ranges.dims[i]] = range;
      }
    };
    narrow(def.predicate);
    Expr narrowed = def.predicate;
    auto include = [&](const std::vector<Expr>& coordinates, const Expr& condition) {
      if (condition.node() != narrowed.node()) narrow(narrowed = condition);
      for (int d = 0; d < func.rank(); ++d) {
        if (ir::is(coordinates[d], ir::Op::Variable) && ir::symbol_of(coordinates[d]) == func.args[d])
          continue;
        Interval i = algebra_.bounds_of(coordinates[d], scope);
        intersect(i, range_by_condition(algebra_, coordinates[d], condition, scope));
        i = widened_for_calls(i, tree_.facts);
        if (!i.bounded())
          refuse_unbounded(ir::make(ir::Op::Call, func.type(), coordinates, func.callee()), d, {func.id, s});
        need[d] = algebra_.interval_union(need[d], i);
      }
    };
    include(def.lhs, def.predicate);
    for_each_read(def, [&](const Expr& call, const Expr& condition) {
      if (func.is_read(call)) include(call->args, condition);
    });
  }

  static void add_range(StageInfo& ranges, const ir::SymbolPtr& dim, const Interval& range) {
    ranges.dims.push_back(dim);
    ranges.coordinates.push_back(range.min);
    ranges.starts.push_back(range.min);
    ranges.limits.push_back(range.max);
  }

  Expr extent(const Interval& i) { return simple(i.max - i.min + ir::index(1)); }

  /// Give the ends of a region names at the head of its site, unless they are short.
  void name_bounds(const lang::FuncDef& func, Box& box, const Place& site, const std::string& suffix) {
    for (std::size_t d = 0; d < box.size(); ++d) {
      const std::string base = fmt::format("{}.{}{}", func.name, func.args[d]->name, suffix);
      Expr min = name_value(box[d].min, base + ".min", site);
      std::optional<std::int64_t> low = ir::as_int(extent(box[d]));
      box[d].max = low ? simple(min + ir::index(*low - 1)) : name_value(box[d].max, base + ".max", site);
      box[d].min = min;
    }
  }

  Expr name_value(const Expr& e, const std::string& name, const Place& site) {
    const bool by_call = site.kind != Place::Kind::At;
    if (ir::size_up_to(e, kRepeatNodes) <= kRepeatNodes || (by_call && !computed_by_calls(e))) return e;
    ir::SymbolPtr symbol = ir::make_symbol(ir::SymbolKind::Let, name);
    (site.kind == Place::Kind::At ? tree_.loop(site.loop).lets : tree_.root_lets).push_back({symbol, e});
    tree_.facts.set_value(symbol, e);
    return ir::make_var(symbol);
  }

  // ---- Loops of a stage

  void resolve_stage(StageRef ref, const Box& need, const Box& all) {
    StageInfo info;
    info.need = need;
    read_by_tails(tree_, ref, all, info);
    resolve_loops(tree_, algebra_, ref, info);
    tree_.stages[ref] = std::move(info);
  }

  // ---- What functions are given to read

  void find_boxes(StageRef ref, StageInfo& info) {
    Reads reads{.reader = ref, .site = tree_.scheduled.of(ref.func).compute, .ranges = {}};
    for (const Expr& read : tree_.def(ref).reads()) {
      const ir::CalleePtr& callee = ir::callee_of(read);
      auto of = std::find_if(info.reads.begin(), info.reads.end(),
                             [&](const ReadBox& known) { return known.of == callee; });
      if (of == info.reads.end())
        of = info.reads.insert(of, {callee, Box(static_cast<std::size_t>(callee->rank))});
      include_read(of->box, read, Expr(), reads);
    }
  }

  // ---- Inputs

  void check_input(const lang::InputDef& input) {
    Box box = required(FuncId{}, *input.callee, Place{.kind = Place::Kind::Root});
    const std::string enlarging = enlarging_directives(tree_.scheduled);
    std::string legal = "an input that holds what is read, or a boundary condition on it";
    if (!enlarging.empty()) legal += "; more than the algorithm reads may be asked for by " + enlarging;
    for (std::size_t d = 0; d < box.size(); ++d) {
      if (!box[d].bounded()) continue;
      require(box[d].min >= ir::index(0) && box[d].max < input.extents[d],
              fmt::format("dimension {} is read from {{}} to {{}} but holds 0 to {{}}", d), input.name,
              {box[d].min, box[d].max, input.extents[d] - ir::index(1)}, legal);
    }
  }

  // ---- Prefetches

  void prefetch(StageRef owner, schedule::Prefetch p) {
    p.at = tree_.scheduled.shared_loop(p.at);
    p.from = tree_.scheduled.shared_loop(p.from);
    if (p.of->kind == ir::CalleeKind::Func) require_outside(owner, p);
    const Place site{Place::Kind::At, owner.func, owner.stage, p.at};
    Box box(p.of->rank);
    bool read = false;
    for (const auto& [ref, info] : tree_.stages) {
      const std::vector<LoopId> loops = enclosing_loops(tree_, ref);
      if (std::find(loops.begin(), loops.end(), p.at) == loops.end()) continue;
      Reads reads{.reader = ref, .site = site};
      for_each_read(tree_.def(ref), [&](const Expr& call, const Expr& condition) {
        if (!ir::same_source(*ir::callee_of(call), *p.of)) return;
        include_read(box, call, condition, reads);
        read = true;
      });
    }
    if (!read)
      refuse_prefetch(owner, p,
                      fmt::format("nothing inside '{}' reads '{}'", tree_.loop(p.at).name, p.of->name),
                      "what is read there");
    for (Interval& i : box) i = ahead(i, site, p);
    tree_.loop(p.at).prefetches.push_back({p.of, std::move(box), p.bounds, p.origin});
  }

  void require_outside(StageRef owner, const schedule::Prefetch& p) {
    const FuncId id{p.of->index};
    if (tree_.inlined(id))
      refuse_prefetch(owner, p, fmt::format("'{}' is inlined and has no memory", p.of->name),
                      "what it reads");
    const std::vector<LoopId> around = site_loops(tree_, tree_.scheduled.of(id).compute);
    if (std::find(around.begin(), around.end(), p.at) != around.end())
      refuse_prefetch(owner, p,
                      fmt::format("'{}' is computed inside '{}'", p.of->name, tree_.loop(p.at).name),
                      "what is there before the loop");
  }

  /// The range when the loop looked ahead of has advanced.
  Interval ahead(Interval i, const Place& site, const schedule::Prefetch& p) {
    const ir::SymbolPtr& from = tree_.loop(p.from).var;
    for (LoopId id : site_loops(tree_, site)) {
      for (auto let = tree_.loop(id).lets.rbegin(); let != tree_.loop(id).lets.rend(); ++let) {
        i.min = ir::substitute(i.min, {{let->symbol, let->value}});
        i.max = ir::substitute(i.max, {{let->symbol, let->value}});
      }
      if (id == p.from) break;
    }
    const ir::Substitution later{{from, ir::make_var(from) + ir::index(p.offset)}};
    return {simple(ir::substitute(i.min, later)), simple(ir::substitute(i.max, later))};
  }

  [[noreturn]] void refuse_prefetch(StageRef owner, const schedule::Prefetch& p, std::string message,
                                    std::string legal) {
    throw Error({.kind = ErrorKind::Schedule,
                 .message = std::move(message),
                 .func = tree_.func(owner.func).name,
                 .stage = lang::stage_name(tree_.func(owner.func), owner.stage),
                 .directive = p.origin,
                 .value = p.of->name,
                 .legal = std::move(legal)});
  }

  LoopTree& tree_;
  ir::Algebra algebra_;
};

}  // namespace

void infer_bounds(LoopTree& tree) { Inference(tree).run(); }

}  // namespace calotype::lower
