// multicast.
#include "helpers.h"

namespace calotype::test {

static const Target hopper = Target::cuda("sm_90a");

/// Clusters of two tiles, one below the other.
static Schedule clusters() {
  Schedule s;
  s["C"].tile("n", "m", "no", "mo", "ni", "mi", 64, 128).split("mi", "mc", "mj", 64);
  s["C"].gpu_blocks("no", "mo").reorder("ni", "mj", "mc").cluster("mc");
  s["acc"].compute_at("C", "mc").store_in(Memory::Register);
  s["acc"].update().split("k", "ko", "ki", 64).reorder("ki", "n", "m", "ko");
  s["acc"].update().tensor_core({"m"}, {"n"}, {"ki"});
  for (const char* operand : {"A", "B"}) {
    const Stage copy = s.in(operand, {"acc"});
    s[copy].compute_at(s["acc"].update(), "ko").store_in(Memory::Shared).copy(Copy::Tma).swizzle(128);
  }
  s["B.in(acc)"].split("d1", "do", "di", 32);
  s.role("copy", {"A.in(acc)", "B.in(acc)"}, {.warps = 4});
  s.role("multiply", {"acc", "C"}, {.warps = 4});
  return s;
}

TEST(Multicast, IsRecorded) {
  Schedule s = clusters();
  s["B.in(acc)"].multicast("do");
  const auto applied = apply(product(), s, hopper);
  EXPECT_NE(to_string(applied).find("  iterations of do dealt out to the blocks of the cluster  ["),
            std::string::npos)
      << to_string(applied);
  for (const Diagnostic& d : s.check(product(), hopper)) ADD_FAILURE() << d.str();
  expect_round_trip(product(), s, hopper);
  expect_spelling(product(), s, R"-({ "stage": "B.in(acc)", "do": "multicast", "loop": "do" })-",
                  R"-(s["B.in(acc)"].multicast("do");)-", hopper);
}

TEST(Multicast, IsRefused) {
  Schedule unknown = clusters(), twice = clusters(), gone = clusters(), bound = clusters(), threads, alone;
  unknown["B.in(acc)"].multicast("dx");
  expect_refused(product(), unknown, {"there is no loop 'dx' in B.in(acc)"}, hopper);
  twice["B.in(acc)"].multicast("do").multicast("do");
  expect_refused(product(), twice, {"dealt out already, by #"}, hopper);
  gone["B.in(acc)"].multicast("do").split("do", "a", "b", 2);
  expect_refused(product(), gone, {"the loop 'do' is gone"}, hopper);
  bound["B.in(acc)"].multicast("do").unroll("do");
  expect_refused(product(), bound, {"the loop 'do' is unrolled", "a serial loop"}, hopper);
  threads = tiled();
  threads["bx"].compute_at("by", "xo").store_in(Memory::Shared);
  threads["bx"].multicast("y");
  expect_refused(blur(), threads, {"'bx' is not copied to shared memory in boxes", "copy(tma)"}, hopper);
  alone = product_tiles();
  alone["B.in(acc)"].multicast("d1");
  expect_refused(product(), alone, {"'B.in(acc)' is copied by no role", "a role for 'B.in(acc)'"}, hopper);
  Schedule old;
  old["by"].multicast("y");
  const auto found = old.check(blur(), Target::cuda("sm_80"));
  ASSERT_FALSE(found.empty());
  EXPECT_NE(found[0].str().find("the target cuda-sm_80 has no clusters of blocks"), std::string::npos)
      << found[0].str();
}

}  // namespace calotype::test
