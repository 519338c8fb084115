// Rebinding: a file follows an algorithm whose names have changed.
#include "calotype/schedule_file.h"
#include "helpers.h"

namespace calotype::test {

namespace {

/// matmul() of the helpers under other names.
Pipeline renamed_matmul(Type type = Float(32)) {
  Dim M("M"), N("N"), K("K");
  ImageParam left(type, {K, M}, "left"), right(type, {N, K}, "right");
  Var x("x"), y("y");
  RDom r(0, K, "r");
  Func sum("sum"), out("out");
  sum(x, y) += left(r, y) * right(x, r);
  out(x, y) = sum(x, y) * 2;
  return Pipeline("matmul", {left, right}, {{out, {N, M}}});
}

/// Every way of naming a Func, a copy, a stage and a loop.
Schedule everything(const std::string& A, const std::string& acc, const std::string& C, const std::string& n,
                    const std::string& m, const std::string& k) {
  Schedule s;
  s[C].split(m, "mo", "mi", 8).vectorize(n, 4).unroll(n + ".o", 2).parallel("mo");
  s[acc].compute_at(C, "mo").bound(n, 0, 64).reorder(m, n);
  s[acc].layout({n + " % 4", m, n + " / 4"});
  s[acc].update().split(k, "ko", "ki", 4);
  Stage part = s[acc].update().rfactor({{"ki", "lane"}}, "part");
  s[part].compute_at(C, "mo").reorder(m, n, "lane");
  s[part].update().reorder(m, n, "lane", "ko").unroll("ko", 2);
  Stage copy = s.in(A, {"part"});
  s[copy].compute_at(C, "mo").vectorize("d0", 4);
  s[s.in(copy.name(), {"part"})].compute_at(C, "mo");
  return s;
}
Schedule before() { return everything("A", "acc", "C", "n", "m", "k"); }
Schedule after() { return everything("left", "sum", "out", "x", "y", "r"); }

TEST(Rebind, RewritesEveryName) {
  ScheduleFile file("matmul", Target::host());
  file.add(matmul(), before());
  EXPECT_THROW(file.check(renamed_matmul()), Error);
  const std::vector<std::string> changes = file.rebind(renamed_matmul());
  EXPECT_EQ(changes,
            (std::vector<std::string>{"A -> left", "B -> right", "acc -> sum", "C -> out", "acc.n -> x",
                                      "acc.m -> y", "acc.k -> r", "C.n -> x", "C.m -> y"}));
  ScheduleFile expected("matmul", Target::host());
  expected.add(renamed_matmul(), after());
  EXPECT_EQ(file.str(), expected.str());
  EXPECT_TRUE(file.rebind(renamed_matmul()).empty());
}

/// Clones, copies of them, and branches, whose conditions name arguments.
Schedule edits(const std::string& A, const std::string& acc, const std::string& C, const std::string& n) {
  Schedule s;
  s.in(A, {acc});
  s.clone_in(A + ".in(" + acc + ")", {acc});
  s.clone_in(acc, {C});
  s[C].specialize("N > 4 && " + A + ".stride.1 == K").split(n, "outer", "inner", 4).vectorize("inner");
  s[acc].update().specialize(C + ".extent.0 == 8");
  return s;
}

TEST(Rebind, RewritesClonesAndBranches) {
  ScheduleFile file("matmul", Target::host());
  file.add(matmul(), edits("A", "acc", "C", "n"));
  file.rebind(renamed_matmul());
  ScheduleFile expected("matmul", Target::host());
  expected.add(renamed_matmul(), edits("left", "sum", "out", "x"));
  EXPECT_EQ(file.str(), expected.str());
}

TEST(Rebind, RewritesLoopsMadeOfOthers) {
  const auto dotted = [](const std::string& acc, const std::string& C, const std::string& n,
                         const std::string& m) {
    Schedule s;
    s[C].split(n, n + ".b", n + ".t", 8).fuse(n + ".b", m, n + ".all").parallel(n + ".all");
    s[acc].compute_at(C, n + ".all");
    return s;
  };
  ScheduleFile file("matmul", Target::host()), expected("matmul", Target::host());
  file.add(matmul(), dotted("acc", "C", "n", "m"));
  file.rebind(renamed_matmul());
  expected.add(renamed_matmul(), dotted("sum", "out", "x", "y"));
  EXPECT_EQ(file.str(), expected.str());
}

/// A sum over a domain of two dimensions, in two halves.
Pipeline area(const std::string& in_name, const std::string& sum_name, const std::string& domain) {
  ImageParam in(Float(32), 3, in_name);
  Var x("x");
  RDom r({{0, 8}, {0, 8}}, domain);
  Func sum(sum_name);
  sum(x) += in(x, r.x(), r.y());
  return Pipeline("area", {in}, {sum});
}

TEST(Rebind, RewritesWhatIsReassociated) {
  Schedule s;
  s["sum"].update().rfactor({{"r.x", "u"}}, "part");
  ScheduleFile file("area", Target::host());
  file.add(area("in", "sum", "r"), s);
  EXPECT_FALSE(file.numerics().reassociates.empty());
  file.rebind(area("image", "total", "k"));
  for (const std::string& entry : file.numerics().reassociates)
    EXPECT_EQ(entry.find("total.k."), 0u) << entry;
  file.check(area("image", "total", "k"));
}

TEST(Rebind, RewritesConditionsOnBuffers) {
  ScheduleFile file("matmul", Target::host()), expected("matmul", Target::host());
  Schedule s, renamed;
  s.assume_buffer({.buffer = "B", .dense = true});
  renamed.assume_buffer({.buffer = "right", .dense = true});
  file.add(matmul(), {});
  file.add(matmul(), s, {.buffers = {{.buffer = "A", .dense = true}, {.buffer = "C", .base_align = 64}}});
  expected.add(renamed_matmul(), {});
  expected.add(renamed_matmul(), renamed,
               {.buffers = {{.buffer = "left", .dense = true}, {.buffer = "out", .base_align = 64}}});
  file.rebind(renamed_matmul());
  EXPECT_EQ(file.str(), expected.str());
}

TEST(Rebind, LeavesOtherVariantsAsTheyAre) {
  ScheduleFile file("matmul", Target::host());
  file.add(matmul(), before());
  file.add(matmul(Int(32)), before());
  file.rebind(renamed_matmul());
  file.check(renamed_matmul());
  file.check(matmul(Int(32)));
  EXPECT_EQ(file.templates().size(), 2u);
  EXPECT_TRUE(file.schedule(0) == after());
  EXPECT_TRUE(file.schedule(1) == before());
}

TEST(Rebind, AnotherStructureIsRefused) {
  ScheduleFile file("matmul", Target::host());
  file.add(matmul(), {});
  EXPECT_THROW(file.rebind(renamed_matmul(Int(32))), Error);
}

}  // namespace

}  // namespace calotype::test
