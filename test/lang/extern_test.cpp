// Definitions by a function: what they say of themselves, what is refused, and their evaluation.

#include "helpers.h"
#include "lang/run_extern.h"
#include "support/externs.h"

namespace calotype::test {
namespace {

using testing::sum_of_three;

const Var x("x"), y("y");

/// sums(x, y) = three neighbours of `in` along x.
struct Sums {
  Dim W{"W"}, H{"H"};
  ImageParam in{Int(32), {W + 2, H}, "in"};
  Func sums{"sums"};
  explicit Sums(const ExternFunction& function = {"sum_of_three", sum_of_three},
                const std::vector<Expr>& scalars = {}) {
    sums.define_extern({x, y}, {Int(32)}, function, {in(x, y), in(x + 1, y), in(x + 2, y)}, scalars);
  }
  Pipeline pipeline() { return Pipeline("p", {in}, {{sums, {W, H}}}); }
};

TEST(ExternDefinition, SaysWhatItIs) {
  Sums s({"sum_of_three", sum_of_three}, {Expr(3)});
  EXPECT_TRUE(s.sums.defined());
  EXPECT_EQ(s.sums.rank(), 2);
  EXPECT_EQ(s.sums.type(), Int(32));
  EXPECT_EQ(s.sums.updates(), 0);
  EXPECT_TRUE(s.sums.values().empty());
  EXPECT_NE(
      s.pipeline().str().find("sums(x, y) = extern sum_of_three(in(x, y), in(x + 1, y), in(x + 2, y); 3)"),
      std::string::npos)
      << s.pipeline().str();
}

TEST(ExternDefinition, FingerprintsTellFunctionsAndReadsApart) {
  const std::string own = Sums().pipeline().graph().fingerprint;
  EXPECT_EQ(own, Sums().pipeline().graph().fingerprint);
  EXPECT_NE(own, Sums({"another", sum_of_three}).pipeline().graph().fingerprint);
  EXPECT_NE(own, Sums({"sum_of_three", sum_of_three}, {Expr(1)}).pipeline().graph().fingerprint);
  Sums fewer;
  Func two("sums");
  two.define_extern({x, y}, {Int(32)}, {"sum_of_three", sum_of_three}, {fewer.in(x, y), fewer.in(x + 1, y)});
  EXPECT_NE(own, Pipeline("p", {fewer.in}, {{two, {fewer.W, fewer.H}}}).graph().fingerprint);
}

TEST(ExternDefinition, IsEvaluatedOnceForAllThatIsNeeded) {
  testing::Calls calls;
  Sums s({"sum_of_three", sum_of_three, &calls});
  Func out("out");
  out(x, y) = s.sums(x, y) + s.sums(x, max(y - 1, 0));
  const Buffer in = random_buffer(Int(32), {8, 5}, 3);
  const Evaluation e = Pipeline("p", {s.in}, {{out, {s.W, s.H}}}).evaluate({in}, {}, {{"W", 6}});
  const std::vector<testing::Call> made = calls.take();
  ASSERT_EQ(made.size(), 1u);
  EXPECT_EQ(made[0].outputs[0], (testing::Box{{0, 6}, {0, 5}}));
  EXPECT_EQ(made[0].inputs[0], (testing::Box{{0, 8}, {0, 5}}));
  for (std::int64_t i = 0; i < 6; ++i)
    for (std::int64_t j = 0; j < 5; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < 3; ++k)
        sum += in.value({i + k, j}) + in.value({i + k, std::max<std::int64_t>(j - 1, 0)});
      EXPECT_EQ(e.outputs[0].value({i, j}), sum);
    }
}

int writes_nothing(const calotype_extern_call*) { return 0; }

TEST(ExternDefinition, WhatIsNotWrittenShows) {
  Dim N("N");
  ImageParam in(UInt(8), {N}, "in");
  Func f("f");
  f.define_extern({x}, {UInt(8)}, {"writes_nothing", writes_nothing}, {in(x)});
  const Evaluation e = Pipeline("p", {in}, {{f, {N}}}).evaluate({random_buffer(UInt(8), {4}, 1, 1, 100)});
  for (std::int64_t i = 0; i < 4; ++i) EXPECT_EQ(e.outputs[0].value({i}), 0xa5);
}

TEST(ExternDefinition, RegionsFollowFromTheReads) {
  Sums s;
  RDom r(0, s.H, "r");
  Func column("column");
  column.define_extern({x}, {Int(32)}, {"sum_of_three", sum_of_three}, {s.in(x, r), s.in(x + 2, r)});
  const std::vector<InputRegion> read =
      Pipeline("p", {s.in}, {{column, {s.W}}}).required_inputs({{5}}, {}, {{"H", 3}});
  EXPECT_EQ(read[0].extents, (Sizes{7, 3}));
}

TEST(ExternDefinition, IsRefused) {
  Sums s;
  Func g("g");
  g(x, y) = s.in(x, y);
  const ExternFunction function{"sum_of_three", sum_of_three};
  const auto defined = [&](const std::vector<Var>& args, const std::vector<Type>& types,
                           const ExternFunction& callee, const std::vector<Expr>& reads,
                           const std::vector<Expr>& scalars = {}) {
    return [=] {
      Func f("f");
      f.define_extern(args, types, callee, reads, scalars);
    };
  };
  const auto expect = [](const char* part, const std::function<void()>& f) {
    expect_algorithm_error("f", part, f);
  };
  expect("is null", defined({x, y}, {Int(32)}, {"none"}, {g(x, y)}));
  expect("function of no values", defined({x, y}, {}, function, {g(x, y)}));
  expect("is a vector", defined({x, y}, {Int(32, 4)}, function, {g(x, y)}));
  expect("not distinct Vars", defined({x, x}, {Int(32)}, function, {g(x, x)}));
  expect("is undefined", defined({x, y}, {Int(32)}, function, {Expr()}));
  expect("no plain use", defined({x, y}, {Int(32)}, function, {g(x, y) + 1}));
  expect("no plain use", defined({x, y}, {Int(32)}, function, {g(s.in(x, y), y)}));
  expect("no plain use", defined({x, y}, {Int(32)}, function, {Expr(x)}));
  expect("Var 'y' is used", defined({x}, {Int(32)}, function, {g(x, y)}));
  RDom r(0, 4, "r"), other(0, 4, "other"), some(0, 4, "some"), named_x(0, 4, "x");
  some.where(some < 2);
  expect("the RDoms 'r' and 'other'", defined({x}, {Int(32)}, function, {g(x, r), g(x, other)}));
  expect("which has a condition", defined({x}, {Int(32)}, function, {g(x, some)}));
  expect("both a Var and an RVar", defined({x}, {Int(32)}, function, {g(x, named_x)}));
  expect("a scalar of 'f' is undefined", defined({x, y}, {Int(32)}, function, {g(x, y)}, {Expr()}));
  expect("not the same for a whole call", defined({x, y}, {Int(32)}, function, {g(x, y)}, {x + 1}));
  expect("not the same for a whole call", defined({x, y}, {Int(32)}, function, {g(x, y)}, {g(0, 0)}));
  expect("not the same for a whole call", defined({x, y}, {Int(32)}, function, {g(x, y)}, {r + 1}));
  expect("has the type e4m3", defined({x, y}, {Int(32)}, function, {g(x, y)}, {Expr(float8_e4m3_t(1.0f))}));
  expect("declared with values of types f32", [&] {
    Func f(Float(32), 2, "f");
    f.define_extern({x, y}, {Int(32)}, function, {g(x, y)});
  });
  expect("has 1 dimensions", [&] {
    Func f(Int(32), 1, "f");
    f.define_extern({x, y}, {Int(32)}, function, {g(x, y)});
  });
  expect("depends on itself", [&] {
    Func f(Int(32), 2, "f");
    f.define_extern({x, y}, {Int(32)}, function, {f(x, y)});
  });
  expect("is defined already", [&] {
    Func f("f");
    f(x, y) = 1;
    f.define_extern({x, y}, {Int(32)}, function, {g(x, y)});
  });
  for (const int update : {0, 1, 2})
    expect("has no updates", [&] {
      Func f("f");
      f.define_extern({x, y}, {Int(32)}, function, {g(x, y)});
      if (update == 0) f(x, y) = 1;
      if (update == 1) f(x, y) += 1;
      if (update == 2) f(x, y)[0] = 2;
    });
  const Diagnostic unnamed =
      refused(ErrorKind::Algorithm, defined({x, y}, {Int(32)}, {"", sum_of_three}, {g(x, y)}));
  EXPECT_NE(unnamed.message.find("function"), std::string::npos) << unnamed.str();
  std::vector<Var> many;
  for (int i = 0; i < 9; ++i) many.emplace_back("v" + std::to_string(i));
  expect("at most 8", defined(many, {Int(32)}, function, {}));
}

}  // namespace
}  // namespace calotype::test
