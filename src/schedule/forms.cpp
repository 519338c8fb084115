// What is assumed of the memory of inputs and outputs.
#include "schedule/forms.h"

#include <numeric>

#include "ir/simplify.h"
#include "schedule/directive.h"

namespace calotype::schedule {

std::optional<ArgumentRef> find_argument(const lang::Graph& graph, const std::string& name) {
  for (std::size_t i = 0; i < graph.inputs.size(); i++)
    if (graph.inputs[i].name == name) return ArgumentRef{false, static_cast<int>(i)};
  for (std::size_t i = 0; i < graph.outputs.size(); i++)
    if (graph.output_name(graph.outputs[i]) == name) return ArgumentRef{true, static_cast<int>(i)};
  return std::nullopt;
}

std::vector<std::string> argument_names(const lang::Graph& graph) {
  std::vector<std::string> names;
  for (const lang::InputDef& input : graph.inputs) names.push_back(input.name);
  for (const lang::OutputDef& output : graph.outputs) names.push_back(graph.output_name(output));
  return names;
}

const std::vector<Expr>& extents_of(const lang::Graph& graph, ArgumentRef argument) {
  return argument.output ? graph.outputs[argument.index].extents : graph.inputs[argument.index].extents;
}

Type type_of(const lang::Graph& graph, ArgumentRef argument) {
  return argument.output ? graph.output_type(graph.outputs[argument.index])
                         : graph.inputs[argument.index].type;
}

std::optional<FormAssumption> form_of(const lang::Graph& graph, const Directive& directive,
                                      const std::vector<Knob>& knobs, const std::string& origin) {
  const std::string& name = text_of(*find_arg(directive, "buffer"));
  const std::optional<ArgumentRef> argument = find_argument(graph, name);
  if (!argument) return std::nullopt;
  const auto number = [&](const char* arg) {
    const Value* value = find_arg(directive, arg);
    return value ? number_of(*value, knobs) : 1;
  };
  return FormAssumption{
      argument->output,
      argument->index,
      {name, find_arg(directive, "strides") != nullptr, number("pitch_multiple"), number("base_align")},
      origin};
}

std::vector<const FormAssumption*> forms_of(const std::vector<FormAssumption>& all, ArgumentRef argument) {
  std::vector<const FormAssumption*> own;
  for (const FormAssumption& f : all)
    if (argument == ArgumentRef{f.output, f.argument}) own.push_back(&f);
  return own;
}

BufferForm joined_form(const std::vector<FormAssumption>& all, ArgumentRef argument) {
  BufferForm form;
  for (const FormAssumption* f : forms_of(all, argument)) form = join(f->form, form);
  return form;
}

bool is_tensor(const std::vector<FormAssumption>& all, ArgumentRef argument) {
  for (const FormAssumption* f : forms_of(all, argument))
    if (f->tensor) return true;
  return false;
}

/// What a copy reads, if that is memory of the call; Funcs that are inlined are followed.
static std::optional<ArgumentRef> argument_of_copy(const Scheduled& s, FuncId func) {
  const Expr& value = s.graph.func(func).stages.front().value;
  if (!value.defined() || !ir::is(value, ir::Op::Call)) return std::nullopt;
  const ir::Callee& callee = *ir::callee_of(value);
  if (callee.kind == ir::CalleeKind::Input) return ArgumentRef{false, callee.index};
  if (callee.kind != ir::CalleeKind::Func) return std::nullopt;
  const FuncId read{callee.index};
  if (s.of(read).compute.kind == Place::Kind::Inline) return argument_of_copy(s, read);
  for (std::size_t i = 0; i < s.graph.outputs.size(); i++)
    if (s.graph.outputs[i].func == read && s.graph.outputs[i].component == callee.component)
      return ArgumentRef{true, static_cast<int>(i)};
  return std::nullopt;
}

std::vector<FormAssumption> tensor_forms(const Scheduled& s) {
  std::vector<FormAssumption> forms;
  for (const lang::FuncDef& f : s.graph.funcs) {
    const FuncSchedule& own = s.of(f.id);
    if (own.copy != Copy::Tma || own.compute.kind == Place::Kind::Inline) continue;
    const std::optional<ArgumentRef> of =
        s.sends_boxes(f.id) ? find_argument(s.graph, f.name) : argument_of_copy(s, f.id);
    if (!of || is_tensor(forms, *of)) continue;
    FormAssumption form;
    form.output = of->output;
    form.argument = of->index;
    form.form.buffer =
        of->output ? s.graph.output_name(s.graph.outputs[of->index]) : s.graph.inputs[of->index].name;
    form.form.pitch_multiple = form.form.base_align = kTensorBytes;
    form.origin = own.copy_origin;
    form.tensor = true;
    forms.push_back(std::move(form));
  }
  return forms;
}

std::vector<Expr> dense_strides(const std::vector<Expr>& extents) {
  std::vector<Expr> strides;
  for (std::size_t d = 0; d < extents.size(); d++)
    strides.push_back(d == 0 ? ir::index(1) : ir::simplify(strides.back() * extents[d - 1]));
  return strides;
}

std::int64_t multiple_in_elements(std::int64_t bytes, Type type) {
  return bytes / std::gcd(bytes, std::int64_t{type.bytes()});
}

}  // namespace calotype::schedule
