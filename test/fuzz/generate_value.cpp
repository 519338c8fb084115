// Random expressions: reads at coordinates, stencils, conditions.
#include <algorithm>

#include "fuzz/generator.h"

namespace calotype::fuzz {

namespace {

constexpr int most_cost = 60;

Node shifted(const Node& at, std::int64_t by) {
  if (by == 0) return at;
  return by > 0 ? list("+", at, by) : list("-", at, -by);
}

}  // namespace

Type Generator::any_type() {
  static const std::vector<Type> types = {Float(32), Int(32),    UInt(8),   Int(16), UInt(16),
                                          Float(16), BFloat(16), Float(64), Bool(),  Int(64),
                                          UInt(32),  Int(8),     UInt(64)};
  static const std::vector<int> weights = {25, 18, 10, 10, 8, 6, 6, 5, 5, 4, 3, 2, 2};
  return types[random.weighted(weights)];
}

Value ValueMaker::any(Type type, int depth) {
  if (depth == 0 || g_.random.chance(15)) return leaf(type);
  if (g_.random.chance(12)) return selected(condition(), any(type, depth - 1), any(type, depth - 1));
  if (g_.random.chance(8)) return converted(any(g_.any_type(), depth - 1), type);
  const Value a = any(type, depth - 1);
  return any_operation(g_.random, a, any(type, depth - 1), g_.real);
}

Value ValueMaker::stencil(Type type) {
  Known* source = choose_source();
  if (!source) return leaf(type);
  const std::vector<Node> at = place(*source);
  const std::int64_t taps = g_.random.within(2, 5), how = g_.random.below(4);
  Value total = converted(read(*source, at), type);
  for (std::int64_t i = 1; i < taps; ++i) {
    std::vector<Node> there = at;
    for (Node& n : there)
      if (g_.random.chance(60)) n = shifted(n, g_.random.within(-2, 2));
    Value tap = converted(read(*source, there), type);
    if (type.is_bool()) {
      total = any_operation(g_.random, total, tap, false);
      continue;
    }
    if (how == 0) total = least(total, tap);
    if (how == 1) total = greatest(total, tap);
    if (how >= 2) total = add(total, multiply(tap, constant(type, g_.random.within(1, 3))));
  }
  return total;
}

Value ValueMaker::condition() {
  static const std::vector<const char*> names = {"<", "<=", "==", "!="};
  const char* name = g_.random.pick(names);
  if (g_.random.chance(40)) {
    const Coordinate& c = g_.random.pick(coordinates_);
    if (g_.random.chance(50)) return {list("==", list("%", c.name, 2), 0), Bool(), 0, 1};
    return {list(name, c.name, g_.random.pick(coordinates_).name), Bool(), 0, 1};
  }
  const Value a = read();
  if (!a.whole) return {list("<", g_.random.pick(coordinates_).name, 5), Bool(), 0, 1};
  if (a.type.is_bool()) return a;
  return {list(name, a.node, constant(a.type, g_.random.within(-2, 6)).node), Bool(), 0, 1};
}

Value ValueMaker::read() {
  Known* source = choose_source();
  if (source) return read(*source, place(*source));
  return g_.random.chance(40) ? constant(Int(32), g_.random.within(0, 9)) : remainder();
}

Value ValueMaker::remainder() {
  const std::int64_t m = g_.random.within(2, 7);
  return {list("cast", "s32", list("%", g_.random.pick(coordinates_).name, m)), Int(32), 0,
          static_cast<double>(m - 1)};
}

Value ValueMaker::read(Known& source, const std::vector<Node>& at) {
  source.read = true;
  cost_ += source.cost;
  std::vector<Node> call = {source.name};
  call.insert(call.end(), at.begin(), at.end());
  return {Node(call), source.type, source.low, source.high, source.whole};
}

/// What nothing reads yet comes first.
Known* ValueMaker::choose_source() {
  std::vector<Known*> fresh, all;
  for (Known& k : g_.known) {
    if (cost_ + k.cost > most_cost) continue;
    all.push_back(&k);
    if (!k.read) fresh.push_back(&k);
  }
  if (!fresh.empty() && g_.random.chance(60)) return g_.random.pick(fresh);
  return all.empty() ? nullptr : g_.random.pick(all);
}

Value ValueMaker::leaf(Type type) {
  const std::int64_t kind = g_.random.below(100);
  if (kind < 75) return converted(read(), type);
  if (kind < 85) return constant(type, g_.random.within(-4, 9));
  if (kind < 90 && !g_.program.params.empty()) {
    const ParamSpec& p = g_.random.pick(g_.program.params);
    const auto v = static_cast<double>(p.value);
    // What the compiler may assume of a Param is its type alone; the value is what the run has.
    return converted(Value{p.name, p.type, std::min(v, 0.0), std::max(v, 0.0)}, type);
  }
  return converted(remainder(), type);
}

std::vector<Node> ValueMaker::place(const Known& source) {
  std::vector<Node> at;
  for (int d = 0; d < source.rank; ++d) at.push_back(coordinate(d));
  if (source.rank > 1 && g_.random.chance(8)) std::swap(at[0], at[1]);  // transposed
  return at;
}

Node ValueMaker::coordinate(int d) {
  std::vector<Coordinate> same;
  for (const Coordinate& c : coordinates_)
    if (c.dim == d) same.push_back(c);
  const bool far = same.empty() || g_.random.chance(6);
  if (far && g_.random.chance(40)) return Node(g_.random.within(0, 2));
  const Node at = far ? g_.random.pick(coordinates_).name : g_.random.pick(same).name;
  const Node last = list("-", Generator::dim(d), 1);
  switch (g_.random.weighted({48, 24, 6, 6, 3, 5, 3, 5})) {
    case 0:
      return at;
    case 1:
      return shifted(at, g_.random.within(-2, 2));
    case 2:
      return list("/", at, g_.random.within(2, 3));
    case 3:
      return shifted(list("*", at, 2), g_.random.within(-1, 1));
    case 4:
      return list("-", last, at);
    case 5:
      return list("clamp", shifted(at, g_.random.within(-2, 2)), 0, last);
    case 6:
      return list("%", at, g_.random.within(2, 5));
    default:
      return in_range();
  }
}

/// A coordinate that depends on data.
Node ValueMaker::in_range() {
  if (nested_) return Node(1);
  nested_ = true;
  const Value v = converted(read(), Int(64));
  nested_ = false;
  return list("clamp", v.node, 0, g_.random.within(1, 6));
}

}  // namespace calotype::fuzz
