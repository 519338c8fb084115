// Boundary conditions against index arithmetic written out by hand.

#include "helpers.h"
#include "lang/graph.h"

namespace calotype {
namespace {

using test::random_buffer;

const Var u("u"), v("v");

/// Where coordinate x of an extended row of `n` reads from; -1: nowhere.
using Mapping = std::function<int(int x, int n)>;

int edge(int x, int n) { return x < 0 ? 0 : x >= n ? n - 1 : x; }
int wrap(int x, int n) {
  while (x < 0) x += n;
  return x % n;
}
int outside(int x, int n) { return x < 0 || x >= n ? -1 : x; }
/// Walks from 0 in steps of one, turning back at the ends; with or without staying for a step.
int bounce(int x, int n, bool stay) {
  if (n == 1) return 0;
  int at = 0, direction = 1;
  const int steps = x < 0 ? -x : x;
  if (x < 0 && stay) direction = -1;
  for (int i = 0; i < steps; ++i) {
    const int next = at + direction;
    if (next >= 0 && next < n) {
      at = next;
      continue;
    }
    direction = -direction;
    if (!stay) at += direction;
  }
  return at;
}

using Condition = std::function<Func(const ImageParam&, const std::string&, int)>;

void expect_extends(const Condition& condition, const Mapping& mapping, double exterior = 0) {
  for (const auto& [width, height] : {std::pair{1, 1}, {7, 3}, {2, 5}, {4, 1}, {3, 8}}) {
    const int margin = 19;
    ImageParam image(Int(16), 2, "image");
    Func extended = condition(image, "extended", -1), out("out");
    out(u, v) = extended(u - margin, v - margin);
    const Pipeline p("p", {image}, {{out, {image.width() + 2 * margin, image.height() + 2 * margin}}});
    const Buffer input = random_buffer(Int(16), {width, height}, 7, -1000, 1000);
    const Buffer got = p.evaluate({input}).outputs[0];
    for (int y = 0; y < height + 2 * margin; ++y) {
      for (int x = 0; x < width + 2 * margin; ++x) {
        const int sx = mapping(x - margin, width), sy = mapping(y - margin, height);
        const double expected = sx < 0 || sy < 0 ? exterior : input.value({sx, sy});
        ASSERT_EQ(got.value({x, y}), expected)
            << width << "x" << height << " at " << x - margin << "," << y - margin;
      }
    }
  }
}

TEST(Boundary, RepeatEdge) {
  expect_extends(
      [](const ImageParam& i, const std::string& n, int d) { return boundary::repeat_edge(i, n, d); }, edge);
}
TEST(Boundary, ConstantExterior) {
  expect_extends([](const ImageParam& i, const std::string& n,
                    int d) { return boundary::constant_exterior(i, -5, n, d); },
                 outside, -5);
}
TEST(Boundary, RepeatImage) {
  expect_extends(
      [](const ImageParam& i, const std::string& n, int d) { return boundary::repeat_image(i, n, d); }, wrap);
}
TEST(Boundary, MirrorImage) {
  expect_extends(
      [](const ImageParam& i, const std::string& n, int d) { return boundary::mirror_image(i, n, d); },
      [](int x, int n) { return x < 0 ? bounce(-x - 1, n, true) : bounce(x, n, true); });
}
TEST(Boundary, MirrorInterior) {
  expect_extends(
      [](const ImageParam& i, const std::string& n, int d) { return boundary::mirror_interior(i, n, d); },
      [](int x, int n) { return bounce(x, n, false); });
}

TEST(Boundary, LeavesFurtherDimensionsAlone) {
  ImageParam image(UInt(8), 3, "image");
  Func f = boundary::repeat_edge(image, "f", 1), out("out");
  Var c("c");
  out(u, v, c) = f(u - 2, v, c);
  const Pipeline p("p", {image}, {{out, {image.width() + 4, image.height(), image.channels()}}});
  const Buffer input = random_buffer(UInt(8), {5, 4, 3}, 3, 1, 200);
  const Buffer got = p.evaluate({input}).outputs[0];
  for (int i = 0; i < 9; ++i) EXPECT_EQ(got.value({i, 3, 2}), input.value({edge(i - 2, 5), 3, 2}));
  EXPECT_EQ(p.graph().find_func("f")->stages[0].value.str().find("min(y"), std::string::npos);
  test::expect_algorithm_error("g", "at most 3", [&] { boundary::repeat_edge(image, "g", 4); });
}

using FuncCondition = std::function<Func(const Func&, const std::vector<Expr>&, const std::string&)>;

/// The same of a Func of two coordinates that is defined everywhere, by a box of it.
void expect_extends_func(const FuncCondition& condition, const Mapping& mapping, int exterior = 0) {
  for (const auto& [width, height] : {std::pair{1, 1}, {7, 3}, {2, 5}, {4, 1}, {3, 8}}) {
    const int margin = 19;
    Func ramp("ramp"), out("out");
    ramp(u, v) = cast<int>(u * 3 + v * 100 + 1);
    Func extended = condition(ramp, {width, height}, "extended");
    out(u, v) = extended(u - margin, v - margin);
    const Pipeline p("p", {}, {{out, {width + 2 * margin, height + 2 * margin}}});
    const Buffer got = p.evaluate({}).outputs[0];
    for (int y = 0; y < height + 2 * margin; ++y) {
      for (int x = 0; x < width + 2 * margin; ++x) {
        const int sx = mapping(x - margin, width), sy = mapping(y - margin, height);
        ASSERT_EQ(got.value({x, y}), sx < 0 || sy < 0 ? exterior : sx * 3 + sy * 100 + 1)
            << width << "x" << height << " at " << x - margin << "," << y - margin;
      }
    }
  }
}

using Extents = std::vector<Expr>;

TEST(Boundary, OfFuncs) {
  const auto stays = [](int x, int n) { return x < 0 ? bounce(-x - 1, n, true) : bounce(x, n, true); };
  const auto turns = [](int x, int n) { return bounce(x, n, false); };
  expect_extends_func(
      [](const Func& f, const Extents& e, const std::string& n) { return boundary::repeat_edge(f, e, n); },
      edge);
  expect_extends_func([](const Func& f, const Extents& e,
                         const std::string& n) { return boundary::constant_exterior(f, e, -5, n); },
                      outside, -5);
  expect_extends_func(
      [](const Func& f, const Extents& e, const std::string& n) { return boundary::repeat_image(f, e, n); },
      wrap);
  expect_extends_func(
      [](const Func& f, const Extents& e, const std::string& n) { return boundary::mirror_image(f, e, n); },
      stays);
  expect_extends_func([](const Func& f, const Extents& e,
                         const std::string& n) { return boundary::mirror_interior(f, e, n); },
                      turns);
}

TEST(Boundary, OfFuncsLeavesFurtherDimensionsAlone) {
  Func ramp("ramp"), out("out");
  ramp(u, v) = cast<int>(u + v * 10);
  out(u, v) = boundary::mirror_interior(ramp, {4}, "extended")(u, v - 2);
  const Buffer got = Pipeline("p", {}, {{out, {9, 3}}}).evaluate({}).outputs[0];
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 9; ++x) EXPECT_EQ(got.value({x, y}), bounce(x, 4, false) + (y - 2) * 10);
  test::expect_algorithm_error("g", "at most 2", [&] { boundary::repeat_image(ramp, {1, 2, 3}, "g"); });
}

TEST(Boundary, MarksTheInterior) {
  ImageParam image(UInt(8), 1, "image");
  for (const Func& f : {boundary::repeat_edge(image, "a"), boundary::constant_exterior(image, 0, "b"),
                        boundary::repeat_image(image, "c"), boundary::mirror_image(image, "d"),
                        boundary::mirror_interior(image, "e")}) {
    const Pipeline p("p", {image}, {f});
    EXPECT_TRUE(ir::any_of(p.graph().funcs[0].stages[0].value, [](const Expr& e) {
      return ir::is(e, ir::Op::Likely);
    })) << f.name();
  }
}

}  // namespace
}  // namespace calotype
