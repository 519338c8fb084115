// Scans that share a loop hold their last values alone, in registers or a ring, and give what whole rows
// give.

#include "support/pipelines.h"
#include "support/run.h"

namespace calotype {
namespace {

using testing::online;
using testing::random_buffer;
using testing::targets;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// The same dependences in whole numbers, with a row of sums weighted by v beside them.
Pipeline weighted() {
  Dim N("N"), K("K"), D("D");
  ImageParam x(Int(32), {N, K}, "x"), v(Int(32), {D, K}, "v");
  Var i("i"), k("k"), d("d");
  RDom r(0, K, "r");
  Func m("m"), l("l"), acc("acc"), out("out");
  m(i, k) = -1000;
  m(i, r) = max(m(i, r - 1), x(i, r));
  l(i, k) = 1;
  l(i, r) = l(i, r - 1) * (m(i, r) - m(i, r - 1) + 3) + x(i, r) - m(i, r);
  acc(d, i, k) = 0;
  acc(d, i, r) = acc(d, i, r - 1) * (m(i, r) - m(i, r - 1) + 1) + v(d, r) * (m(i, r) - x(i, r)) + l(i, r);
  out(d, i) = acc(d, i, K - 1) + l(i, K - 1) - m(i, K - 1);
  return Pipeline("weighted", {x, v}, {Output(out, {D, N})});
}

void expect_online(const Schedule& s, const Target& target) {
  for (const auto& [n, k] :
       {std::pair<std::int64_t, std::int64_t>{1, 1}, {1, 9}, {37, 1}, {37, 2}, {64, 23}}) {
    const Buffer x = random_buffer(Float(32), {n, k}, 1);
    testing::expect_matches(online(), s, target, {x}, {Buffer(Float(32), {n})});
    testing::expect_stages_match(online(), s, target, {x});
  }
}

void share(Schedule& s) { s["l"].update().compute_with(s["m"].update(), "r"); }

/// A row of x to a thread.
Schedule threads(const Target& target) {
  Schedule s;
  if (target.is_gpu())
    s["out"].split("i", "io", "it", 32).gpu_blocks("io").gpu_threads("it");
  else
    s["out"].split("i", "io", "it", 32).parallel("io");
  for (const char* f : {"m", "l"}) s[f].compute_at("out", "it");
  share(s);
  return s;
}

TEST(Scan, IsHeldInRegisters) {
  for (const Target& target : targets()) {
    Schedule s = threads(target);
    for (const char* f : {"m", "l"}) s[f].store_in(target.is_gpu() ? Memory::Register : Memory::Stack);
    expect_online(s, target);
    const Kernel kernel = online().compile(s, target);
    const std::string text = kernel.show("lowered");
    EXPECT_TRUE(has(text, "m[0]") && has(text, "m[1]") && has(text, "l[0]")) << text;
    EXPECT_FALSE(has(text, "m[2]") || has(text, "l[1]") || has(text, "m[r")) << text;
    EXPECT_TRUE(has(kernel.show("loops"), "ring of 2") && has(kernel.show("loops"), "ring of 1"))
        << kernel.show("loops");
  }
}

TEST(Scan, IsFoldedAsAsked) {
  for (const Target& target : targets())
    for (int slots : {2, 3}) {
      Schedule s = threads(target);
      s["m"].fold_storage("k", slots);
      s["l"].fold_storage("k", slots - 1);
      expect_online(s, target);
    }
}

TEST(Scan, MayComeInTheOtherOrder) {
  for (const Target& target : targets()) {
    Dim N("N"), K("K");
    ImageParam x(Int(32), {N, K}, "x");
    Var i("i"), k("k");
    RDom r(0, K, "r");
    Func a("a"), b("b"), out("out");
    a(i, k) = cast<int>(i);
    a(i, r) = a(i, r - 1) * 3 + x(i, r);
    b(i, k) = 7;
    b(i, r) = b(i, r - 1) + a(i, r - 1) * x(i, r);
    out(i) = a(i, K - 1) - b(i, K - 1);
    const Pipeline p("late", {x}, {Output(out, {N})});
    for (const bool first : {false, true}) {
      Schedule s;
      if (target.is_gpu())
        s["out"].gpu_blocks("i");
      else
        s["out"].parallel("i");
      for (const char* f : {"a", "b"}) s[f].compute_at("out", "i").fold_storage("k", first ? 1 : 2);
      if (first)
        s["a"].update().compute_with(s["b"].update(), "r");
      else
        s["b"].update().compute_with(s["a"].update(), "r");
      for (std::int64_t n : {1, 5, 12}) {
        const Buffer in = random_buffer(Int(32), {3, n}, 4);
        testing::expect_matches(p, s, target, {in}, {Buffer(Int(32), {3})});
        testing::expect_stages_match(p, s, target, {in});
      }
    }
  }
}

#ifdef CALOTYPE_HAS_LLVM

TEST(Scan, IsHeldInVectorsOfAHost) {
  for (const Tail tail : {Tail::Predicate, Tail::Guard}) {
    Schedule s;
    s["out"].split("i", "io", "ii", 8, tail).vectorize("ii").parallel("io");
    for (const char* f : {"m", "l"}) {
      s[f].compute_at("out", "io").store_in(Memory::Stack).vectorize("i", 8);
      s[f].update().reorder("i", "r").vectorize("i", 8);
    }
    share(s);
    expect_online(s, Target::host());
    const std::string text = online().compile(s, Target::host()).show("lowered");
    EXPECT_FALSE(has(text, "% 2")) << text;
  }
}

TEST(Scan, OfAWholeRowOfStatesIsARing) {
  Schedule s;
  for (const char* f : {"m", "l"}) {
    s[f].compute_root().vectorize("i", 8);
    s[f].update().reorder("i", "r").vectorize("i", 8);
  }
  s["m"].fold_storage("k", 2);
  s["l"].fold_storage("k", 1);
  share(s);
  expect_online(s, Target::host());
}

TEST(Scan, AloneKeepsOneValue) {
  Schedule s;
  s["m"].compute_root().fold_storage("k", 1);
  s["l"].compute_root();
  for (const std::string& wrong : {std::string("l.update(0), with m(i, r - 1)")}) {
    const std::vector<Diagnostic> found = s.check(online(), Target::host());
    ASSERT_EQ(found.size(), 1u);
    EXPECT_TRUE(has(found[0].str(), wrong)) << found[0].str();
  }
  s = Schedule();
  s["m"].compute_root();
  s["l"].compute_root().fold_storage("k", 1);
  expect_online(s, Target::host());
}

#endif  // CALOTYPE_HAS_LLVM

TEST(Scan, CarriesARowBesideItsState) {
  for (const Target& target : targets())
    for (const bool split : {false, true}) {
      Schedule s;
      if (target.is_gpu())
        s["out"].split("i", "io", "it", 4).reorder("d", "it", "io").gpu_blocks("io").gpu_threads("it");
      else
        s["out"].split("i", "io", "it", 4).reorder("d", "it", "io").parallel("io");
      for (const char* f : {"m", "l", "acc"})
        s[f].compute_at("out", "it").store_in(target.is_gpu() ? Memory::Register : Memory::Stack);
      s["out"].bound("d", 0, 3);
      s["acc"].unroll("d");
      s["acc"].update().reorder("d", "r").unroll("d");
      for (const char* f : {"m", "l", "acc"}) {
        s[f].update().reorder(f == std::string("acc") ? std::vector<LoopName>{"d", "r", "i"}
                                                      : std::vector<LoopName>{"r", "i"});
        if (split) s[f].update().split("r", "ro", "ri", 4);
      }
      const char* inner = split ? "ri" : "r";
      s["l"].update().compute_with(s["m"].update(), inner);
      s["acc"].update().compute_with(s["m"].update(), inner);
      for (const auto& [n, k] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {5, 7}, {9, 8}}) {
        const std::vector<Buffer> in{random_buffer(Int(32), {n, k}, 2), random_buffer(Int(32), {3, k}, 3)};
        testing::expect_matches(weighted(), s, target, in, {Buffer(Int(32), {3, n})});
        testing::expect_stages_match(weighted(), s, target, in);
      }
    }
}

/// Backwards: s(k) from s(k + 1) and s(k + 2), of which the first two are the last of x.
TEST(Scan, MayRunBackwards) {
  Dim N("N"), K("K");
  ImageParam x(Int(32), {N, K}, "x");
  Var i("i"), k("k");
  RDom r(0, K - 2, "r");
  Func b("b"), out("out");
  b(i, k) = x(i, k) - 5;
  b(i, K - 3 - r) = b(i, K - 2 - r) * 2 - b(i, K - 1 - r) + x(i, K - 3 - r);
  out(i) = b(i, 0) + b(i, 1) * 3;
  const Pipeline p("backwards", {x}, {Output(out, {N})});
  for (const Target& target : targets()) {
    Schedule s;
    if (target.is_gpu())
      s["out"].gpu_blocks("i");
    else
      s["out"].parallel("i");
    s["b"].compute_at("out", "i").fold_storage("k", 2);
    s.assume("K", Assumption::at_least(2));
    for (std::int64_t n : {2, 3, 4, 11}) {
      const Buffer in = random_buffer(Int(32), {4, n}, 5);
      testing::expect_matches(p, s, target, {in}, {Buffer(Int(32), {4})});
      testing::expect_stages_match(p, s, target, {in});
    }
  }
}

TEST(Scan, IsRefusedWhereMoreIsRead) {
  const auto refusal = [](const Pipeline& p, const Schedule& s) {
    const std::vector<Diagnostic> found = s.check(p, Target::interpreter());
    return found.size() == 1 ? found[0].str() : std::string("legal");
  };
  const auto expect = [&](const std::string& text, const std::vector<std::string>& parts) {
    for (const std::string& part : parts) EXPECT_TRUE(has(text, part)) << text;
  };
  Schedule one = threads(Target::interpreter());
  one["m"].fold_storage("k", 1);
  expect(refusal(online(), one),
         {"2 values are alive at once along 'k'", "l.update(0) reads m(i, r - 1)", "at least 2"});
  Schedule apart;
  apart["out"].gpu_blocks("i");
  for (const char* f : {"m", "l"}) apart[f].compute_at("out", "i");
  apart["m"].fold_storage("k", 2);
  expect(refusal(online(), apart),
         {"'m' would not hold all that is read along 'k'", "l.update(0)", "compute_with"});
  Schedule automatic;
  automatic["out"].split("i", "io", "it", 32).gpu_blocks("io").gpu_threads("it");
  for (const char* f : {"m", "l"}) automatic[f].compute_at("out", "it").store_in(Memory::Register);
  expect(refusal(online(), automatic), {"dimension 1 has no constant bound", "l.update(0)", "m(i, r"});
  Schedule block;
  block["out"].gpu_blocks("i");
  block["m"].compute_at("out", "i").store_in(Memory::Register).fold_storage("k", 2);
  block["l"].compute_at("out", "i");
  share(block);
  expect(refusal(online(), block), {"the registers of a block's threads have no order"});
}

}  // namespace
}  // namespace calotype
