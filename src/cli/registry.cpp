// The operators linked into this program, and their element types.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "calotype/operator.h"

namespace calotype {
namespace {

// Entries are made by static initialisers in any order, so a name may get its schedules before its algorithm.
std::map<std::string, Operator>& registry() {
  static std::map<std::string, Operator> entries;
  return entries;
}

Operator& entry(const std::string& name) {
  Operator& found = registry()[name];
  found.name = name;
  return found;
}

[[noreturn]] void usage(std::string message, std::string value, std::string legal) {
  throw Error({.kind = ErrorKind::Usage,
               .message = std::move(message),
               .value = std::move(value),
               .legal = std::move(legal)});
}

std::string list_types(const std::vector<OperatorTypes>& types) {
  std::string text;
  for (const OperatorTypes& t : types) text += (text.empty() ? "" : " | ") + t.str();
  return text;
}

}  // namespace

OperatorTypes OperatorTypes::parse(const std::string& text) {
  if (text.find('=') == std::string::npos) return OperatorTypes(Type::parse(text));
  std::vector<std::pair<std::string, Type>> named;
  for (std::size_t begin = 0; begin <= text.size();) {
    std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    const std::size_t equals = part.find('=');
    if (equals == 0 || equals == std::string::npos)
      usage("a type is one name, or NAME=TYPE for each argument", text, "f32, or A=s8,B=s8,C=s32");
    named.emplace_back(part.substr(0, equals), Type::parse(part.substr(equals + 1)));
    begin = end + 1;
  }
  return OperatorTypes(std::move(named));
}

std::string OperatorTypes::str() const {
  if (all_) return all_->str();
  std::string text;
  for (const auto& [name, type] : named_) text += (text.empty() ? "" : ",") + name + "=" + type.str();
  return text;
}

Type OperatorTypes::of(const std::string& argument) const {
  if (all_) return *all_;
  std::vector<std::string> names;
  for (const auto& [name, type] : named_) {
    if (name == argument) return type;
    names.push_back(name);
  }
  usage("no element type is given for this argument", argument, did_you_mean(argument, names));
}

Type OperatorTypes::all() const {
  if (!all_) usage("one element type for all arguments is needed", str(), "a single type, as f32");
  return *all_;
}

bool OperatorTypes::all_are(Type type) const {
  if (all_) return *all_ == type;
  return std::all_of(named_.begin(), named_.end(), [&](const auto& named) { return named.second == type; });
}

const OperatorTypes& Operator::combination(const OperatorTypes& asked) const {
  auto found = std::find(types.begin(), types.end(), asked);
  if (found == types.end() && asked.str().find('=') == std::string::npos)
    found = std::find_if(types.begin(), types.end(),
                         [&](const OperatorTypes& t) { return t.all_are(asked.all()); });
  if (found == types.end())
    usage(fmt::format("operator '{}' has no such element types", name), asked.str(), list_types(types));
  return *found;
}

Pipeline Operator::pipeline(const OperatorTypes& chosen) const { return make(combination(chosen)); }

const NamedSchedule& Operator::schedule(const std::string& schedule_name) const {
  std::vector<std::string> names;
  for (const NamedSchedule& s : schedules) {
    if (s.name == schedule_name) return s;
    names.push_back(s.name);
  }
  usage(fmt::format("operator '{}' has no schedule of that name", name), schedule_name,
        did_you_mean(schedule_name, names));
}

std::vector<const Operator*> operators() {
  std::vector<const Operator*> found;
  for (const auto& [name, op] : registry())
    if (op.registrations > 0) found.push_back(&op);
  return found;
}

const Operator& find_operator(const std::string& name) {
  std::vector<std::string> names;
  for (const Operator* op : operators()) {
    names.push_back(op->name);
    if (op->name != name) continue;
    if (op->registrations > 1) usage("two operators of one name are linked in", name, "names of their own");
    if (!op->make || op->types.empty())
      usage("the operator is registered without an algorithm or element types", name,
            "CALOTYPE_OPERATOR(name).types({...}).algorithm(...)");
    return *op;
  }
  usage("no such operator", name, did_you_mean(name, names));
}

OperatorRegistration& OperatorRegistration::describe(const std::string& text) {
  entry_->description = text;
  return *this;
}

OperatorRegistration& OperatorRegistration::types(const std::vector<std::string>& combinations) {
  for (const std::string& text : combinations) entry_->types.push_back(OperatorTypes::parse(text));
  return *this;
}

OperatorRegistration& OperatorRegistration::algorithm(std::function<Pipeline(const OperatorTypes&)> make) {
  entry_->make = std::move(make);
  return *this;
}

OperatorRegistration& OperatorRegistration::least_rank(const std::string& input, int rank) {
  entry_->least_rank[input] = rank;
  return *this;
}

OperatorRegistration& OperatorRegistration::schedule(const std::string& name, Target::Kind kind,
                                                     const std::string& description,
                                                     std::function<Schedule(const OperatorTypes&)> make) {
  entry_->schedules.push_back({name, kind, description, std::move(make)});
  return *this;
}

OperatorRegistration register_operator(const std::string& name) {
  Operator& op = entry(name);
  ++op.registrations;
  return OperatorRegistration(op);
}

OperatorRegistration register_schedules(const std::string& name) { return OperatorRegistration(entry(name)); }

}  // namespace calotype
