// Regions of random programs.
#include "fuzz/regions.h"

#include <algorithm>

#include "fuzz/operations.h"

namespace calotype::fuzz {

namespace {

constexpr std::int64_t far = std::int64_t{1} << 40;
using Ranges = std::map<std::string, Interval>;

Interval limited(Interval i) { return {std::clamp(i.low, -far, far), std::clamp(i.high, -far, far)}; }

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

Interval times(Interval a, Interval b) {
  const auto [low, high] = std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
  return limited({low, high});
}

/// Of a coordinate. Values of Funcs and inputs may be anything.
Interval range(const Node& n, const Ranges& ranges) {
  if (n.is_atom()) {
    const auto found = ranges.find(n.atom);
    if (found != ranges.end()) return found->second;
    const std::int64_t v = std::stoll(n.atom);
    return {v, v};
  }
  const std::string& op = n.head();
  if (n.size() < 3 || names_type(op) || !find_operation(op)) return {-far, far};
  const Interval a = range(n[1], ranges), b = range(n[2], ranges);
  if (op == "+") return limited({a.low + b.low, a.high + b.high});
  if (op == "-") return limited({a.low - b.high, a.high - b.low});
  if (op == "*") return times(a, b);
  if (op == "/" && b.low == b.high && b.low > 0) return {floor_div(a.low, b.low), floor_div(a.high, b.low)};
  if (op == "%" && b.low > 0) return {0, b.high - 1};
  if (op == "min") return {std::min(a.low, b.low), std::min(a.high, b.high)};
  if (op == "max") return {std::max(a.low, b.low), std::max(a.high, b.high)};
  if (op == "clamp") {
    const Interval c = range(n[3], ranges);
    return {std::max(std::min(a.low, c.low), b.low), std::max(std::min(a.high, c.high), b.high)};
  }
  return {-far, far};
}

class Regions {
 public:
  Regions(const Program& program, const Sizes& sizes) : program_(program), sizes_(sizes) {
    for (const auto& [name, value] : sizes) dims_[name] = {value, value};
  }

  std::map<std::string, Box> run() {
    for (const OutputSpec& o : program_.outputs) {
      Box box;
      for (const Node& e : o.extents) box.push_back({0, number(e, sizes_) - 1});
      include(o.func, box);
    }
    for (auto f = program_.funcs.rbegin(); f != program_.funcs.rend(); ++f) {
      if (!boxes_.count(f->name)) continue;
      if (f->boundary.empty())
        visit(*f);
      else
        include(f->source, box_of_source(*f));
    }
    return std::move(boxes_);
  }

 private:
  Box box_of_source(const FuncSpec& f) {
    const InputSpec* input = program_.input(f.source);
    Box box;
    for (const Node& e : input ? input->extents : f.extents) box.push_back({0, number(e, sizes_) - 1});
    return box;
  }

  /// An update touches its Func at points of its own, which are then needed too.
  void visit(const FuncSpec& f) {
    for (int pass = 0; pass < 2; ++pass)
      for (const DefinitionSpec& d : f.stages) {
        Box left;
        const Ranges ranges = ranges_of(f, d);
        for (const Node& n : d.lhs) left.push_back(range(n, ranges));
        include(f.name, left);
        include_calls(d.value, ranges, f.name);
      }
    for (const DefinitionSpec& d : f.stages) {
      const Ranges ranges = ranges_of(f, d);
      for (const Node& n : d.lhs) include_calls(n, ranges);
      include_calls(d.value, ranges);
      if (d.where.defined()) include_calls(d.where, ranges);
    }
  }

  Ranges ranges_of(const FuncSpec& f, const DefinitionSpec& d) {
    Ranges ranges = dims_;
    for (std::size_t i = 0; i < f.stages[0].lhs.size(); ++i)
      ranges[f.stages[0].lhs[i].atom] = boxes_.at(f.name)[i];
    for (const RangeSpec& r : d.domain) {
      const std::int64_t min = number(r.min, sizes_), extent = number(r.extent, sizes_);
      ranges[r.name] = {min, min + std::max<std::int64_t>(extent, 1) - 1};
    }
    return ranges;
  }

  /// The calls in a tree, or only those of `only`.
  void include_calls(const Node& n, const Ranges& ranges, const std::string& only = {}) {
    if (n.is_atom() || !n.defined()) return;
    for (std::size_t i = 1; i < n.size(); ++i) include_calls(n[i], ranges, only);
    if (!is_call(n.head())) return;
    const std::string name = called(n.head());
    if (!only.empty() && name != only) return;
    Box box;
    for (std::size_t i = 1; i < n.size(); ++i) box.push_back(range(n[i], ranges));
    include(name, box);
  }

  void include(const std::string& name, const Box& box) {
    const auto [found, fresh] = boxes_.emplace(name, box);
    if (fresh) return;
    for (std::size_t d = 0; d < box.size(); ++d) {
      Interval& i = found->second[d];
      i = {std::min(i.low, box[d].low), std::max(i.high, box[d].high)};
    }
  }

  const Program& program_;
  const Sizes& sizes_;
  Ranges dims_;
  std::map<std::string, Box> boxes_;
};

double points(const Box& box) {
  double n = 1;
  for (const Interval& i : box) n *= static_cast<double>(i.high - i.low + 1);
  return n;
}

}  // namespace

std::map<std::string, Box> regions(const Program& program, const Sizes& sizes) {
  return Regions(program, sizes).run();
}

std::int64_t work(const Program& program, const Sizes& sizes) {
  double total = 0;
  const std::map<std::string, Box> boxes = regions(program, sizes);
  for (const FuncSpec& f : program.funcs) {
    const auto box = boxes.find(f.name);
    if (box == boxes.end()) continue;
    total += points(box->second);
    for (const DefinitionSpec& d : f.stages) {
      double n = d.domain.empty() ? 0 : 1;
      for (const RangeSpec& r : d.domain) n *= static_cast<double>(number(r.extent, sizes));
      for (std::size_t i = 0; i < d.lhs.size(); ++i)
        if (d.lhs[i] == f.stages[0].lhs[i])
          n *= static_cast<double>(box->second[i].high - box->second[i].low + 1);
      total += n;
    }
  }
  return static_cast<std::int64_t>(std::min(total, 1e15));
}

}  // namespace calotype::fuzz
