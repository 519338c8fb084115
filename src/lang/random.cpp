// Random numbers: the public functions, which leave a mark, and the hash that takes its place once the
// coordinates and the number of the call are known.
//
// The hash has 64 bits of state. Each word is mixed in by a multiplication and a shift of the upper half onto
// the lower one; the finish is that of splitmix64, which passes the usual batteries of tests on consecutive
// numbers.

#include "lang/random.h"

#include <fmt/format.h>

#include <atomic>

#include "calotype/random.h"
#include "ir/typing.h"
#include "lang/errors.h"

namespace calotype {

namespace {

constexpr Type kWord = UInt(64);

Expr word(std::uint64_t value) { return ir::make_int(kWord, static_cast<std::int64_t>(value)); }

/// The word xor its own upper bits, times a constant.
Expr folded_down(const Expr& h, int shift) { return h ^ (h >> ir::make_int(kWord, shift)); }

}  // namespace

Expr lang::random_bits(int call, const Expr& seed, const std::vector<Expr>& coordinates) {
  std::vector<Expr> words{word(static_cast<std::uint64_t>(call)), cast(kWord, seed)};
  for (const Expr& c : coordinates) words.push_back(cast(kWord, c));
  Expr h = word(0x243f6a8885a308d3);
  for (const Expr& w : words) h = folded_down((h ^ w) * word(0x9e3779b97f4a7c15), 32);
  h = folded_down(h * word(0xbf58476d1ce4e5b9), 27) * word(0x94d049bb133111eb);
  return cast(UInt(32), h >> ir::make_int(kWord, 32));
}

namespace {

bool has(const Expr& e, ir::Op op) {
  return e.defined() && ir::any_of(e, [&](const Expr& node) { return ir::is(node, op); });
}

std::string of_func(const std::string& func) { return func.empty() ? "" : fmt::format(" of '{}'", func); }

}  // namespace

void lang::require_determined(const std::string& where, const std::string& func, const Expr& e) {
  if (has(e, ir::Op::Random)) {
    refuse(fmt::format("{}{} is random", where, of_func(func)), func, e.str(),
           "random numbers in the value of a Func only");
  }
  if (has(e, ir::Op::Require)) {
    refuse(fmt::format("{}{} has a requirement", where, of_func(func)), func, e.str(),
           "require in the value of a Func only");
  }
  if (has(e, ir::Op::Print)) {
    refuse(fmt::format("{}{} prints", where, of_func(func)), func, e.str(),
           "print in the value of a Func only");
  }
  require_defined_throughout(where, func, e);
}

void lang::require_defined_throughout(const std::string& where, const std::string& func, const Expr& e) {
  if (!has(e, ir::Op::Undef)) return;
  refuse(fmt::format("{}{} has an undefined part", where, of_func(func)), func, e.str(),
         "undef as the whole value of a definition, or as an arm of a select that is the whole value");
}

Expr random_uint(Expr seed) {
  static std::atomic<std::int64_t> calls{0};
  ir::require_defined(seed, "random_uint");
  ir::require_operand(seed->type.is_integral() && seed->type.is_scalar(), "random_uint", seed,
                      "an integer as seed");
  return ir::make(ir::Op::Random, UInt(32), {std::move(seed)}, ++calls);
}

Expr random_int(Expr seed) { return cast(Int(32), random_uint(std::move(seed))); }

Expr random_float(Expr seed) {
  return cast(Float(32), random_uint(std::move(seed)) >> 8) * ir::make_float(Float(32), 0x1p-24);
}

}  // namespace calotype
