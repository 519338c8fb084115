// Random Funcs: pure ones, reductions, scans, histograms and other updates.
#include <fmt/format.h>

#include <algorithm>

#include "fuzz/generator.h"

namespace calotype::fuzz {

namespace {

class FuncMaker {
 public:
  FuncMaker(Generator& g, int index) : g_(g), random_(g.random), name_(fmt::format("f{}", index)) {
    rank_ = 1 + static_cast<int>(random_.weighted({25, 60, 15}));
    type_ = g.any_type();
    const char* names = random_.chance(80) ? "xyz" : "uvw";
    for (int d = 0; d < rank_; ++d) args_.push_back({std::string(1, names[d]), d});
  }

  void run() {
    FuncSpec f{.name = name_, .stages = {}, .boundary = {}, .source = {}, .extents = {}, .exterior = {}};
    if (random_.chance(12)) return several(f);
    if (g_.functions && random_.chance(12) && by_function(f)) return;
    switch (random_.weighted({55, 18, 11, 8, 8})) {
      case 0:
        pure(f);
        break;
      case 1:
        reduction(f);
        break;
      case 2:
        scan(f);
        break;
      case 3:
        histogram(f);
        break;
      default:
        pure(f);
        update(f);
    }
    if (f.stages.size() == 2 && random_.chance(15)) update(f);
    g_.program.funcs.push_back(f);
    g_.known.push_back({name_, type_, rank_, low_, high_, whole_, f.stages.size() > 1 ? 1 : 1 + cost_});
  }

 private:
  std::vector<Node> lhs() const {
    std::vector<Node> nodes;
    for (const Coordinate& c : args_) nodes.emplace_back(c.name);
    return nodes;
  }

  Node self(std::vector<Node> at) const {
    at.insert(at.begin(), name_);
    return Node(std::move(at));
  }
  Value self_value(std::vector<Node> at) const { return {self(std::move(at)), type_, low_, high_, whole_}; }

  void begin(FuncSpec& f, const Value& v) {
    f.stages.push_back({.lhs = lhs(), .value = v.node, .domain = {}, .where = {}});
    low_ = v.low;
    high_ = v.high;
    whole_ = v.whole;
  }

  /// After an update that writes `v` somewhere.
  void include(const Value& v) {
    low_ = std::min(low_, v.low);
    high_ = std::max(high_, v.high);
    whole_ = whole_ && v.whole;
  }

  Value anything(const std::vector<Coordinate>& coordinates, int depth) {
    ValueMaker maker(g_, coordinates);
    const Value v = random_.chance(40) ? maker.stencil(type_) : maker.any(type_, depth);
    cost_ = std::max(cost_, maker.cost());
    return v;
  }

  void pure(FuncSpec& f) { begin(f, anything(args_, 3)); }

  /// Three neighbours along dimension 0, added by a function; false if nothing has the type and rank for it.
  bool by_function(FuncSpec& f) {
    std::vector<Known*> sources;
    for (Known& k : g_.known)
      if (k.type == Int(32) && k.rank == rank_ && 3 * std::max(-k.low, k.high) < limit(k.type) &&
          !g_.program.input(k.name))  // whose reads are moved to where it begins
        sources.push_back(&k);
    if (sources.empty()) return false;
    Known& source = *random_.pick(sources);
    source.read = true;
    Node value = list("function");
    for (int i = 0; i < 3; ++i) {
      std::vector<Node> call = lhs();
      if (i > 0) call[0] = list("+", call[0], i);
      call.insert(call.begin(), source.name);
      value.items.emplace_back(call);
    }
    type_ = Int(32);
    begin(f, Value{value, type_, 3 * std::min(source.low, 0.0), 3 * std::max(source.high, 0.0)});
    g_.program.funcs.push_back(f);
    g_.known.push_back({name_, type_, rank_, low_, high_, whole_, 1});
    return true;
  }

  // ---- Several values

  struct Component {
    Type type;
    double low = 0, high = 0;
    bool whole = true;
  };

  /// Two or three values at each point: on their own, reduced together, or the place of the largest.
  void several(FuncSpec& f) {
    random_.chance(40) ? place_of_best(f) : values(f);
    for (std::size_t c = 0; c < parts_.size(); ++c)
      g_.known.push_back({component(c), parts_[c].type, rank_, parts_[c].low, parts_[c].high, parts_[c].whole,
                          f.stages.size() > 1 ? 1 : 1 + cost_});
    g_.program.funcs.push_back(f);
  }

  std::string component(std::size_t c) const { return name_ + "." + std::to_string(c); }

  Value own(std::size_t c) const {
    std::vector<Node> at = lhs();
    at.insert(at.begin(), component(c));
    return {Node(at), parts_[c].type, parts_[c].low, parts_[c].high, parts_[c].whole};
  }

  void begin(FuncSpec& f, const std::vector<Value>& all) {
    Node tuple = list("tuple");
    for (const Value& v : all) {
      tuple.items.push_back(v.node);
      parts_.push_back({v.type, v.low, v.high, v.whole});
    }
    f.stages.push_back({.lhs = lhs(), .value = tuple, .domain = {}, .where = {}});
  }

  void values(FuncSpec& f) {
    const std::int64_t count = random_.within(2, 3);
    std::vector<Value> first;
    for (std::int64_t c = 0; c < count; ++c) {
      type_ = c == 0 ? type_ : g_.any_type();
      first.push_back(anything(args_, 2));
    }
    begin(f, first);
    if (random_.chance(50)) return;
    const bool reduces = random_.chance(60);
    std::vector<Coordinate> inside = args_;
    DefinitionSpec update{.lhs = lhs(), .value = list("tuple"), .domain = {}, .where = {}};
    if (reduces) {
      update.domain = {{"r", 0, random_.chance(50) ? Node(random_.within(1, 9)) : Generator::dim(0)}};
      inside.push_back({"r", 0});
      if (random_.chance(25)) update.where = ValueMaker(g_, inside).condition().node;
    }
    std::vector<Component> after = parts_;
    for (std::size_t c = 0; c < parts_.size(); ++c) {
      const Value v = updated(c, inside, reduces);
      update.value.items.push_back(v.node);
      after[c] = {v.type, std::min(v.low, after[c].low), std::max(v.high, after[c].high),
                  v.whole && after[c].whole};
    }
    parts_ = after;
    f.stages.push_back(update);
  }

  /// One value of an update: kept, from another value, or with a term of its own.
  Value updated(std::size_t c, const std::vector<Coordinate>& inside, bool reduces) {
    const Value self = own(c);
    if (random_.chance(15)) return self;
    if (!reduces && !self.type.is_bool() && random_.chance(40))
      return least(self, converted(own((c + 1) % parts_.size()), self.type));
    const Value term = ValueMaker(g_, inside).any(self.type, 1);
    if (self.type.is_bool()) return {list("!=", self.node, term.node), self.type, 0, 1};
    if (self.type.is_float() || random_.chance(30))
      return random_.chance(50) ? least(self, term) : greatest(self, term);
    const double most = limit(self.type);
    return {list("+", self.node, term.node), self.type, self.type.is_uint() ? 0 : -most - 1, most};
  }

  /// The coordinates of the largest or smallest value of a domain, and the value.
  void place_of_best(FuncSpec& f) {
    std::vector<RangeSpec> domain;
    std::vector<Coordinate> inside = args_;
    std::vector<Value> first, found;
    for (int i = 0; i < (random_.chance(35) ? 2 : 1); ++i) {
      const std::string name = i ? "s" : "r";
      const Node extent = random_.chance(50) ? Node(random_.within(1, 9)) : Generator::dim(i);
      domain.push_back({name, Node(0), extent});
      inside.push_back({name, i});
      first.push_back(constant(Int(64), 0));
      found.push_back({Node(name), Int(64), 0, greatest_extent(extent) - 1});
    }
    if (type_.is_bool()) type_ = UInt(8);
    const bool largest = random_.chance(50);
    const Value term = anything(inside, 2);
    const auto worst =
        static_cast<std::int64_t>(largest ? std::max(term.low, -1e6) : std::min(term.high, 1e6));
    first.push_back(constant(type_, worst));
    found.push_back(term);
    begin(f, first);
    const Value best = own(parts_.size() - 1);
    const Value beats{largest ? list("<", best.node, term.node) : list("<", term.node, best.node), Bool(), 0,
                      1};
    DefinitionSpec update{.lhs = lhs(), .value = list("tuple"), .domain = domain, .where = {}};
    for (std::size_t c = 0; c < parts_.size(); ++c) {
      update.value.items.push_back(selected(beats, found[c], own(c)).node);
      parts_[c] = {parts_[c].type, std::min(parts_[c].low, found[c].low),
                   std::max(parts_[c].high, found[c].high), parts_[c].whole && found[c].whole};
    }
    f.stages.push_back(update);
  }

  // ---- One value

  /// f(x) = f(x) op term(x, r).
  void reduction(FuncSpec& f) {
    std::vector<RangeSpec> domain;
    std::vector<Coordinate> inside = args_;
    double points = 1;
    for (int i = 0; i < (random_.chance(30) ? 2 : 1); ++i) {
      const int d = random_.chance(70) ? i : 1 - i;
      const Node extent = random_.chance(50) ? Node(random_.within(1, 9)) : Generator::dim(d);
      domain.push_back({i ? "s" : "r", Node(random_.chance(80) ? 0 : random_.within(-2, 2)), extent});
      inside.push_back({i ? "s" : "r", d});
      points *= greatest_extent(extent);
    }
    ValueMaker maker(g_, inside);
    Value term = maker.any(type_, 2);
    begin(f, random_.chance(60) ? constant(type_, 0) : anything(args_, 1));
    const Value value = combined(term, points);
    DefinitionSpec update{.lhs = lhs(), .value = value.node, .domain = domain, .where = {}};
    if (random_.chance(25)) update.where = ValueMaker(g_, inside).condition().node;
    f.stages.push_back(update);
    include(value);
  }

  double greatest_extent(const Node& extent) {
    double most = 1;
    for (const Sizes& s : g_.program.runs) most = std::max(most, static_cast<double>(number(extent, s)));
    return most;
  }

  /// One step of a reduction, with the values that all steps reach.
  Value combined(Value term, double points) {
    const std::int64_t how = random_.below(type_.is_bool() ? 2 : 6);
    const Value self = self_value(lhs());
    if (type_.is_bool()) return {list(how ? "||" : "&&", self.node, term.node), type_, 0, 1};
    if (how == 0) return least(self, term);
    if (how == 1) return greatest(self, term);
    if (how == 2 && !type_.is_float()) {  // no associative operation
      const Value twice = multiply(self, constant(type_, 3));
      Value v = add(twice, term);
      v.low = type_.is_uint() ? 0 : -limit(type_) - 1;
      v.high = limit(type_);
      return v;
    }
    const double share = limit(type_) / 4 / points;
    if (type_.is_float() && share < 1) return greatest(self, term);
    if (type_.is_float()) term = fuzz::limited(term, share);
    Value v{list(how == 3 ? "-" : "+", self.node, term.node), type_, 0, 0, self.whole && term.whole};
    const double reach = points * std::max(std::abs(term.low), std::abs(term.high));
    v.low = low_ - reach;
    v.high = high_ + reach;
    if (!type_.is_float()) {  // may wrap
      v.low = type_.is_uint() ? 0 : -limit(type_) - 1;
      v.high = limit(type_);
    }
    return v;
  }

  /// f(r, y) from f(r - 1, y), or from the other end.
  void scan(FuncSpec& f) {
    begin(f, fuzz::limited(anything(args_, 2), std::min(limit(type_), 1000.0)));
    const int d = static_cast<int>(random_.below(rank_));
    const Node length = random_.chance(75) ? Generator::dim(d) : Node(random_.within(2, 12));
    const bool backward = random_.chance(25);
    const Node here = backward ? list("-", list("-", length, 2), "r") : Node("r");
    const Node before = backward ? list("-", list("-", length, 1), "r") : list("-", "r", 1);
    std::vector<Node> at = lhs(), last = lhs();
    at[d] = here;
    last[d] = before;
    std::vector<Coordinate> inside = args_;
    inside[d].name = "r";
    ValueMaker maker(g_, inside);
    const Value term = random_.chance(50) ? self_value(at) : maker.any(type_, 1);
    const Value value = scanned(self_value(last), term);
    DefinitionSpec update{.lhs = at,
                          .value = value.node,
                          .domain = {{"r", backward ? Node(0) : Node(1), list("-", length, 1)}},
                          .where = {}};
    f.stages.push_back(update);
    include(value);
  }

  Value scanned(const Value& last, const Value& term) {
    if (type_.is_bool()) return {list("!=", last.node, term.node), type_, 0, 1};
    if (random_.chance(30)) return random_.chance(50) ? least(last, term) : greatest(last, term);
    Value v = type_.is_float() ? fuzz::limited({list("+", last.node, term.node), type_, -limit(type_),
                                                limit(type_), last.whole && term.whole},
                                               50)
                               : add(last, term);
    if (type_.is_float()) {  // what goes in stays small too
      const Value small = fuzz::limited(term, 50),
                  from = fuzz::limited({last.node, type_, -100, 100, last.whole}, 50);
      v.node = list("+", from.node, small.node);
      v.low = -100;
      v.high = 100;
    } else {
      v.low = type_.is_uint() ? 0 : -limit(type_) - 1;
      v.high = limit(type_);
    }
    return v;
  }

  /// f(value) counts, or keeps the last that came there.
  void histogram(FuncSpec& f) {
    begin(f, constant(type_, random_.within(0, 2)));
    std::vector<Coordinate> inside = {{"r", 0}};
    std::vector<RangeSpec> domain = {
        {"r", 0, random_.chance(60) ? Generator::dim(0) : Node(random_.within(1, 12))}};
    if (random_.chance(50)) {
      inside.push_back({"s", 1});
      domain.push_back({"s", 0, Generator::dim(1)});
    }
    std::vector<Node> at = lhs();
    std::vector<Coordinate> all = inside;
    for (int d = 1; d < rank_; ++d) all.push_back(args_[d]);
    ValueMaker maker(g_, all);
    at[0] = list("clamp", converted(maker.read(), Int(64)).node, 0, random_.within(1, 15));
    Value value = maker.any(type_, 1);
    if (!type_.is_float() && !type_.is_bool() && random_.chance(70)) {
      value = {list("+", self(at), constant(type_, 1).node), type_, type_.is_uint() ? 0 : -limit(type_) - 1,
               limit(type_)};
    }
    f.stages.push_back({.lhs = at, .value = value.node, .domain = domain, .where = {}});
    include(value);
  }

  /// An update without a domain: all points, or one row.
  void update(FuncSpec& f) {
    std::vector<Node> at = lhs();
    std::vector<Coordinate> inside = args_;
    if (random_.chance(50)) {
      const int d = static_cast<int>(random_.below(rank_));
      at[d] = Node(random_.within(0, 3));
      if (rank_ > 1) inside.erase(inside.begin() + d);
      if (rank_ == 1) inside.clear();
    }
    const Value from = self_value(at);
    Value value = random_.chance(50) || inside.empty()
                      ? any_operation(random_, from, constant(type_, 2), false)
                      : any_operation(random_, from, ValueMaker(g_, inside).any(type_, 1), false);
    f.stages.push_back({.lhs = at, .value = value.node, .domain = {}, .where = {}});
    include(value);
  }

  Generator& g_;
  Random& random_;
  std::string name_;
  int rank_;
  Type type_;
  std::vector<Coordinate> args_;
  double low_ = 0, high_ = 0;
  bool whole_ = true;
  int cost_ = 0;
  std::vector<Component> parts_;  ///< of a Func of several values
};

}  // namespace

void add_func(Generator& g, int index) { FuncMaker(g, index).run(); }

void add_table(Generator& g, int index) {
  std::vector<Known> others;
  others.swap(g.known);
  for (const Known& k : others)
    if (k.table) g.known.push_back(k);
  const std::size_t before = g.known.size();
  FuncMaker(g, index).run();
  // What was read of the others is noted where they are kept.
  for (Known& k : g.known) {
    k.table = true;
    const auto old =
        std::find_if(others.begin(), others.end(), [&](const Known& o) { return o.name == k.name; });
    if (old != others.end()) *old = k;
  }
  others.insert(others.end(), g.known.begin() + static_cast<std::ptrdiff_t>(before), g.known.end());
  g.known = std::move(others);
}

}  // namespace calotype::fuzz
