// Scans in little memory: of m(k) = max(m(k - 1), x(k)) no more values are kept than something still reads.
//
// Used by bounds inference for the scans that schedule::folded_scan names. `begin_scan` requires the Func's
// regions and leaves less for its first definition: what the update overwrites before anything reads it is
// not computed. `fold_scan` requires every stage of the nest, shared loops joined, and leaves
// Storage::folds and Storage::scan. A value is named by its age: how many iterations before the newest one it
// was written. The memory holds ages 0 to depth - 1, so every read has to be of one of those:
//  - the update's own reads, which come before its store, may be of an age of `depth` at most;
//  - a stage that shares the scan's loops (compute_with) finds the value of the same iteration as age 0, or,
//    if its body comes first, that of the iteration before, and must not run in iterations where the scan
//    does not;
//  - what reads outside these loops comes after them, when the last value is age 0.
// Whether the memory is a ring or a few slots that move up is a matter of the memory pass.

#include <fmt/format.h>

#include <algorithm>

#include "lower/passes.h"
#include "schedule/scan.h"

namespace calotype::lower {
namespace {

class ScanFolder {
 public:
  ScanFolder(LoopTree& tree, FuncId func, Storage& storage)
      : tree_(tree), func_(func), def_(tree.func(func)), storage_(storage) {}

  void begin(const schedule::Scan& form, Box& first) {
    const int d = form.dim;
    if (std::string tail = enlarging_tail(d); !tail.empty())
      return give_up(fmt::format("{} computes more of '{}' than is needed", tail, dim_name(d)),
                     "guard, predicate");
    if (!is_private())
      return give_up("the registers of a block's threads have no order",
                     "store_in(Shared), or storage inside the thread loops");
    if (std::string site = unsteady_site(); !site.empty())
      return give_up(site, "compute_at and storage at one loop that is not fused");
    const lang::ReductionDim& r = update().reduction[0];
    const Expr& moved = update().lhs[static_cast<std::size_t>(d)];
    const Expr start = simple(ir::substitute(moved, {{r.symbol, r.min}}));
    const Expr last = simple(ir::substitute(moved, {{r.symbol, r.min + r.extent - ir::index(1)}}));
    if (!ir::prove(simple(r.extent >= ir::index(0)), tree_.facts))
      return give_up(fmt::format("it is not proved that '{}' covers no less than nothing: {}", r.name,
                                 ir::to_string(simple(r.extent))),
                     "assume() of the size, or a domain of a size as it stands");
    ir::Interval& range = first[static_cast<std::size_t>(d)];
    const bool covered = form.step > 0 ? ir::prove(simple(range.max <= last), tree_.facts)
                                       : ir::prove(simple(range.min >= last), tree_.facts);
    if (!covered)
      return give_up(fmt::format("'{}' is needed along '{}' beyond the last value that {} writes, {}",
                                 def_.name, dim_name(d), lang::stage_name(def_, 1), ir::to_string(last)),
                     "reads of what the scan has written");
    (form.step > 0 ? range.max : range.min) = simple(start - ir::index(form.step));
    storage_.scan = {.dim = d,
                     .writer = {func_, 1},
                     .step = form.step,
                     .before = simple(start - ir::index(form.step)),
                     .last = last};
    if (asked()) storage_.folds[static_cast<std::size_t>(d)] = asked()->value;
  }

  void fold() {
    if (!storage_.scan) return;
    const schedule::Scan form = *schedule::scan_form(def_);
    storage_.scan->loops = scan_loops();
    find_positions();
    depth_ = form.reach;
    reason_ = fmt::format("{} reads its own values {} back", lang::stage_name(def_, 1), form.reach);
    for (FuncId reader : tree_.scheduled.order) {
      if (reader == func_ || tree_.inlined(reader)) continue;
      for (int s = 0; s < static_cast<int>(tree_.func(reader).stages.size()); ++s)
        for (const Expr& call : calls_in(tree_.def({reader, s})))
          if (storage_.scan && def_.is_read(call)) include({reader, s}, call);
    }
    if (!storage_.scan) return;
    fit_first(form);
    if (!storage_.scan) return;
    if (asked() && asked()->value < depth_)
      return give_up(
          fmt::format("{} values are alive at once along '{}': {}", depth_, dim_name(form.dim), reason_),
          fmt::format("at least {}", depth_));
    storage_.folds[static_cast<std::size_t>(form.dim)] = asked() ? asked()->value : depth_;
  }

 private:
  const lang::StageDef& update() const { return def_.stages[1]; }
  const std::string& dim_name(int d) const { return def_.args[static_cast<std::size_t>(d)]->name; }
  Expr simple(const Expr& e) const { return ir::simplify(e, tree_.facts); }
  std::string name_of(StageRef ref) const { return lang::stage_name(tree_.func(ref.func), ref.stage); }

  const schedule::DimNumber* asked() const {
    const std::optional<schedule::Scan> form = schedule::scan_form(def_);
    return schedule::StorageSchedule::find(tree_.scheduled.of(func_).storage.folds, form->dim);
  }

  /// A directive by which the first definition covers more than it is asked for; "": none.
  std::string enlarging_tail(int d) const {
    const schedule::StageSchedule& sched = tree_.schedule_of({func_, 0});
    std::vector<LoopId> parts{sched.dims[static_cast<std::size_t>(d)]};
    for (const schedule::Transform& t : sched.transforms) {
      if (t.kind != schedule::Transform::Kind::Split ||
          std::find(parts.begin(), parts.end(), t.old) == parts.end())
        continue;
      if (t.tail == Tail::RoundUp || t.tail == Tail::ShiftInwards || t.tail == Tail::PredicateLoads)
        return t.origin;
      parts.insert(parts.end(), {t.outer, t.inner});
    }
    return "";
  }

  /// Why the place says nothing of the order in which values are read; "": it does.
  std::string unsteady_site() const {
    const schedule::FuncSchedule& sched = tree_.scheduled.of(func_);
    if (site_loops(tree_, sched.store) != site_loops(tree_, sched.compute))
      return fmt::format("'{}' is stored outside the loop where it is computed", def_.name);
    for (LoopId id : site_loops(tree_, sched.compute))
      for (const schedule::Transform& t : tree_.schedule_of(tree_.loop(id).owner).transforms)
        if (t.kind == schedule::Transform::Kind::Fuse && t.fused == id)
          return fmt::format("'{}' is computed inside the fused loop '{}'", def_.name, tree_.loop(id).name);
    return "";
  }

  /// Not in registers that are dealt out to the threads of a block.
  bool is_private() const {
    const schedule::FuncSchedule& sched = tree_.scheduled.of(func_);
    if (!tree_.scheduled.target.is_gpu() || sched.memory != Memory::Register) return true;
    const std::vector<LoopId> around = site_loops(tree_, sched.store);
    return std::any_of(around.begin(), around.end(),
                       [&](LoopId id) { return tree_.loop(id).binding == ir::Binding::GpuThread; });
  }

  /// An error where fold_storage asks for it; else all of the scan is stored, and a refusal of that says why.
  void give_up(const std::string& message, const std::string& legal) {
    if (const schedule::DimNumber* fold = asked())
      throw Error({.kind = ErrorKind::Schedule,
                   .message = message,
                   .func = def_.name,
                   .directive = fold->origin,
                   .value = std::to_string(fold->value),
                   .legal = legal});
    storage_.scan.reset();
    storage_.unfolded = message;
  }

  void find_positions() {
    visit(tree_.root, [&](const Node& node, const std::vector<const Node*>&) {
      if (node.kind == NodeKind::Body) position_.emplace(node.stage, static_cast<int>(position_.size()));
    });
  }

  /// What the reduction loop has become, among the loops that stages share.
  std::vector<LoopId> scan_loops() const {
    const schedule::StageSchedule& sched = tree_.schedule_of(storage_.scan->writer);
    std::vector<LoopId> parts{sched.dims.back()};
    for (const schedule::Transform& t : sched.transforms) {
      const auto take = [&](LoopId id) {
        const auto found = std::find(parts.begin(), parts.end(), id);
        if (found == parts.end()) return false;
        parts.erase(found);
        return true;
      };
      if (t.kind == schedule::Transform::Kind::Split) {
        if (take(t.old)) parts.insert(parts.end(), {t.outer, t.inner});
      } else {
        const bool outer = take(t.outer), inner = take(t.inner);
        if (outer || inner) parts.push_back(t.fused);
      }
    }
    for (LoopId& id : parts) id = tree_.scheduled.shared_loop(id);
    return parts;
  }

  Expr placed(StageRef ref, const Expr& e) const { return ir::substitute(e, tree_.coordinates_of(ref)); }

  /// Whether the reader runs in no iteration of the loops in which the update does not.
  bool runs_together(StageRef reader) const {
    const std::vector<LoopId>& loops = storage_.scan->loops;
    const std::vector<Guard>& own = tree_.stages.at(reader).guards;
    for (const Guard& g : tree_.stages.at(storage_.scan->writer).guards) {
      const bool here = std::any_of(loops.begin(), loops.end(),
                                    [&](LoopId id) { return ir::uses(g.condition, tree_.loop(id).var); });
      const bool same = std::any_of(own.begin(), own.end(), [&](const Guard& other) {
        return ir::equal(simple(g.condition), simple(other.condition));
      });
      if (here && !same) return false;
    }
    return true;
  }

  void include(StageRef reader, const Expr& call) {
    FoldedScan& scan = *storage_.scan;
    const std::vector<LoopId> around = enclosing_loops(tree_, reader);
    const auto shared = std::count_if(scan.loops.begin(), scan.loops.end(), [&](LoopId id) {
      return std::find(around.begin(), around.end(), id) != around.end();
    });
    Expr newest = scan.last;
    if (shared > 0) {
      if (shared < static_cast<std::ptrdiff_t>(scan.loops.size()) || !runs_together(reader))
        return refuse(reader, call, "runs in some of the scan's iterations, but not in each of them alone");
      newest = placed(scan.writer, update().lhs[static_cast<std::size_t>(scan.dim)]);
      if (position_.at(reader) < position_.at(scan.writer)) {
        scan.earlier.insert(reader);
        newest = newest - ir::index(scan.step);
      }
    }
    const Expr read = placed(reader, call->args[static_cast<std::size_t>(scan.dim)]);
    const Expr age = simple(ir::index(scan.step) * (newest - read));
    const std::optional<std::int64_t> least = ir::constant_lower_bound(age, tree_.facts),
                                      most = ir::constant_upper_bound(age, tree_.facts);
    if (!least || *least < 0 || !most)
      return refuse(reader, call,
                    fmt::format("reads at a distance of {} from the newest value", ir::to_string(age)));
    if (*most + 1 <= depth_) return;
    depth_ = *most + 1;
    reason_ = fmt::format("{} reads {}", name_of(reader), ir::to_string(call));
  }

  void refuse(StageRef reader, const Expr& call, const std::string& what) {
    give_up(fmt::format("'{}' would not hold all that is read along '{}': {}, with {}, {}", def_.name,
                        dim_name(storage_.scan->dim), name_of(reader), ir::to_string(call), what),
            "reads of the last value after the loop, or in it (compute_with) of this iteration and those "
            "just before");
  }

  /// The values that there are before the first iteration.
  void fit_first(const schedule::Scan& form) {
    const ir::Interval& range = tree_.stages.at({func_, 0}).need[static_cast<std::size_t>(form.dim)];
    const Expr count = simple(range.max - range.min + ir::index(1));
    const std::optional<std::int64_t> most = ir::constant_upper_bound(count, tree_.facts);
    if (!most)
      return give_up(fmt::format("it is not bounded how many values of '{}' the scan starts from: {}",
                                 def_.name, ir::to_string(count)),
                     "reads of what the scan has written");
    storage_.scan->given =
        std::max<std::int64_t>(ir::constant_lower_bound(count, tree_.facts).value_or(0), 0);
    if (*most <= depth_) return;
    depth_ = *most;
    reason_ = fmt::format("the scan starts from {}", *most);
  }

  LoopTree& tree_;
  FuncId func_;
  const lang::FuncDef& def_;
  Storage& storage_;
  std::map<StageRef, int> position_;
  std::int64_t depth_ = 1;
  std::string reason_;  ///< what needs so many
};

}  // namespace

void begin_scan(LoopTree& tree, FuncId func, Storage& storage, Box& first) {
  if (const std::optional<schedule::Scan> form = schedule::folded_scan(tree.scheduled, func))
    ScanFolder(tree, func, storage).begin(*form, first);
}

void fold_scan(LoopTree& tree, FuncId func) {
  const auto storage = tree.storage.find(func);
  if (storage != tree.storage.end()) ScanFolder(tree, func, storage->second).fold();
}

}  // namespace calotype::lower
