// Looking up directives and checking the form of recorded ones against their specs.
#include "schedule/directive.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

namespace calotype::schedule {

const ArgSpec* DirectiveSpec::argument(const std::string& arg) const {
  for (const ArgSpec& a : args)
    if (a.name == arg) return &a;
  return nullptr;
}

const DirectiveSpec* find_directive(const std::string& name) {
  for (const DirectiveSpec& spec : directives())
    if (spec.name == name) return &spec;
  return nullptr;
}

std::vector<std::string> directive_names() {
  std::vector<std::string> names;
  for (const DirectiveSpec& spec : directives()) names.push_back(spec.name);
  return names;
}

const Value* find_arg(const Directive& directive, const std::string& name) {
  for (const auto& [arg, value] : directive.args)
    if (arg == name) return &value;
  return nullptr;
}

std::string name_choices(const std::string& name, const std::vector<std::string>& candidates,
                         const std::string& what) {
  if (candidates.empty()) return what + ": none";
  std::string near;
  for (const std::string& n : nearest_names(name, candidates))
    near += fmt::format("{}'{}'", near.empty() ? "did you mean " : " or ", n);
  return fmt::format("{}{}{}: {}", near, near.empty() ? "" : "? ", what, fmt::join(candidates, ", "));
}

FormProblem unknown_directive(const std::string& name) {
  return {"", -1, fmt::format("there is no directive '{}'", name), name,
          name_choices(name, directive_names(), "directives")};
}

std::int64_t number_of(const Value& value, const std::vector<Knob>& knobs) {
  if (const auto* knob = std::get_if<KnobRef>(&value.data))
    for (const Knob& k : knobs)
      if (k.name == knob->name) return k.value;
  return std::get<std::int64_t>(value.data);
}

const std::vector<Option>& tail_options() {
  static const std::vector<Option> options = {{"auto", "Tail::Auto"},
                                              {"guard", "Tail::Guard"},
                                              {"shift_inwards", "Tail::ShiftInwards"},
                                              {"round_up", "Tail::RoundUp"},
                                              {"predicate", "Tail::Predicate"},
                                              {"predicate_loads", "Tail::PredicateLoads"},
                                              {"predicate_stores", "Tail::PredicateStores"}};
  return options;
}

const std::vector<Option>& memory_options() {
  static const std::vector<Option> options = {{"auto", "Memory::Auto"},     {"heap", "Memory::Heap"},
                                              {"stack", "Memory::Stack"},   {"global", "Memory::Global"},
                                              {"shared", "Memory::Shared"}, {"register", "Memory::Register"},
                                              {"local", "Memory::Local"}};
  return options;
}

const std::vector<Option>& partition_options() {
  static const std::vector<Option> options = {
      {"auto", "Partition::Auto"}, {"never", "Partition::Never"}, {"always", "Partition::Always"}};
  return options;
}

const std::vector<Option>& copy_options() {
  static const std::vector<Option> options = {
      {"threads", "Copy::Threads"}, {"async", "Copy::Async"}, {"bulk", "Copy::Bulk"}, {"tma", "Copy::Tma"}};
  return options;
}

const std::string& text_of(Copy copy) { return copy_options()[static_cast<std::size_t>(copy)].text; }
const std::string& text_of(Tail tail) { return tail_options()[static_cast<std::size_t>(tail)].text; }
const std::string& text_of(Memory memory) { return memory_options()[static_cast<std::size_t>(memory)].text; }
const std::string& text_of(const Value& value) { return std::get<std::string>(value.data); }

ArgSpec tail_argument() {
  return {.name = "tail",
          .kind = ArgKind::Choice,
          .doc = "what happens where the factor does not divide the extent",
          .optional = true,
          .choices = tail_options()};
}

std::vector<std::pair<std::string, Value>> with_tail(std::vector<std::pair<std::string, Value>> args,
                                                     Tail tail) {
  if (tail != Tail::Auto) args.emplace_back("tail", text_of(tail));
  return args;
}

Value names_of(const std::vector<LoopName>& loops) {
  Value::List list;
  for (const LoopName& loop : loops) list.emplace_back(loop.name);
  return list;
}

namespace {

const char* kind_text(ArgKind kind) {
  switch (kind) {
    case ArgKind::Integer:
      return "an integer or the name of a knob";
    case ArgKind::Choice:
      return "a choice";
    case ArgKind::Source:
      return "the name of a Func or input";
    case ArgKind::Func:
    case ArgKind::NewFunc:
      return "the name of a Func";
    case ArgKind::Stage:
      return "the name of a stage";
    case ArgKind::Dim:
    case ArgKind::NewDim:
      return "the name of a coordinate";
    case ArgKind::Part:
      return "a part of a coordinate";
    case ArgKind::Size:
      return "the name of a size";
    case ArgKind::Argument:
      return "the name of an input or output";
    case ArgKind::Condition:
      return "a condition";
    case ArgKind::Text:
      return "a text";
    default:
      return "the name of a loop";
  }
}

std::string value_text(const Value& value) {
  if (const auto* n = std::get_if<std::int64_t>(&value.data)) return std::to_string(*n);
  if (const auto* k = std::get_if<KnobRef>(&value.data)) return k->name;
  if (const auto* s = std::get_if<std::string>(&value.data)) return *s;
  return "a list";
}

bool makes_name(ArgKind kind) {
  return kind == ArgKind::NewLoop || kind == ArgKind::NewDim || kind == ArgKind::NewFunc;
}

bool is_name(const std::string& text) {
  auto first = [](unsigned char c) { return std::isalpha(c) || c == '_'; };
  auto rest = [&](unsigned char c) { return first(c) || std::isdigit(c) || c == '.'; };
  return !text.empty() && first(text[0]) && std::all_of(text.begin(), text.end(), rest);
}

/// Checks the arguments of one directive; the first problem is kept.
class FormCheck {
 public:
  FormCheck(const DirectiveSpec& spec, const Directive& directive, const std::vector<Knob>& knobs)
      : spec_(spec), directive_(directive), knobs_(knobs) {}

  std::optional<FormProblem> run() {
    known_arguments();
    for (const ArgSpec& arg : spec_.args) {
      const Value* value = find_arg(directive_, arg.name);
      if (!value && !arg.optional)
        problem(arg.name, -1, fmt::format("'{}' needs the argument '{}'", spec_.name, arg.name), "", arg.doc);
      if (value) argument(arg, *value);
    }
    distinct_names();
    return found_;
  }

 private:
  void problem(const std::string& arg, int element, std::string message, std::string value,
               std::string legal) {
    if (!found_) found_ = FormProblem{arg, element, std::move(message), std::move(value), std::move(legal)};
  }

  void known_arguments() {
    std::vector<std::string> names, seen;
    for (const ArgSpec& arg : spec_.args) names.push_back(arg.name);
    for (const auto& [name, value] : directive_.args) {
      if (!spec_.argument(name))
        problem(name, -1, fmt::format("'{}' has no argument '{}'", spec_.name, name), name,
                name_choices(name, names, "arguments"));
      if (std::find(seen.begin(), seen.end(), name) != seen.end())
        problem(name, -1, fmt::format("the argument '{}' is given twice", name), name, "once");
      seen.push_back(name);
    }
  }

  void argument(const ArgSpec& arg, const Value& value) {
    const auto* list = std::get_if<Value::List>(&value.data);
    if (!arg.list) return list ? wrong_kind(arg, -1, value, kind_text(arg.kind)) : scalar(arg, -1, value);
    if (!list) return wrong_kind(arg, -1, value, fmt::format("a list, each element {}", kind_text(arg.kind)));
    if (list->size() < arg.least || list->size() > arg.most)
      problem(arg.name, -1, fmt::format("'{}' has {} elements", arg.name, list->size()),
              std::to_string(list->size()),
              arg.least == arg.most ? fmt::format("{}", arg.least)
                                    : fmt::format("{} to {}", arg.least, arg.most));
    for (std::size_t i = 0; i < list->size(); i++) scalar(arg, static_cast<int>(i), (*list)[i]);
  }

  void scalar(const ArgSpec& arg, int element, const Value& value) {
    if (arg.kind == ArgKind::Integer) return integer(arg, element, value);
    const auto* text = std::get_if<std::string>(&value.data);
    if (!text) return wrong_kind(arg, element, value, kind_text(arg.kind));
    if (arg.kind == ArgKind::Choice) {
      std::vector<std::string> names;
      for (const Option& o : arg.choices) names.push_back(o.text);
      if (std::find(names.begin(), names.end(), *text) == names.end())
        problem(arg.name, element, fmt::format("'{}' is no {}", *text, arg.name), *text,
                name_choices(*text, names, "choices"));
    }
    if ((arg.kind == ArgKind::NewLoop || arg.kind == ArgKind::NewDim) && !is_name(*text))
      problem(arg.name, element, fmt::format("'{}' is no name", *text), *text,
              "letters, digits, '_' and '.', starting with a letter or '_'");
  }

  void integer(const ArgSpec& arg, int element, const Value& value) {
    if (const auto* knob = std::get_if<KnobRef>(&value.data)) {
      std::vector<std::string> names;
      for (const Knob& k : knobs_) names.push_back(k.name);
      if (std::find(names.begin(), names.end(), knob->name) == names.end())
        return problem(arg.name, element, fmt::format("there is no knob '{}'", knob->name), knob->name,
                       name_choices(knob->name, names, "knobs"));
    } else if (!std::holds_alternative<std::int64_t>(value.data)) {
      return wrong_kind(arg, element, value, kind_text(arg.kind));
    }
    const std::int64_t n = number_of(value, knobs_);
    if (n < arg.low || n > arg.high)
      problem(arg.name, element, fmt::format("'{}' is out of range", arg.name), std::to_string(n),
              fmt::format("{} to {}", arg.low, arg.high));
  }

  void wrong_kind(const ArgSpec& arg, int element, const Value& value, const std::string& expected) {
    problem(arg.name, element, fmt::format("'{}' is of the wrong kind", arg.name), value_text(value),
            expected);
  }

  /// No loop twice among those used, nor among those made.
  void distinct_names() {
    if (found_) return;
    std::vector<std::string> used, made;
    for (const ArgSpec& arg : spec_.args) {
      const Value* value = find_arg(directive_, arg.name);
      if (!value || (arg.kind != ArgKind::Loop && arg.kind != ArgKind::Dim && arg.kind != ArgKind::Func &&
                     !makes_name(arg.kind)))
        continue;
      const Value::List one = {*value};
      const auto* list = std::get_if<Value::List>(&value->data);
      for (const Value& v : list ? *list : one) {
        std::vector<std::string>& names = makes_name(arg.kind) ? made : used;
        if (std::find(names.begin(), names.end(), text_of(v)) != names.end())
          problem(arg.name, -1,
                  fmt::format("'{}' is {} twice in one directive", text_of(v),
                              makes_name(arg.kind) ? "made" : "used"),
                  text_of(v), "each name once");
        names.push_back(text_of(v));
      }
    }
  }

  const DirectiveSpec& spec_;
  const Directive& directive_;
  const std::vector<Knob>& knobs_;
  std::optional<FormProblem> found_;
};

}  // namespace

std::optional<FormProblem> check_form(const DirectiveSpec& spec, const Directive& directive,
                                      const std::vector<Knob>& knobs) {
  return FormCheck(spec, directive, knobs).run();
}

}  // namespace calotype::schedule
