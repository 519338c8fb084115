// Tails that mask loads alone or stores alone: results, and exactly what they need and compute.

#include <mutex>
#include <set>

#include "support/stencil.h"

namespace calotype {
namespace {

using testing::random_buffer;
using testing::targets;

const std::vector<Tail> kTails = {Tail::PredicateLoads, Tail::PredicateStores};

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::int64_t rounded(std::int64_t n, std::int64_t factor) { return (n + factor - 1) / factor * factor; }

/// Takes the lines that calls print while it lives.
class Lines {
 public:
  Lines() {
    calotype_set_print(
        [](void* user, const char* line) {
          auto& self = *static_cast<Lines*>(user);
          const std::lock_guard lock(self.mutex_);
          self.seen_.emplace(line);
        },
        this);
  }
  ~Lines() { calotype_set_print(nullptr, nullptr); }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;
  /// Different lines since the last call.
  std::size_t taken() { return std::exchange(seen_, {}).size(); }

 private:
  std::mutex mutex_;
  std::set<std::string> seen_;
};

/// out(x) = mid(x) - mid(x + 1), mid(x) = base(x) * 2, base(x) = in(x); base prints its coordinate.
Pipeline chain() {
  Dim N("N");
  ImageParam in(Float(32), 1, "in");
  Var x("x");
  Func base("base"), mid("mid"), out("out");
  base(x) = print_when(true, in(x), "base", cast<std::int32_t>(x));
  mid(x) = base(x) * 2.0f;
  out(x) = mid(x) - mid(x + 1);
  return Pipeline("chain", {in}, {Output(out, {N})});
}

/// Runs chain() on an input of so many elements; how many points of `base` were computed.
std::size_t computed(const Kernel& kernel, std::int64_t n, std::int64_t held) {
  Lines lines;
  const Buffer in = random_buffer(Float(32), {held}, 4), out(Float(32), {n});
  testing::poison(out);
  kernel(in, out);
  for (std::int64_t x = 0; x < n; ++x) {
    const float expected = in.at<float>({x}) * 2.0f - in.at<float>({x + 1}) * 2.0f;
    EXPECT_EQ(out.at<float>({x}), expected) << x << " of " << n;
  }
  return lines.taken();
}

void expect_needs(const Pipeline& p, const Schedule& s, const Target& target,
                  const std::function<std::int64_t(std::int64_t)>& needed) {
  const Kernel kernel = p.compile(s, target);
  for (const std::int64_t n : {1, 7, 8, 9, 37}) {
    const std::size_t lines = computed(kernel, n, needed(n));
    if (testing::takes_lines(target)) {
      EXPECT_EQ(lines, static_cast<std::size_t>(needed(n))) << s.str() << "\n" << n;
    }
    try {
      computed(kernel, n, needed(n) - 1);
      FAIL() << "ran on less than it needs";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::Argument);
      EXPECT_EQ(e.diagnostic().func, "in");
    }
  }
}

TEST(MaskedTails, OfAnOutputThatReadsMore) {
  for (const Target& target : targets()) {
    Schedule s;
    s["base"].compute_root();
    s["mid"].compute_inline();
    s["out"].vectorize("x", 8, Tail::PredicateStores);
    if (target.is_gpu())
      s["out"].gpu_blocks("x.o");
    else
      s["base"].serial("x");
    expect_needs(chain(), s, target, [](std::int64_t n) { return rounded(n, 8) + 1; });
    const std::string text = chain().compile(s, target).show("lowered");
    EXPECT_FALSE(has(text, "load_if(")) << text;
    EXPECT_TRUE(has(text, " if ramp(")) << text;
  }
}

TEST(MaskedTails, OfAFuncThatStoresMore) {
  for (const Target& target : targets()) {
    Schedule s;
    s["base"].compute_root();
    s["mid"].compute_root().vectorize("x", 8, Tail::PredicateLoads);
    if (target.is_gpu()) {
      s["out"].gpu_blocks("x");
      s["mid"].gpu_blocks("x.o");
    } else {
      s["base"].serial("x");
      s["out"].serial("x");
    }
    expect_needs(chain(), s, target, [](std::int64_t n) { return n + 1; });
    const std::string text = chain().compile(s, target).show("lowered");
    EXPECT_TRUE(has(text, "load_if(")) << text;
    EXPECT_FALSE(has(text, "if ramp(")) << text;
  }
}

TEST(MaskedTails, OfAFuncThatReadsMore) {
  for (const Target& target : targets()) {
    Schedule s;
    s["base"].compute_root();
    s["mid"].compute_root().vectorize("x", 8, Tail::PredicateStores);
    if (target.is_gpu()) {
      s["out"].gpu_blocks("x");
      s["mid"].gpu_blocks("x.o");
    }
    expect_needs(chain(), s, target, [](std::int64_t n) { return rounded(n + 1, 8); });
  }
}

TEST(MaskedTails, OfScalarLoops) {
  for (const Target& target : targets())
    for (const Tail tail : kTails) {
      Schedule s;
      s["base"].compute_root();
      s["mid"].compute_root().split("x", "xo", "xi", 4, tail);
      if (target.is_gpu()) {
        s["out"].gpu_blocks("x");
        s["mid"].gpu_blocks("xo").gpu_threads("xi");
      }
      expect_needs(chain(), s, target,
                   [&](std::int64_t n) { return tail == Tail::PredicateLoads ? n + 1 : rounded(n + 1, 4); });
    }
}

TEST(MaskedTails, StorageIsAsLargeAsTheStores) {
  for (const Target& target : targets()) {
    Schedule s;
    s["base"].compute_inline();
    s["out"].split("x", "xo", "xi", 21);
    s["mid"].compute_at("out", "xo");
    if (target.is_gpu()) {
      s["out"].gpu_blocks("xo");
      s["mid"].store_in(Memory::Shared);
    }
    const auto allocated = [&](Tail tail) {
      Schedule t = s;
      t["mid"].split("x", "xa", "xb", 8, tail);
      return chain().compile(t, target).show("lowered");
    };
    EXPECT_TRUE(has(allocated(Tail::PredicateLoads), "allocate mid: f32[24]"))
        << allocated(Tail::PredicateLoads);
    EXPECT_TRUE(has(allocated(Tail::PredicateStores), "allocate mid: f32[22]"))
        << allocated(Tail::PredicateStores);
  }
}

TEST(MaskedTails, OfTilesInsideTiles) {
  for (const Target& target : targets())
    for (const Tail tail : kTails) {
      Schedule s;
      s["edged"].compute_inline();
      s["out"].tile("x", "y", "xo", "yo", "xi", "yi", 16, 4);
      s["bx"].compute_at("out", "xo").tile("x", "y", "xa", "ya", "xb", "yb", 5, 4, tail);
      if (target.is_gpu()) {
        s["out"].gpu_blocks("xo", "yo").gpu_threads("xi", "yi");
        s["bx"].store_in(Memory::Shared).gpu_threads("xb", "yb");
      } else {
        s["bx"].vectorize("xb");
      }
      testing::expect_stencil_right(s, target);
    }
}

TEST(MaskedTails, OfBothKindsInOneNest) {
  for (const Target& target : targets()) {
    Schedule s;
    s["edged"].compute_root();
    s["bx"].compute_root().split("y", "yo", "yi", 4, Tail::PredicateStores);
    s["bx"].vectorize("x", 8, Tail::PredicateLoads);
    if (target.is_gpu()) s["bx"].reorder("x.v", "yi", "x.o", "yo").gpu_blocks("x.o", "yo");
    testing::expect_stencil_right(s, target);
  }
}

TEST(MaskedTails, OfAnOutputOnBothCoordinates) {
  Dim W("W"), H("H");
  ImageParam in(Int(32), 2, "in");
  Var x("x"), y("y");
  Func out("out");
  out(x, y) = in(x, y) * 3;
  const Pipeline p("tripled", {in}, {Output(out, {W, H})});
  for (const Target& target : targets()) {
    Schedule s;
    s["out"].tile("x", "y", "xo", "yo", "xi", "yi", 8, 4, Tail::PredicateStores).vectorize("xi");
    if (target.is_gpu()) s["out"].gpu_blocks("xo", "yo").gpu_threads("yi");
    const Kernel kernel = p.compile(s, target);
    for (const auto& [w, h] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {8, 4}, {13, 6}}) {
      const Buffer enough = random_buffer(Int(32), {rounded(w, 8), rounded(h, 4)}, 2);
      const Buffer out_values(Int(32), {w, h});
      testing::poison(out_values);
      kernel(enough, out_values);
      for (std::int64_t i = 0; i < w; ++i)
        for (std::int64_t j = 0; j < h; ++j) EXPECT_EQ(out_values.value({i, j}), enough.value({i, j}) * 3);
      if (w % 8 != 0) {
        EXPECT_THROW(kernel(random_buffer(Int(32), {rounded(w, 8) - 1, rounded(h, 4)}, 2), out_values),
                     Error);
      }
    }
  }
}

/// A Tuple whose update takes each value from the other, then sums of rows, with a pure coordinate in all.
Pipeline updates() {
  Dim W("W"), H("H");
  ImageParam in(Float(32), {W, H}, "in");
  Var x("x"), y("y");
  RDom k(0, H, "k");
  Func two("two"), total("total"), out("out");
  Func edged = boundary::repeat_edge(in, "edged");
  two(x, y) = Tuple(edged(x + 1, y), edged(x, y) * 0.5f);
  two(x, y) = Tuple(two(x, y)[1] + 1.0f, two(x, y)[0]);
  total(x) = edged(x, 0);
  total(x) += edged(x - 1, k) * two(x, k)[0];
  out(x, y) = total(x) + two(x, y)[1] - two(x, y)[0];
  return Pipeline("updates", {in}, {Output(out, {W, H})});
}

TEST(MaskedTails, OfUpdates) {
  for (const Target& target : targets())
    for (const Tail tail : kTails) {
      Schedule s;
      s["edged"].compute_inline();
      s["two"].compute_root().vectorize("x", 8, tail);
      s["two"].update().vectorize("x", 4, tail);
      s["total"].compute_root().vectorize("x", 8, tail);
      s["total"].update().vectorize("x", 8, tail);
      if (target.is_gpu()) {
        s["two"].gpu_blocks("x.o", "y").update().gpu_blocks("x.o", "y");
        s["total"].gpu_blocks("x.o").update().gpu_blocks("x.o");
      } else if (tail == Tail::PredicateStores) {
        s["out"].vectorize("x", 8, tail);
      }
      for (const auto& [w, h] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {11, 3}, {16, 2}, {21, 5}}) {
        const Buffer in = random_buffer(Float(32), {w, h}, 6);
        testing::expect_matches(updates(), s, target, {in}, {Buffer(Float(32), {w, h})});
        testing::expect_stages_match(updates(), s, target, {in});
      }
    }
}

/// What all lanes load from one place is loaded once, under a condition of its own.
TEST(MaskedTails, OfALoadThatDoesNotVary) {
  Dim W("W"), H("H");
  ImageParam in(Float(32), {W, H}, "in"), weights(Float(32), {H}, "weights");
  Var x("x"), y("y");
  Func f("f"), out("out");
  f(x, y) = in(x, y) * abs(weights(y));
  out(x, y) = f(x, y) + 1.0f;
  const Pipeline p("weighted", {in, weights}, {Output(out, {W, H})});
  for (const Target& target : targets())
    for (const bool both : {false, true}) {
      Schedule s;
      s["f"].compute_root().split("y", "yo", "yi", 4, both ? Tail::PredicateLoads : Tail::Guard);
      s["f"].vectorize("x", 8, Tail::PredicateLoads).reorder("x.v", "yi", "x.o", "yo");
      if (target.is_gpu()) s["f"].gpu_blocks("x.o", "yo");
      for (const auto& [w, h] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {11, 3}, {16, 6}})
        testing::expect_matches(p, s, target,
                                {random_buffer(Float(32), {w, h}, 6), random_buffer(Float(32), {h}, 7)},
                                {Buffer(Float(32), {w, h})});
    }
}

TEST(MaskedTails, OfAnOutputWithUpdates) {
  Dim W("W");
  ImageParam in(Float(32), {W}, "in");
  Var x("x");
  RDom k(0, 5, "k");
  Func edged = boundary::repeat_edge(in, "edged"), out("out");
  out(x) = edged(x);
  out(x) = out(x) * 0.5f + edged(x + 1);
  out(x) += edged(x + k);
  const Pipeline p("updated", {in}, {Output(out, {W})});
  for (const Target& target : targets()) {
    Schedule s;
    s["edged"].compute_inline();
    s["out"].vectorize("x", 8, Tail::PredicateStores);
    s["out"].update(0).vectorize("x", 8, Tail::PredicateStores);
    s["out"].update(1).vectorize("x", 4, Tail::PredicateStores);
    if (target.is_gpu()) {
      s["out"].gpu_blocks("x.o");
      s["out"].update(0).gpu_blocks("x.o");
      s["out"].update(1).gpu_blocks("x.o");
    }
    for (const std::int64_t w : {1, 8, 13})
      testing::expect_matches(p, s, target, {random_buffer(Float(32), {w}, 6)}, {Buffer(Float(32), {w})});
  }
}

TEST(MaskedTails, WhereWhatIsReadSaysWhereToStore) {
  Dim W("W"), H("H");
  ImageParam in(UInt(8), {W, H}, "in");
  Var b("b"), y("y");
  RDom r(0, W, "r");
  Func counts("counts"), out("out");
  counts(b, y) = 0;
  counts(cast<int>(in(r, y)) - 200, y) += 1;
  out(b, y) = counts(b - 200, y);
  const Pipeline p("counts", {in}, {Output(out, {256, H})});
  for (const Target& target : targets())
    for (const Tail tail : kTails) {
      Schedule s;
      s["counts"].compute_root();
      s["counts"].update().split("y", "yo", "yi", 4, tail);
      if (target.is_gpu()) {
        s["counts"].gpu_blocks("y").update().gpu_blocks("yo");
      }
      if (tail == Tail::PredicateStores) {
        // Rows past the last are read.
        const Kernel kernel = p.compile(s, target);
        EXPECT_THROW(kernel(random_buffer(UInt(8), {9, 3}, 1), Buffer(Int(32), {256, 3})), Error);
        testing::expect_matches(p, s, target, {random_buffer(UInt(8), {9, 4}, 1)},
                                {Buffer(Int(32), {256, 4})});
        continue;
      }
      // Loads are masked, and with them what says where to store.
      const std::vector<Diagnostic> found = s.check(p, target);
      ASSERT_EQ(found.size(), 1u) << target.str();
      EXPECT_TRUE(has(found[0].message, "would store past the end, at places that it would have to read"))
          << found[0].str();
      EXPECT_TRUE(has(found[0].directive, "predicate_loads")) << found[0].str();
    }
}

TEST(MaskedTails, PrintsForWhatIsNeededAlone) {
  Dim N("N");
  ImageParam in(Int(32), 1, "in");
  Var x("x");
  Func f("f"), out("out");
  f(x) = print(in(x), "f", cast<std::int32_t>(x));
  out(x) = f(x) + 1;
  const Pipeline p("printing", {in}, {Output(out, {N})});
  for (const Target& target : testing::targets_with_lines())
    for (const Tail tail : kTails)
      for (const bool vector : {false, true}) {
        Schedule s;
        s["f"].compute_root().split("x", "xo", "xi", 8, tail);
        if (vector) s["f"].vectorize("xi");
        if (target.is_gpu()) {
          s["f"].gpu_blocks("xo");
          s["out"].gpu_blocks("x");
        }
        const Kernel kernel = p.compile(s, target);
        Lines lines;
        kernel(random_buffer(Int(32), {16}, 1), Buffer(Int(32), {11}));
        EXPECT_EQ(lines.taken(), 11u);
      }
}

TEST(MaskedTails, AWindowOfMaskedStores) {
  for (const Target& target : targets()) {
    Schedule s = testing::stencil_window(target);
    Schedule loads = s;
    s["bx"].split("y", "ya", "yb", 4, Tail::PredicateStores).split("x", "xa", "xb", 8, Tail::PredicateStores);
    testing::expect_stencil_right(s, target);
    loads["bx"].split("x", "xa", "xb", 8, Tail::PredicateLoads);
    const std::vector<Diagnostic> found = loads.check(testing::stencil(), target);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_TRUE(has(found[0].message, "'bx' is kept from one iteration to the next, with what"))
        << found[0].str();
    EXPECT_EQ(found[0].value, "predicate_loads");
  }
}

TEST(MaskedTails, WithALayout) {
  for (const Target& target : targets())
    for (const Tail tail : kTails) {
      Schedule s;
      s["edged"].compute_root();
      s["bx"].compute_root().vectorize("x", 8, tail).layout({"x % 8", "y", "x / 8"});
      if (target.is_gpu()) s["bx"].gpu_blocks("x.o", "y");
      testing::expect_stencil_right(s, target);
    }
}

#ifdef CALOTYPE_HAS_LLVM

TEST(MaskedTails, ChecksWhatIsNeededAlone) {
  Dim N("N");
  ImageParam in(Int(32), 1, "in");
  Var x("x");
  Func f("f"), out("out");
  f(x) = require(in(x) > 0, 100 / in(x), "not positive");
  out(x) = f(x) + 1;
  const Pipeline p("checked", {in}, {Output(out, {N})});
  Buffer values(Int(32), {16});
  for (std::int64_t i = 0; i < 16; ++i) values.set_value({i}, i < 11 ? static_cast<double>(i + 1) : -1.0);
  for (const Tail tail : kTails)
    for (const bool vector : {false, true}) {
      Schedule s;
      s["f"].compute_root().split("x", "xo", "xi", 8, tail);
      if (vector) s["f"].vectorize("xi");
      const Kernel kernel = p.compile(s, Target::host());
      const Buffer result(Int(32), {11});
      kernel(values, result);
      for (std::int64_t i = 0; i < 11; ++i)
        EXPECT_EQ(result.value({i}), static_cast<double>(100 / (i + 1) + 1));
      EXPECT_THROW(kernel(values, Buffer(Int(32), {12})), Error);
    }
}

TEST(MaskedTails, WithPartialResults) {
  const Pipeline p = testing::product();
  for (const Tail tail : kTails) {
    Schedule s;
    s["acc"].compute_root().vectorize("j", 8, tail);
    s["acc"]
        .update()
        .split("j", "jo", "ji", 4, tail)
        .split("r", "ro", "ri", 8)
        .reorder("ri", "ro", "ji", "jo", "i");
    s["acc"].update().vectorize("ri");
    for (const auto& [m, n, k] : {std::tuple<std::int64_t, std::int64_t, std::int64_t>{3, 8, 17}, {2, 4, 8}})
      testing::expect_matches(p, s, Target::host(),
                              {random_buffer(Float(32), {k, m}, 1), random_buffer(Float(32), {n, k}, 2)},
                              {Buffer(Float(32), {n, m})});
    if (tail == Tail::PredicateLoads)
      testing::expect_matches(p, s, Target::host(),
                              {random_buffer(Float(32), {9, 3}, 1), random_buffer(Float(32), {11, 9}, 2)},
                              {Buffer(Float(32), {11, 3})});
  }
}

#endif  // CALOTYPE_HAS_LLVM

}  // namespace
}  // namespace calotype
