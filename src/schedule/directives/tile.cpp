// tile: several loops split at once, all inner ones inside all outer ones.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "schedule/loops.h"
#include "schedule/spelling.h"

namespace calotype {

using schedule::Value;

Stage& Stage::tile(const std::vector<LoopName>& loops, const std::vector<LoopName>& outer,
                   const std::vector<LoopName>& inner, const std::vector<Factor>& factors, Tail tail) {
  Value::List into, by;
  for (const LoopName& l : outer) into.emplace_back(l.name);
  for (const LoopName& l : inner) into.emplace_back(l.name);
  for (const Factor& f : factors) by.emplace_back(f);
  std::vector<std::pair<std::string, Value>> args = {
      {"loops", schedule::names_of(loops)}, {"into", std::move(into)}, {"by", std::move(by)}};
  if (tail != Tail::Auto) args.emplace_back("tail", schedule::text_of(tail));
  return record("tile", std::move(args));
}

Stage& Stage::tile(const LoopName& x, const LoopName& y, const LoopName& xo, const LoopName& yo,
                   const LoopName& xi, const LoopName& yi, Factor fx, Factor fy, Tail tail) {
  return tile({x, y}, {xo, yo}, {xi, yi}, std::vector<Factor>{fx, fy}, tail);
}

namespace schedule {

static void apply(Application& a) {
  const std::vector<LoopId> loops = a.loop_list("loops");
  const std::vector<std::string> into = a.names("into");
  const std::vector<std::int64_t> by = a.integers("by");
  const std::size_t n = loops.size();
  if (into.size() != 2 * n || by.size() != n)
    a.refuse(fmt::format("{} loops make {} new ones by {} factors, not {} by {}", n, 2 * n, n, into.size(),
                         by.size()),
             fmt::format("{} names, {} factors", into.size(), by.size()),
             "outer names, then inner names, in the order of the loops; one factor a loop");
  // The places of the tiled loops, innermost first: the new loops go there, inner ones first.
  std::vector<LoopId> before = a.loops().loops;
  std::vector<LoopId> outer, inner;
  for (std::size_t i = 0; i < n; i++) {
    const SplitLoops made = split_loop(a, loops[i], into[i], into[n + i], by[i], a.tail());
    outer.push_back(made.outer);
    inner.push_back(made.inner);
  }
  std::size_t last = 0;
  for (std::size_t i = 0; i < before.size(); i++)
    if (std::find(loops.begin(), loops.end(), before[i]) != loops.end()) last = i;
  std::vector<LoopId> order;
  std::size_t next = 0;
  for (std::size_t i = 0; i < before.size(); i++) {
    const bool tiled = std::find(loops.begin(), loops.end(), before[i]) != loops.end();
    order.push_back(tiled ? inner[next++] : before[i]);
    if (i == last) order.insert(order.end(), outer.begin(), outer.end());
  }
  reorder_loops(a, order);
}

static std::string in_cpp(const Directive& d) {
  const DirectiveSpec& spec = *find_directive("tile");
  const auto& loops = std::get<Value::List>(find_arg(d, "loops")->data);
  if (loops.size() == 2)
    return fmt::format("{}.tile({});", cpp_stage(d.stage), fmt::join(cpp_arguments(spec, d), ", "));
  const auto& into = std::get<Value::List>(find_arg(d, "into")->data);
  const auto middle = into.begin() + static_cast<std::ptrdiff_t>(into.size() / 2);
  const std::vector<std::string> all = cpp_arguments(spec, d);
  const bool tail = find_arg(d, "tail") != nullptr;
  return fmt::format("{}.tile({}, {}, {}, {}{});", cpp_stage(d.stage), cpp_list(loops),
                     cpp_list(Value::List(into.begin(), middle)), cpp_list(Value::List(middle, into.end())),
                     cpp_list(*find_arg(d, "by")), tail ? ", " + all.back() : "");
}

DirectiveSpec tile_spec() {
  return {
      .name = "tile",
      .addresses = Addresses::Stage,
      .doc =
          "Splits each of several loops and puts all inner loops inside all outer ones, in the order in "
          "which the "
          "loops are given, innermost first. The outer loops stand where the outermost of the loops stood.",
      .args = {{.name = "loops",
                .kind = ArgKind::Loop,
                .doc = "the loops, innermost first",
                .list = true,
                .most = 4},
               {.name = "into",
                .kind = ArgKind::NewLoop,
                .doc = "names of the outer loops, then of the inner ones",
                .list = true,
                .least = 2},
               {.name = "by",
                .kind = ArgKind::Integer,
                .doc = "iterations of each inner loop",
                .list = true,
                .most = 4},
               tail_argument()},
      .reorders = "if reduction loops of an associative update change places",
      .refused = {"the numbers of loops, names and factors do not fit", "what split refuses",
                  "what reorder refuses"},
      .apply = apply,
      .cpp = in_cpp};
}

}  // namespace schedule
}  // namespace calotype
