// Random programs: sizes, inputs, Funcs, outputs.
#include "fuzz/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "fuzz/generator.h"
#include "fuzz/operations.h"
#include "fuzz/regions.h"

namespace calotype::fuzz {

namespace {

constexpr std::int64_t most_work = 30000, most_extent = 400;

std::int64_t any_size(Random& random) {
  static const std::vector<std::int64_t> special = {1, 1, 2, 3, 7, 8, 13, 16, 17, 31, 32, 37};
  return random.chance(50) ? random.pick(special) : random.within(1, 40);
}

Sizes any_sizes(Random& random) {
  return {{"W", any_size(random)}, {"H", random.within(1, 24)}, {"C", random.within(1, 5)}};
}

/// Where an input is read as it is, by name: the least and the greatest coordinates.
void add_offset(Node& n, const std::map<std::string, Box>& needed) {
  for (Node& item : n.items) add_offset(item, needed);
  if (n.is_atom() || !n.defined()) return;
  const auto box = needed.find(n.head());
  if (box == needed.end()) return;
  for (std::size_t d = 0; d < box->second.size(); ++d)
    if (const std::int64_t low = box->second[d].low; low != 0)
      n.items[d + 1] = low < 0 ? list("+", n[d + 1], -low) : list("-", n[d + 1], low);
}

std::map<std::string, Box> needed_of_inputs(const Program& p) {
  std::map<std::string, Box> needed;
  std::set<std::string> bounded;
  for (const FuncSpec& f : p.funcs)
    if (!f.boundary.empty()) bounded.insert(f.source);
  for (const Sizes& sizes : p.runs)
    for (const auto& [name, box] : regions(p, sizes)) {
      if (!p.input(name) || bounded.count(name)) continue;
      const auto [found, fresh] = needed.emplace(name, box);
      for (std::size_t d = 0; d < box.size(); ++d) {
        found->second[d].low = std::min(found->second[d].low, box[d].low);
        found->second[d].high = std::max(found->second[d].high, box[d].high);
      }
    }
  return needed;
}

/// The extent is its Dim and a number that makes it just large enough in every run; a number where it is the
/// same in all of them.
Node fitted_extent(const Program& p, const std::string& input, std::size_t d) {
  std::int64_t more = -most_extent;
  std::set<std::int64_t> highs;
  const Node dim = Generator::dim(static_cast<int>(d));
  for (const Sizes& sizes : p.runs) {
    const std::int64_t extent = regions(p, sizes).at(input)[d].high + 1;
    highs.insert(extent);
    more = std::max(more, extent - sizes.at(dim.atom));
  }
  if (highs.size() == 1 && p.runs.size() > 1) return Node(*highs.begin());
  if (more == 0) return dim;
  return more > 0 ? list("+", dim, more) : list("-", dim, -more);
}

Program attempt(Random& random, bool functions) {
  Generator g(random);
  g.functions = functions;
  g.real = random.chance(15);
  g.program.data_seed = static_cast<std::uint64_t>(random.below(1 << 30));
  g.program.runs.push_back(any_sizes(random));
  if (random.chance(40)) g.program.runs.push_back(any_sizes(random));
  if (random.chance(30))
    g.program.params.push_back({"p", random.chance(50) ? Float(32) : Int(32), random.within(-3, 9)});
  const int inputs = random.chance(65) ? 1 : 2;
  for (int i = 0; i < inputs; ++i) add_input(g, i);
  const auto funcs = static_cast<int>(random.within(2, random.within(3, 8)));
  const std::int64_t tables = random.chance(35) ? random.within(1, 2) : 0;
  for (int i = 0; i < funcs; ++i) {
    i < tables&& i + 1 < funcs ? add_table(g, i) : add_func(g, i);
    const Known k = g.known.back();
    if (i + 1 < funcs && called(k.name) == k.name && random.chance(8))
      add_boundary(g, k.name, k.type, k.rank, true);
  }
  Program& p = g.program;
  for (const Known& k : g.known) {
    const bool last = &k == &g.known.back();
    const std::string name = called(k.name);
    if (p.input(name) || !p.func(name)->boundary.empty()) continue;
    if (!p.outputs.empty() && p.outputs.back().func == name) continue;  // another of its values
    if (!last && (k.read ? !random.chance(4) : !random.chance(70))) continue;
    std::vector<Node> extents;
    for (int d = 0; d < k.rank; ++d)
      extents.push_back(random.chance(88) ? Generator::dim(d) : Node(random.within(1, 17)));
    const bool whole = std::all_of(g.known.begin(), g.known.end(), [&](const Known& other) {
      return called(other.name) != name || other.whole;
    });
    p.outputs.push_back({name, extents, whole});
  }
  Program whole = p;
  prune(whole);
  whole.runs = p.runs;  // Dims that only fitted inputs fix are settled at last
  return whole;
}

/// An output that is read or written outside its box would be refused at the call: a copy goes out instead.
void copy_outputs(Program& p) {
  for (OutputSpec& o : p.outputs) {
    const FuncSpec f = *p.func(o.func);
    bool inside = true;
    for (const Sizes& sizes : p.runs) {
      const Box box = regions(p, sizes).at(o.func);
      for (std::size_t d = 0; d < box.size(); ++d)
        inside = inside && box[d].low >= 0 && box[d].high < number(o.extents[d], sizes);
    }
    if (inside) continue;
    std::vector<Node> args, call = {f.name};
    for (std::size_t d = 0; d < o.extents.size(); ++d) args.emplace_back(std::string(1, "xyz"[d]));
    call.insert(call.end(), args.begin(), args.end());
    FuncSpec copy{
        .name = f.name + "_out", .stages = {}, .boundary = {}, .source = {}, .extents = {}, .exterior = {}};
    Node value(call);
    if (const int several = components(f); several > 1) {
      value = list("tuple");
      for (int c = 0; c < several; ++c) {
        call[0] = f.name + "." + std::to_string(c);
        value.items.emplace_back(call);
      }
    }
    copy.stages.push_back({.lhs = args, .value = value, .domain = {}, .where = {}});
    o.func = copy.name;
    p.funcs.push_back(copy);
  }
}

bool fits(const Program& p) {
  if (p.inputs.empty()) return false;
  for (const Sizes& sizes : p.runs) {
    if (work(p, sizes) > most_work) return false;
    for (const auto& [name, box] : regions(p, sizes))
      for (const Interval& i : box)
        if (i.high - i.low + 1 > most_extent) return false;
  }
  return true;
}

}  // namespace

void add_boundary(Generator& g, const std::string& source, Type type, int rank, bool of_func) {
  static const std::vector<std::string> kinds = {"repeat_edge", "constant_exterior", "repeat_image",
                                                 "mirror_image", "mirror_interior"};
  FuncSpec f{
      .name = source + "_b", .stages = {}, .boundary = {}, .source = source, .extents = {}, .exterior = {}};
  f.boundary = of_func ? kinds[static_cast<std::size_t>(g.random.below(2))] : g.random.pick(kinds);
  if (of_func)
    for (int d = 0; d < rank; ++d) f.extents.push_back(Generator::dim(d));
  Known known = g.known.back();
  if (f.boundary == "constant_exterior") {
    const Value outside = constant(type, g.random.within(0, 5));
    f.exterior = outside.node;
    known.low = std::min(known.low, outside.low);
    known.high = std::max(known.high, outside.high);
  }
  g.known.back().read = true;
  known.name = f.name;
  known.cost = known.cost + 1;
  known.read = false;
  g.program.funcs.push_back(f);
  g.known.push_back(known);
}

void add_input(Generator& g, int index) {
  const int rank = 1 + static_cast<int>(g.random.weighted({20, 60, 20}));
  InputSpec in{.name = fmt::format("in{}", index), .type = g.any_type(), .extents = {}, .low = 0, .high = 0};
  for (int d = 0; d < rank; ++d) in.extents.push_back(Generator::dim(d));
  in.low = in.type.is_uint() ? 0 : -8;
  in.high = in.type.is_bool() ? 1 : 8;
  if (!in.type.is_float() && !in.type.is_bool() && g.random.chance(30)) {
    in.low = in.type.is_uint() ? 0 : -100;
    in.high = in.type == UInt(8) ? 255 : 100;
  }
  in.whole = !(g.real && in.type.is_float());
  g.program.inputs.push_back(in);
  g.known.push_back(
      {in.name, in.type, rank, static_cast<double>(in.low), static_cast<double>(in.high), in.whole, 1});
  if (g.random.chance(65)) {
    add_boundary(g, in.name, in.type, rank, false);
    g.known.erase(g.known.end() - 2);  // read through it alone
  }
}

void fit_inputs(Program& p) {
  const std::map<std::string, Box> needed = needed_of_inputs(p);
  for (FuncSpec& f : p.funcs)
    for (DefinitionSpec& d : f.stages) {
      for (Node& n : d.lhs) add_offset(n, needed);
      add_offset(d.value, needed);
      if (d.where.defined()) add_offset(d.where, needed);
    }
  for (InputSpec& i : p.inputs)
    if (needed.count(i.name))
      for (std::size_t d = 0; d < i.extents.size(); ++d) i.extents[d] = fitted_extent(p, i.name, d);
}

Program generate_program(Random& random, bool functions) {
  for (;;) {
    Program p = attempt(random, functions);
    copy_outputs(p);
    if (!fits(p)) continue;
    fit_inputs(p);
    prune(p);
    return p;
  }
}

}  // namespace calotype::fuzz
