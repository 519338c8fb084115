// resize: an image at any other size, by the cubic kernel of Catmull and Rom. Where a side shrinks the kernel
// is as much wider, so that no detail is left that the smaller image cannot hold.
#include <calotype/calotype.h>
#include <calotype/operator.h>

#include <string>

namespace {

using namespace calotype;

// Piecewise cubic, 1 at 0 and 0 at the other integers; 0 beyond 2.
Expr cubic(const Expr& distance) {
  const Expr t = abs(distance);
  return strict_float(select(t < 1.0f, (1.5f * t - 2.5f) * t * t + 1.0f, t < 2.0f,
                             ((2.5f - 0.5f * t) * t - 4.0f) * t + 2.0f, 0.0f));
}

/// How samples along one coordinate are made of others.
struct Axis {
  Func weight, total;  ///< weight(k, i) of the k-th sample that i is made of; total(i), their sum
  RDom taps;
  Dim from, to;

  /// The coordinate of the k-th sample for i. Positions are at the middles of samples; all is whole numbers,
  /// in units of 1 / (2 to).
  Expr sample(const Expr& i, const Expr& k) const {
    return (middle(i, from, to) - 4 * max(from, to)) / (2 * to) + 1 + k;
  }
  static Expr middle(const Expr& i, const Dim& from, const Dim& to) { return (2 * i + 1) * from - to; }
};

Axis make_axis(const std::string& name, const Dim& from, const Dim& to) {
  // The kernel is 4 samples wide, or 4 of those that it makes.
  Axis axis{Func("weight_" + name), Func("total_" + name),
            RDom(0, max(4, (4 * from + to - 1) / to), "taps_" + name), from, to};
  Var i("i"), k("k");
  const Expr distance = axis.sample(i, k) * (2 * to) - Axis::middle(i, from, to);
  axis.weight(k, i) = cubic(strict_float(cast<float>(distance) / cast<float>(2 * max(from, to))));
  axis.total(i) += axis.weight(axis.taps, i);
  return axis;
}

Pipeline resize(const OperatorTypes& types) {
  const Type type = types.all();
  Dim W("W"), H("H"), C("C"), OW("OW"), OH("OH");
  ImageParam image(type, {W, H, C}, "image");
  Var x("x"), y("y"), c("c");

  const Axis across = make_axis("x", W, OW), down = make_axis("y", H, OH);
  // Sums are strict, in the order of the taps: rounding to integers jumps.
  Func rows("rows"), columns("columns"), out("out");
  const Expr along_x = clamp(across.sample(x, across.taps), 0, W - 1);
  rows(x, y, c) = 0.0f;
  rows(x, y, c) =
      strict_float(rows(x, y, c) + across.weight(across.taps, x) * cast<float>(image(along_x, y, c)));
  const Expr along_y = clamp(down.sample(y, down.taps), 0, H - 1);
  columns(x, y, c) = 0.0f;
  columns(x, y, c) = strict_float(columns(x, y, c) + down.weight(down.taps, y) * rows(x, along_y, c));
  const Expr value = strict_float(columns(x, y, c) / (across.total(x) * down.total(y)));
  if (type.is_float())
    out(x, y, c) = value;
  else
    out(x, y, c) = saturating_cast(type, round(value));
  return Pipeline("resize", {image}, {Output(out, {OW, OH, C})});
}

CALOTYPE_OPERATOR(resize)
    .describe("an image at size OW x OH: bicubic, with antialiasing where it shrinks")
    .types({"u8", "f32"})
    .algorithm(resize)
    .least_rank("image", 2);

}  // namespace
