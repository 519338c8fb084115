// assume: the values of a named size that a kernel is for.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "schedule/dims.h"
#include "schedule/file.h"
#include "schedule/sizes.h"
#include "schedule/spelling.h"
#include "schedule/state.h"

namespace calotype {

Schedule& Schedule::assume(const SizeName& size, const Assumption& assumption) {
  schedule::Directive d{.name = "assume", .args = {{"size", size.name}}};
  for (const auto& arg : assumption.args()) d.args.push_back(arg);
  append(std::move(d));
  return *this;
}

namespace schedule {

namespace {

SizeRange range_of(const Application& a) {
  SizeRange range{.size = a.name("size")};
  if (a.has("exact")) {
    if (a.has("min") || a.has("max") || a.has("multiple"))
      a.refuse("an exact value leaves nothing else to say", std::to_string(a.integer("exact")),
               "exact alone, or min, max and multiple");
    range.low = a.integer("exact");
    range.high = range.low;
    return range;
  }
  if (!a.has("min") && !a.has("max") && !a.has("multiple"))
    a.refuse(fmt::format("nothing is said of '{}'", range.size), range.size, "exact, min, max or multiple");
  if (a.has("min")) range.low = a.integer("min");
  if (a.has("max")) range.high = a.integer("max");
  if (a.has("multiple")) range.multiple = a.integer("multiple");
  return range;
}

void apply(Application& a) {
  const SizeRange range = range_of(a);
  if (!assume_size(a.state.out, find_size(a, range.size), range, a.origin(), 1))
    a.refuse(fmt::format("no value of '{}' is allowed", range.size), range.str(),
             "assumptions that some size of 1 or more satisfies, all those of one size together");
}

std::string in_cpp(const Directive& d) {
  std::vector<std::string> calls;
  const auto text = [&](const char* arg) {
    const Value* value = find_arg(d, arg);
    if (!value) return std::string();
    const auto* knob = std::get_if<KnobRef>(&value->data);
    return knob ? knob->name : std::to_string(std::get<std::int64_t>(value->data));
  };
  const std::string exact = text("exact"), low = text("min"), high = text("max"), multiple = text("multiple");
  const std::string size = fmt::format("s.assume(\"{}\", ", text_of(*find_arg(d, "size")));
  if (!exact.empty()) calls.push_back(fmt::format("{}Assumption::exact({}));", size, exact));
  if (!high.empty())
    calls.push_back(fmt::format("{}Assumption::range({}, {}));", size, low.empty() ? "0" : low, high));
  else if (!low.empty())
    calls.push_back(fmt::format("{}Assumption::at_least({}));", size, low));
  if (!multiple.empty()) calls.push_back(fmt::format("{}Assumption::multiple({}));", size, multiple));
  return fmt::format("{}", fmt::join(calls, " "));
}

}  // namespace

Directive assume_directive(const SizeRange& range) {
  Directive d{.name = "assume", .args = {{"size", range.size}}};
  if (const auto value = range.exact()) {
    d.args.emplace_back("exact", *value);
    return d;
  }
  if (range.low > 0) d.args.emplace_back("min", range.low);
  if (range.high) d.args.emplace_back("max", *range.high);
  if (range.multiple > 1) d.args.emplace_back("multiple", range.multiple);
  return d;
}

DirectiveSpec assume_spec() {
  constexpr std::int64_t far = std::int64_t{1} << 48;
  const auto number = [](const char* name, const char* doc, std::int64_t low) {
    return ArgSpec{
        .name = name, .kind = ArgKind::Integer, .doc = doc, .optional = true, .low = low, .high = far};
  };
  return {.name = "assume",
          .addresses = Addresses::Graph,
          .doc =
              "Makes the kernel one for some values of a named size alone; a call with another value is an "
              "error. An exact value is a constant in the code, so that loops over the size may be "
              "unrolled, vectorised or bound to threads whole; a range bounds what is stored; a multiple of "
              "a factor "
              "leaves no tail. Assumptions hold for the whole list of directives, wherever they stand, and "
              "several of one size hold together. In C++ the values are written as "
              "`Assumption::exact(64)`, `Assumption::multiple(16)`, `Assumption::range(64, 128)` or "
              "`Assumption::at_least(64)`.",
          .args = {{.name = "size", .kind = ArgKind::Size, .doc = "a named size of the algorithm"},
                   number("exact", "its one value", 1),
                   number("min", "its least value", 0),
                   number("max", "its largest value", 1),
                   number("multiple", "what divides it", 1)},
          .refused = {"the algorithm has no such size", "no value satisfies all that is assumed of the size",
                      "exact stands beside other numbers, or there is no number"},
          .apply = apply,
          .cpp = in_cpp};
}

}  // namespace schedule
}  // namespace calotype
