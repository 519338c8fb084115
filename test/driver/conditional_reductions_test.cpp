// Reductions that take a term only where a condition holds, written as a select that keeps the value:
// partial results of them by rfactor, and reduction loops as vectors, of every operation, for the host and
// for the interpreter of kernels, against the reference.

#include <gtest/gtest.h>

#include <functional>

#include "calotype/calotype.h"
#include "support/powers.h"
#include "support/run.h"

namespace calotype {
namespace {

using testing::targets;

const Var y("y");

struct Operation {
  const char* name;
  std::function<Expr(Expr, Expr)> apply;
  std::vector<Type> types;
};

const std::vector<Operation>& operations() {
  static const std::vector<Type> whole = {Int(8), UInt(16), Int(32), UInt(64)}, bools = {Bool()};
  static const std::vector<Type> numbers = {Int(8), UInt(16), Int(32), UInt(64), Float(32), Float(64)};
  static const std::vector<Operation> all = {
      {"sum", [](Expr a, Expr b) { return a + b; }, numbers},
      {"product", [](Expr a, Expr b) { return a * b; }, numbers},
      {"least", [](Expr a, Expr b) { return min(a, b); }, numbers},
      {"largest", [](Expr a, Expr b) { return max(a, b); }, numbers},
      {"bits_and", [](Expr a, Expr b) { return a & b; }, whole},
      {"bits_or", [](Expr a, Expr b) { return a | b; }, whole},
      {"bits_xor", [](Expr a, Expr b) { return a ^ b; }, whole},
      {"all", [](Expr a, Expr b) { return a && b; }, bools},
      {"any", [](Expr a, Expr b) { return a || b; }, bools},
  };
  return all;
}

constexpr int kForms = 5;

/// f(y) over the columns k of a row, of which some take part.
Pipeline rows(const Operation& op, Type type, int form) {
  Dim K("K"), N("N");
  ImageParam in(type, {K, N}, "in");
  RDom k(0, K, "k");
  Func f("f");
  f(y) = type.is_bool() ? in(0, y) : cast(type, y + 1);
  const Expr some = (k + y) % 3 == 1, others = in(k, y) != in(0, y), old = f(y), term = in(k, y);
  const Expr next = op.apply(old, term), other = op.apply(in(K - 1 - k, y), old);
  f(y) = form == 0   ? select(some, next, old)
         : form == 1 ? select(some, old, next)
         : form == 2 ? select(others, next, old)
         : form == 3 ? select(some, next, other)
                     : select(some, select(others, next, old), select(others, old, other));
  return Pipeline(op.name, {in}, {Output(f, {N})});
}

void on_threads(Stage s, const Target& target) {
  if (target.is_gpu()) s.split("y", "y.b", "y.t", 4, Tail::Guard).gpu_blocks("y.b").gpu_threads("y.t");
}

/// Partial results by the inner loop of a split, which are a vector (their number, 8, is known), by the outer
/// one, and the loop itself as a vector.
std::vector<Schedule> schedules(const Target& target) {
  std::vector<Schedule> all(3);
  for (Schedule& s : all) on_threads(s["f"], target);
  for (const bool inner : {true, false}) {
    Schedule& s = all[inner ? 0 : 1];
    s["f"].update().split("k", "ko", "ki", 8).rfactor({{inner ? "ki" : "ko", "u"}}, "part");
    s["part"].compute_root();
    s["part"].reorder("u", "y").update().reorder("u", inner ? "ko" : "ki", "y");
    if (inner) {
      s["part"].vectorize("u");
      s["part"].update().vectorize("u");
    }
    on_threads(s["f"].update(), target);
    on_threads(s["part"], target);
    on_threads(s["part"].update(), target);
  }
  on_threads(all[2]["f"].update(), target);
  all[2]["f"].update().vectorize("k", 8);
  return all;
}

void expect_right(const Operation& op, Type type, int form, const Schedule& s, const Target& target) {
  const Pipeline p = rows(op, type, form);
  const Kernel kernel = p.compile(s, target);
  for (const std::int64_t k : {1, 8, 19}) {
    const Buffer in = testing::powers(type, {k, 5}, static_cast<unsigned>(k + form)), out(type, {5});
    testing::poison(out);
    kernel(in, out);
    const lang::EqualityReport result = lang::compare_with_reference(out, p.evaluate({in}), 0, true);
    EXPECT_TRUE(result.ok) << op.name << " of " << type.str() << " in form " << form << " over " << k
                           << " for " << target.str() << " under\n"
                           << s.str() << "\n"
                           << result.str();
  }
}

TEST(ConditionalReductions, EveryOperationAndType) {
  for (const Target& target : targets())
    for (const Schedule& s : schedules(target))
      for (const Operation& op : operations())
        for (const Type type : op.types) expect_right(op, type, 0, s, target);
}

TEST(ConditionalReductions, EveryForm) {
  for (const Target& target : targets())
    for (const Schedule& s : schedules(target))
      for (const Operation& op : operations())
        for (int form = 1; form < kForms; ++form) expect_right(op, op.types.back(), form, s, target);
}

// What a select chooses by must not depend on what was reduced so far, and its arms are of one operation.
TEST(ConditionalReductions, OthersAreRefused) {
  Dim K("K"), N("N");
  ImageParam in(Int(32), {K, N}, "in");
  const auto expect_unproved = [&](const std::function<Expr(Expr old, Expr term)>& value) {
    RDom k(0, K, "k");
    Func f("f");
    f(y) = 1;
    f(y) = value(f(y), in(k, y));
    const Pipeline p("p", {in}, {Output(f, {N})});
    Schedule s;
    s["f"].update().rfactor({{"k", "u"}}, "part");
    const std::vector<Diagnostic> found = s.check(p, Target::interpreter("sm_90a"));
    ASSERT_FALSE(found.empty()) << p.str();
    EXPECT_NE(found[0].message.find("is not proved to be associative"), std::string::npos) << found[0].str();
    EXPECT_NE(found[0].legal.find("select(condition, f(...) op term, f(...))"), std::string::npos)
        << found[0].str();
  };
  expect_unproved([](const Expr& old, const Expr& term) { return select(old > 3, old + term, old); });
  expect_unproved([](const Expr& old, const Expr& term) { return select(term > 3, old + term, old * term); });
  expect_unproved([](const Expr& old, const Expr& term) { return select(term > 3, min(old, term), term); });
  expect_unproved([](const Expr& old, const Expr& term) { return select(term > 3, old + 1 + old, old); });
}

}  // namespace
}  // namespace calotype
