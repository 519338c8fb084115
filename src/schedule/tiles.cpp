// Several loops split at once.
#include "schedule/tiles.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "schedule/loops.h"
#include "schedule/spelling.h"

namespace calotype::schedule {

std::vector<std::pair<std::string, Value>> tile_arguments(const std::vector<LoopName>& loops,
                                                          const std::vector<LoopName>& outer,
                                                          const std::vector<LoopName>& inner,
                                                          const std::vector<Factor>& factors, Tail tail) {
  std::vector<LoopName> into = outer;
  into.insert(into.end(), inner.begin(), inner.end());
  return with_tail({{"loops", names_of(loops)},
                    {"into", names_of(into)},
                    {"by", Value::List(factors.begin(), factors.end())}},
                   tail);
}

TileLoops tile_loops(Application& a, const std::vector<LoopId>& loops, const std::vector<std::string>& into,
                     const std::vector<std::int64_t>& by) {
  const std::size_t n = loops.size();
  if (into.size() != 2 * n || by.size() != n)
    a.refuse(fmt::format("{} loops make {} new ones by {} factors, not {} by {}", n, 2 * n, n, into.size(),
                         by.size()),
             fmt::format("{} names, {} factors", into.size(), by.size()),
             "outer names, then inner names, in the order of the loops; one factor a loop");
  // The places of the tiled loops, innermost first: the new loops go there, inner ones first.
  const std::vector<LoopId> before = a.loops().loops;
  TileLoops tiles;
  for (std::size_t i = 0; i < n; i++) {
    const SplitLoops made = split_loop(a, loops[i], into[i], into[n + i], by[i], a.tail());
    tiles.outer.push_back(made.outer);
    tiles.inner.push_back(made.inner);
  }
  std::size_t last = 0;
  for (std::size_t i = 0; i < before.size(); i++)
    if (std::find(loops.begin(), loops.end(), before[i]) != loops.end()) last = i;
  std::vector<LoopId> order;
  std::size_t next = 0;
  for (std::size_t i = 0; i < before.size(); i++) {
    const bool tiled = std::find(loops.begin(), loops.end(), before[i]) != loops.end();
    order.push_back(tiled ? tiles.inner[next++] : before[i]);
    if (i == last) order.insert(order.end(), tiles.outer.begin(), tiles.outer.end());
  }
  reorder_loops(a, order);
  return tiles;
}

std::string tile_in_cpp(const Directive& d, const DirectiveSpec& spec, std::size_t in_row) {
  const auto& loops = std::get<Value::List>(find_arg(d, "loops")->data);
  if (loops.size() == 2 || (in_row > 2 && loops.size() <= in_row))
    return fmt::format("{}.{}({});", cpp_stage(d.stage), spec.name, fmt::join(cpp_arguments(spec, d), ", "));
  const auto& into = std::get<Value::List>(find_arg(d, "into")->data);
  const auto middle = into.begin() + static_cast<std::ptrdiff_t>(into.size() / 2);
  const std::vector<std::string> all = cpp_arguments(spec, d);
  const bool tail = find_arg(d, "tail") != nullptr;
  return fmt::format("{}.{}({}, {}, {}, {}{});", cpp_stage(d.stage), spec.name, cpp_list(loops),
                     cpp_list(Value::List(into.begin(), middle)), cpp_list(Value::List(middle, into.end())),
                     cpp_list(*find_arg(d, "by")), tail ? ", " + all.back() : "");
}

}  // namespace calotype::schedule
