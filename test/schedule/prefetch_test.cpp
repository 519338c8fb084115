// prefetch.
#include <fmt/format.h>

#include <tuple>

#include "helpers.h"

namespace calotype::test {

TEST(Prefetch, IsRecorded) {
  Schedule s;
  s["by"].serial("y").prefetch("image", "y", "y", 2);
  const auto applied = apply(blur(), s);
  const auto& prefetches = applied.of(applied.graph.find_func("by")->id).stages[0].prefetches;
  ASSERT_EQ(prefetches.size(), 1u);
  EXPECT_EQ(prefetches[0].of->name, "image");
  EXPECT_EQ(applied.loop(prefetches[0].at).name, "y");
  EXPECT_EQ(prefetches[0].offset, 2);
  expect_round_trip(blur(), s);
  expect_spelling(
      blur(), s, R"({ "stage": "by", "do": "prefetch", "of": "image", "at": "y", "from": "y", "offset": 2 })",
      R"(s["by"].prefetch("image", "y", "y", 2);)");
}

TEST(Prefetch, SaysWhatHappensBeyondTheEnd) {
  for (const auto& [bounds, text, cpp] :
       {std::tuple{PrefetchBounds::Clamp, "clamp", "Clamp"}, {PrefetchBounds::Guard, "guard", "Guard"}}) {
    Schedule s;
    s["by"].serial("y").prefetch("image", "y", "y", 2, bounds);
    const auto applied = apply(blur(), s);
    EXPECT_EQ(applied.of(applied.graph.find_func("by")->id).stages[0].prefetches[0].bounds, bounds);
    expect_round_trip(blur(), s);
    expect_spelling(
        blur(), s,
        fmt::format(R"({{ "stage": "by", "do": "prefetch", "of": "image", "at": "y", "from": "y", )"
                    R"("offset": 2, "bounds": "{}" }})",
                    text),
        fmt::format(R"(s["by"].prefetch("image", "y", "y", 2, PrefetchBounds::{});)", cpp));
  }
}

TEST(Prefetch, IsRefused) {
  Schedule kernel = tiled(), inside, vector, gone, unknown, unread, computed_inside, inlined;
  kernel["by"].prefetch("image", "xo", "xo", 1);
  expect_refused(blur(), kernel, {"kernels have no prefetch"}, gpu);
  inside["by"].prefetch("image", "y", "x", 2);
  expect_refused(blur(), inside, {"the loop 'x' runs inside 'y'", "'y', or a loop around it"});
  vector["by"].split("x", "xo", "xi", 8).vectorize("xi").prefetch("image", "xi", "xo", 2);
  expect_refused(blur(), vector, {"the vector loop 'xi' has no place for a prefetch"});
  gone["by"].prefetch("image", "y", "y", 2).split("y", "yo", "yi", 4);
  expect_refused(blur(), gone, {"the loop 'y' is gone"});
  unknown["by"].prefetch("picture", "y", "y", 2);
  expect_refused(blur(), unknown, {"there is no Func or input 'picture'", "Funcs and inputs: bx, by, image"});
  unread["bx"].compute_root();
  unread["by"].serial("y").prefetch("image", "y", "y", 2);
  expect_refused(blur(), unread, {"nothing inside 'y' reads 'image'"});
  computed_inside["bx"].compute_at("by", "y");
  computed_inside["by"].serial("y").prefetch("bx", "y", "y", 2);
  expect_refused(blur(), computed_inside, {"'bx' is computed inside 'y'"});
  inlined["bx"].compute_inline();
  inlined["by"].serial("y").prefetch("bx", "y", "y", 2);
  expect_refused(blur(), inlined, {"'bx' is inlined and has no memory"});
}

}  // namespace calotype::test
