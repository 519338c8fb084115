// Drawing a schedule: directives on the graph, then for each Func, consumers first, its place, its loops and
// its storage; then what is refused as a whole is taken out, and now and then something is changed.
#include "fuzz/random_schedule.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "fuzz/propose.h"
#include "fuzz/recipes.h"
#include "schedule/directive.h"
#include "schedule/places.h"

namespace calotype::fuzz {

namespace {

class Drawing {
 public:
  /// `legal`: whether the whole has nothing that is refused.
  Drawing(Draft& draft, std::function<bool(const Schedule&)> legal)
      : d_(draft), random_(draft.random), legal_(std::move(legal)) {}

  void run() {
    if (d_.target.is_gpu() && random_.chance(50)) draw_recipe();
    if (random_.chance(55)) choose_focus();
    if (random_.chance(50)) ask(Turn::Graph);
    if (random_.chance(15)) ask(Turn::Graph);
    if (focus_ && focus_->turn == Turn::Graph) focus_->propose(d_);
    const bool busy = random_.chance(60);
    std::vector<lang::FuncId> order = lang::producers_first(d_.state().out.graph);
    for (auto f = order.rbegin(); f != order.rend(); ++f)
      if (in_recipe_.count(*f) ? random_.chance(30) : random_.chance(busy ? 75 : 35))
        in_recipe_.count(*f) ? add_to_recipe(*f) : draw(*f);
    if (d_.target.is_gpu()) complete_kernels();
  }

 private:
  bool is_asked(const Proposer& p) const { return d_.target.is_gpu() ? p.gpu : p.host; }

  void ask(Turn turn) {
    std::vector<int> weights;
    std::vector<const Proposer*> asked;
    for (const Proposer& p : proposers())
      if (p.turn == turn && is_asked(p)) {
        asked.push_back(&p);
        weights.push_back(p.weight);
      }
    asked[random_.weighted(weights)]->propose(d_);
  }

  /// A whole kernel, if one is found that is legal before anything is added to it.
  void draw_recipe() {
    std::vector<int> weights;
    for (const Recipe& r : recipes()) weights.push_back(r.weight);
    for (int drawn = 0, asked = 0; drawn < most_drawn && asked < most_asked; ++asked) {
      if (recipes()[random_.weighted(weights)].draw(d_)) {
        ++drawn;
        complete_kernels();
        if (legal_(d_.schedule())) break;
      }
      d_.restart({});
    }
    for (const lang::FuncDef& f : d_.state().out.graph.funcs) {
      bool directed = d_.state().funcs[f.id.value].compute_directive >= 0;
      for (const schedule::StageState& s : d_.state().funcs[f.id.value].stages) directed |= s.referred;
      if (directed) in_recipe_.insert(f.id);
    }
  }

  /// One or two directives more, that need not fit what is there.
  void add_to_recipe(lang::FuncId func) {
    for (std::int64_t n = random_.within(1, 2); n > 0; --n) {
      address(func,
              static_cast<int>(random_.below(static_cast<std::int64_t>(d_.state().def(func).stages.size()))));
      ask(random_.chance(50) ? Turn::Loops : Turn::Storage);
    }
  }

  /// The directive that the schedule is drawn around.
  void choose_focus() {
    std::vector<int> weights;
    for (const Proposer& p : proposers()) weights.push_back(is_asked(p) ? p.focus : 0);
    focus_ = &proposers()[random_.weighted(weights)];
  }

  void ask_focus(Turn turn, lang::FuncId func, int stage) {
    if (!focus_ || focus_->turn != turn || !random_.chance(70)) return;
    address(func, stage);
    focus_->propose(d_);
  }

  void draw_place(lang::FuncId func) {
    const auto& inside = inside_loops();
    const bool asks_for_loop =
        focus_ && std::find(inside.begin(), inside.end(), focus_->directive) != inside.end();
    address(func, 0);
    if (asks_for_loop && random_.chance(75))
      propose("compute_at");
    else if (random_.chance(85))
      ask(Turn::Place);
  }

  void draw(lang::FuncId func) {
    draw_place(func);
    const std::size_t stages = d_.state().def(func).stages.size();
    for (std::size_t i = 0; i < stages; ++i) {
      for (std::int64_t n = random_.within(0, 4); n > 0; --n) {
        address(func, static_cast<int>(i));
        ask(Turn::Loops);
      }
      ask_focus(Turn::Loops, func, static_cast<int>(i));
      if (d_.target.is_gpu()) draw_threads(func, static_cast<int>(i));
    }
    ask_focus(Turn::Storage, func, 0);
    address(func, 0);
    if (d_.state().out.of(func).compute.kind == schedule::Place::Kind::At && random_.chance(45)) {
      propose(random_.pick(inside_loops()));
      address(func, 0);
    }
    if (random_.chance(55)) ask(Turn::Storage);
  }

  /// Directives that only a Func computed inside a loop can have: rare among all Funcs.
  static const std::vector<std::string>& inside_loops() {
    static const std::vector<std::string> names = {
        "store_root",   "store_at",     "hoist_storage", "hoist_storage_root",
        "fold_storage", "fold_storage", "slide",         "ring_buffer"};
    return names;
  }

  void propose(const std::string& directive) {
    for (const Proposer& p : proposers())
      if (p.directive == directive && is_asked(p)) p.propose(d_);
  }

  /// Every stage at root that a directive addresses needs blocks.
  void complete_kernels() {
    for (const lang::FuncId func : lang::producers_first(d_.state().out.graph)) {
      if (d_.state().out.of(func).compute.kind == schedule::Place::Kind::At) continue;
      for (int i = 0; i < static_cast<int>(d_.state().def(func).stages.size()); ++i) {
        address(func, i);
        if (needs_blocks(d_.state().stage_name(func, i))) propose_gpu_blocks(d_);
      }
    }
  }

  bool needs_blocks(const std::string& stage) const {
    bool addressed = false;
    for (const schedule::Directive& d : d_.schedule().directives()) {
      const schedule::Value* of = schedule::find_arg(d, "of");
      const bool place = d.name == "compute_at" || d.name == "store_at" || d.name == "compute_with";
      const bool there = place && (*of == schedule::Value(stage) || *of == schedule::Value(stage + ".pure"));
      if (there || (d.stage == stage && !(place && d.name != "compute_with")))
        addressed =
            addressed || schedule::find_directive(d.name)->addresses != schedule::Addresses::Func || place;
      if (d.stage == stage && (d.name == "gpu_blocks" || d.name == "gpu_tile")) return false;
    }
    return addressed;
  }

  void address(lang::FuncId func, int stage) {
    d_.func = func;
    d_.stage = stage;
  }

  /// Threads before blocks, since a block takes the loops that are left outside.
  void draw_threads(lang::FuncId func, int stage) {
    const std::vector<const char*> kinds = {"gpu_threads", "gpu_threads", "gpu_threads", "gpu_lanes",
                                            "gpu_warps",   "cluster",     "gpu_tile"};
    for (const char* name : {random_.pick(kinds), "gpu_blocks"}) {
      const bool at_loop = d_.state().out.of(func).compute.kind == schedule::Place::Kind::At;
      if (name == std::string("gpu_blocks") ? at_loop : !random_.chance(80)) continue;
      address(func, stage);
      propose(name);
    }
    ask_focus(Turn::Threads, func, stage);
    for (const char* name : {"raster", "persistent"}) {
      if (!random_.chance(12)) continue;
      address(func, stage);
      propose(name);
    }
  }

  static constexpr int most_asked = 16, most_drawn = 6;  ///< recipes, before there is none

  Draft& d_;
  Random& random_;
  const std::function<bool(const Schedule&)> legal_;
  const Proposer* focus_ = nullptr;
  std::set<lang::FuncId> in_recipe_;  ///< Funcs that it has placed or that others are computed in
};

/// The position in "#3 split(...)"; -1 if there is none.
int position(const Diagnostic& diagnostic) {
  return diagnostic.directive.size() > 1 && diagnostic.directive[0] == '#'
             ? std::atoi(diagnostic.directive.c_str() + 1)
             : -1;
}

/// Takes out what is refused, one directive at a time; one refusal in ten stays.
Schedule repaired(Random& random, Schedule s, const Pipeline& pipeline, const Target& target,
                  const std::function<void(const Schedule&)>& checking) {
  const auto count = [&] { return static_cast<int>(s.directives().size()); };
  const bool keep = random.chance(10);
  while (count() > 0) {
    checking(s);
    const std::vector<Diagnostic> found = s.check(pipeline, target);
    if (found.empty() || keep) return s;
    const int at = position(found.front()) - 1;
    if (at < 0 || at >= count()) return s;
    s = without(s, static_cast<std::size_t>(at));
  }
  return s;
}

/// Another number or word in one argument.
void change_argument(Random& random, schedule::Directive& d) {
  if (d.args.empty()) return;
  auto& value =
      d.args[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(d.args.size())))].second;
  static const std::vector<std::int64_t> numbers = {1, 2, 3, 6, 16, 0, -1, 64, 1000};
  static const std::vector<std::string> words = {"x",  "y",     "r",        "f0",    "o1",
                                                 "i2", "guard", "round_up", "shared"};
  if (auto* list = std::get_if<schedule::Value::List>(&value.data); list && !list->empty()) {
    if (random.chance(50)) std::reverse(list->begin(), list->end());
    if (random.chance(30)) list->pop_back();
  } else if (std::holds_alternative<std::int64_t>(value.data)) {
    value.data = random.pick(numbers);
  } else if (std::holds_alternative<std::string>(value.data)) {
    value.data = random.pick(words);
  }
}

Schedule mutated(Random& random, const Schedule& s) {
  std::vector<schedule::Directive> all = s.directives();
  if (all.empty()) return s;
  const auto at = random.below(static_cast<std::int64_t>(all.size()));
  switch (random.below(4)) {
    case 0:
      all.erase(all.begin() + at);
      break;
    case 1:
      all.insert(all.begin() + random.below(static_cast<std::int64_t>(all.size()) + 1), all[at]);
      break;
    case 2:
      std::swap(all[at], all[random.below(static_cast<std::int64_t>(all.size()))]);
      break;
    default:
      change_argument(random, all[at]);
  }
  return with_directives(s, all);
}

}  // namespace

Schedule with_directives(const Schedule& schedule, const std::vector<schedule::Directive>& directives) {
  Schedule s;
  for (const Knob& k : schedule.knobs()) s.knob(k.name, k.value);
  for (const schedule::Directive& d : directives) s.append(d);
  return s;
}

Schedule without(const Schedule& schedule, std::size_t directive) {
  std::vector<schedule::Directive> all = schedule.directives();
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(directive));
  return with_directives(schedule, all);
}

Schedule generate_schedule(Random& random, const Program& program, const Pipeline& pipeline,
                           const Target& target, const std::function<void(const Schedule&)>& checking) {
  Draft draft(random, program, pipeline, target);
  Drawing(draft, [&](const Schedule& s) {
    checking(s);
    return s.check(pipeline, target).empty();
  }).run();
  Schedule s = repaired(random, draft.schedule(), pipeline, target, checking);
  return random.chance(12) ? mutated(random, s) : s;
}

}  // namespace calotype::fuzz
