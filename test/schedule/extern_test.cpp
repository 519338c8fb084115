// Funcs that a function computes, in schedules: their defaults, what applies to them and what does not.

#include "helpers.h"
#include "support/externs.h"

namespace calotype::test {
namespace {

using testing::sum_of_three;

/// out <- sums, by a function, <- g <- in.
Pipeline stencil() {
  Dim W("W"), H("H");
  ImageParam in(Int(32), {W + 2, H}, "in");
  Var x("x"), y("y");
  Func g("g"), sums("sums"), out("out");
  g(x, y) = in(x, y) * 3;
  sums.define_extern({x, y}, {Int(32)}, {"sum_of_three", sum_of_three}, {g(x, y), g(x + 1, y), g(x + 2, y)});
  out(x, y) = sums(x, y) + 1;
  return Pipeline("stencil", {in}, {{out, {W, H}}});
}

TEST(ExternStage, ItAndWhatItReadsAreAtRootByDefault) {
  const auto applied = apply(stencil(), {});
  EXPECT_EQ(computed(applied, "sums"), "root");
  EXPECT_EQ(computed(applied, "g"), "root");
  EXPECT_EQ(loops(applied, "sums"), Names{});
}

TEST(ExternStage, TakesPlacesAndMemory) {
  Schedule s;
  s["out"].split("y", "yo", "yi", 4).parallel("yo");
  s["sums"].compute_at("out", "yi").store_at("out", "yo").reorder_storage({"y", "x"});
  s["sums"].align_storage("y", 4).pad("x", 1).store_in(Memory::Heap);
  s["g"].compute_at("out", "yi").hoist_storage("out", "yo");
  const auto applied = apply(stencil(), s);
  EXPECT_EQ(computed(applied, "sums"), "out.yi");
  EXPECT_EQ(stored(applied, "sums"), "out.yo");
  expect_round_trip(stencil(), s);
}

TEST(ExternStage, CopiesStandBetween) {
  Schedule s;
  s.in("g", {"sums"}).compute_at("out", "y");
  s["g"].compute_inline();
  s["sums"].compute_at("out", "y");
  s.in("sums", {"out"}).compute_inline();
  s["out"].serial("y");
  const auto applied = apply(stencil(), s);
  EXPECT_EQ(computed(applied, "g"), "inline");
  EXPECT_EQ(computed(applied, "g.in(sums)"), "out.y");
  expect_round_trip(stencil(), s);
}

TEST(ExternStage, HasNoLoops) {
  const std::vector<void (*)(Schedule&)> edits = {
      [](Schedule& s) { s["sums"].split("x", "xo", "xi", 4); },
      [](Schedule& s) { s["sums"].vectorize("x", 8); },
      [](Schedule& s) { s["sums"].parallel("y"); },
      [](Schedule& s) { s["sums"].reorder({"y", "x"}); },
      [](Schedule& s) { s["sums"].serial("x"); },
      [](Schedule& s) { s["g"].compute_at("sums", "y"); },
      [](Schedule& s) { s["out"].compute_with("sums", "y"); },
  };
  for (const auto edit : edits) {
    Schedule s;
    edit(s);
    expect_refused(stencil(), s, {"'sums' is computed by the function 'sum_of_three'", "has no loops"});
  }
}

TEST(ExternStage, WantsMemoryByStrides) {
  Schedule own, read, folded, fold_read, eager, eager_read, streamed;
  own["sums"].compute_inline();
  expect_refused(stencil(), own, {"'sums' is computed by the function 'sum_of_three', into memory"});
  read["g"].compute_inline();
  expect_refused(stencil(), read, {"which computes 'sums', reads 'g' from memory", "in()"});
  folded["out"].serial("y");
  folded["sums"].compute_at("out", "y").store_root().fold_storage("y", 8);
  expect_refused(stencil(), folded, {"'sums' is computed by the function", "fold_storage(y, 8)"});
  fold_read["out"].serial("y");
  fold_read["sums"].compute_at("out", "y");
  fold_read["g"].compute_at("out", "y").store_root().fold_storage("y", 8);
  expect_refused(stencil(), fold_read, {"reads 'g' from memory", "fold_storage(y, 8)"});
  eager.eager_inline("sums");
  expect_refused(stencil(), eager, {"'sums' is computed by the function"});
  eager_read.eager_inline("g");
  expect_refused(stencil(), eager_read, {"reads 'g' from memory"});
  streamed["sums"].stream_stores();
  expect_refused(stencil(), streamed, {"'sums' is computed by the function"});
}

TEST(ExternStage, IsForHosts) {
  for (const Target& target : {Target::interpreter(), Target::cuda("sm_90a")}) {
    const std::vector<Diagnostic> found = Schedule().check(stencil(), target);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].kind, ErrorKind::Target);
    EXPECT_EQ(found[0].func, "sums");
    EXPECT_NE(found[0].str().find("'sum_of_three', which runs on the host alone"), std::string::npos)
        << found[0].str();
  }
}

TEST(ExternStage, AnOutputInTheMemoryOfWhatItReadsIsRefused) {
  Dim N("N");
  ImageParam in(Int(32), {N}, "in");
  Var x("x");
  Func out("out");
  out.define_extern({x}, {Int(32)}, {"sum_of_three", sum_of_three}, {in(x)});
  const Pipeline p = Pipeline("p", {in}, {{out, {N}}}).alias("out", "in");
  const std::vector<Diagnostic> found = Schedule().check(p, Target::host());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].str().find("which may write before it reads"), std::string::npos) << found[0].str();
  Schedule copied;
  copied.in("in", {"out"}).compute_root();
  EXPECT_FALSE(copied.check(p, Target::host()).empty());  // the copy reads what the output overwrites
}

}  // namespace
}  // namespace calotype::test
