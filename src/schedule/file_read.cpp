// Reading schedule files: all or nothing. Every key is known or refused; the directives are checked against
// their specs, then applied to the algorithm for the file's target, so that what was loaded is legal.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <sstream>

#include "calotype/pipeline.h"
#include "schedule/apply.h"
#include "schedule/defaults.h"
#include "schedule/directive.h"
#include "schedule/file.h"
#include "schedule/json_tree.h"

namespace calotype {

namespace schedule {

namespace {

using Kind = JsonNode::Kind;

/// Reads one file; each method one part of it.
class Reader {
 public:
  Reader(const lang::Graph& graph, const JsonSource& source) : graph_(graph), source_(source) {}

  Schedule read(const JsonNode& root) {
    require(root, Kind::Object, "a schedule file");
    version(root);
    only(root, {"calotype_schedule", "defaults", "operator", "target", "variants", "templates", "cases",
                "numerics", "provenance"});
    defaults(root);
    operator_name(root);
    target(root);
    const JsonNode& variant = single(get(root, "variants", Kind::Object), "variant");
    structure(variant);
    const JsonNode& body = single(get(root, "templates", Kind::Object), "template");
    case_of(get(root, "cases", Kind::Array), last_key(root, "variants"), last_key(root, "templates"));
    template_of(body);
    numerics(get(root, "numerics", Kind::Object));
    notes_.provenance = one_line(get(root, "provenance", Kind::Object));
    out_.set_notes(notes_);
    legal(get(body, "do", Kind::Array));
    return std::move(out_);
  }

 private:
  void require(const JsonNode& node, Kind kind, const std::string& what) const {
    if (!node.is(kind))
      source_.fail(node, fmt::format("{} is {}, not {}", what, to_string(node.kind), to_string(kind)),
                   node.text, to_string(kind));
  }

  const JsonNode& get(const JsonNode& node, const std::string& key, Kind kind) const {
    const JsonNode* found = node.find(key);
    if (!found)
      source_.fail(node, fmt::format("the key '{}' is missing", key), "",
                   fmt::format("'{}', {}", key, to_string(kind)));
    require(*found, kind, fmt::format("'{}'", key));
    return *found;
  }

  void only(const JsonNode& node, const std::vector<std::string>& known) const {
    for (const JsonNode& member : node.members)
      if (std::find(known.begin(), known.end(), member.key) == known.end())
        source_.fail(member, fmt::format("the key '{}' is not known here", member.key), member.key,
                     name_choices(member.key, known, "keys"));
  }

  void version(const JsonNode& root) const {
    const JsonNode& v = get(root, "calotype_schedule", Kind::Integer);
    if (v.integer > file_version || v.integer < 1)
      source_.fail(
          v,
          fmt::format("the file is of version {}, and this library reads 1 to {}", v.integer, file_version),
          v.text, v.integer > file_version ? "a newer library" : "1");
  }

  void defaults(const JsonNode& root) const {
    const JsonNode& v = get(root, "defaults", Kind::Integer);
    if (v.integer != defaults_version)
      source_.fail(
          v,
          fmt::format("the defaults are numbered {}, and this library has {}", v.integer, defaults_version),
          v.text, std::to_string(defaults_version));
  }

  void operator_name(const JsonNode& root) const {
    const JsonNode& name = get(root, "operator", Kind::String);
    if (name.text != graph_.name)
      source_.fail(name,
                   fmt::format("the file is for the operator '{}', not for '{}'", name.text, graph_.name),
                   name.text, graph_.name);
  }

  void target(const JsonNode& root) {
    const JsonNode& t = get(root, "target", Kind::String);
    notes_.target = t.text;
    try {
      target_ = Target::parse(t.text);
    } catch (const Error& e) {
      source_.fail(t, e.diagnostic().message, t.text, e.diagnostic().legal);
    }
  }

  const JsonNode& single(const JsonNode& node, const std::string& what) {
    if (node.members.size() != 1)
      source_.fail(node,
                   fmt::format("the file has {} {}s, and this version of the library reads exactly one",
                               node.members.size(), what),
                   std::to_string(node.members.size()), "1");
    const JsonNode& one = node.members[0];
    require(one, Kind::Object, "a " + what);
    (what == "variant" ? notes_.variant : notes_.template_name) = one.key;
    return one;
  }

  std::string last_key(const JsonNode& root, const std::string& key) const {
    return root.find(key)->members[0].key;
  }

  void structure(const JsonNode& variant) const {
    only(variant, {"structure", "inputs", "funcs"});
    const JsonNode& hash = get(variant, "structure", Kind::String);
    const JsonNode& inputs = get(variant, "inputs", Kind::Array);
    const JsonNode& funcs = get(variant, "funcs", Kind::Object);
    if (hash.text != graph_.fingerprint)
      source_.fail(hash,
                   fmt::format("the file is for another algorithm: its structure is {}, that of '{}' is {}",
                               hash.text, graph_.name, graph_.fingerprint),
                   hash.text, graph_.fingerprint);
    const Binding own = bind_names(graph_);
    std::vector<std::string> renamed;
    compare(names(inputs), own.inputs, "", inputs, renamed);
    compare(funcs.keys(), func_names(own), "", funcs, renamed);
    for (std::size_t i = 0; i < own.funcs.size(); i++)
      compare(names(funcs.members[i]), own.funcs[i].loops, funcs.members[i].key + ".", funcs.members[i],
              renamed);
    if (!renamed.empty())
      source_.fail(variant, "the algorithm is the same, but its names differ", "",
                   fmt::format("rename in the file: {}", fmt::join(renamed, ", ")));
  }

  static std::vector<std::string> func_names(const Binding& b) {
    std::vector<std::string> names;
    for (const Binding::Func& f : b.funcs) names.push_back(f.name);
    return names;
  }

  std::vector<std::string> names(const JsonNode& list) const {
    require(list, Kind::Array, "a list of names");
    std::vector<std::string> names;
    for (const JsonNode& item : list.items) {
      require(item, Kind::String, "a name");
      names.push_back(item.text);
    }
    return names;
  }

  /// Names of the file against those of the algorithm, in the one order that both have.
  void compare(const std::vector<std::string>& file, const std::vector<std::string>& own,
               const std::string& prefix, const JsonNode& node, std::vector<std::string>& renamed) const {
    if (file.size() != own.size())
      source_.fail(node, fmt::format("{} names, and the algorithm has {}", file.size(), own.size()),
                   std::to_string(file.size()), fmt::format("{}", fmt::join(own, ", ")));
    for (std::size_t i = 0; i < own.size(); i++)
      if (file[i] != own[i]) renamed.push_back(fmt::format("{}{} -> {}", prefix, file[i], own[i]));
  }

  void case_of(const JsonNode& cases, const std::string& variant, const std::string& body) {
    if (cases.items.size() != 1)
      source_.fail(cases,
                   fmt::format("the file has {} cases, and this version of the library reads exactly one",
                               cases.items.size()),
                   std::to_string(cases.items.size()), "1");
    const JsonNode& c = cases.items[0];
    require(c, Kind::Object, "a case");
    only(c, {"variant", "when", "template", "knobs", "measured"});
    const JsonNode& when = get(c, "when", Kind::Object);
    if (!when.members.empty())
      source_.fail(when.members[0], "the only case has a condition", when.members[0].key, "{}");
    named(get(c, "variant", Kind::String), variant, "variant");
    named(get(c, "template", Kind::String), body, "template");
    for (const JsonNode& knob : get(c, "knobs", Kind::Object).members) {
      require(knob, Kind::Integer, fmt::format("the knob '{}'", knob.key));
      out_.knob(knob.key, knob.integer);
    }
    if (const JsonNode* measured = c.find("measured")) {
      require(*measured, Kind::Object, "'measured'");
      notes_.measured = one_line(*measured);
    }
  }

  void named(const JsonNode& node, const std::string& only_one, const std::string& what) const {
    if (node.text != only_one)
      source_.fail(node, fmt::format("there is no {} '{}'", what, node.text), node.text,
                   name_choices(node.text, {only_one}, what + "s"));
  }

  void template_of(const JsonNode& body) {
    only(body, {"requires", "needs", "do"});
    const JsonNode& required = get(body, "requires", Kind::Array);
    if (!required.items.empty())
      source_.fail(required.items[0], fmt::format("this library has no '{}'", required.items[0].text),
                   required.items[0].text, "a newer library");
    const JsonNode& needs = get(body, "needs", Kind::Object);
    only(needs, {"threads"});
    for (const JsonNode& need : needs.members) require(need, Kind::Integer, fmt::format("'{}'", need.key));
    for (const JsonNode& d : get(body, "do", Kind::Array).items) directive(d);
  }

  void directive(const JsonNode& node) {
    require(node, Kind::Object, "a directive");
    const JsonNode& name = get(node, "do", Kind::String);
    const DirectiveSpec* spec = find_directive(name.text);
    if (!spec) fail(name, unknown_directive(name.text));
    Directive d{.name = spec->name};
    if (spec->addresses != Addresses::Graph) d.stage = get(node, "stage", Kind::String).text;
    known_arguments(node, *spec);
    for (const ArgSpec& arg : spec->args)
      if (const JsonNode* value = node.find(arg.name)) d.args.emplace_back(arg.name, value_of(*value, arg));
    if (const auto problem = check_form(*spec, d, out_.knobs())) fail(*place_of(&node, *problem), *problem);
    out_.append(std::move(d));
  }

  void known_arguments(const JsonNode& node, const DirectiveSpec& spec) const {
    std::vector<std::string> known = {"do"};
    if (spec.addresses != Addresses::Graph) known.push_back("stage");
    for (const ArgSpec& arg : spec.args) known.push_back(arg.name);
    for (const JsonNode& member : node.members)
      if (std::find(known.begin(), known.end(), member.key) == known.end())
        source_.fail(member, fmt::format("'{}' has no argument '{}'", spec.name, member.key), member.key,
                     name_choices(member.key, known, "arguments"));
  }

  /// A string where a number is expected is a knob; all else is checked against the spec afterwards.
  Value value_of(const JsonNode& node, const ArgSpec& arg) const {
    if (node.is(Kind::Integer)) return node.integer;
    if (node.is(Kind::String) && arg.kind == ArgKind::Integer) return KnobRef{node.text};
    if (node.is(Kind::String)) return node.text;
    if (!node.is(Kind::Array))
      source_.fail(node, fmt::format("'{}' is {}", arg.name, to_string(node.kind)), node.text, arg.doc);
    Value::List list;
    for (const JsonNode& item : node.items) {
      if (item.is(Kind::Array))
        source_.fail(item, fmt::format("an element of '{}' is a list", arg.name), "", arg.doc);
      list.push_back(value_of(item, arg));
    }
    return list;
  }

  const JsonNode* place_of(const JsonNode* directive, const FormProblem& p) const {
    const JsonNode* arg = directive->find(p.argument);
    if (!arg) return directive;
    return p.element >= 0 && arg->is(Kind::Array) ? &arg->items[p.element] : arg;
  }

  [[noreturn]] void fail(const JsonNode& node, const FormProblem& p) const {
    source_.fail(node, p.message, p.value, p.legal);
  }

  void numerics(const JsonNode& node) const {
    only(node, {"reassociates", "contract"});
    names(get(node, "reassociates", Kind::Array));
    get(node, "contract", Kind::Bool);
  }

  /// The schedule against the algorithm; the first refusal with its place in the file.
  void legal(const JsonNode& list) const {
    std::vector<Refusal> refusals;
    apply(graph_, out_, target_, refusals);
    if (refusals.empty()) return;
    Diagnostic d = refusals.front().diagnostic;
    const int at = refusals.front().directive;
    d.message = source_.at(at < 0 ? list : list.items[at], d.message);
    throw Error(d);
  }

  const lang::Graph& graph_;
  const JsonSource& source_;
  Target target_;
  FileNotes notes_;
  Schedule out_;
};

}  // namespace

}  // namespace schedule

Schedule Schedule::from_json(const std::string& text, const Pipeline& pipeline, const std::string& file) {
  const schedule::JsonSource source{file};
  return schedule::Reader(pipeline.graph(), source).read(schedule::parse_json(text, source));
}

Schedule Schedule::load(const std::string& path, const Pipeline& pipeline) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (in) text << in.rdbuf();
  if (!in)
    throw Error({.kind = ErrorKind::Usage,
                 .message = fmt::format("cannot read the schedule file '{}'", path),
                 .value = path,
                 .legal = "a file that exists and may be read"});
  return from_json(text.str(), pipeline, path);
}

}  // namespace calotype
