// local_laplacian: edge-aware change of detail and of tone. For each of several intensities g the image is
// remapped by a curve that changes differences of less than sigma from g as detail and larger ones as tone;
// the Laplacian pyramid of the result is taken, at each of its points, from the curve of the local intensity.
#include <calotype/calotype.h>
#include <calotype/operator.h>

#include <string>

namespace {

using namespace calotype;

constexpr int kPyramid = 8;      // levels of each pyramid
constexpr int kIntensities = 8;  // remapped images: g = 0, 1/7, ... 1
constexpr int kSteps = 256;      // entries of the table between two intensities
constexpr int kTable = (kIntensities - 1) * kSteps;

// Rounding to integers jumps: arithmetic that could round once instead of twice is strict, so that every
// schedule and target gives the same bits.
Expr mixed(const Expr& a, const Expr& b, const Expr& weight) { return strict_float(a + weight * (b - a)); }

// [1 3 3 1] / 8 along one coordinate, at every other point. The sums times powers of two are exact.
Expr halved(const Expr& a, const Expr& b, const Expr& c, const Expr& d) {
  return (a + d + (b + c) + 2.0f * (b + c)) * 0.125f;
}

/// A pyramid's Funcs have coordinates x, y and what comes after: the intensity, or nothing.
using Rest = std::vector<Expr>;

Expr at(const Func& f, const Expr& x, const Expr& y, const Rest& rest) {
  std::vector<Expr> args{x, y};
  args.insert(args.end(), rest.begin(), rest.end());
  return f.at(args);
}

/// The next coarser level of `f`.
Func downsample(const Func& f, const std::string& name, const Rest& rest) {
  Var x("x"), y("y");
  Func across(name + "_x"), down(name);
  std::vector<Expr> args{x, y};
  args.insert(args.end(), rest.begin(), rest.end());
  across.at(args) = halved(at(f, 2 * x - 1, y, rest), at(f, 2 * x, y, rest), at(f, 2 * x + 1, y, rest),
                           at(f, 2 * x + 2, y, rest));
  down.at(args) = halved(at(across, x, 2 * y - 1, rest), at(across, x, 2 * y, rest),
                         at(across, x, 2 * y + 1, rest), at(across, x, 2 * y + 2, rest));
  return down;
}

// A quarter of the way from the nearer sample to the other neighbour.
Expr quarter(const Expr& near, const Expr& far) { return near + (far - near) * 0.25f; }

/// The next finer level of `f`, by linear interpolation.
Func upsample(const Func& f, const std::string& name, const Rest& rest) {
  Var x("x"), y("y");
  Func along(name + "_y"), up(name);
  std::vector<Expr> args{x, y};
  args.insert(args.end(), rest.begin(), rest.end());
  along.at(args) = quarter(at(f, x, y / 2, rest), at(f, x, y / 2 - 1 + 2 * (y % 2), rest));
  up.at(args) = quarter(at(along, x / 2, y, rest), at(along, x / 2 - 1 + 2 * (x % 2), y, rest));
  return up;
}

std::string level(const char* name, int j) { return name + std::to_string(j); }

/// What the curve adds to an intensity that lies i / kSteps intensities above g: with d that distance,
/// sign(d) * (sigma * (|d| / sigma)^alpha - |d|) up to sigma, sign(d) * (beta - 1) * (|d| - sigma) beyond it.
/// Distances of less than a hundredth are noise, and stay; from there to two hundredths the power comes in.
/// It is made in f64, where targets whose power differs in its last bits still agree when it is rounded.
Func make_table(const Param& alpha, const Param& beta, const Param& sigma) {
  Var i("i");
  Func table("table");
  const Expr distance = cast<double>(abs(cast<int>(i))) / double(kTable);
  const Expr width = cast<double>(sigma);
  const Expr power = width * pow(max(distance, 1e-9) / width, cast<double>(alpha));
  const Expr t = clamp((distance - 0.01) / 0.01, 0.0, 1.0), ease = t * t * (3.0 - 2.0 * t);
  const Expr detail = ease * (power - distance), tone = (cast<double>(beta) - 1.0) * (distance - width);
  const Expr added = select(distance <= width, detail, tone);
  table(i) = cast<float>(select(i < 0, -added, added));
  return table;
}

Pipeline local_laplacian(const OperatorTypes& types) {
  const Type type = types.all();
  const float largest = type == UInt(8) ? 255.0f : 65535.0f;
  Dim W("W"), H("H");
  ImageParam image(type, {W, H, Expr(3)}, "image");
  Param alpha(Float(32), "alpha", 0.5), beta(Float(32), "beta", 1.0), sigma(Float(32), "sigma", 0.2);
  Var x("x"), y("y"), c("c"), k("k");
  const Rest none, intensity{Expr(k)};

  const Func table = make_table(alpha, beta, sigma);
  Func edged = boundary::repeat_edge(image, "edged", 2);
  Func gray("gray");
  auto sample = [&](const Expr& channel) { return cast<float>(edged(x, y, channel)) * (1.0f / largest); };
  gray(x, y) = strict_float(0.299f * sample(0) + 0.587f * sample(1) + 0.114f * sample(2));

  // The remapped images, one for each intensity k, and their Gaussian and Laplacian pyramids.
  Func remapped("gauss0");
  const Expr step = clamp(cast<int>(gray(x, y) * float(kTable)), 0, kTable);
  remapped(x, y, k) = gray(x, y) + table(step - kSteps * cast<int>(k));
  std::vector<Func> gauss{remapped}, gray_gauss{gray}, laplace, result;
  for (int j = 1; j < kPyramid; ++j) {
    gauss.push_back(downsample(gauss[j - 1], level("gauss", j), intensity));
    gray_gauss.push_back(downsample(gray_gauss[j - 1], level("gray", j), none));
  }
  for (int j = 0; j < kPyramid; ++j) {
    Func own(level("laplace", j));
    if (j + 1 < kPyramid)
      own(x, y, k) = gauss[j](x, y, k) - upsample(gauss[j + 1], level("gauss_up", j), intensity)(x, y, k);
    else
      own(x, y, k) = gauss[j](x, y, k);
    laplace.push_back(own);
  }

  // At each point of each level: between the two intensities nearest to the image's own there.
  for (int j = 0; j < kPyramid; ++j) {
    Func own(level("chosen", j));
    const Expr place = gray_gauss[j](x, y) * float(kIntensities - 1);
    const Expr below = clamp(cast<int>(place), 0, kIntensities - 2);
    own(x, y) =
        mixed(laplace[j](x, y, below), laplace[j](x, y, below + 1), strict_float(place - cast<float>(below)));
    result.push_back(own);
  }
  // The pyramid is put together, coarsest level first.
  for (int j = kPyramid - 2; j >= 0; --j) {
    Func own(level("result", j));
    own(x, y) = upsample(result[j + 1], level("result_up", j), none)(x, y) + result[j](x, y);
    result[j] = own;
  }

  // Colours keep their ratios to the intensity; `offset` keeps black from being divided by.
  Func out("out");
  const float offset = 0.01f;
  const Expr color = cast<float>(image(x, y, c)) * (1.0f / largest);
  const Expr scaled = (result[0](x, y) + offset) * (color + offset) / (gray(x, y) + offset) - offset;
  out(x, y, c) = cast(type, round(clamp(strict_float(scaled * largest), 0.0f, largest)));
  return Pipeline("local_laplacian", {image, alpha, beta, sigma}, {Output(out, {W, H, Expr(3)})});
}

CALOTYPE_OPERATOR(local_laplacian)
    .describe("local Laplacian filter: details by the power alpha, tones by the factor beta, 8 levels")
    .types({"u8", "u16"})
    .algorithm(local_laplacian);

}  // namespace
