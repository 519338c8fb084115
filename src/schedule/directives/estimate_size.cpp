// estimate_size: what a tuner may assume of a named size.
#include <fmt/format.h>

#include "schedule/dims.h"

namespace calotype {

void Schedule::estimate_size(const SizeName& size, Factor value) {
  append({.name = "estimate_size", .args = {{"size", size.name}, {"value", value}}});
}

namespace schedule {

static void apply(Application& a) {
  const std::string& size = a.name("size");
  find_size(a, size);
  for (const SizeEstimate& e : a.state.out.sizes)
    if (e.size == size)
      a.refuse(fmt::format("'{}' is estimated already, by {}", size, e.origin), size, "one estimate a size");
  a.state.out.sizes.push_back({size, a.integer("value"), a.origin()});
}

static std::string in_cpp(const Directive& d) {
  const Value& value = *find_arg(d, "value");
  const auto* knob = std::get_if<KnobRef>(&value.data);
  return fmt::format("s.estimate_size(Dim(\"{}\"), {});", text_of(*find_arg(d, "size")),
                     knob ? knob->name : std::to_string(std::get<std::int64_t>(value.data)));
}

DirectiveSpec estimate_size_spec() {
  return {
      .name = "estimate_size",
      .addresses = Addresses::Graph,
      .doc =
          "Says what a tuner may assume of a named size of the inputs and outputs. It changes no code and "
          "is not checked.",
      .args = {{.name = "size", .kind = ArgKind::Size, .doc = "a size of the Pipeline"},
               {.name = "value",
                .kind = ArgKind::Integer,
                .doc = "its value",
                .low = 0,
                .high = std::int64_t{1} << 48}},
      .inert = true,
      .refused = {"the size is estimated already"},
      .apply = apply,
      .cpp = in_cpp};
}

}  // namespace schedule
}  // namespace calotype
