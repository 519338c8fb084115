// Rebinding: a variant of a file gets the names that its algorithm has now.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "calotype/pipeline.h"
#include "schedule/directive.h"
#include "schedule/file.h"
#include "schedule/parts.h"
#include "schedule/ways.h"

namespace calotype {

namespace schedule {

namespace {

using Names = std::map<std::string, std::string>;

const std::string& renamed(const Names& names, const std::string& name) {
  const auto at = names.find(name);
  return at == names.end() ? name : at->second;
}

/// The names of one variant, from those of the file to those of the algorithm. Funcs that directives make are
/// noted as they are met.
class Renaming {
 public:
  Renaming(const FileVariant& file, const FileVariant& own) {
    for (std::size_t i = 0; i < file.inputs.size(); i++) funcs_[file.inputs[i]] = own.inputs[i];
    for (std::size_t i = 0; i < file.funcs.size(); i++) {
      const auto& [name, loops] = file.funcs[i];
      funcs_[name] = own.funcs[i].first;
      for (std::size_t l = 0; l < loops.size(); l++) loops_[name][loops[l]] = own.funcs[i].second[l];
    }
  }

  Directive operator()(const Directive& old) {
    const DirectiveSpec& spec = *find_directive(old.name);
    Directive d = old;
    d.stage = func(old.stage);
    for (auto& [name, value] : d.args) {
      const ArgSpec& arg = *spec.argument(name);
      const Value* of = arg.kind == ArgKind::FarLoop ? find_arg(old, "of") : nullptr;
      const std::string owner = of ? text_of(*of) : old.stage;
      each(value, [&](const std::string& text) { return one(arg.kind, old.name, owner, text); });
    }
    note_made(old);
    return d;
  }

  /// An input or output, or one buffer of an output that has several: "C.0".
  std::string argument(const std::string& text) const {
    const std::size_t dot = text.rfind('.');
    if (funcs_.contains(text) || dot == std::string::npos) return func(text);
    return func(text.substr(0, dot)) + text.substr(dot);
  }

  /// "acc.k" of `numerics`.
  std::string reassociated(const std::string& entry) const {
    // Both may have dots: "sum.1.r.x".
    for (std::size_t dot = entry.find('.'); dot != std::string::npos; dot = entry.find('.', dot + 1)) {
      const std::string name = entry.substr(0, dot), rest = entry.substr(dot + 1);
      const auto loops = loops_.find(name);
      if (loops != loops_.end() && loops->second.contains(rest)) return func(name) + "." + loop(name, rest);
    }
    return entry;
  }

 private:
  template <class F>
  static void each(Value& value, F&& change) {
    if (auto* text = std::get_if<std::string>(&value.data)) *text = change(*text);
    if (auto* list = std::get_if<Value::List>(&value.data))
      for (Value& v : *list) each(v, change);
  }

  std::string one(ArgKind kind, const std::string& directive, const std::string& owner,
                  const std::string& text) const {
    switch (kind) {
      case ArgKind::Loop:
      case ArgKind::FarLoop:
      case ArgKind::Dim:
        return loop(owner, text);
      case ArgKind::Part: {
        const std::size_t end = coordinate_length(text);
        return loop(owner, text.substr(0, end)) + text.substr(end);
      }
      case ArgKind::NewLoop:  // "n.b", made of a loop as names that are left out are
        return text.find('.') == std::string::npos ? text : loop(owner, text);
      case ArgKind::Source:
      case ArgKind::Func:
      case ArgKind::Stage:
        return func(text);
      case ArgKind::NewFunc:
        return directive == "in" || directive == "clone_in" ? func(text) : text;  // made of other names
      case ArgKind::Condition:
        return rename_arguments(text, [&](const std::string& name) { return argument(name); });
      case ArgKind::Argument:
        return argument(text);
      default:
        return text;
    }
  }

  /// A Func, input, copy or stage.
  std::string func(const std::string& text) const {
    if (funcs_.contains(text)) return funcs_.at(text);
    if (const std::string stage = stage_of_branch(text); stage != text)
      return func(stage) + one(ArgKind::Condition, "specialize", stage, text.substr(stage.size()));
    for (const std::string suffix : {".in", ".clone", ".pure"})
      if (text.ends_with(suffix)) return func(text.substr(0, text.size() - suffix.size())) + suffix;
    if (text.empty() || text.back() != ')') return text;
    // What stands last: an update, or a copy with the Funcs that it is for.
    std::size_t at = text.rfind(".update(");
    if (at != std::string::npos && text.find(')', at) + 1 == text.size())
      return func(text.substr(0, at)) + text.substr(at);
    at = list_start(text);
    if (at == std::string::npos) return text;
    std::string list;
    const std::size_t dot = text.rfind('.', at);
    for (std::size_t begin = at + 1, end = begin, depth = 0; end < text.size(); end++) {
      if (text[end] == '(') depth++;
      const bool last = end + 1 == text.size();
      if (last || (text[end] == ',' && depth == 0)) {
        list += (list.empty() ? "" : ",") + func(text.substr(begin, end - begin));
        begin = end + 1;
      } else if (text[end] == ')') {
        depth--;
      }
    }
    return func(text.substr(0, dot)) + text.substr(dot, at + 1 - dot) + list + ")";
  }

  /// Where the brackets that end a text open.
  static std::size_t list_start(const std::string& text) {
    int depth = 0;
    for (std::size_t i = text.size(); i-- > 0;) {
      if (text[i] == ')') depth++;
      if (text[i] == '(' && --depth == 0) return i;
    }
    return std::string::npos;
  }

  /// A loop of the stage or Func, or one made of it with a name of its own: "n.o".
  std::string loop(const std::string& stage, const std::string& text) const {
    const std::string plain = stage_of_branch(stage);
    std::string owner = plain.substr(0, plain.rfind(".update("));
    if (owner.ends_with(".pure")) owner.resize(owner.size() - 5);
    const auto names = loops_.find(owner);
    if (names == loops_.end()) return text;
    const std::size_t dot = text.find('.');
    if (names->second.contains(text) || dot == std::string::npos) return renamed(names->second, text);
    return renamed(names->second, text.substr(0, dot)) + text.substr(dot);
  }

  /// A Func that a directive makes has the loops of the Func that it is made of.
  void note_made(const Directive& old) {
    const Value* as = find_arg(old, "as");
    const Value* of = find_arg(old, "of");
    const std::string source = of ? text_of(*of) : old.stage.substr(0, old.stage.rfind(".update("));
    if (as && loops_.contains(source)) loops_[text_of(*as)] = loops_.at(source);
  }

  Names funcs_;
  std::map<std::string, Names> loops_;  ///< by the Func's name in the file
};

/// The templates that a variant's cases use, each its own: one that another variant uses too is copied.
void separate_templates(std::vector<FileTemplate>& templates, std::vector<FileCase>& cases,
                        const std::string& variant) {
  const std::size_t count = templates.size();
  for (std::size_t t = 0; t < count; t++) {
    const std::string name = templates[t].name;
    bool own = false, shared = false;
    for (const FileCase& c : cases)
      if (c.template_name == name) (c.variant == variant ? own : shared) = true;
    if (!own || !shared) continue;
    std::string copy = name + "_" + variant;
    const auto taken = [&](const FileTemplate& other) { return other.name == copy; };
    while (std::any_of(templates.begin(), templates.end(), taken)) copy += "_";
    FileTemplate separate = templates[t];
    separate.name = copy;
    templates.push_back(std::move(separate));
    for (FileCase& c : cases)
      if (c.template_name == name && c.variant == variant) c.template_name = copy;
  }
}

}  // namespace

}  // namespace schedule

using namespace schedule;

std::vector<std::string> ScheduleFile::rebind(const Pipeline& pipeline) {
  const FileVariant* found = find_variant(pipeline);
  if (!found || operator_name_ != pipeline.name())
    throw Error(
        {.kind = ErrorKind::Usage,
         .message = "the file has no variant of the algorithm's structure, so its names cannot be bound",
         .value = pipeline.fingerprint(),
         .legal = "a file of another version of the names alone"});
  const FileVariant own = bind_names(pipeline.graph(), found->name);
  std::vector<std::string> changes = renaming(*found, own);
  if (changes.empty()) return changes;
  ScheduleFile next = *this;
  next.source_ = nullptr;
  separate_templates(next.templates_, next.cases_, found->name);
  for (FileTemplate& t : next.templates_) {
    const bool used = std::any_of(next.cases_.begin(), next.cases_.end(), [&](const FileCase& c) {
      return c.variant == found->name && c.template_name == t.name;
    });
    if (!used) continue;
    Renaming rename(*found, own);
    for (Directive& d : t.directives) d = rename(d);
  }
  const Renaming rename(*found, own);
  for (FileCase& c : next.cases_)
    for (BufferForm& form : c.buffers)
      if (c.variant == found->name) form.buffer = rename.argument(form.buffer);
  std::vector<std::string> entries =
      variants_.size() == 1 ? std::vector<std::string>{} : numerics_.reassociates;
  for (const std::string& entry : numerics_.reassociates)
    if (const std::string now = rename.reassociated(entry);
        std::find(entries.begin(), entries.end(), now) == entries.end())
      entries.push_back(now);
  next.numerics_.reassociates = std::move(entries);
  for (FileVariant& v : next.variants_)
    if (v.name == own.name) v = own;
  next.check(pipeline);
  *this = std::move(next);
  return changes;
}

}  // namespace calotype
