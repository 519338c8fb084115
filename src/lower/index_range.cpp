// Intervals of index arithmetic in numbers, by what is known of sizes and loops.

#include "lower/index_range.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace calotype::lower {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLeast = -0x1p31, kMost = 0x1p31 - 1;

/// The sizes that are extents of the buffer, each as often as it is one.
std::vector<const ir::Symbol*> sizes_of(const ir::Buffer& buffer) {
  std::vector<const ir::Symbol*> sizes;
  for (const Expr& e : buffer.extents)
    if (ir::is(e, ir::Op::Variable)) sizes.push_back(ir::symbol_of(e).get());
  return sizes;
}

/// The symbols that are multiplied, if it is a product of symbols alone.
bool factors(const Expr& e, std::vector<const ir::Symbol*>& symbols) {
  if (ir::is(e, ir::Op::Variable)) {
    symbols.push_back(ir::symbol_of(e).get());
    return true;
  }
  return ir::is(e, ir::Op::Mul) && factors(e->args[0], symbols) && factors(e->args[1], symbols);
}

}  // namespace

IndexRanges::IndexRanges(const Function& kernel, const std::vector<ir::BufferPtr>& arguments,
                         const std::vector<Binding>& lets) {
  for (const ir::BufferPtr& b : arguments) {
    const std::vector<const ir::Symbol*> sizes = sizes_of(*b);
    for (const ir::Symbol* s : sizes) known_[s] = {0, kLargestCoordinate};
    for (const Expr& min : b->mins)
      if (ir::is(min, ir::Op::Variable))
        known_[ir::symbol_of(min).get()] = {-kLargestCoordinate, kLargestCoordinate};
    if (!b->read_only && b->shared_with < 0) written_.push_back(sizes);
  }
  for (const Binding& let : lets) enter_let(let.symbol, let.value);
  if (kernel.resident_blocks) enter_loop(kernel.resident_blocks, ir::index(1), kernel.grid[0]);
  for (int axis = 0; axis < 3; ++axis) {
    if (kernel.block_vars[axis]) enter_loop(kernel.block_vars[axis], ir::index(0), kernel.grid[axis]);
    if (kernel.thread_vars[axis]) enter_loop(kernel.thread_vars[axis], ir::index(0), kernel.block[axis]);
  }
}

void IndexRanges::enter_loop(const ir::SymbolPtr& var, const Expr& min, const Expr& extent) {
  const Range from = range(min), count = range(extent);
  // The variable itself is held in 32 bits whatever is known of its ends.
  known_[var.get()] = {std::max(from.low, kLeast), std::min(from.high + count.high - 1, kMost)};
}

void IndexRanges::enter_let(const ir::SymbolPtr& symbol, const Expr& value) {
  if (value->type.element() == Int(64)) known_[symbol.get()] = range(value);
}

bool IndexRanges::fits(const Expr& e) const {
  if (ir::is(e, ir::Op::Load) || ir::is(e, ir::Op::LoadIf)) return true;  // its operands are an address
  const Range r = range(e);
  if (e->type.element() == Int(64) && !(r.low >= kLeast && r.high <= kMost)) return false;
  return std::all_of(e->args.begin(), e->args.end(), [&](const Expr& a) { return fits(a); });
}

bool IndexRanges::is_written_area(const Expr& e) const {
  std::vector<const ir::Symbol*> symbols;
  if (!factors(e, symbols)) return false;
  return std::any_of(written_.begin(), written_.end(), [&](std::vector<const ir::Symbol*> sizes) {
    return std::all_of(symbols.begin(), symbols.end(), [&](const ir::Symbol* s) {
      const auto at = std::find(sizes.begin(), sizes.end(), s);
      const bool found = at != sizes.end();
      if (found) sizes.erase(at);
      return found;
    });
  });
}

IndexRanges::Range IndexRanges::product(const Expr& e) const {
  if (is_written_area(e)) return {0, kLargestCoordinate};
  const Range a = range(e->args[0]), b = range(e->args[1]);
  const auto times = [](double x, double y) { return x == 0 || y == 0 ? 0 : x * y; };
  const auto [low, high] =
      std::minmax({times(a.low, b.low), times(a.low, b.high), times(a.high, b.low), times(a.high, b.high)});
  return {low, high};
}

IndexRanges::Range IndexRanges::arithmetic(const Expr& e) const {
  const Range a = range(e->args[0]), b = e->args.size() > 1 ? range(e->args[1]) : a;
  const double size = std::max(std::abs(a.low), std::abs(a.high));
  switch (e->op) {
    case ir::Op::Add:
      return {a.low + b.low, a.high + b.high};
    case ir::Op::Sub:
      return {a.low - b.high, a.high - b.low};
    case ir::Op::Neg:
      return {-a.high, -a.low};
    case ir::Op::Div:
    case ir::Op::TruncDiv:
      if (b.low == b.high && b.low > 0) return {std::floor(a.low / b.low), std::floor(a.high / b.low)};
      return {b.low >= 0 && a.low >= 0 ? 0 : -size, size};
    case ir::Op::Mod:
    case ir::Op::TruncMod: {
      const double last = std::max({std::abs(b.low), std::abs(b.high), 1.0}) - 1;
      return {e->op == ir::Op::TruncMod && a.low < 0 ? -last : 0, last};
    }
    case ir::Op::Min:
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    case ir::Op::Max:
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    default:
      return {-kInfinity, kInfinity};
  }
}

IndexRanges::Range IndexRanges::range(const Expr& e) const {
  const Type t = e->type.element();
  if (const std::optional<std::int64_t> constant = ir::as_int(e))
    return {static_cast<double>(*constant), static_cast<double>(*constant)};
  if (t != Int(64)) {
    if (!t.is_integral() || t.bits > 32) return {-kInfinity, kInfinity};
    return {static_cast<double>(t.min_int()), static_cast<double>(t.is_bool() ? 1 : t.max_int())};
  }
  switch (e->op) {
    case ir::Op::Variable: {
      const auto known = known_.find(ir::symbol_of(e).get());
      return known != known_.end() ? known->second : Range{-kInfinity, kInfinity};
    }
    case ir::Op::Mul:
      return product(e);
    case ir::Op::Select: {
      const Range a = range(e->args[1]), b = range(e->args[2]);
      return {std::min(a.low, b.low), std::max(a.high, b.high)};
    }
    case ir::Op::Cast:
    case ir::Op::Broadcast:
    case ir::Op::Lane:
      return range(e->args[0]);
    case ir::Op::Ramp: {
      const Range base = range(e->args[0]), stride = range(e->args[1]);
      const double last = e->type.lanes / std::max<int>(e->args[0]->type.lanes, 1) - 1;
      return {base.low + std::min(0.0, stride.low * last), base.high + std::max(0.0, stride.high * last)};
    }
    default:
      return e->args.empty() ? Range{-kInfinity, kInfinity} : arithmetic(e);
  }
}

}  // namespace calotype::lower
