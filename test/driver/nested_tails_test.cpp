// Stacks of tails over several stages, reads of what a rounded-up consumer computes, loops without
// iterations.

#include "support/run.h"

namespace calotype {
namespace {

using testing::random_buffer;
using testing::targets;

/// Three stages, each reading two neighbours of the one before: an input of exactly three more is enough.
Pipeline three_stages() {
  Dim N("N");
  ImageParam in(Int(32), {N + 3}, "in");
  Var x("x");
  Func f("f"), g("g"), out("out");
  f(x) = in(x) * 2 - in(x + 1);
  g(x) = f(x) * 3 + f(x + 1);
  out(x) = g(x) - g(x + 1);
  return Pipeline("three_stages", {in}, {Output(out, {N})});
}

/// Empty if it compiles and the call is accepted; then the results are right. Else why not.
std::string refusal(const Pipeline& p, const Schedule& s, const Target& target, std::int64_t n) {
  try {
    const Buffer in = random_buffer(Int(32), {n + 3}, 1);
    testing::expect_matches(p, s, target, {in}, {Buffer(Int(32), {n})}, {{"N", n}});
    return {};
  } catch (const Error& e) {
    EXPECT_TRUE(e.kind() == ErrorKind::Schedule || e.kind() == ErrorKind::Argument) << e.what();
    return e.what();
  }
}

#ifdef CALOTYPE_HAS_LLVM

TEST(NestedTails, OverThreeStages) {
  const std::vector<Tail> all = {Tail::Guard, Tail::Predicate, Tail::RoundUp, Tail::ShiftInwards};
  const std::vector<Tail> exact = {Tail::Guard, Tail::Predicate};
  std::mt19937_64 random(1);
  const auto pick = [&](const std::vector<Tail>& from) { return from[random() % from.size()]; };
  const Pipeline p = three_stages();
  int ran = 0;
  for (int round = 0; round < 60; ++round) {
    Schedule s;
    const bool needs_no_more = random() % 2;
    const std::vector<Tail>& inner = needs_no_more ? exact : all;
    s["out"].split("x", "xo", "xi", 5 + random() % 4, pick(exact)).split("xi", "xa", "xb", 3, pick(exact));
    s["g"].split("x", "xo", "xi", 4, pick(inner)).split("xi", "xa", "xb", 3, pick(exact));
    s["f"].split("x", "xo", "xi", 2 + random() % 6, pick(inner));
    const char* const places[] = {"xo", "xa", "xb"};
    s["g"].compute_at("out", places[random() % 3]);
    if (random() % 2)
      s["f"].compute_root();
    else
      s["f"].compute_at("g", places[random() % 3]);
    for (const std::int64_t n : {1, 2, 7, 24, 29}) {
      const std::string why = refusal(p, s, Target::host(), n);
      // Tails that compute nothing more ask the input for nothing more.
      EXPECT_TRUE(why.empty() || !needs_no_more) << s.str() << " for " << n << ": " << why;
      ran += why.empty();
    }
  }
  EXPECT_GT(ran, 150);
}

#endif  // CALOTYPE_HAS_LLVM

TEST(NestedTails, DifferInASplitOfASplit) {
  for (const Target& target : targets())
    for (const Tail first : {Tail::Guard, Tail::Predicate})
      for (const Tail second : {Tail::Guard, Tail::Predicate})
        for (const Tail third : {Tail::Guard, Tail::Predicate}) {
          Schedule s;
          s["out"]
              .split("x", "a", "b", 12, first)
              .split("b", "c", "d", 5, second)
              .split("d", "e", "f", 2, third);
          if (target.is_gpu()) s["out"].gpu_blocks("a").gpu_threads("c", "e");
          for (const std::int64_t n : {1, 11, 12, 13, 40})
            EXPECT_EQ(refusal(three_stages(), s, target, n), "");
        }
}

TEST(NestedTails, OfARoundedConsumerFillsItsProducer) {
  // What g computes past its end reads f there, so f's memory and its values reach as far.
  Dim N("N");
  ImageParam in(Int(32), {N}, "in");
  Var x("x");
  Func edged = boundary::repeat_edge(in, "edged"), f("f"), g("g"), out("out");
  f(x) = edged(x) * 3;
  g(x) = f(x) + f(x + 1);
  out(x) = g(x) * 2;
  const Pipeline p("rounded", {in}, {Output(out, {N})});
  for (const Target& target : targets()) {
    Schedule s;
    s["edged"].compute_inline();
    if (target.is_gpu()) {
      s["out"].split("x", "xo", "xi", 6).gpu_blocks("xo").gpu_threads("xi");
      s["g"].compute_at("out", "xo").split("x", "o", "i", 4, Tail::RoundUp).gpu_threads("i");
      s["f"].compute_at("out", "xo");
    } else {
      s["g"].compute_root().vectorize("x", 8, Tail::RoundUp);
      s["f"].compute_root();
    }
    for (const std::int64_t n : {1, 6, 7, 23}) {
      const Buffer image = random_buffer(Int(32), {n}, 1);
      testing::expect_matches(p, s, target, {image}, {Buffer(Int(32), {n})});
      testing::expect_stages_match(p, s, target, {image});
    }
  }
}

TEST(LoopNames, MayBeThoseOfAnotherStage) {
  for (const Target& target : targets()) {
    Schedule s;
    s["out"].split("x", "xo", "xi", 6);
    if (target.is_gpu()) s["out"].gpu_blocks("xo").gpu_threads("xi");
    s["g"].compute_at("out", "xo").split("x", "xi", "xo", 4);
    s["f"].compute_at("out", "xo").split("x", "xo", "x.i", 3).split("xo", "xi", "g", 2);
    for (const std::int64_t n : {1, 13, 24}) EXPECT_EQ(refusal(three_stages(), s, target, n), "");
  }
}

TEST(EmptyLoops, OfAFusedReduction) {
  Dim N("N"), M("M"), R("R");
  ImageParam in(Int(32), {N, M, R}, "in");
  Var y("y");
  RDom k({{0, N - 1}, {0, M}}, std::vector<std::string>{"ka", "kb"});
  Func sum("sum");
  sum(y) = 7;
  sum(y) += in(k[0], k[1], y);
  const Pipeline p("empty", {in}, {Output(sum, {R})});
  for (const Target& target : targets()) {
    Schedule s;
    s["sum"].update().fuse("ka", "kb", "k");
    if (target.is_gpu()) {
      s["sum"].update().gpu_blocks("y");
      s["sum"].gpu_blocks("y");
    }
    for (const std::int64_t n : {1, 2, 5})
      testing::expect_matches(p, s, target, {random_buffer(Int(32), {n, 3, 4}, 1)}, {Buffer(Int(32), {4})});
  }
}

}  // namespace
}  // namespace calotype
