// Reading schedule files, by the text alone: every key is known or refused, and every value has its form.
// What the directives do to an algorithm is looked at by file_check.cpp.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "schedule/defaults.h"
#include "schedule/directive.h"
#include "schedule/file.h"

namespace calotype {

namespace schedule {

using Kind = JsonNode::Kind;

/// Reads one file; each method one part of it.
class FileReader {
 public:
  explicit FileReader(const FileSource& from) : source_(from.source), root_(from.root) {}

  ScheduleFile read() {
    require(root_, Kind::Object, "a schedule file");
    version();
    only(root_, {"calotype_schedule", "defaults", "operator", "target", "variants", "templates", "cases",
                 "numerics", "provenance"});
    defaults();
    out_.operator_name_ = get(root_, "operator", Kind::String).text;
    target();
    for (const JsonNode& v : some(root_, "variants", Kind::Object).members) variant(v);
    for (const JsonNode& t : some(root_, "templates", Kind::Object).members) template_of(t);
    for (const JsonNode& c : some(root_, "cases", Kind::Array).items) case_of(c);
    forms();
    coverage();
    numerics(get(root_, "numerics", Kind::Object));
    out_.provenance_ = one_line(get(root_, "provenance", Kind::Object));
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

  /// A list or object that is not empty.
  const JsonNode& some(const JsonNode& node, const std::string& key, Kind kind) const {
    const JsonNode& found = get(node, key, kind);
    if (found.items.empty() && found.members.empty())
      source_.fail(found, fmt::format("the file has no {}", key), "", "one or more");
    return found;
  }

  void only(const JsonNode& node, const std::vector<std::string>& known) const {
    for (const JsonNode& member : node.members)
      if (std::find(known.begin(), known.end(), member.key) == known.end())
        source_.fail(member, fmt::format("the key '{}' is not known here", member.key), member.key,
                     name_choices(member.key, known, "keys"));
  }

  void version() const {
    const JsonNode& v = get(root_, "calotype_schedule", Kind::Integer);
    if (v.integer > file_version || v.integer < 1)
      source_.fail(
          v,
          fmt::format("the file is of version {}, and this library reads 1 to {}", v.integer, file_version),
          v.text, v.integer > file_version ? "a newer library" : "1");
  }

  void defaults() const {
    const JsonNode& v = get(root_, "defaults", Kind::Integer);
    if (v.integer != defaults_version)
      source_.fail(
          v,
          fmt::format("the defaults are numbered {}, and this library has {}", v.integer, defaults_version),
          v.text, std::to_string(defaults_version));
  }

  void target() {
    const JsonNode& t = get(root_, "target", Kind::String);
    try {
      out_.target_ = Target::parse(t.text);
    } catch (const Error& e) {
      source_.fail(t, e.diagnostic().message, t.text, e.diagnostic().legal);
    }
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

  void variant(const JsonNode& node) {
    require(node, Kind::Object, "a variant");
    only(node, {"structure", "inputs", "funcs"});
    FileVariant v{.name = node.key, .structure = get(node, "structure", Kind::String).text};
    for (const FileVariant& other : out_.variants_)
      if (other.structure == v.structure)
        source_.fail(node, fmt::format("the variants '{}' and '{}' have one structure", other.name, v.name),
                     v.structure, "a variant for each structure");
    v.inputs = names(get(node, "inputs", Kind::Array));
    for (const JsonNode& func : get(node, "funcs", Kind::Object).members)
      v.funcs.emplace_back(func.key, names(func));
    out_.variants_.push_back(std::move(v));
  }

  void template_of(const JsonNode& node) {
    require(node, Kind::Object, "a template");
    only(node, {"requires", "needs", "do"});
    const JsonNode& required = get(node, "requires", Kind::Array);
    if (!required.items.empty())
      source_.fail(required.items[0], fmt::format("this library has no '{}'", required.items[0].text),
                   required.items[0].text, "a newer library");
    FileTemplate t{.name = node.key};
    const JsonNode& needs = get(node, "needs", Kind::Object);
    only(needs, {"threads", "shared_kb"});
    for (const JsonNode& need : needs.members) {
      require(need, Kind::Integer, fmt::format("'{}'", need.key));
      t.needs.emplace_back(need.key, need.integer);
    }
    for (const JsonNode& d : get(node, "do", Kind::Array).items) t.directives.push_back(directive(d));
    out_.templates_.push_back(std::move(t));
  }

  Directive directive(const JsonNode& node) const {
    require(node, Kind::Object, "a directive");
    const JsonNode& name = get(node, "do", Kind::String);
    const DirectiveSpec* spec = find_directive(name.text);
    if (!spec) {
      const FormProblem p = unknown_directive(name.text);
      source_.fail(name, p.message, p.value, p.legal);
    }
    Directive d{.name = spec->name};
    if (spec->addresses != Addresses::Graph) d.stage = get(node, "stage", Kind::String).text;
    known_arguments(node, *spec);
    for (const ArgSpec& arg : spec->args)
      if (const JsonNode* value = node.find(arg.name)) d.args.emplace_back(arg.name, value_of(*value, arg));
    return d;
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

  template <class Named>
  void named(const JsonNode& node, const std::vector<Named>& all, const std::string& what) const {
    std::vector<std::string> names;
    for (const Named& one : all) names.push_back(one.name);
    if (std::find(names.begin(), names.end(), node.text) == names.end())
      source_.fail(node, fmt::format("there is no {} '{}'", what, node.text), node.text,
                   name_choices(node.text, names, what + "s"));
  }

  void case_of(const JsonNode& node) {
    require(node, Kind::Object, "a case");
    only(node, {"variant", "when", "template", "knobs", "measured"});
    const JsonNode& variant = get(node, "variant", Kind::String);
    named(variant, out_.variants_, "variant");
    const JsonNode& body = get(node, "template", Kind::String);
    named(body, out_.templates_, "template");
    FileCase c{.variant = variant.text, .template_name = body.text};
    for (const JsonNode& key : get(node, "when", Kind::Object).members)
      if (!form_of(key, c.buffers)) c.when.push_back(condition(key));
    for (const JsonNode& knob : get(node, "knobs", Kind::Object).members) {
      require(knob, Kind::Integer, fmt::format("the knob '{}'", knob.key));
      c.knobs.push_back({knob.key, knob.integer});
    }
    if (const JsonNode* measured = node.find("measured")) {
      require(*measured, Kind::Object, "'measured'");
      c.measured = one_line(*measured);
    }
    out_.cases_.push_back(std::move(c));
  }

  [[noreturn]] void bad_condition(const JsonNode& node, const std::string& why) const {
    source_.fail(node, fmt::format("the condition on '{}' {}", node.key, why), one_line(node),
                 "of a size a number, [least, largest or null], \"multiple N\", or [least, largest or null, "
                 "\"multiple N\"]; of a buffer B \"B\": \"dense\", \"B.pitch\": \"multiple N bytes\", "
                 "\"B.base\": \"aligned N bytes\"");
  }

  std::int64_t multiple(const JsonNode& node, const std::string& text) const {
    return counted(node, text, "multiple ", "");
  }

  /// The number between two words.
  std::int64_t counted(const JsonNode& node, const std::string& text, const std::string& before,
                       const std::string& after) const {
    const bool framed =
        text.size() > before.size() + after.size() && text.starts_with(before) && text.ends_with(after);
    const std::string digits =
        framed ? text.substr(before.size(), text.size() - before.size() - after.size()) : "";
    if (digits.empty() || digits.size() > 15 || digits[0] == '0' ||
        digits.find_first_not_of("0123456789") != std::string::npos)
      bad_condition(node, "is none");
    return std::stoll(digits);
  }

  /// Whether the key is a condition on a buffer, which then is added to those of the case.
  bool form_of(const JsonNode& key, std::vector<BufferForm>& forms) const {
    const bool pitch = key.key.ends_with(".pitch"), base = key.key.ends_with(".base");
    if (!key.is(Kind::String) || (key.text != "dense" && !pitch && !base)) return false;
    BufferForm form{.buffer = key.key};
    if (key.text == "dense") {
      form.dense = true;
    } else {
      form.buffer.resize(key.key.rfind('.'));
      std::int64_t& number = pitch ? form.pitch_multiple : form.base_align;
      number = counted(key, key.text, pitch ? "multiple " : "aligned ", " bytes");
      if (number == 1) bad_condition(key, "holds for every buffer");
      if (number > INT32_MAX) bad_condition(key, fmt::format("lies beyond {}", INT32_MAX));
    }
    const auto at = std::find_if(forms.begin(), forms.end(),
                                 [&](const BufferForm& f) { return f.buffer == form.buffer; });
    if (at == forms.end())
      forms.push_back(std::move(form));
    else
      *at = join(*at, form);
    return true;
  }

  std::int64_t bound(const JsonNode& key, const JsonNode& node) const {
    constexpr std::int64_t far = std::int64_t{1} << 48;
    if (!node.is(Kind::Integer)) bad_condition(key, "has a bound that is no integer");
    if (node.integer < 0 || node.integer > far) bad_condition(key, fmt::format("lies outside 0 to {}", far));
    return node.integer;
  }

  SizeRange condition(const JsonNode& key) const {
    SizeRange range{.size = key.key};
    if (key.is(Kind::Integer)) {
      range.low = bound(key, key);
      range.high = range.low;
    } else if (key.is(Kind::String)) {
      range.multiple = multiple(key, key.text);
    } else if (key.is(Kind::Array) && (key.items.size() == 2 || key.items.size() == 3)) {
      range.low = bound(key, key.items[0]);
      if (!key.items[1].is(Kind::Null)) range.high = bound(key, key.items[1]);
      if (key.items.size() == 3) range.multiple = multiple(key, key.items[2].text);
    } else {
      bad_condition(key, fmt::format("is {}", to_string(key.kind)));
    }
    if (intersect(range, {.size = key.key, .low = 1}).count() == 0)
      bad_condition(key, "holds for no size of 1 or more");
    if (range == SizeRange{.size = key.key}) bad_condition(key, "holds for every size");
    return range;
  }

  /// The directives of each template against their specs, with the knobs of each case that uses it.
  void forms() const {
    for (std::size_t i = 0; i < out_.templates_.size(); i++) {
      const FileTemplate& t = out_.templates_[i];
      const JsonNode& node = root_.find("templates")->members[i];
      bool used = false;
      for (std::size_t c = 0; c < out_.cases_.size(); c++) {
        if (out_.cases_[c].template_name != t.name) continue;
        used = true;
        const std::string of = out_.cases_.size() == 1 ? "" : fmt::format(", with the knobs of case {}", c);
        for (std::size_t d = 0; d < t.directives.size(); d++)
          form(node.find("do")->items[d], t.directives[d], out_.cases_[c].knobs, of);
      }
      if (!used)
        source_.fail(node, fmt::format("no case uses the template '{}'", t.name), t.name,
                     "templates that cases use");
    }
  }

  void form(const JsonNode& node, const Directive& d, const std::vector<Knob>& knobs,
            const std::string& of) const {
    if (const auto p = check_form(*find_directive(d.name), d, knobs))
      source_.fail(*place_of(&node, *p), p->message + of, p->value, p->legal);
  }

  static const JsonNode* place_of(const JsonNode* directive, const FormProblem& p) {
    const JsonNode* arg = directive->find(p.argument);
    if (!arg) return directive;
    return p.element >= 0 && arg->is(Kind::Array) ? &arg->items[p.element] : arg;
  }

  /// Every call finds a case, and every case may be found.
  void coverage() const {
    const JsonNode& cases = *root_.find("cases");
    for (std::size_t i = 0; i < out_.cases_.size(); i++)
      for (std::size_t j = 0; j < i; j++)
        if (out_.cases_[i].variant == out_.cases_[j].variant &&
            same_conditions(out_.cases_[i], out_.cases_[j]))
          source_.fail(cases.items[i],
                       fmt::format("the case is for the same sizes{} as case {}",
                                   out_.cases_[i].buffers.empty() ? "" : " and buffers", j),
                       fmt::format("case {}", i), "a case for each set of sizes and buffers");
    for (std::size_t v = 0; v < out_.variants_.size(); v++) {
      const std::vector<std::size_t> own = out_.cases_of(out_.variants_[v]);
      if (own.empty() || !for_all_calls(out_.cases_[own.back()]))
        source_.fail(
            own.empty() ? root_.find("variants")->members[v] : *cases.items[own.back()].find("when"),
            fmt::format("the variant '{}' does not end with a case for all sizes", out_.variants_[v].name),
            own.empty() ? "no case" : fmt::format("case {}", own.back()), "a last case with an empty 'when'");
    }
  }

  void numerics(const JsonNode& node) {
    only(node, {"reassociates", "contract"});
    out_.numerics_.reassociates = names(get(node, "reassociates", Kind::Array));
    out_.numerics_.contract = get(node, "contract", Kind::Bool).boolean;
  }

  const JsonSource& source_;
  const JsonNode& root_;
  ScheduleFile out_{"", Target::host()};
};

const JsonNode& FileSource::node(const std::vector<std::string>& path) const {
  const JsonNode* at = &root;
  for (const std::string& key : path) {
    const JsonNode* next = at->find(key);
    if (at->is(Kind::Array) && std::stoul(key) < at->items.size()) next = &at->items[std::stoul(key)];
    if (!next) break;
    at = next;
  }
  return *at;
}

std::string read_schedule_text(const std::string& path) {
  std::error_code error;
  std::ifstream in;
  if (!std::filesystem::is_directory(path, error)) in.open(path, std::ios::binary);
  std::string text;
  std::vector<char> part(std::size_t{1} << 16);
  while (in.is_open() && in && text.size() <= largest_file) {
    in.read(part.data(), static_cast<std::streamsize>(part.size()));
    text.append(part.data(), static_cast<std::size_t>(in.gcount()));
  }
  if (!in.is_open() || in.bad())
    throw Error({.kind = ErrorKind::Usage,
                 .message = fmt::format("cannot read the schedule file '{}'", path),
                 .value = path,
                 .legal = "a file that exists and may be read"});
  return text;
}

}  // namespace schedule

ScheduleFile ScheduleFile::parse(const std::string& text, const std::string& file) {
  auto source = std::make_shared<schedule::FileSource>();
  source->source.file = file;
  if (text.size() > schedule::largest_file)
    source->source.fail({.line = 1}, "the file is too large for a schedule", "",
                        fmt::format("at most {} MB", schedule::largest_file >> 20));
  source->root = schedule::parse_json(text, source->source);
  ScheduleFile read = schedule::FileReader(*source).read();
  read.source_ = std::move(source);
  return read;
}

ScheduleFile ScheduleFile::load(const std::string& path) {
  return parse(schedule::read_schedule_text(path), path);
}

ScheduleFile ScheduleFile::load(const std::string& path, const Pipeline& pipeline) {
  ScheduleFile file = load(path);
  file.check(pipeline);
  return file;
}

Schedule Schedule::load(const std::string& path, const Pipeline& pipeline) {
  return from_json(schedule::read_schedule_text(path), pipeline, path);
}

}  // namespace calotype
