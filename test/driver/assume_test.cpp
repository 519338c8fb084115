// Assumptions about sizes: what the compiler makes of them, and what a call that breaks one is told.

#include "support/pipelines.h"
#include "support/run.h"

namespace calotype {
namespace {

using testing::expect_matches;
using testing::product;
using testing::random_buffer;
using testing::row_sums;
using testing::stencil;
using testing::targets;

void run_product(const Schedule& s, const Target& target, std::int64_t m, std::int64_t n, std::int64_t k) {
  expect_matches(product(), s, target,
                 {random_buffer(Float(32), {k, m}, 1), random_buffer(Float(32), {n, k}, 2)},
                 {Buffer(Float(32), {n, m})});
}

/// A call of `product` with these sizes is refused; the message has every part.
void expect_refused(const Schedule& s, std::int64_t m, std::int64_t n, std::int64_t k,
                    const std::vector<std::string>& parts) {
  const Kernel kernel = product().compile(s, Target::interpreter("sm_90a"));
  Buffer out(Float(32), {n, m});
  testing::poison(out);
  try {
    kernel.call({random_buffer(Float(32), {k, m}, 1), random_buffer(Float(32), {n, k}, 2), out});
    ADD_FAILURE() << "ran";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Argument);
    for (const std::string& part : parts)
      EXPECT_NE(e.diagnostic().str().find(part), std::string::npos) << part << "\nin\n" << e.what();
  }
  std::vector<std::int64_t> first(2, 0);
  EXPECT_EQ(out.value(first), -12345.0) << "something was written";
}

TEST(Assume, AnExactSizeIsAConstantInTheCode) {
  Schedule s;
  s.assume("K", Assumption::exact(4));
  s["acc"].compute_at("C", "j").update().unroll("r");
  for (const Target& target : targets())
    if (!target.is_gpu()) run_product(s, target, 5, 7, 4);
  Schedule gpu;
  gpu.assume("K", Assumption::exact(4));
  gpu["C"].gpu_blocks("i").gpu_threads("j", 8);
  gpu["acc"].compute_inline();
  Schedule plain;
  plain.assume("K", Assumption::exact(4));
  run_product(plain, Target::interpreter("sm_90a"), 5, 7, 4);
  run_product(plain, Target::interpreter("sm_90a"), 1, 1, 4);
  const std::string code = product().compile(plain, Target::interpreter("sm_90a")).show("lowered");
  EXPECT_EQ(code.find("K"), std::string::npos) << code;
  expect_refused(plain, 5, 7, 3, {"the size K is 3", "#1 assume(K, 4) is for 4", "K: 4"});
  expect_refused(plain, 5, 7, 5, {"the size K is 5"});
}

TEST(Assume, EverySizeMayBeExact) {
  Schedule s;
  s.assume("M", Assumption::exact(6)).assume("N", Assumption::exact(5)).assume("K", Assumption::exact(3));
  for (const Target& target : targets()) {
    run_product(s, target, 6, 5, 3);
    testing::expect_stages_match(product(), s, target,
                                 {random_buffer(Float(32), {3, 6}, 1), random_buffer(Float(32), {5, 3}, 2)});
  }
  expect_refused(s, 6, 4, 3, {"the size N is 4", "is for 5"});
  expect_refused(s, 7, 5, 3, {"the size M is 7", "is for 6"});
}

TEST(Assume, AnExactSizeOfAnEnlargedInputIsFound) {
  Dim W("W");
  ImageParam in(Float(32), {W + 2}, "in");
  Var x("x");
  RDom k(0, 3, "k");
  Func out("out");
  out(x) = cast<float>(0);
  out(x) += in(x + k);
  const Pipeline p("three", {in}, {Output(out)});
  Schedule s;
  s.assume("W", Assumption::exact(16));
  expect_matches(p, s, Target::interpreter("sm_90a"), {random_buffer(Float(32), {18}, 1)},
                 {Buffer(Float(32), {16})}, {{"W", 16}, {"out.extent.0", 16}});
  try {
    p.compile(s, Target::interpreter("sm_90a"))
        .call({random_buffer(Float(32), {19}, 1), Buffer(Float(32), {16})});
    ADD_FAILURE() << "ran";
  } catch (const Error& e) {
    EXPECT_NE(e.diagnostic().message.find("the size W is 17"), std::string::npos) << e.what();
  }
}

TEST(Assume, SizesThatOneExtentHoldsTogetherAreFound) {
  const Pipeline p = testing::joint_sizes();
  Schedule s;
  s.assume("W", Assumption::exact(7)).assume("H", Assumption::exact(3));
  const Kernel kernel = p.compile(s, Target::interpreter("sm_90a"));
  kernel.call({random_buffer(Float(32), {10, 6}, 1), Buffer(Float(32), {4})});
  try {
    kernel.call({random_buffer(Float(32), {11, 6}, 1), Buffer(Float(32), {4})});
    ADD_FAILURE() << "ran";
  } catch (const Error& e) {
    EXPECT_NE(e.diagnostic().message.find("the size W is 8"), std::string::npos) << e.what();
  }
}

TEST(Assume, AMultipleOfTheFactorLeavesNoTail) {
  Schedule tail, none;
  for (Schedule* s : {&tail, &none}) (*s)["out"].split("x", "xo", "xi", 8).vectorize("xi");
  none.assume("W", Assumption::multiple(8));
  const Target target = Target::interpreter("sm_90a");
  Schedule gpu_tail, gpu_none;
  for (Schedule* s : {&gpu_tail, &gpu_none}) (*s)["out"].gpu_blocks("y").gpu_threads("x", 8);
  gpu_none.assume("W", Assumption::multiple(8));
  const std::string with = stencil().compile(gpu_tail, target).show("lowered"),
                    without = stencil().compile(gpu_none, target).show("lowered");
  EXPECT_LT(without.size(), with.size()) << without;
  expect_matches(stencil(), gpu_none, target, {random_buffer(Float(32), {24, 5}, 3)},
                 {Buffer(Float(32), {24, 5})});
  expect_matches(stencil(), gpu_none, target, {random_buffer(Float(32), {8, 1}, 3)},
                 {Buffer(Float(32), {8, 1})});
#ifdef CALOTYPE_HAS_LLVM
  expect_matches(stencil(), none, Target::host(), {random_buffer(Float(32), {24, 5}, 3)},
                 {Buffer(Float(32), {24, 5})});
#endif
  try {
    stencil()
        .compile(gpu_none, target)
        .call({random_buffer(Float(32), {12, 5}, 3), Buffer(Float(32), {12, 5})});
    ADD_FAILURE() << "ran";
  } catch (const Error& e) {
    EXPECT_NE(e.diagnostic().message.find("the size W is 12, and the schedule's #3 assume(W, 8) is for "
                                          "multiples of 8"),
              std::string::npos)
        << e.what();
  }
}

TEST(Assume, ARangeBoundsWhatIsStored) {
  Schedule s;
  s["out"].gpu_blocks("y").gpu_threads("x", 16);
  s["total"].compute_at("out", "y").store_in(Memory::Shared);
  s[s.in("in")].compute_at("out", "y").store_in(Memory::Shared).gpu_threads("d0", 16);
  const Target target = Target::interpreter("sm_90a");
  EXPECT_FALSE(s.check(row_sums(), target).empty()) << "a row without end does not fit into shared memory";
  s.assume("N", Assumption::range(2, 100));
  for (const Diagnostic& d : s.check(row_sums(), target)) ADD_FAILURE() << d.str();
  for (const std::int64_t n : {2, 31, 100})
    expect_matches(row_sums(), s, target, {random_buffer(Float(32), {n, 3}, 1)}, {Buffer(Float(32), {n, 3})});
  for (const std::int64_t n : {1, 101}) {
    try {
      row_sums().compile(s, target).call({random_buffer(Float(32), {n, 3}, 1), Buffer(Float(32), {n, 3})});
      ADD_FAILURE() << "ran";
    } catch (const Error& e) {
      EXPECT_NE(e.diagnostic().str().find("is for 2 to 100"), std::string::npos) << e.what();
    }
  }
}

TEST(Assume, ASizeThatNoArgumentTellsIsRefused) {
  Dim W("W"), K("K");
  ImageParam in(Float(32), {W}, "in");
  Var x("x");
  RDom k(0, K, "k");
  Func out("out");
  out(x) = in(x);
  out(x) += in(x)*cast<float>(k);
  const Pipeline p("hidden", {in}, {Output(out, {W})});
  Schedule s;
  s.assume("K", Assumption::exact(4));
  try {
    p.compile(s, Target::interpreter("sm_90a"));
    ADD_FAILURE() << "compiled";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("the size 'K' does not follow from any argument"), std::string::npos)
        << e.what();
  }
}

}  // namespace
}  // namespace calotype
