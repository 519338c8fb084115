// The ways through the conditions of a schedule.
#include "schedule/ways.h"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/branches.h"
#include "schedule/decisions.h"
#include "schedule/forms.h"
#include "schedule/spelling.h"

namespace calotype::schedule {

namespace {

class Finder {
 public:
  Finder(const lang::Graph& graph, const Schedule& schedule, const Target& target,
         std::vector<Refusal>& refusals)
      : graph_(graph),
        schedule_(schedule),
        plain_(without_branches(schedule)),
        target_(target),
        refusals_(refusals),
        branches_(schedule, refusals) {}

  Ways run() {
    read_forms();
    read_conditions();
    std::vector<int> holds(branches_.conditions().size(), -1);
    if (readable_)
      decide(holds);
    else
      apply_way(holds);  // for what else is to be refused
    join_numerics();
    return std::move(ways_);
  }

 private:
  /// The same directives, addressed to the stages themselves.
  static Schedule without_branches(const Schedule& schedule) {
    Schedule plain;
    for (const Knob& k : schedule.knobs()) plain.knob(k.name, k.value);
    for (Directive d : schedule.directives()) {
      d.stage = stage_of_branch(d.stage);
      plain.append(std::move(d));
    }
    return plain;
  }

  /// What the schedule assumes of buffers; what is wrong with such directives is said when they are applied.
  void read_forms() {
    for (const Directive& d : plain_.directives())
      if (d.name == "assume_buffer" && !check_form(*find_directive(d.name), d, plain_.knobs()))
        if (const std::optional<FormAssumption> form = form_of(graph_, d, plain_.knobs(), ""))
          forms_.push_back(*form);
  }

  /// Each stride that the conditions name, where it is the product that it is of dense memory. A multiple
  /// that is assumed decides nothing: along one element a stride may be anything.
  void use_forms() {
    for (const auto& [name, symbol] : ways_.strides) {
      const std::size_t middle = name.rfind(".stride.");
      const std::optional<ArgumentRef> argument = find_argument(graph_, name.substr(0, middle));
      const std::size_t dim = std::stoul(name.substr(middle + 8));
      const BufferForm form = joined_form(forms_, *argument);
      if (form.dense) {
        const Expr stride = dense_strides(extents_of(graph_, *argument))[dim];
        for (Expr& c : ways_.conditions) c = ir::substitute(c, {{symbol, stride}});
      }
    }
  }

  void read_conditions() {
    ways_.texts = branches_.conditions();
    for (std::size_t i = 0; i < ways_.texts.size(); i++) try {
        ways_.conditions.push_back(parse_condition(ways_.texts[i], graph_, ways_.strides));
      } catch (const ConditionProblem& p) {
        readable_ = false;
        const int at = branches_.origins()[i];
        const std::string& stage = schedule_.directives()[at].stage;
        refusals_.push_back({{.kind = ErrorKind::Schedule,
                              .subject = graph_.subject_of(State::func_named(plain_.directives()[at])),
                              .message = p.message,
                              .func = State::func_named(plain_.directives()[at]),
                              .stage = stage,
                              .directive = text(schedule_.directives()[at], at),
                              .value = p.value,
                              .legal = p.legal},
                             at});
      }
    use_forms();
  }

  /// Takes the conditions one after the other, first as not holding, as far as they do not follow from those
  /// that are decided.
  void decide(std::vector<int>& holds) {
    const std::optional<int> next = branches_.undecided(holds);
    if (ways_.ways.size() > most_ways) return;
    if (!next) return apply_way(holds);
    const ir::Facts facts = known(holds);
    const Expr condition = ir::simplify(ways_.conditions[*next]);
    const bool surely = ir::prove(condition, facts), never = ir::prove(ir::simplify(!condition), facts);
    for (const int value : {0, 1}) {
      if (!ways_.ways.empty() && (value == 0 ? surely : never)) continue;
      holds[*next] = value;
      decide(holds);
    }
    holds[*next] = -1;
  }

  std::vector<Decision> decisions(const std::vector<int>& holds) const {
    std::vector<Decision> decided;
    for (std::size_t i = 0; i < holds.size(); i++) {
      const int at = branches_.origins()[i];
      // One that a form settles says nothing, whichever way it is taken.
      if (holds[i] >= 0 && !ir::is_const(ir::simplify(ways_.conditions[i])))
        decided.push_back({ways_.conditions[i], holds[i] == 1, text(schedule_.directives()[at], at)});
    }
    return decided;
  }

  ir::Facts known(const std::vector<int>& holds) const {
    ir::Facts facts;
    for (const ir::SymbolPtr& d : graph_.dims) facts.set_range(d, ir::index(0), {});
    for (const lang::ParamDef& p : graph_.params)
      if (p.low && p.type.is_integral() && !p.type.is_bool())
        facts.set_range(p.symbol, ir::make_int(p.type, static_cast<std::int64_t>(*p.low)),
                        ir::make_int(p.type, static_cast<std::int64_t>(*p.high)));
    for (const Decision& d : decisions(holds))
      for (const Expr& part : parts_of(d)) ir::learn(facts, part);
    return facts;
  }

  void apply_way(const std::vector<int>& holds) {
    if (ways_.ways.size() == most_ways) return too_many();
    Branching branching{.active = branches_.active(holds),
                        .decisions = decisions(holds),
                        .strides = ways_.strides,
                        .rejection = rejection(holds)};
    std::vector<Refusal> found;
    Way way{holds, apply_one_way(graph_, plain_, target_, branching, found)};
    for (Refusal& r : found) report(std::move(r));
    ways_.ways.push_back(std::move(way));
  }

  std::optional<Rejection> rejection(const std::vector<int>& holds) const {
    const int at = branches_.failure(holds);
    if (at < 0) return std::nullopt;
    const Directive& d = plain_.directives()[at];
    const Value* message = find_arg(d, "message");
    if (!message || !std::holds_alternative<std::string>(message->data)) return std::nullopt;
    return Rejection{State::func_named(d), text_of(*message), text(d, at)};
  }

  /// What several ways refuse is said once.
  void report(Refusal r) {
    if (r.directive >= 0 &&
        schedule_.directives()[r.directive].stage != plain_.directives()[r.directive].stage)
      r.diagnostic.stage = schedule_.directives()[r.directive].stage;
    const auto same = [&](const Refusal& other) {
      return other.directive == r.directive && other.diagnostic.message == r.diagnostic.message;
    };
    if (std::none_of(refusals_.begin(), refusals_.end(), same)) refusals_.push_back(std::move(r));
  }

  void too_many() {
    report(
        {{.kind = ErrorKind::Schedule,
          .message = fmt::format("the conditions of the schedule make more than {} programs", most_ways),
          .directive = text(schedule_.directives()[branches_.origins().back()], branches_.origins().back()),
          .value = std::to_string(ways_.texts.size()),
          .legal = "fewer conditions, or the same one for several stages"},
         branches_.origins().back()});
    ways_.ways.push_back(ways_.ways.front());  // ends the search
  }

  void join_numerics() {
    std::vector<std::string> all;
    for (const Way& w : ways_.ways)
      for (const std::string& entry : w.scheduled.numerics.reassociates)
        if (std::find(all.begin(), all.end(), entry) == all.end()) all.push_back(entry);
    for (Way& w : ways_.ways) w.scheduled.numerics.reassociates = all;
  }

  const lang::Graph& graph_;
  const Schedule& schedule_;
  const Schedule plain_;
  const Target& target_;
  std::vector<Refusal>& refusals_;
  const Branches branches_;
  std::vector<FormAssumption> forms_;
  Ways ways_;
  bool readable_ = true;
};

}  // namespace

bool Way::fits(const std::vector<bool>& conditions) const {
  for (std::size_t i = 0; i < holds.size(); i++)
    if (holds[i] >= 0 && (holds[i] == 1) != conditions[i]) return false;
  return true;
}

std::size_t Ways::choose(const std::vector<bool>& holds) const {
  const auto at = std::find_if(ways.begin(), ways.end(), [&](const Way& w) { return w.fits(holds); });
  if (at == ways.end())
    throw Error({.kind = ErrorKind::Internal, .message = "no way through the conditions fits a call"});
  return at - ways.begin();
}

std::string Ways::text(const Way& way) const {
  std::string all;
  for (std::size_t i = 0; i < texts.size(); i++)
    if (way.holds[i] >= 0)
      all += fmt::format("{}{}{}", all.empty() ? "" : ", ", way.holds[i] == 1 ? "" : "not ", texts[i]);
  return all;
}

std::string to_string(const Ways& ways) {
  if (ways.ways.size() == 1) return to_string(ways.ways.front().scheduled);
  std::string all;
  for (const Way& w : ways.ways) {
    all += fmt::format("where {}:\n", ways.text(w));
    if (w.scheduled.rejection) all += fmt::format("turned away  [{}]\n", w.scheduled.rejection->origin);
    all += to_string(w.scheduled);
  }
  return all;
}

Ways apply_ways(const lang::Graph& graph, const Schedule& schedule, const Target& target,
                std::vector<Refusal>& refusals) {
  return Finder(graph, schedule, target, refusals).run();
}

Ways ways_or_throw(const lang::Graph& graph, const Schedule& schedule, const Target& target) {
  std::vector<Refusal> refusals;
  Ways ways = apply_ways(graph, schedule, target, refusals);
  if (!refusals.empty()) throw Error(refusals.front().diagnostic);
  return ways;
}

}  // namespace calotype::schedule
