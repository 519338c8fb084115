// parallel.
#include <functional>

#include "helpers.h"

namespace calotype::test {

TEST(Parallel, BindsTheLoop) {
  Schedule s;
  s["by"].parallel("y");
  EXPECT_EQ(loops(apply(blur(), s), "by"), (Names{"x", "y:parallel"}));
  expect_round_trip(blur(), s);
  expect_spelling(blur(), s, R"({ "stage": "by", "do": "parallel", "loop": "y" })",
                  R"(s["by"].parallel("y");)");
}

namespace {

/// f(row, column) = value over a domain r, with a pure definition of zeros on 64 x 64 places.
Pipeline updating(const std::function<void(Func&, const RDom&)>& update) {
  Dim N("N");
  RDom r({{1, N}, {1, N}}, "r");
  Var a("a"), b("b");
  Func f("f");
  f(a, b) = cast<int>(a + 3 * b);
  update(f, r);
  return Pipeline("updating", {}, {Output(f, {N * 2, N * 2})});
}

struct Race {
  std::function<void(Func&, const RDom&)> update;
  std::string loop;
  std::string meeting;  ///< empty: there is none
};

}  // namespace

TEST(Parallel, TakesReductionLoopsThatAreProvedFreeOfRaces) {
  const std::vector<Race> rows = {
      {[](Func& f, const RDom& r) { f(r.x(), r.y()) += 1; }, "r.x", ""},
      {[](Func& f, const RDom& r) { f(r.x(), r.y()) += 1; }, "r.y", ""},
      {[](Func& f, const RDom& r) { f(r.x() * 2 + 1, 5) += cast<int>(r.x()); }, "r.x", ""},
      {[](Func& f, const RDom& r) { f(r.x() + r.y(), r.y()) = f(r.x() + r.y(), r.y()) * 3 + 1; }, "r.x", ""},
      // Its own column, from top to bottom.
      {[](Func& f, const RDom& r) { f(r.x(), r.y()) += f(r.x(), r.y() - 1); }, "r.x", ""},
      // What stands outside this loop stands still: the row above is complete.
      {[](Func& f, const RDom& r) { f(r.x(), r.y()) += f(r.x() - 1, r.y() - 1); }, "r.x", ""},
      {[](Func& f, const RDom& r) { f(r.x() + r.y(), 7) += 1; }, "r.x", ""},
      // Nobody writes row 0.
      {[](Func& f, const RDom& r) { f(r.x(), r.y()) = f(0, 0) + f(0, r.y()); }, "r.x", ""},
      {[](Func& f, const RDom& r) { f(r.x(), r.y()) += f(r.x(), r.y() - 1); }, "r.y",
       "iteration i of 'r.y' reads f(r.x, r.y - 1), which iteration i - 1 writes as f(r.x, r.y)"},
      {[](Func& f, const RDom& r) { f(r.x(), r.y()) = f(r.x() + 2, r.y()) + 1; }, "r.x",
       "iteration i of 'r.x' reads f(r.x + 2, r.y), which iteration i + 2 writes"},
      {[](Func& f, const RDom& r) { f(3, r.y()) += cast<int>(r.x()); }, "r.x",
       "iterations 0 and 1 of 'r.x' both write f(3, r.y)"},
      {[](Func& f, const RDom& r) { f(r.x() / 2, r.y()) += 1; }, "r.x",
       "iterations i and j of 'r.x' may both write f(r.x/2, r.y)"},
      {[](Func& f, const RDom& r) { f(r.x() + r.y(), 7) += 1; }, "r.y",
       "iterations i and j of 'r.y' may both write f("},
      {[](Func& f, const RDom& r) { f(r.x(), r.y()) = f(clamp(f(r.x(), r.y()), 0, 5), r.y()); }, "r.x",
       "iteration i of 'r.x' reads f("},
  };
  for (const Race& row : rows) {
    Schedule s;
    s["f"].update().parallel(row.loop);
    if (row.meeting.empty())
      expect_round_trip(updating(row.update), s);
    else
      expect_refused(updating(row.update), s,
                     {"parallel over the reduction loop '" + row.loop + "' is a race: " + row.meeting});
  }
}

// A domain of 3 split by 8 leaves one iteration outside.
TEST(Parallel, OneIterationMeetsNoOther) {
  Dim N("N");
  RDom r(0, 3, "r");
  Var x("x");
  Func f("f");
  f(x) = cast<int>(x);
  f(x) = f(x) * 3 + cast<int>(r);
  const Pipeline p("powers", {}, {Output(f, {N})});
  Schedule outer, inner;
  outer["f"].update().split("r", "ro", "ri", 8).parallel("ro");
  expect_round_trip(p, outer);
  inner["f"].update().split("r", "ro", "ri", 8).parallel("ri");
  expect_refused(p, inner, {"parallel over the reduction loop 'ri' is a race"});
}

// Threads of a GPU do not wait for each other between the iterations of a loop around them.
TEST(Parallel, LoopsAroundStandStillOnAHostOnly) {
  const Pipeline p = updating([](Func& f, const RDom& r) { f(r.x(), r.y()) += f(r.x() - 1, r.y() - 1); });
  Schedule threads;
  threads["f"].update().gpu_blocks("r.x");
  threads["f"].gpu_blocks("b");
  expect_refused(p, threads,
                 {"gpu_blocks over the reduction loop 'r.x' is a race: iteration i of 'r.x' reads"}, gpu);
}

TEST(Parallel, IsRefusedForRaces) {
  Schedule reduction, scan, scatter;
  reduction["acc"].update().parallel("k");
  expect_refused(
      matmul(), reduction,
      {"parallel over the reduction loop 'k' is a race: iterations 0 and 1 of 'k' both write acc(n, m)",
       "rfactor makes 'k' pure", "atomic"});
  scan["scan"].update().parallel("k");
  expect_refused(column_scan(), scan, {"parallel over the reduction loop 'k' is a race"});
  scatter["hist"].update().parallel("b");
  expect_refused(histogram(), scatter, {"scatters over that dimension, writing at", "r.x"});
}

TEST(Parallel, IsRefusedOnAGpu) {
  Schedule s;
  s["by"].parallel("y");
  expect_refused(blur(), s, {"the target cuda-interpreter runs every loop on the GPU", "gpu_blocks"},
                 Target::interpreter());
}

}  // namespace calotype::test
