// The reference page of the directives, made from their specs.
#include "schedule/reference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "schedule/directive.h"

namespace calotype::schedule {

namespace {

const char* addresses_text(Addresses a) {
  switch (a) {
    case Addresses::Func:
      return "a Func";
    case Addresses::Stage:
      return "a stage";
    case Addresses::Graph:
      return "the graph";
  }
  return "";
}

std::string kind_text(const ArgSpec& arg) {
  switch (arg.kind) {
    case ArgKind::Loop:
      return "loop";
    case ArgKind::NewLoop:
      return "new loop";
    case ArgKind::FarLoop:
      return "loop of that stage";
    case ArgKind::Dim:
      return "coordinate";
    case ArgKind::NewDim:
      return "new coordinate";
    case ArgKind::Part:
      return "part of a coordinate";
    case ArgKind::Size:
      return "named size";
    case ArgKind::Argument:
      return "input or output";
    case ArgKind::Source:
      return "Func or input";
    case ArgKind::Func:
      return "Func";
    case ArgKind::NewFunc:
      return "new Func";
    case ArgKind::Stage:
      return "stage or Func";
    case ArgKind::Integer:
      return fmt::format("integer or knob, {} to {}", arg.low, arg.high);
    case ArgKind::Condition:
      return "condition on the call";
    case ArgKind::Text:
      return "text";
    case ArgKind::Choice:
      break;
  }
  std::vector<std::string> options;
  for (const Option& o : arg.choices) options.push_back("`" + o.text + "`");
  return fmt::format("{}", fmt::join(options, ", "));
}

std::string argument_row(const ArgSpec& arg) {
  std::string count;
  if (arg.list)
    count = arg.least == arg.most ? fmt::format("list of {}: ", arg.least)
                                  : fmt::format("list of {} to {}: ", arg.least, arg.most);
  return fmt::format("| `{}`{} | {}{} | {} |\n", arg.name, arg.optional ? " (optional)" : "", count,
                     kind_text(arg), arg.doc);
}

std::string section(const DirectiveSpec& spec) {
  std::string out =
      fmt::format("\n## {}\n\n{}\n\nAddresses {}.", spec.name, spec.doc, addresses_text(spec.addresses));
  out += spec.reorders.empty()
             ? ""
             : fmt::format(" Changes the order of float operations {}; they are then listed in `numerics`.",
                           spec.reorders);
  out += "\n";
  if (!spec.args.empty()) out += "\n| argument | kind | meaning |\n| --- | --- | --- |\n";
  for (const ArgSpec& arg : spec.args) out += argument_row(arg);
  if (!spec.refused.empty()) out += "\nRefused where:\n";
  for (const std::string& reason : spec.refused) out += fmt::format("- {}\n", reason);
  return out;
}

}  // namespace

std::string reference_markdown() {
  std::string out =
      "# Directives\n\n"
      "Made from the definitions in src/schedule/directives; `CALOTYPE_UPDATE=1` with the tests of "
      "src/schedule writes "
      "it anew.\n\n"
      "A directive addresses a stage (`\"stage\": \"acc.update(0)\"`, in C++ `s[acc].update(0)`), a Func "
      "(`\"stage\": \"acc\"`, `s[acc]`) or the graph (no stage, a method of Schedule). Loop directives apply "
      "in the "
      "order of the list; loops of other stages are looked up after the whole list. In C++ the arguments "
      "come in the "
      "order given here, lists without their brackets; the header calotype/schedule.h has the exact forms.\n";
  for (const DirectiveSpec& spec : directives()) out += section(spec);
  return out;
}

}  // namespace calotype::schedule
