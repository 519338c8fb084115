// assume_buffer: how the memory of an input or output lies.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>

#include "schedule/file.h"
#include "schedule/forms.h"
#include "schedule/json_tree.h"
#include "schedule/spelling.h"
#include "schedule/state.h"

namespace calotype {

Schedule& Schedule::assume_buffer(const BufferForm& form) {
  append(schedule::assume_buffer_directive(form));
  return *this;
}

namespace schedule {

namespace {

void apply(Application& a) {
  const lang::Graph& graph = a.state.out.graph;
  const std::string& name = a.name("buffer");
  const std::optional<FormAssumption> form =
      form_of(graph, a.directive, a.state.schedule.knobs(), a.origin());
  if (!form)
    a.refuse(fmt::format("there is no input or output '{}'", name), name,
             name_choices(name, argument_names(graph), "inputs and outputs"));
  const ArgumentRef argument{form->output, form->argument};
  if (form->form == BufferForm{.buffer = name})
    a.refuse(fmt::format("nothing is said of '{}'", name), name,
             "dense strides, a pitch_multiple or a base_align of 2 or more");
  if (a.has("pitch_multiple") && extents_of(graph, argument).size() < 2)
    a.refuse(fmt::format("'{}' has {} dimensions, and a pitch is the stride of the second or a further one",
                         name, extents_of(graph, argument).size()),
             std::to_string(form->form.pitch_multiple), "dense strides or a base_align");
  if (!std::has_single_bit(static_cast<std::uint64_t>(form->form.base_align)))
    a.refuse("addresses are aligned to powers of two", std::to_string(form->form.base_align),
             fmt::format("{}", std::bit_ceil(static_cast<std::uint64_t>(form->form.base_align))));
  a.state.out.forms.push_back(*form);
}

std::string in_cpp(const Directive& d) {
  std::vector<std::string> fields = {fmt::format(".buffer = {}", quoted(text_of(*find_arg(d, "buffer"))))};
  if (find_arg(d, "strides")) fields.emplace_back(".dense = true");
  for (const char* number : {"pitch_multiple", "base_align"}) {
    const Value* value = find_arg(d, number);
    if (!value) continue;
    const auto* knob = std::get_if<KnobRef>(&value->data);
    fields.push_back(
        fmt::format(".{} = {}", number,
                    knob ? knob->name + ".value" : std::to_string(std::get<std::int64_t>(value->data))));
  }
  return fmt::format("s.assume_buffer({{{}}});", fmt::join(fields, ", "));
}

}  // namespace

Directive assume_buffer_directive(const BufferForm& form) {
  Directive d{.name = "assume_buffer", .args = {{"buffer", form.buffer}}};
  if (form.dense) d.args.emplace_back("strides", "dense");
  if (form.pitch_multiple != 1) d.args.emplace_back("pitch_multiple", form.pitch_multiple);
  if (form.base_align != 1) d.args.emplace_back("base_align", form.base_align);
  return d;
}

DirectiveSpec assume_buffer_spec() {
  return {
      .name = "assume_buffer",
      .addresses = Addresses::Graph,
      .doc =
          "Makes the kernel one for calls that pass an input or output whose memory lies so; a call with "
          "another is an error that names the argument. Dense strides are products of extents: indices are "
          "simpler, and loops fused over several dimensions are contiguous. A pitch that is a multiple, with "
          "a "
          "base that is aligned, lets rows be read and written by wide accesses. A dimension of one element "
          "may "
          "have any stride. Buffers in host memory that a GPU works on are copied to memory with the base "
          "that "
          "is assumed. Assumptions hold for the whole list of directives, wherever they stand, and several "
          "of "
          "one buffer hold together. In C++ a `BufferForm` says them.",
      .args = {{.name = "buffer",
                .kind = ArgKind::Argument,
                .doc = "an input or output, or `C.0` for a buffer of one with several values"},
               {.name = "strides",
                .kind = ArgKind::Choice,
                .doc = "the stride of dimension 0 is 1, each other the extent times the stride before it",
                .optional = true,
                .choices = {{"dense", "true"}}},
               {.name = "pitch_multiple",
                .kind = ArgKind::Integer,
                .doc = "bytes that divide the strides of all dimensions but the first",
                .optional = true,
                .high = std::int64_t{1} << 20},
               {.name = "base_align",
                .kind = ArgKind::Integer,
                .doc = "bytes that divide the address of the element at the smallest coordinates: a power of "
                       "two",
                .optional = true,
                .high = std::int64_t{1} << 20}},
      .refused = {"there is no input or output of that name", "nothing is said of it",
                  "it has a pitch_multiple and fewer than two dimensions", "base_align is no power of two"},
      .apply = apply,
      .cpp = in_cpp};
}

}  // namespace schedule
}  // namespace calotype
