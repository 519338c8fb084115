// role.
#include "helpers.h"

namespace calotype::test {

static const Target hopper = Target::cuda("sm_90a");

static const std::vector<FuncName> copies = {"A.in(acc)", "B.in(acc)"}, rest = {"acc", "C"};

static Schedule tiles() {
  Schedule s = product_tiles();
  s["acc"].update().tensor_core({"m"}, {"n"}, {"ki"});
  return s;
}

TEST(Role, IsRecorded) {
  Schedule s = tiles();
  const Knob warps = s.knob("WARPS", 4);
  s.role("copy", copies, {.warps = 4, .registers = 40});
  s.role("multiply", rest, {.warps = warps});
  const auto applied = apply(product(), s, hopper);
  EXPECT_NE(to_string(applied).find("role copy: 4 warps of 40 registers, A.in(acc), B.in(acc)  ["),
            std::string::npos)
      << to_string(applied);
  EXPECT_TRUE(s.check(product(), hopper).empty());
  expect_round_trip(product(), s, hopper);
  expect_spelling(
      product(), s,
      R"-({ "do": "role", "name": "copy", "funcs": ["A.in(acc)", "B.in(acc)"], "warps": 4, "registers": 40 })-",
      R"-(s.role("copy", {"A.in(acc)", "B.in(acc)"}, {.warps = 4, .registers = 40});)-", hopper);
  expect_spelling(product(), s,
                  R"-({ "do": "role", "name": "multiply", "funcs": ["acc", "C"], "warps": "WARPS" })-",
                  R"-(s.role("multiply", {"acc", "C"}, {.warps = WARPS});)-", hopper);
}

TEST(Role, BelongsToWhatIsComputedForItsFuncs) {
  Schedule s = tiles();
  s.role("copy", copies, {.warps = 1});
  s.role("multiply", {"C"}, {.warps = 4});
  const auto applied = apply(product(), s, hopper);
  const auto role = [&](const char* func) { return applied.role_of(applied.graph.find_func(func)->id); };
  EXPECT_EQ(role("acc"), 1u);
  EXPECT_EQ(role("B.in(acc)"), 0u);
}

TEST(Role, IsRefusedForItsFuncs) {
  Schedule unknown = tiles(), twice = tiles(), same = tiles(), alone = tiles(), rootless = tiles(), host;
  unknown.role("copy", {"A.in"}, {.warps = 4});
  expect_refused(product(), unknown, {"there is no Func 'A.in'", "A.in(acc)"}, hopper);
  twice.role("copy", copies, {.warps = 4});
  twice.role("other", {"B.in(acc)"}, {.warps = 4});
  expect_refused(product(), twice, {"'B.in(acc)' has the role 'copy' already"}, hopper);
  same.role("copy", copies, {.warps = 4});
  same.role("copy", rest, {.warps = 4});
  expect_refused(product(), same, {"there is a role 'copy' already"}, hopper);
  alone.role("all", rest, {.warps = 4});
  expect_refused(product(), alone, {"all warps of 'C' have the one role", "a second role"}, hopper);
  rootless.role("copy", copies, {.warps = 4});
  expect_refused(product(), rootless, {"'C', whose blocks these warps belong to, has no role"}, hopper);
  host.role("copy", {"C"}, {.warps = 4});
  expect_refused(product(), host, {"has no warps", "cuda"});
}

TEST(Role, IsRefusedWhereLoopsAreShared) {
  Dim N("N");
  ImageParam in(Float(32), {N}, "in");
  Var x("x");
  Func p("p"), q("q");
  p(x) = in(x) + 1.0f;
  q(x) = in(x) * 2.0f;
  Schedule s;
  for (const char* f : {"p", "q"})
    s[f].compute_root().split("x", "xo", "xi", 64).gpu_blocks("xo").gpu_threads("xi");
  s["q"].compute_with("p", "xi");
  s.role("one", {"p"}, {.warps = 2});
  const std::vector<Diagnostic> found = s.check(Pipeline("two", {in}, {{p, {N}}, {q, {N}}}), hopper);
  ASSERT_FALSE(found.empty());
  EXPECT_NE(found[0].str().find("no compute_with in a block with roles"), std::string::npos)
      << found[0].str();
}

TEST(Role, IsRefusedForWarpsAndRegisters) {
  Schedule sm_90 = tiles(), step = tiles(), group = tiles(), many = tiles(), registers = tiles();
  sm_90.role("copy", copies, {.warps = 4, .registers = 40});
  expect_refused(product(), sm_90, {"sm_90 has no warps with registers of their own", "cuda-sm_90a"},
                 Target::cuda("sm_90"));
  step.role("copy", copies, {.warps = 4, .registers = 42});
  expect_refused(product(), step, {"42 registers a thread", "multiples of 8 from 24"}, hopper);
  group.role("copy", copies, {.warps = 1, .registers = 40});
  expect_refused(product(), group, {"1 warps cannot have registers of their own", "a multiple of 4"}, hopper);
  many.role("copy", copies, {.warps = 20});
  many.role("multiply", rest, {.warps = 16});
  const std::vector<Diagnostic> found = many.check(product(), hopper);
  ASSERT_FALSE(found.empty());
  EXPECT_NE(found[0].str().find("the roles of the block have 36 warps"), std::string::npos) << found[0].str();
  registers.role("copy", copies, {.warps = 4, .registers = 168});
  registers.role("multiply", rest, {.warps = 8, .registers = 240});
  const std::vector<Diagnostic> budget = registers.check(product(), hopper);
  ASSERT_FALSE(budget.empty());
  EXPECT_NE(budget[0].str().find("ask for 82944 registers"), std::string::npos) << budget[0].str();
  EXPECT_NE(budget[0].str().find("at most 64512 in all: 384 threads begin with 168 each"), std::string::npos)
      << budget[0].str();
}

}  // namespace calotype::test
