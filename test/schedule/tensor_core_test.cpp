// tensor_core.
#include "helpers.h"

namespace calotype::test {

static const Target hopper = Target::cuda("sm_90a");

/// f(n, m) += a * b of bf16.
static Pipeline product() {
  Dim M("M"), N("N"), K("K");
  ImageParam A(BFloat(16), {K, M}, "A"), B(BFloat(16), {K, N}, "B");
  Var n("n"), m("m");
  RDom k(0, K, "k");
  Func acc("acc"), C("C");
  acc(n, m) += cast<float>(A(k, m)) * cast<float>(B(k, n));
  C(n, m) = acc(n, m);
  return Pipeline("product", {A, B}, {Output(C, {N, M})});
}

static Schedule tiles() {
  Schedule s;
  s["C"].tile("n", "m", "no", "mo", "ni", "mi", 64, 64).gpu_blocks("no", "mo");
  s["acc"].compute_at("C", "no").store_in(Memory::Register);
  s["acc"].update().split("k", "ko", "ki", 64).reorder("ki", "n", "m", "ko");
  for (const char* operand : {"A", "B"}) {
    const Stage copy = s.in(operand, {"acc"});
    s[copy].compute_at(s["acc"].update(), "ko").store_in(Memory::Shared).copy(Copy::Tma).swizzle(128);
  }
  return s;
}

TEST(TensorCore, IsRecorded) {
  Schedule s = tiles();
  s["acc"].update().tensor_core({"m"}, {"n"}, {"ki"}, "wgmma");
  const auto applied = apply(product(), s, hopper);
  EXPECT_NE(to_string(applied).find("    tensor cores: (m) by (n), summed over (ki)  ["), std::string::npos)
      << to_string(applied);
  EXPECT_EQ(applied.numerics.reassociates, std::vector<std::string>{"acc.k"});
  EXPECT_TRUE(s.check(product(), hopper).empty());
  expect_round_trip(product(), s, hopper);
  expect_spelling(
      product(), s,
      R"-({ "stage": "acc.update(0)", "do": "tensor_core", "m": ["m"], "n": ["n"], "k": ["ki"], "instruction": "wgmma" })-",
      R"-(s["acc"].update(0).tensor_core({"m"}, {"n"}, {"ki"}, "wgmma");)-", hopper);
}

TEST(TensorCore, IsRefusedForTheLoops) {
  Schedule twice = tiles(), first = tiles(), kinds = tiles(), sides = tiles(), inside = tiles(),
           gone = tiles(), bound = tiles(), host;
  twice["acc"].update().tensor_core({"m"}, {"n"}, {"ki"}).tensor_core({"m"}, {"n"}, {"ki"});
  expect_refused(product(), twice, {"says so already", "one tensor_core a stage"}, hopper);
  first["acc"].tensor_core({"m"}, {"n"}, {"ki"});
  expect_refused(product(), first, {"is no sum", "an update by +="}, hopper);
  kinds["acc"].update().tensor_core({"m"}, {"ki"}, {"n"});
  expect_refused(product(), kinds, {"'ki' is a loop over what is summed"}, hopper);
  sides["acc"].update().tensor_core({"ki"}, {"n"}, {"m"});
  expect_refused(product(), sides, {"'ki' is a loop over what is summed"}, hopper);
  inside["acc"].update().reorder("ki", "ko").tensor_core({"m"}, {"n"}, {"ki"}).reorder("ko", "ki", "n", "m");
  expect_refused(product(), inside, {"the loop 'ko' stands inside the tile", "by reorder"}, hopper);
  gone["acc"].update().tensor_core({"m"}, {"n"}, {"ki"}).split("n", "nn", "nk", 8);
  expect_refused(product(), gone, {"the loop 'n' is gone"}, hopper);
  bound["acc"].update().unroll("n").tensor_core({"m"}, {"n"}, {"ki"});
  expect_refused(product(), bound, {"'n' is unrolled already"}, hopper);
  host["acc"].update().tensor_core({"m"}, {"n"}, {"k"});
  expect_refused(product(), host, {"has no tensor cores", "cuda"});
}

}  // namespace calotype::test
