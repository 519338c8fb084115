// tensor_core.
#include "helpers.h"

namespace calotype::test {

static const Target hopper = Target::cuda("sm_90a");

TEST(TensorCore, IsRecorded) {
  Schedule s = product_tiles();
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
  Schedule twice = product_tiles(), first = product_tiles(), kinds = product_tiles(), sides = product_tiles(),
           inside = product_tiles(), gone = product_tiles(), bound = product_tiles(), host;
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
