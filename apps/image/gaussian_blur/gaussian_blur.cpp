// gaussian_blur: a Gaussian of any width at the same cost a sample, as a recursive filter: down the columns
// and up again, then the same on the transposed image.
#include <calotype/calotype.h>
#include <calotype/operator.h>

#include <string>

namespace {

using namespace calotype;

/// Coefficients of the filter y[n] = gain * x[n] + a[0] * y[n - 1] + a[1] * y[n - 2] + a[2] * y[n - 3], as a
/// table of one dimension: a, the gain, then row by row the matrix that gives the three values before the way
/// back. The filter is that of Young and van Vliet ("Recursive implementation of the Gaussian filter", Signal
/// Processing 44, 1995), the matrix that of Triggs and Sdika ("Boundary conditions for Young-van Vliet
/// recursive filtering", IEEE Transactions on Signal Processing 54, 2006). In f64, since its entries are
/// differences of numbers that are nearly equal.
Func coefficients(const Param& sigma) {
  const Expr s = max(cast<double>(sigma), 0.5);
  const Expr q =
      select(s >= 2.5, 0.98711 * s - 0.96330, 3.97156 - 4.14554 * sqrt(1.0 - 0.26891 * min(s, 3.5)));
  const Expr b0 = 1.57825 + q * (2.44413 + q * (1.4281 + q * 0.422205));
  const Expr a1 = q * (2.44413 + q * (2.85619 + q * 1.26661)) / b0, a2 = -q * q * (1.4281 + q * 1.26661) / b0,
             a3 = q * q * q * 0.422205 / b0;
  const Expr gain = 1.0 - (a1 + a2 + a3);
  const Expr scale = gain / ((1.0 + a1 - a2 + a3) * (1.0 - a1 - a2 - a3) * (1.0 + a2 + (a1 - a3) * a3));
  const Expr matrix[9] = {1.0 - a3 * a1 - a3 * a3 - a2,
                          (a3 + a1) * (a2 + a3 * a1),
                          a3 * (a1 + a3 * a2),
                          a1 + a3 * a2,
                          (1.0 - a2) * (a2 + a3 * a1),
                          (1.0 - a3 * a1 - a3 * a3 - a2) * a3,
                          a3 * a1 + a2 + a1 * a1 - a2 * a2,
                          a1 * a2 + a3 * a2 * a2 - a1 * a3 * a3 - a3 * a3 * a3 - a3 * a2 + a3,
                          a3 * (a1 + a3 * a2)};
  std::vector<Expr> all{a1, a2, a3, gain};
  for (const Expr& entry : matrix) all.push_back(scale * entry);
  Var i("i");
  Func table("coefficients");
  table(i) = cast<float>(mux(i, all));
  return table;
}

/// A Func of x, y, c filtered along y, which has `size` samples; beyond its ends the last one is repeated.
Func filtered(const Func& in, const Dim& size, const Func& table, const std::string& name) {
  Var x("x"), y("y"), c("c");
  auto a = [&](int i) { return table(i); };
  // Down: what would have come before is the first sample, for ever.
  Func down(name + "_down"), up(name + "_up");
  RDom r(0, size, name + "_r"), q(0, max(size, 1) - 1, name + "_q");
  down(x, y, c) = select(y < 0, in(x, 0, c), undef<float>());
  down(x, r, c) =
      a(3) * in(x, r, c) + a(0) * down(x, r - 1, c) + a(1) * down(x, r - 2, c) + a(2) * down(x, r - 3, c);
  // Up: the last value and the two beyond it follow from the last three on the way down.
  const Expr last = in(x, size - 1, c), row = clamp(y + 1 - size, 0, 2);
  auto from_end = [&](int i) { return table(4 + 3 * row + i) * (down(x, size - 1 - i, c) - last); };
  up(x, y, c) = select(y >= size - 1, last + from_end(0) + from_end(1) + from_end(2), undef<float>());
  const Expr at = size - 2 - q;
  up(x, at, c) =
      a(3) * down(x, at, c) + a(0) * up(x, at + 1, c) + a(1) * up(x, at + 2, c) + a(2) * up(x, at + 3, c);
  return up;
}

Pipeline gaussian_blur(const OperatorTypes& types) {
  const Type type = types.all();
  Dim W("W"), H("H"), C("C");
  ImageParam image(type, {W, H, C}, "image");
  Param sigma(Float(32), "sigma", 5.0);
  Var x("x"), y("y"), c("c");

  const Func table = coefficients(sigma);
  Func samples("samples"), turned("turned"), out("out");
  samples(x, y, c) = cast<float>(image(x, y, c));
  const Func columns = filtered(samples, H, table, "columns");
  turned(y, x, c) = columns(x, y, c);
  const Func rows = filtered(turned, W, table, "rows");
  if (type.is_float())
    out(x, y, c) = rows(y, x, c);
  else
    out(x, y, c) = saturating_cast(type, round(rows(y, x, c)));
  return Pipeline("gaussian_blur", {image, sigma}, {Output(out, {W, H, C})});
}

CALOTYPE_OPERATOR(gaussian_blur)
    .describe("a Gaussian of any sigma from 0.5 as a recursive filter, along columns and then rows")
    .types({"f32"})
    .algorithm(gaussian_blur)
    .least_rank("image", 2);

}  // namespace
