// Directives that edit the graph: copies, clones and early inlining, alone and through each other. Results
// and stages as the reference has them, on every target.

#include <functional>

#include "support/run.h"

namespace calotype {
namespace {

using testing::expect_matches;
using testing::expect_stages_match;
using testing::random_buffer;
using testing::targets;

/// sums is a Tuple with an update that reads itself; two Funcs of different reach read it, and the output
/// both.
Pipeline branching() {
  Dim W("W"), H("H");
  ImageParam in(Int(32), {W, H}, "in");
  Var x("x"), y("y");
  RDom k(0, 3, "k");
  Func edged = boundary::repeat_edge(in, "edged");
  Func sums("sums"), up("up"), down("down"), out("out");
  sums(x, y) = Tuple(edged(x, y), 1);
  sums(x, y) = Tuple(sums(x, y)[0] + edged(x + k, y) * cast<int>(k + 1), sums(x, y)[1] * 2 - edged(x, y - k));
  up(x, y) = sums(x, y - 1)[0] + sums(x, y)[1];
  down(x, y) = sums(x + 1, y)[0] - sums(x, y + 2)[1];
  out(x, y) = up(x, y) * 3 + down(x - 1, y) - sums(x, y)[0];
  return Pipeline("branching", {in}, {Output(out, {W, H})});
}

using Edit = std::function<void(Schedule&, const Target&)>;

void run_all(const Pipeline& p, const std::vector<Edit>& edits) {
  const std::int64_t sizes[][2] = {{1, 1}, {7, 5}, {18, 9}};
  for (const Target& target : targets())
    for (std::size_t e = 0; e < edits.size(); ++e)
      for (const auto& [w, h] : sizes) {
        SCOPED_TRACE("edit " + std::to_string(e));
        Schedule s;
        edits[e](s, target);
        const std::vector<Buffer> inputs = {random_buffer(Int(32), {w, h}, 5)};
        expect_matches(p, s, target, inputs, {Buffer(Int(32), {w, h})});
        expect_stages_match(p, s, target, inputs);
        if (::testing::Test::HasFailure()) return;
      }
}

void on_host(const Target& target, const std::function<void()>& directives) {
  if (!target.is_gpu()) directives();
}

TEST(Clones, AreComputedApart) {
  run_all(branching(), {
                           [](Schedule& s, const Target&) { s.clone_in("sums", {"up"}); },
                           [](Schedule& s, const Target&) { s.clone_in("sums"); },
                           [](Schedule& s, const Target& t) {
                             const Stage clone = s.clone_in("sums", {"down"});
                             s["down"].compute_root();
                             on_host(t, [&] {
                               s["down"].vectorize("x", 4);
                               s[clone].compute_at("down", "y").vectorize("x", 8);
                               s[clone].update().unroll("k").vectorize("x", 4);
                             });
                           },
                           [](Schedule& s, const Target& t) {
                             s.clone_in("edged", {"sums"});
                             s.clone_in("sums", {"up", "down"});
                             s.clone_in("edged.clone(sums)", {"sums.clone(up,down)"});
                             on_host(t, [&] {
                               s["out"].split("y", "yo", "yi", 4).reorder("x", "yi", "yo");
                               s["sums.clone(up,down)"].compute_at("out", "yo");
                               s["edged.clone(sums).clone(sums.clone(up,down))"].compute_at("out", "yo");
                             });
                           },
                       });
}

TEST(Clones, AndCopiesGoTogether) {
  run_all(branching(), {
                           [](Schedule& s, const Target&) {
                             s.in("sums", {"up"});
                             s.clone_in("sums", {"sums.in(up)"});
                           },
                           [](Schedule& s, const Target&) {
                             s.clone_in("sums", {"up"});
                             s.in("sums.clone(up)", {"up"});
                             s.in("in", {"edged"});
                           },
                       });
}

/// Copies of copies, each for some of the readers: every reader gets its values through its own chain.
TEST(Copies, ReachThroughCopies) {
  run_all(branching(), {
                           [](Schedule& s, const Target&) {
                             s.in("edged", {"sums"});
                             s.in("sums", {"up"});
                             s.in("sums", {"down", "out"});
                             s.in("edged.in(sums)");
                           },
                           [](Schedule& s, const Target& t) {
                             const Stage all = s.in("sums");
                             const Stage one = s.in(all.name(), {"up"});
                             s["up"].compute_root();
                             on_host(t, [&] {
                               s[one].compute_at("up", "y").vectorize("x", 4);
                               s[all].vectorize("y", 2);
                             });
                           },
                       });
}

TEST(EagerInlining, GivesTheSameValues) {
  run_all(branching(), {
                           [](Schedule& s, const Target&) { s.eager_inline("edged"); },
                           [](Schedule& s, const Target&) {
                             s.eager_inline("up").eager_inline("down");
                             s.clone_in("sums");
                           },
                           [](Schedule& s, const Target&) {
                             s.eager_inline("edged");
                             s.in("in", {"sums"});
                             s.clone_in("sums", {"down"});
                           },
                       });
}

TEST(EagerInlining, GoesBeforeRfactor) {
  Dim N("N"), R("R");
  ImageParam in(Int(32), {N, R}, "in");
  Var x("x"), y("y");
  RDom k(0, N, "k");
  Func twice("twice"), total("total"), out("out");
  twice(x, y) = in(x, y) * 2 + 1;
  total(y) += twice(k, y) * twice(k, y);
  out(y) = total(y);
  const Pipeline squares("squares", {in}, {Output(out, {R})});
  for (const Target& target : targets())
    for (const std::int64_t n : {1, 7, 37}) {
      Schedule s;
      s.eager_inline("twice");
      s["total"].update().split("k", "ko", "ki", 4).rfactor({{"ki", "lane"}}, "part");
      s[s.clone_in("part", {"total"})].compute_root();
      if (target.is_gpu()) s["total"].update().gpu_blocks("y");
      expect_matches(squares, s, target, {random_buffer(Int(32), {n, 5}, 3)}, {Buffer(Int(32), {5})});
    }
}

}  // namespace
}  // namespace calotype
