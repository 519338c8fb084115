// Schedule and Stage: recording directives. What each records stands in directives/.
#include "calotype/schedule.h"

#include <fmt/format.h>

#include "calotype/pipeline.h"
#include "schedule/directive.h"
#include "schedule/scheduled.h"
#include "schedule/spelling.h"

namespace calotype {

FuncName::FuncName(const Stage& stage) : name(stage.func_) {}

Stage::Stage(Schedule* schedule, std::string func, int stage)
    : schedule_(schedule), func_(std::move(func)), stage_(stage) {}

Stage Stage::update(int i) const { return Stage(schedule_, func_, i + 1); }

std::string Stage::name() const {
  return stage_ == 0 ? func_ : fmt::format("{}.update({})", func_, stage_ - 1);
}

Stage& Stage::record(std::string name, std::vector<std::pair<std::string, schedule::Value>> args) {
  const schedule::DirectiveSpec* spec = schedule::find_directive(name);
  const bool whole = spec && spec->addresses == schedule::Addresses::Func;
  schedule_->append({whole ? func_ : this->name(), std::move(name), std::move(args)});
  return *this;
}

Stage Schedule::operator[](const FuncName& func) { return Stage(this, func.name); }

Stage Schedule::operator[](const Stage& stage) {
  Stage own = stage;
  own.schedule_ = this;
  return own;
}

Knob Schedule::knob(const std::string& name, std::int64_t value) {
  for (const Knob& k : knobs_)
    if (k.name == name)
      throw Error({.kind = ErrorKind::Usage,
                   .message = fmt::format("the schedule has a knob '{}' already", name),
                   .value = name,
                   .legal = "set() changes its value"});
  knobs_.push_back({name, value});
  return knobs_.back();
}

void Schedule::set(const std::string& knob, std::int64_t value) {
  std::vector<std::string> names;
  for (Knob& k : knobs_) {
    if (k.name == knob) {
      k.value = value;
      return;
    }
    names.push_back(k.name);
  }
  throw Error({.kind = ErrorKind::Usage,
               .message = fmt::format("the schedule has no knob '{}'", knob),
               .value = knob,
               .legal = schedule::name_choices(knob, names, "knobs")});
}

void Schedule::append(schedule::Directive directive) { directives_.push_back(std::move(directive)); }

bool Schedule::operator==(const Schedule& other) const {
  auto same = [](const Knob& a, const Knob& b) { return a.name == b.name && a.value == b.value; };
  return directives_ == other.directives_ &&
         std::equal(knobs_.begin(), knobs_.end(), other.knobs_.begin(), other.knobs_.end(), same);
}

std::string Schedule::str() const {
  std::string out;
  for (const Knob& k : knobs_) out += fmt::format("Knob {} = s.knob(\"{}\", {});\n", k.name, k.name, k.value);
  for (const schedule::Directive& d : directives_) out += schedule::cpp(d) + "\n";
  return out;
}

}  // namespace calotype
