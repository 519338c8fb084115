// Loops that have no iterations at some sizes: fused ones whose inner loop is empty, several sizes 0 at once,
// ragged ends beside them, and loops of one name in stages of which some are empty. What is computed from no
// terms is still stored.

#include <gtest/gtest.h>

#include <functional>

#include "calotype/calotype.h"
#include "support/run.h"

namespace calotype {
namespace {

using testing::random_buffer;

using Edit = std::function<void(Schedule&)>;

/// out(i) = a sum of all of `twice`, a Func with an update as large as the input, for N coordinates i.
Pipeline sums() {
  Dim W("W"), H("H"), C("C"), N("N");
  ImageParam in(Int(32), {W, H, C}, "in");
  Var x("x"), y("y"), c("c"), i("i");
  RDom r({{2, W}, {1, H}, {0, C}}, "r");
  Func twice("twice"), total("total"), out("out");
  twice(x, y, c) = in(x, y, c) * 2;
  twice(x, y, c) += cast<int>(x - y * 3 + c);
  total(i) = cast<int>(i) * 5 + 1;
  total(i) += twice(r.x() - 2, r.y() - 1, r.z()) * cast<int>(i + 1);
  out(i) = total(i) - 7;
  return Pipeline("sums", {in}, {Output(out, {N})});
}

/// All of width, height and channels that are 0, 1, less than a tile, a tile and more, and outputs beside
/// them.
void run_all(const Target& target, const std::vector<Edit>& edits) {
  const Pipeline p = sums();
  for (const Edit& edit : edits) {
    Schedule s;
    edit(s);
    const Kernel kernel = p.compile(s, target);
    for (const std::int64_t w : {0, 1, 3, 4, 9})
      for (const std::int64_t h : {0, 1, 2, 5})
        for (const std::int64_t c : {0, 1, 3})
          for (const std::int64_t n : {1, 5}) {
            const Buffer in = random_buffer(Int(32), {w, h, c}, 1), out(Int(32), {n});
            const Evaluation reference = p.evaluate({in}, {}, {{"N", n}});
            testing::poison(out);
            kernel(in, out);
            const lang::EqualityReport result = lang::compare_with_reference(out, reference, 0, false);
            ASSERT_TRUE(result.ok) << target.str() << " on " << w << " x " << h << " x " << c << ", " << n
                                   << " under\n"
                                   << s.str() << "\n"
                                   << result.str();
          }
  }
}

void fuse_reduction(Schedule& s) { s["total"].update().fuse("r.x", "r.y", "f").fuse("f", "r.z", "g"); }

const std::vector<Edit>& reductions() {
  static const std::vector<Edit> all = {
      [](Schedule& s) { s["total"].update().fuse("r.x", "r.y", "f"); },
      [](Schedule& s) { s["total"].update().fuse("r.y", "r.z", "f"); },
      [](Schedule& s) { fuse_reduction(s); },
      [](Schedule& s) {
        fuse_reduction(s);
        s["total"].update().split("g", "go", "gi", 4);
      },
      [](Schedule& s) {
        fuse_reduction(s);
        s["total"].update().split("g", "go", "gi", 4).unroll("gi");
      },
      [](Schedule& s) {
        s["total"].update().split("r.x", "xo", "xi", 4).fuse("xi", "xo", "f").rfactor({{"r.y", "u"}}, "part");
        s["part"].compute_root();
      },
      [](Schedule& s) {
        s["total"].update().split("r.x", "xo", "xi", 4).fuse("xo", "r.y", "f").split("f", "fo", "fi", 3);
      },
      [](Schedule& s) {
        s["total"]
            .update()
            .split("r.y", "yo", "yi", 2)
            .reorder("r.x", "yo", "yi", "r.z")
            .fuse("r.x", "yo", "f");
      }};
  return all;
}

TEST(EmptyLoops, OfFusedReductions) {
#ifdef CALOTYPE_HAS_LLVM
  run_all(Target::host(), reductions());
#endif
  std::vector<Edit> in_blocks;
  for (const Edit& edit : reductions())
    in_blocks.push_back([&edit](Schedule& s) {
      edit(s);
      s["total"].update().gpu_blocks("i");
    });
  run_all(Target::interpreter("sm_90a"), in_blocks);
}

#ifdef CALOTYPE_HAS_LLVM

TEST(EmptyLoops, OfFusedStagesOnAHost) {
  run_all(
      Target::host(),
      {[](Schedule& s) { s["twice"].compute_root().fuse("x", "y", "f").fuse("f", "c", "g"); },
       [](Schedule& s) {
         s["twice"].compute_root().fuse("x", "y", "f").fuse("f", "c", "g").vectorize("g", 8);
         s["twice"].update().fuse("x", "y", "f").fuse("f", "c", "g").split("g", "go", "gi", 4).unroll("gi");
       },
       [](Schedule& s) {
         s["twice"].compute_root().fuse("y", "c", "f").parallel("f").vectorize("x", 4);
         s["twice"].update().fuse("y", "c", "f").split("f", "fo", "fi", 2).parallel("fo");
       },
       [](Schedule& s) {
         s["twice"].compute_root();
         fuse_reduction(s);
         s["total"].update().vectorize("g", 4);
       },
       [](Schedule& s) {
         s["total"].compute_at("out", "i").update().fuse("r.x", "r.y", "f").vectorize("f", 8);
         s["twice"].compute_at("total.update(0)", "r.z").fuse("x", "y", "f").vectorize("f", 4);
       }});
}

// Every stage has loops of the same names, some of them without iterations.
TEST(EmptyLoops, NamesThatSeveralStagesUse) {
  const auto rename = [](Schedule& s) {
    s["twice"].compute_root().rename("x", "i").rename("y", "r").fuse("i", "r", "f").split("f", "o", "n", 4);
    s["twice"].update().rename("x", "n").split("n", "o", "i", 4, Tail::Guard).fuse("i", "o", "f");
    s["total"].compute_root().split("i", "o", "n", 4);
    s["total"].update().fuse("r.x", "r.y", "f").split("f", "o", "n", 4).reorder("n", "o", "r.z", "i");
    s["out"].rename("i", "f").split("f", "o", "n", 4);
  };
  run_all(Target::host(), {rename, [&](Schedule& s) {
                             rename(s);
                             s["twice"].vectorize("n");
                             s["twice"].update().parallel("c");
                             s["total"].update().vectorize("n");
                             s["out"].vectorize("n").parallel("o");
                           }});
}

#endif  // CALOTYPE_HAS_LLVM

TEST(EmptyLoops, OfFusedStagesOnAGpu) {
  const auto on_threads = [](Stage s, const std::string& loop) {
    s.split(loop, "b", "t", 4).gpu_blocks("b").gpu_threads("t");
  };
  run_all(Target::interpreter("sm_90a"),
          {[&](Schedule& s) {
             on_threads(s["twice"].compute_root().fuse("x", "y", "f").fuse("f", "c", "g"), "g");
             on_threads(s["twice"].update().fuse("x", "y", "f").fuse("f", "c", "g"), "g");
             s["total"].update().fuse("r.x", "r.y", "f").gpu_blocks("i");
           },
           [&](Schedule& s) {
             on_threads(s["twice"].compute_root().fuse("y", "c", "f"), "f");
             on_threads(s["twice"].update().fuse("y", "c", "f"), "f");
             fuse_reduction(s);
             s["total"].update().gpu_blocks("i");
             on_threads(s["out"], "i");
           }});
}

}  // namespace
}  // namespace calotype
