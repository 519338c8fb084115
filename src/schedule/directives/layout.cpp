// layout: which elements of a Func lie side by side in memory.
#include <fmt/format.h>

#include <algorithm>

#include "schedule/dims.h"
#include "schedule/parts.h"
#include "schedule/spelling.h"

namespace calotype {

Stage& Stage::layout(const std::vector<std::string>& parts) {
  schedule::Value::List list;
  for (const std::string& part : parts) list.emplace_back(part);
  return record("layout", {{"parts", std::move(list)}});
}

namespace schedule {

namespace {

StoragePart part_named(const Application& a, const std::string& text) {
  const std::optional<PartText> part = parse_part(text);
  const std::string any = a.func_def().rank() ? a.func_def().args[0]->name : "x";
  if (!part)
    a.refuse(fmt::format("'{}' is no part of a coordinate", text), text,
             fmt::format("'{0}', '{0} / 8', '{0} % 8' or '{0} / 8 % 4', with whole numbers from 1 on", any));
  return {find_dim_named(a, part->coordinate), part->divide, part->modulo};
}

/// The parts of one coordinate, the digit that changes fastest first: together they must tell it, and none
/// twice.
class Digits {
 public:
  Digits(const Application& a, int dim, std::vector<StoragePart> parts)
      : a_(a), dim_(dim), parts_(std::move(parts)) {
    std::stable_sort(parts_.begin(), parts_.end(),
                     [](const StoragePart& p, const StoragePart& q) { return p.divide < q.divide; });
  }

  void check() const {
    std::int64_t told = 1;  // the coordinate is told modulo this
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const StoragePart& p = parts_[i];
      if (i > 0 && !parts_[i - 1].modulo) refuse_second(parts_[i - 1], p);
      if (p.divide < told)
        refuse(p,
               fmt::format("'{}' and '{}' tell a part of '{}' twice", text(parts_[i - 1]), text(p), name()),
               fmt::format("'{}'", text(told)));
      if (p.divide > told)
        refuse(p,
               fmt::format("no part tells '{}' below '{}', so that elements would share a place", text(told),
                           text(p)),
               p.divide % told == 0 ? fmt::format("'{}' beside it", text(told, p.divide / told))
                                    : fmt::format("'{}' in its place", text(told)));
      told *= p.modulo.value_or(1);
      if (told > kMost)
        refuse(p, "so many elements are in no memory", fmt::format("parts of at most {} together", kMost));
    }
    if (parts_.back().modulo)
      refuse(parts_.back(),
             fmt::format("no part tells '{}', so that elements would share a place", text(told)),
             fmt::format("'{}' beside it, or '{}' in its place", text(told), text(parts_.back().divide)));
  }

 private:
  static constexpr std::int64_t kMost = std::int64_t{1} << 31;

  const std::string& name() const { return a_.func_def().args[dim_]->name; }
  std::string text(std::int64_t divide, std::optional<std::int64_t> modulo = {}) const {
    return part_text({dim_, divide, modulo}, name());
  }
  std::string text(const StoragePart& p) const { return part_text(p, name()); }

  /// The first tells all that is left, so there is nothing for the second.
  void refuse_second(const StoragePart& first, const StoragePart& second) const {
    const bool cut = second.divide > first.divide && second.divide % first.divide == 0;
    refuse(first,
           fmt::format("'{}' tells what '{}' does, so that elements would be stored twice", text(first),
                       text(second)),
           cut ? fmt::format("'{}'", text(first.divide, second.divide / first.divide)) : "one of them");
  }

  [[noreturn]] void refuse(const StoragePart& p, std::string message, std::string legal) const {
    a_.refuse(std::move(message), text(p), std::move(legal));
  }

  const Application& a_;
  int dim_;
  std::vector<StoragePart> parts_;
};

void require_no_strides(const Application& a, const StorageSchedule& memory) {
  const std::string& name = a.func_def().name;
  if (!memory.order.empty())
    a.refuse(fmt::format("the memory of '{}' has its order already, by reorder_storage", name), name,
             "the order of the parts");
  for (const auto* list : {&memory.pads, &memory.multiples})
    for (const DimNumber& n : *list)
      a.refuse(fmt::format("{} gives '{}' more elements along '{}', whose parts have strides of their own",
                           n.origin, name, a.func_def().args[n.dim]->name),
               name, "bound_storage, which the parts then divide; or no layout");
}

void apply(Application& a) {
  StorageSchedule& memory = own_memory(a);
  require_no_strides(a, memory);
  if (!memory.layout.empty())
    a.refuse(fmt::format("the memory of '{}' has its layout already, by {}", a.func_def().name,
                         memory.layout_origin),
             a.func_def().name, "one layout a Func");
  std::vector<StoragePart> parts;
  for (const std::string& text : a.names("parts")) parts.push_back(part_named(a, text));
  for (int d = 0; d < a.func_def().rank(); d++) {
    std::vector<StoragePart> own;
    for (const StoragePart& p : parts)
      if (p.dim == d) own.push_back(p);
    const std::string& name = a.func_def().args[d]->name;
    if (own.empty())
      a.refuse(fmt::format("no part tells the coordinate '{}'", name), a.func_def().name,
               fmt::format("'{0}' beside them, or parts that tell it, as '{0} % 8' and '{0} / 8'", name));
    Digits(a, d, std::move(own)).check();
  }
  memory.layout = std::move(parts);
  memory.layout_origin = memory.origin = a.origin();
}

void check(Application& a) {
  const std::string& name = a.func_def().name;
  for (const FuncSchedule& f : a.state.out.funcs)
    for (const StageSchedule& s : f.stages)
      for (const Prefetch& p : s.prefetches)
        if (ir::same_source(*p.of, *a.func_def().callee()))
          a.refuse(fmt::format("{} fetches rows of '{}', which are no rows in memory", p.origin, name), name,
                   "a Func without a layout, or no prefetch");
  if (a.state.out.graph.is_boxed(a.func))
    a.refuse(fmt::format("'{}' is handed to an extern stage, which is given one stride a coordinate", name),
             name, "reorder_storage; or a copy made by in() for the other consumers");
}

std::string in_cpp(const Directive& d) {
  return fmt::format("{}.layout({});", cpp_stage(d.stage), cpp_list(*find_arg(d, "parts")));
}

}  // namespace

DirectiveSpec layout_spec() {
  return {
      .name = "layout",
      .addresses = Addresses::Func,
      .doc =
          "Says how the coordinates lie in memory, by parts of them, innermost first: `x`, `x / 8`, `x % 8` "
          "or "
          "`x / 8 % 4`, where x counts from the first coordinate that is stored, or is the place in a ring. "
          "`\"x % 8\", \"y\", \"x / 8\"` stores columns of 8, one below the other. The parts of a coordinate "
          "together tell it, each a digit of it that no other is: `x / 8` and `x % 8`; `x / 32`, "
          "`x / 8 % 4` and `x % 8`. The extent of `x % 8` is 8, that of `x / 8` is rounded up.",
      .args = {{.name = "parts", .kind = ArgKind::Part, .doc = "the parts, innermost first", .list = true}},
      .refused = {"the Func is an output",
                  "it has a layout already, or reorder_storage, align_storage or pad",
                  "a coordinate is told by no part, not in full, or by two parts",
                  "a prefetch fetches the Func, or an extern stage computes or reads it",
                  "the Func is held in registers that are dealt out to the threads of a block"},
      .apply = apply,
      .check = check,
      .cpp = in_cpp};
}

}  // namespace schedule
}  // namespace calotype
