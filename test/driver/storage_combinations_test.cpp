// Directives on region and memory in any combination, at random: each alone is legal, so all together are,
// and none changes a value.

#include <random>

#include "support/pipelines.h"
#include "support/run.h"

namespace calotype {
namespace {

using testing::random_buffer;
using testing::stencil;

/// Where bx and edged live before anything is said of their memory.
struct Base {
  Schedule schedule;
  bool slides = false;        ///< along y, so that rows are kept in a ring
  std::string hoist = {};     ///< a loop of out further out than the memory
  bool fixed_region = false;  ///< its loops need the region to stay as it is
};

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}
  bool one_in(int n) { return random_() % n == 0; }
  int of(std::initializer_list<int> values) { return values.begin()[random_() % values.size()]; }

 private:
  std::mt19937_64 random_;
};

void decorate(Stage f, const Base& base, Draw& draw) {
  if (draw.one_in(2)) f.reorder_storage("y", "x");
  if (draw.one_in(2)) f.align_storage("x", draw.of({1, 4, 7, 32}));
  if (draw.one_in(3)) f.align_storage("y", draw.of({2, 5}));
  if (draw.one_in(2)) f.pad("x", draw.of({1, 3, 16}));
  if (draw.one_in(3)) f.pad("y", draw.of({1, 2}));
  if (base.slides && draw.one_in(2)) f.fold_storage("y", draw.of({3, 4, 5, 11}));
  if (!base.fixed_region && draw.one_in(2)) f.align_bounds("x", draw.of({2, 4, 8}), draw.of({0, 1, -3}));
  if (!base.fixed_region && draw.one_in(3)) f.align_extent("y", draw.of({2, 3}));
  if (!base.hoist.empty() && draw.one_in(2)) f.hoist_storage("out", base.hoist);
}

void run(const std::vector<Base>& bases, const Target& target, int rounds) {
  for (std::size_t b = 0; b < bases.size(); ++b)
    for (int round = 0; round < rounds; ++round) {
      SCOPED_TRACE("base " + std::to_string(b) + ", round " + std::to_string(round));
      Draw draw(1000 * b + static_cast<std::uint64_t>(round));
      Schedule s = bases[b].schedule;
      decorate(s["bx"], bases[b], draw);
      const Kernel kernel = stencil().compile(s, target);
      for (const auto& [w, h] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {5, 7}, {37, 10}}) {
        const Buffer in = random_buffer(Float(32), {w, h}, 1), out(Float(32), {w, h});
        testing::poison(out);
        kernel(in, out);
        const lang::EqualityReport result =
            lang::compare_with_reference(out, stencil().evaluate({in}), 0, false);
        EXPECT_TRUE(result.ok) << s.str() << result.str() << "\n" << kernel.show("lowered");
      }
      if (::testing::Test::HasFailure()) return;
    }
}

#ifdef CALOTYPE_HAS_LLVM

TEST(StorageCombinations, OnAHost) {
  std::vector<Base> bases(5);
  bases[0].schedule["bx"].compute_root().vectorize("x", 8);
  bases[1].schedule["out"].tile("x", "y", "xo", "yo", "xi", "yi", 8, 4).vectorize("xi");
  bases[1].schedule["bx"].compute_at("out", "xo").vectorize("x", 4);
  bases[1].hoist = "yo";
  bases[2].schedule["out"].serial("y").vectorize("x", 8);
  bases[2].schedule["bx"].store_root().compute_at("out", "y").vectorize("x", 8);
  bases[2].slides = bases[2].fixed_region = true;
  bases[3].schedule["out"].split("y", "yo", "yi", 4).parallel("yo").vectorize("x", 8);
  bases[3].schedule["edged"].compute_at("out", "yi");
  bases[3].schedule["bx"].compute_at("out", "yi").split("x", "xo", "xi", 4, Tail::RoundUp).vectorize("xi");
  bases[3].hoist = "yo";
  bases[4].schedule["out"].serial("y");
  bases[4].schedule["edged"].store_root().compute_at("out", "y");
  bases[4].schedule["bx"].store_root().compute_at("out", "y");
  bases[4].slides = bases[4].fixed_region = true;
  run(bases, Target::host(), 12);
}

#endif  // CALOTYPE_HAS_LLVM

TEST(StorageCombinations, OnAGpu) {
  std::vector<Base> bases(4);
  const auto tiles = [](Schedule& s) {
    s["edged"].compute_inline();
    s["out"].tile("x", "y", "xo", "yo", "xi", "yi", 8, 4);
  };
  for (Base& b : bases) tiles(b.schedule);
  for (int i : {0, 1, 2}) bases[i].schedule["out"].gpu_blocks("xo", "yo").gpu_threads("xi", "yi");
  bases[0].schedule["bx"].compute_root().gpu_blocks("y").gpu_threads("x", 16);
  bases[1].schedule["bx"].compute_at("out", "xo").store_in(Memory::Shared);
  bases[2].schedule["bx"].compute_at("out", "xi").store_in(Memory::Local);
  bases[3].schedule["out"].reorder("xi", "yi", "xo", "yo").gpu_blocks("xo", "yo").gpu_threads("xi");
  bases[3].schedule["bx"].store_at("out", "xo").compute_at("out", "yi").store_in(Memory::Shared);
  bases[3].slides = bases[3].fixed_region = true;
  run(bases, Target::interpreter("sm_90a"), 12);
}

}  // namespace
}  // namespace calotype
