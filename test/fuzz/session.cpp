// Running many pairs: children draw and try them one after another; where one crashes the next child goes on
// after it.
#include "fuzz/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <set>
#include <sstream>

#include "driver/kernel_impl.h"
#include "fuzz/child.h"
#include "fuzz/generate.h"
#include "fuzz/random_schedule.h"
#include "lower/lower.h"
#include "schedule/directive.h"

namespace calotype::fuzz {

namespace {

using Clock = std::chrono::steady_clock;
constexpr unsigned seconds_a_pair = 60;
constexpr int pairs_a_child = 200;

std::string lowered(const Pipeline& p, const Schedule& s, const Target& target) {
  std::string all;
  for (schedule::Way& way : schedule::ways_or_throw(p.graph(), s, target).ways) {
    const lower::Options options =
        driver::lower_options(way.scheduled, {}, driver::dense_class(way.scheduled, {}));
    const lower::Program program = lower::lower(std::move(way.scheduled), options);
    all += lower::plan_text(program) + "\n";
    for (const lower::Function& f : program.functions) all += lower::to_string(f) + "\n";
  }
  // Comments count directives: one left out gives all after it another number.
  static const std::regex numbers("#[0-9]+ ");
  return std::regex_replace(all, numbers, "");
}

/// Leaves out one directive of each name, and says whether the program is then another ('+'), the same ('-')
/// or refused ('!').
void try_removals(const Pair& pair, const Say& say) {
  const auto& directives = pair.schedule.directives();
  const Pipeline p = build(pair.program);
  const std::string whole = lowered(p, pair.schedule, pair.target);
  std::set<std::string> tried;
  for (std::size_t i = directives.size(); i-- > 0;) {
    if (!tried.insert(directives[i].name).second) continue;
    try {
      const bool changed = lowered(p, without(pair.schedule, i), pair.target) != whole;
      say((changed ? "+" : "-") + directives[i].name);
    } catch (const Error&) {
      say("!" + directives[i].name);
    }
  }
}

/// The names of the directives, those of `copy` and `store_in` with what they choose as well.
std::set<std::string> used_by(const Schedule& schedule) {
  std::set<std::string> names;
  for (const schedule::Directive& d : schedule.directives()) {
    names.insert(d.name);
    for (const auto& [directive, argument] : {std::pair{"copy", "how"}, {"store_in", "memory"}})
      if (const schedule::Value* value = schedule::find_arg(d, argument); value && d.name == directive)
        if (const auto* word = std::get_if<std::string>(&value->data))
          names.insert(fmt::format("{}({})", d.name, *word));
  }
  return names;
}

/// The messages of a child: a letter and what goes with it.
void try_seed(std::uint64_t seed, const Session& session, const Say& say) {
  allow_seconds(seconds_a_pair);
  say("b" + std::to_string(seed));
  Pair pair;
  Outcome outcome;
  try {
    pair = draw_pair(seed, session.target, [&](const Pair& p) { say("p" + text(p)); });
    say("p" + text(pair));
    outcome = try_pair(pair);
  } catch (const std::exception& e) {
    outcome = {Verdict::BadProgram, "no pair", e.what()};
  }
  if (outcome.verdict == Verdict::Accepted) {
    for (const std::string& used : used_by(pair.schedule)) say("u" + used);
    if (session.counts || seed % 4 == 0) try_removals(pair, say);
  }
  if (!outcome.directive.empty()) say("r" + outcome.directive);
  say("w" + outcome.what);
  say("d" + outcome.detail);
  say("v" + std::to_string(static_cast<int>(outcome.verdict)));
}

/// Words that hold a digit or a quote become "...".
std::string without_names(const std::string& message) {
  std::stringstream words(message);
  std::string all;
  for (std::string word; words >> word;)
    all += (word.find_first_of("0123456789'") != std::string::npos ? "..." : word) + " ";
  return all;
}

class Runner {
 public:
  explicit Runner(const Session& session) : session_(session), next_(session.seed) {}

  Tally run() {
    const auto start = Clock::now();
    const auto over = [&] { return session_.time && Clock::now() - start > *session_.time; };
    const std::uint64_t end = session_.seed + static_cast<std::uint64_t>(session_.pairs);
    while (next_ < end && !over()) {
      const std::uint64_t last = std::min<std::uint64_t>(end, next_ + pairs_a_child);
      const Ending ending = in_child(
          [&, first = next_](const Say& say) {
            for (std::uint64_t seed = first; seed < last && !over(); ++seed) try_seed(seed, session_, say);
          },
          [&](const std::string& message) { hear(message); });
      if (!ending.finished) settle({Verdict::Failed, ending.how, ""});
    }
    return std::move(tally_);
  }

 private:
  void hear(const std::string& message) {
    const std::string rest = message.substr(1);
    switch (message[0]) {
      case 'b':
        next_ = std::stoull(rest);
        pair_.clear();
        break;
      case 'p':
        pair_ = rest;
        break;
      case 'u':
        tally_.directives[rest].used++;
        break;
      case 'r':
        tally_.directives[rest].refused++;
        break;
      case '+':
      case '-':
      case '!':
        tally_.directives[rest].removed++;
        tally_.directives[rest].changed += message[0] == '+';
        tally_.directives[rest].needed += message[0] == '!';
        break;
      case 'w':
        outcome_.what = rest;
        break;
      case 'd':
        outcome_.detail = rest;
        break;
      case 'v':
        outcome_.verdict = static_cast<Verdict>(std::stoi(rest));
        settle(outcome_);
        break;
      default:
        break;
    }
  }

  /// The pair of the present seed is done with.
  void settle(const Outcome& outcome) {
    tally_.pairs++;
    tally_.verdicts[outcome.verdict]++;
    FailedPair kept{next_, outcome, {}};
    if (!pair_.empty() && outcome.verdict != Verdict::Accepted) kept.pair = pair_of(pair_);
    if (outcome.verdict == Verdict::Failed || outcome.verdict == Verdict::BadProgram)
      tally_.failures.push_back(std::move(kept));
    if (outcome.verdict == Verdict::Refused || outcome.verdict == Verdict::CallRefused) {
      tally_.reasons[without_names(outcome.what)]++;
      tally_.refusals.push_back(std::move(kept));
    }
    next_++;
  }

  const Session& session_;
  std::uint64_t next_;
  std::string pair_;
  Outcome outcome_;
  Tally tally_;
};

}  // namespace

/// Folding may take the only read of an input out of an expression, which makes it no pipeline.
Pipeline draw_pipeline(Random& random, Program& program, const Target& target) {
  for (;;) try {
      program = generate_program(random, !target.is_gpu());
      return build(program);
    } catch (const Error& e) {
      if (e.diagnostic().message.find("is not used") == std::string::npos) throw;
    }
}

Pair draw_pair(std::uint64_t seed, const Target& target, const std::function<void(const Pair&)>& checking) {
  Random random(seed);
  Pair pair;
  pair.target = target;
  const Pipeline pipeline = draw_pipeline(random, pair.program, target);
  pair.schedule = generate_schedule(random, pair.program, pipeline, target, [&](const Schedule& s) {
    Pair candidate = pair;
    candidate.schedule = s;
    checking(candidate);
  });
  return pair;
}

Tally run(const Session& session) {
  Tally tally = Runner(session).run();
  for (const schedule::DirectiveSpec& d : schedule::directives()) tally.directives[d.name];
  return tally;
}

double Tally::accepted() const {
  const auto found = verdicts.find(Verdict::Accepted);
  return pairs == 0 || found == verdicts.end()
             ? 0
             : static_cast<double>(found->second) / static_cast<double>(pairs);
}

std::string Tally::str() const {
  const auto count = [&](Verdict v) { return verdicts.count(v) ? verdicts.at(v) : 0; };
  std::string text =
      fmt::format("{} pairs: {} ran ({:.1f}%), {} refused, {} calls refused, {} no programs, {} failed\n",
                  pairs, count(Verdict::Accepted), 100 * accepted(), count(Verdict::Refused),
                  count(Verdict::CallRefused), count(Verdict::BadProgram), count(Verdict::Failed));
  const auto row = [&](const auto&... cells) {
    text += fmt::format("{:20}{:>8}{:>8}{:>10}{:>17}{:>14}{:>9}\n", cells...);
  };
  const auto share = [&](std::int64_t used) {
    return fmt::format("{:.1f}%",
                       100.0 * static_cast<double>(used) /
                           static_cast<double>(std::max<std::int64_t>(1, count(Verdict::Accepted))));
  };
  row("directive", "pairs", "of all", "left out", "another program", "then refused", "refused");
  for (const auto& [name, use] : directives)
    row(name, use.used, share(use.used), use.removed, use.changed, use.needed, use.refused);
  return text;
}

std::string Tally::reasons_str(std::size_t most) const {
  std::vector<std::pair<std::int64_t, std::string>> sorted;
  for (const auto& [reason, count] : reasons) sorted.emplace_back(count, reason);
  std::sort(sorted.rbegin(), sorted.rend());
  sorted.resize(std::min(most, sorted.size()));
  std::string text;
  for (const auto& [count, reason] : sorted) text += fmt::format("{:8}  {}\n", count, reason);
  return text;
}

namespace {

/// In a child: where the pair ends a process, so may this.
std::string schedule_file(const Pair& pair) {
  std::string file;
  const Ending ending = in_child(
      [&](const Say& say) {
        allow_seconds(seconds_a_pair);
        try {
          say(pair.schedule.to_json(build(pair.program), pair.target));
        } catch (const std::exception& e) {
          say(fmt::format("(no schedule file: {})\n", e.what()));
        }
      },
      [&](const std::string& message) { file = message; });
  return ending.finished ? file : fmt::format("(no schedule file: {})\n", ending.how);
}

}  // namespace

std::string report(const FailedPair& f) {
  std::string all =
      fmt::format("seed {} for {}: {}\n{}\n", f.seed, f.pair.target.str(), f.outcome.what, f.outcome.detail);
  if (f.pair.program.funcs.empty()) return all;
  all += cpp(f.pair.program) + f.pair.schedule.str() + "\n" + schedule_file(f.pair);
  return all + "\n" + text(f.pair);
}

}  // namespace calotype::fuzz
