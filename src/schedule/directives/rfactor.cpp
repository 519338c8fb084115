// rfactor: partial results of an associative update in a Func of its own, whose coordinates are some of the
// reduction loops; the update then combines the partial results.
//
// Every reduction dimension k of the update is written in terms of the loops that stand for it now. For
// split(k, ko, ki, f) that is k = min + ko*f + ki, with ki < f and, where f does not divide the extent, the
// condition k < min + extent. Preserved loops become coordinates of the new Func, the others its reduction.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ir/simplify.h"
#include "lang/build_graph.h"
#include "schedule/associative.h"
#include "schedule/loops.h"
#include "schedule/spelling.h"

namespace calotype {

using schedule::Value;

Stage Stage::rfactor(const std::vector<std::pair<LoopName, LoopName>>& preserved, const std::string& as) {
  Value::List loops, into;
  for (const auto& [loop, coordinate] : preserved) {
    loops.emplace_back(loop.name);
    into.emplace_back(coordinate.name);
  }
  record("rfactor", {{"loops", std::move(loops)}, {"into", std::move(into)}, {"as", as}});
  return Stage(schedule_, as);
}

namespace schedule {

namespace {

/// A loop over (part of) a reduction dimension: where its values begin and how many there are. Only the loop
/// of the definition itself begins elsewhere than at 0.
struct Range {
  LoopId loop;
  Expr min, extent;
};

/// The values of the reduction dimensions in terms of the present loops.
class Unrolling {
 public:
  Unrolling(const Application& a, const StageSchedule& s) : s_(s) {
    const lang::FuncDef& f = a.func_def();
    for (std::size_t d = f.rank(); d < s.dims.size(); d++) {
      const lang::ReductionDim& r = a.stage_def().reduction[d - f.rank()];
      ranges_.push_back({s.dims[d], r.min, r.extent});
    }
    for (const Transform& t : s.transforms) add(a, t);
  }

  const Range* find(LoopId loop) const {
    for (const Range& r : ranges_)
      if (r.loop == loop) return &r;
    return nullptr;
  }

  void set_variable(LoopId loop, Expr value) { values_.emplace_back(loop, std::move(value)); }

  /// The value of a loop from those of the loops that replaced it.
  Expr value(LoopId loop) const {
    for (const auto& [id, value] : values_)
      if (id == loop) return value;
    for (const Transform& t : s_.transforms) {
      if (t.kind == Transform::Kind::Split && t.old == loop)
        return find(loop)->min + value(t.outer) * ir::index(t.factor) + value(t.inner);
      if (t.kind == Transform::Kind::Fuse && t.inner == loop)
        return find(loop)->min + value(t.fused) % find(t.inner)->extent;
      if (t.kind == Transform::Kind::Fuse && t.outer == loop)
        return find(loop)->min + value(t.fused) / find(t.inner)->extent;
    }
    return {};
  }

  /// What holds of the points that exist: false in the part of a last tile that is past the end. Where that
  /// is tested of a loop, it follows for the outer loop of its split.
  Expr condition() const {
    Expr all;
    std::vector<LoopId> implied;
    for (const Transform& t : s_.transforms) {
      const Range* old = t.kind == Transform::Kind::Split ? find(t.old) : nullptr;
      if (!old || ir::prove_equal(old->extent % ir::index(t.factor), ir::index(0))) continue;
      implied.push_back(t.outer);
      if (std::find(implied.begin(), implied.end(), t.old) != implied.end()) continue;
      const Expr c = value(t.old) < old->min + old->extent;
      all = all.defined() ? all && c : c;
    }
    return all.defined() ? ir::simplify(all) : all;
  }

 private:
  void add(const Application& a, const Transform& t) {
    const Expr zero = ir::index(0);
    if (t.kind == Transform::Kind::Split && a.state.loop(t.old).reduction) {
      const Expr tiles = (find(t.old)->extent + ir::index(t.factor - 1)) / ir::index(t.factor);
      ranges_.push_back({t.outer, zero, ir::simplify(tiles)});
      ranges_.push_back({t.inner, zero, ir::index(t.factor)});
    } else if (t.kind == Transform::Kind::Fuse && a.state.loop(t.fused).reduction) {
      ranges_.push_back({t.fused, zero, ir::simplify(find(t.inner)->extent * find(t.outer)->extent)});
    }
  }

  const StageSchedule& s_;
  std::vector<Range> ranges_;
  std::vector<std::pair<LoopId, Expr>> values_;
};

/// A preserved loop: its coordinate in the new Func, and the RVar over which the update combines.
struct Preserved {
  LoopId loop;
  ir::SymbolPtr coordinate, variable;
};

/// The update as a reduction; refused if it is not proved to be one.
Associative reduction_of(Application& a) {
  Associative found = prove_associative(a.func_def(), a.stage_def());
  if (!found.unproved.empty())
    a.refuse(fmt::format("{} is not proved to be associative: {}", a.state.stage_name(a.func, a.stage),
                         found.unproved),
             a.state.stage_name(a.func, a.stage),
             "f(...) = f(...) op term, with op one of +, *, min, max, &, |, ^, && and ||, in each component, "
             "perhaps in select(condition, f(...) op term, f(...)); or components chosen by one strict "
             "comparison, as in argmax");
  return found;
}

/// Where earlier partial results must be combined before later ones, the loops that combine them stand
/// outside those that make them.
void require_order(Application& a, const std::vector<LoopId>& preserved) {
  std::string inner;  // the innermost preserved loop so far
  for (LoopId id : a.loops().loops) {
    if (!a.state.loop(id).reduction) continue;
    const std::string& name = a.state.loop(id).name;
    if (std::find(preserved.begin(), preserved.end(), id) != preserved.end()) {
      if (inner.empty()) inner = name;
    } else if (!inner.empty()) {
      a.refuse(fmt::format(
                   "of equal terms the first is chosen, but partial results of '{}' would be combined out of "
                   "the order of '{}'",
                   inner, name),
               inner, fmt::format("reduction loops outside '{}', as the outer one of a split", name));
    }
  }
}

std::vector<Preserved> find_preserved(Application& a) {
  const std::vector<LoopId> loops = a.loop_list("loops");
  const std::vector<std::string> into = a.names("into");
  const lang::FuncDef& f = a.func_def();
  if (into.size() != loops.size())
    a.refuse(fmt::format("{} loops and {} coordinates", loops.size(), into.size()),
             std::to_string(into.size()), "one coordinate a loop");
  std::vector<Preserved> preserved;
  for (std::size_t i = 0; i < loops.size(); i++) {
    const std::string& name = a.state.loop(loops[i]).name;
    if (!a.state.loop(loops[i]).reduction)
      a.refuse(fmt::format("'{}' is no reduction loop", name), name, "the reduction loops of the update");
    for (const ir::SymbolPtr& arg : f.args)
      if (arg->name == into[i])
        a.refuse(fmt::format("'{}' has a coordinate '{}' already", f.name, into[i]), into[i], "another name");
    preserved.push_back({loops[i], ir::make_symbol(ir::SymbolKind::Var, into[i]),
                         ir::make_symbol(ir::SymbolKind::RVar, name)});
  }
  return preserved;
}

const Preserved* find(const std::vector<Preserved>& preserved, LoopId loop) {
  for (const Preserved& p : preserved)
    if (p.loop == loop) return &p;
  return nullptr;
}

/// The new Func: identity, then an update over the loops that are left, `left`, innermost first. As long as
/// the Func has no Callees, which its own reads carry, the update's values are just the terms.
lang::FuncDef partial_func(Application& a, const Associative& reduction,
                           const std::vector<Preserved>& preserved, const Unrolling& values,
                           std::vector<lang::ReductionDim> left) {
  const lang::FuncDef& f = a.func_def();
  const lang::StageDef& s = a.stage_def();
  ir::Substitution map;
  for (std::size_t i = 0; i < s.reduction.size(); i++)
    map.emplace_back(s.reduction[i].symbol, ir::simplify(values.value(a.loops().dims[f.rank() + i])));
  lang::FuncDef partial{.name = a.name("as"), .types = f.types, .args = f.args};
  lang::StageDef init, update;
  for (const Expr& e : s.lhs) update.lhs.push_back(ir::substitute(e, map));
  for (const Preserved& p : preserved) {
    partial.args.push_back(p.coordinate);
    update.lhs.push_back(ir::make_var(p.coordinate));
  }
  for (const ir::SymbolPtr& arg : partial.args) init.lhs.push_back(ir::make_var(arg));
  init.value = ir::joined(reduction.identity);
  update.value = ir::substitute(ir::joined(reduction.terms), map);
  update.reduction = std::move(left);
  update.predicate = values.condition();
  if (s.predicate.defined()) {
    const Expr own = ir::substitute(s.predicate, map);
    update.predicate = update.predicate.defined() ? update.predicate && own : own;
  }
  partial.stages = {std::move(init), std::move(update)};
  return partial;
}

/// The components of a read, or of terms, as a list.
std::vector<Expr> components_of(const Expr& value) {
  return lang::StageDef{.lhs = {}, .value = value}.values();
}

/// Now that the partial Func has Callees: its update reads itself, and the old update reads it.
void connect(Application& a, const Associative& reduction, FuncId partial,
             const std::vector<Preserved>& preserved, const Unrolling& values,
             const std::vector<LoopId>& order) {
  lang::FuncDef& p = a.state.out.graph.funcs[partial.value];
  lang::StageDef& update = p.stages[1];
  update.value = reduction.combine(components_of(p.read(update.lhs)), components_of(update.value));
  lang::recognise_reduction(p, update);

  lang::FuncDef& f = a.state.out.graph.funcs[a.func.value];
  lang::StageDef merged;
  for (const ir::SymbolPtr& arg : f.args) merged.lhs.push_back(ir::make_var(arg));
  std::vector<Expr> at = merged.lhs;
  for (const Preserved& q : preserved) at.push_back(ir::make_var(q.variable));
  for (LoopId loop : order)
    if (const Preserved* q = find(preserved, loop)) {
      const Range* r = values.find(loop);
      merged.reduction.push_back({q->variable, q->variable->name, r->min, r->extent});
    }
  merged.value = reduction.combine(components_of(f.read(merged.lhs)), components_of(p.read(at)));
  lang::recognise_reduction(f, merged);
  f.stages[a.stage] = std::move(merged);
}

/// The old update's loops: pure ones as they were; of the reduction ones those preserved, now its dimensions.
void keep_loops(Application& a, const std::vector<Preserved>& preserved) {
  StageSchedule& s = a.loops();
  const lang::FuncDef& f = a.func_def();
  auto pure = [&](LoopId id) { return !a.state.loop(id).reduction; };
  std::vector<Transform> transforms;
  for (const Transform& t : s.transforms)
    if (pure(t.kind == Transform::Kind::Split ? t.old : t.fused)) transforms.push_back(t);
  s.transforms = std::move(transforms);
  s.dims.resize(f.rank());
  std::vector<LoopId> loops;
  for (LoopId id : s.loops) {
    if (pure(id) || find(preserved, id)) loops.push_back(id);
    if (!pure(id) && find(preserved, id)) s.dims.push_back(id);
    if (!pure(id) && !find(preserved, id))
      a.state.out.loops[id.value].replaced_by = fmt::format("a loop of {} ({})", a.name("as"), a.origin());
  }
  for (int d = 0; d < f.rank(); d++) {
    if (s.dims[d].valid()) continue;  // else the update scattered here, and now visits the whole dimension
    s.dims[d] = a.state.add_loop(a.func, a.stage, {.name = f.args[d]->name, .origin = a.origin()}, a.index);
    loops.push_back(s.dims[d]);
  }
  s.loops = std::move(loops);
}

/// What was bound stays bound, in the Func that has the loop now and by the same directive; its loops are
/// then no matter of the defaults.
void move_bindings(Application& a, const std::vector<LoopId>& moved, FuncId partial) {
  for (LoopId id : a.state.loops_of(partial, 1).loops)
    for (LoopId old : moved) {
      Loop& loop = a.state.out.loops[id.value];
      if (!loop.reduction || a.state.loop(old).name != loop.name) continue;
      loop = a.state.loop(old);
      loop.id = id;
      a.state.loop_directives[id.value] = a.state.loop_directives[old.value];
      if (loop.binding != ir::Binding::Serial) a.state.stage(partial, 1).directed = true;
    }
}

void apply(Application& a) {
  const Associative reduction = reduction_of(a);
  const std::vector<Preserved> preserved = find_preserved(a);
  if (!reduction.commutative) require_order(a, a.loop_list("loops"));
  const std::string as = a.name("as");
  if (a.state.out.graph.find_func(as) || a.state.out.graph.find_input(as))
    a.refuse(fmt::format("there is a Func or input '{}' already", as), as, "a new name");
  if (reduction.regroups_floats)
    for (const Preserved& p : preserved) note_reassociation(a.state, a.func, a.stage, p.loop);

  const std::vector<LoopId> order = a.loops().loops;
  const StageSchedule before = a.loops();
  Unrolling values(a, before);
  std::vector<lang::ReductionDim> left;
  std::vector<LoopId> moved;
  for (LoopId id : order) {
    if (!a.state.loop(id).reduction) continue;
    if (const Preserved* p = find(preserved, id)) {
      values.set_variable(id, ir::make_var(p->coordinate));
      continue;
    }
    const Range* r = values.find(id);
    moved.push_back(id);
    const std::string& name = a.state.loop(id).name;
    left.push_back({ir::make_symbol(ir::SymbolKind::RVar, name), name, r->min, r->extent});
    values.set_variable(id, ir::make_var(left.back().symbol));
  }
  const FuncId partial = a.state.add_func(partial_func(a, reduction, preserved, values, std::move(left)));
  connect(a, reduction, partial, preserved, values, order);
  move_bindings(a, moved, partial);
  keep_loops(a, preserved);
}

std::string in_cpp(const Directive& d) {
  const auto& loops = std::get<Value::List>(find_arg(d, "loops")->data);
  const auto& into = std::get<Value::List>(find_arg(d, "into")->data);
  std::vector<std::string> pairs;
  for (std::size_t i = 0; i < std::min(loops.size(), into.size()); i++)
    pairs.push_back(fmt::format("{{\"{}\", \"{}\"}}", text_of(loops[i]), text_of(into[i])));
  return fmt::format("{}.rfactor({{{}}}, \"{}\");", cpp_stage(d.stage), fmt::join(pairs, ", "),
                     text_of(*find_arg(d, "as")));
}

}  // namespace

DirectiveSpec rfactor_spec() {
  return {
      .name = "rfactor",
      .addresses = Addresses::Stage,
      .doc =
          "Splits an associative update in two. A new Func has the reduction loops named as coordinates "
          "after those "
          "of this Func; its stage 0 is the identity of the operation, its update(0) reduces over the "
          "loops that "
          "are left. This update then reduces the new Func over the loops named, which keep their names. "
          "Pure loops "
          "of the update stay as they are.",
      .args = {{.name = "loops",
                .kind = ArgKind::Loop,
                .doc = "reduction loops, or loops that split or fuse made of them",
                .list = true},
               {.name = "into",
                .kind = ArgKind::NewDim,
                .doc = "the coordinates of the new Func, one a loop",
                .list = true},
               {.name = "as", .kind = ArgKind::NewFunc, .doc = "the new Func"}},
      .reorders = "if a component of floats is f(...) op term: partial results are combined",
      .refused =
          {"the update is not proved to be associative: each component f(...) op term with op one of +, *, "
           "min, max, &, |, ^, && and ||, also where a select whose condition does not read the Func keeps "
           "f(...) instead, or all chosen by one strict comparison, as in argmax",
           "of equal terms the first is chosen (argmax), and a loop named is inside one that is left",
           "a loop is no reduction loop", "a new name is taken"},
      .apply = apply,
      .cpp = in_cpp};
}

}  // namespace schedule
}  // namespace calotype
