// camera_pipe for Halide: raw images of 10 bits with the mosaic GR / BG to u8; 5000 K, gamma 2.2, contrast
// 25, sharpening 1.
#include "halide_side.h"

namespace {

using namespace Halide;

constexpr int kBlack = 64, kRange = 1023 - kBlack;
constexpr float kTemperature = 5000, kContrast = 25, kGamma = 2.2f;
constexpr float kUnleak[3][3] = {{1.2892562f, -0.2420307f, -0.0472255f},
                                 {-0.1983471f, 1.4108619f, -0.2125148f},
                                 {-0.0330579f, -0.3600945f, 1.3931523f}};
Var x("x"), y("y"), c("c"), p("p"), i("i"), yo("yo"), yi("yi"), yh("yh"), yp("yp"), xh("xh"), xp("xp");

Expr average(Expr a, Expr b) { return rounding_halving_add(a, b); }
Expr smoother(Expr a, Expr b, Expr d, Expr e) {
  return select(absd(a, b) < absd(d, e), average(a, b), average(d, e));
}

Func color_matrix() {
  const float warm[3] = {0.95f, 1.00f, 0.45f}, cold[3] = {0.55f, 1.00f, 0.85f};
  const float place = (1.0f / kTemperature - 1.0f / 7000.0f) * (1.0f / (1.0f / 3200.0f - 1.0f / 7000.0f));
  Func matrix("matrix");
  std::vector<Expr> rows;
  for (int to = 0; to < 3; ++to) {
    std::vector<Expr> entries;
    for (int from = 0; from < 3; ++from) {
      const float balance = 1.0f / cold[from] + place * (1.0f / warm[from] - 1.0f / cold[from]);
      entries.push_back(cast<int16_t>(round(Expr(kUnleak[to][from] * balance * 256.0f))));
    }
    rows.push_back(mux(i, entries));
  }
  matrix(i, c) = mux(c, rows);
  return matrix;
}

Func tone_curve() {
  Func curve("curve");
  Expr v = pow(cast<double>(i) / Expr(double(kRange)), Expr(1.0 / double(kGamma)));
  Expr slope = Expr(2.0) - pow(Expr(2.0), Expr(kContrast / 100.0)), bend = Expr(2.0) - Expr(2.0) * slope;
  Expr rest = Expr(1.0) - v;
  Expr curved =
      select(v > Expr(0.5), Expr(1.0) - (bend * rest * rest + slope * rest), bend * v * v + slope * v);
  curve(i) = cast<uint8_t>(round(clamp(curved * Expr(255.0), Expr(0.0), Expr(255.0))));
  return curve;
}

peers::HalideOperator camera_pipe(const peers::Job& job) {
  const int width = job.size("W"), height = job.size("H");
  ImageParam raw(UInt(16), 2, "raw");
  Func plane("plane"), samples("samples");
  auto inside = [](Expr at, Expr parity, Expr size) {
    return clamp(likely(2 * at + parity), parity, max(size - 1 - (size - 1 - parity) % 2, parity));
  };
  Expr sample = raw(inside(x, p % 2, raw.width()), inside(y, p / 2, raw.height()));
  plane(x, y, p) = cast<int16_t>(min(saturating_sub(sample, cast<uint16_t>(kBlack)), cast<uint16_t>(kRange)));
  samples(x, y, p) = min(plane(x, y, p),
                         max(plane(x - 1, y, p), plane(x + 1, y, p), plane(x, y - 1, p), plane(x, y + 1, p)));

  auto gr = [&](Expr px, Expr py) { return samples(px, py, 0); };
  auto r = [&](Expr px, Expr py) { return samples(px, py, 1); };
  auto b = [&](Expr px, Expr py) { return samples(px, py, 2); };
  auto gb = [&](Expr px, Expr py) { return samples(px, py, 3); };
  Func green_r("green_r"), green_b("green_b"), red("red_minus"), blue("blue_minus");
  green_r(x, y) = smoother(gr(x, y), gr(x + 1, y), gb(x, y - 1), gb(x, y));
  green_b(x, y) = smoother(gb(x - 1, y), gb(x, y), gr(x, y), gr(x, y + 1));
  red(x, y) = r(x, y) - green_r(x, y);
  blue(x, y) = b(x, y) - green_b(x, y);
  std::vector<Expr> red_at{
      gr(x, y) + average(red(x - 1, y), red(x, y)), r(x, y),
      green_b(x, y) + smoother(red(x, y), red(x - 1, y + 1), red(x - 1, y), red(x, y + 1)),
      gb(x, y) + average(red(x, y), red(x, y + 1))};
  std::vector<Expr> green_at{gr(x, y), green_r(x, y), green_b(x, y), gb(x, y)};
  std::vector<Expr> blue_at{
      gr(x, y) + average(blue(x, y - 1), blue(x, y)),
      green_r(x, y) + smoother(blue(x, y), blue(x + 1, y - 1), blue(x + 1, y), blue(x, y - 1)), b(x, y),
      gb(x, y) + average(blue(x, y), blue(x + 1, y))};
  Func quarters("quarters"), mosaic("demosaiced");
  quarters(x, y, p, c) = mux(c, {mux(p, red_at), mux(p, green_at), mux(p, blue_at)});
  mosaic(x, y, c) = quarters(x / 2, y / 2, x % 2 + 2 * (y % 2), c);

  Func matrix = color_matrix(), curve = tone_curve(), corrected("corrected"), toned("toned");
  auto part = [&](int from) { return cast<int>(mosaic(x, y, from)) * cast<int>(matrix(from, c)); };
  corrected(x, y, c) = cast<int16_t>(clamp((part(0) + part(1) + part(2)) >> 8, 0, kRange));
  toned(x, y, c) = curve(clamp(corrected(x, y, c), 0, kRange));
  Func soft_y("soft_y"), soft("soft"), photo("photo");
  auto soften = [](Expr a, Expr m, Expr d) { return average(average(a, d), m); };
  soft_y(x, y, c) = soften(toned(x, y - 1, c), toned(x, y, c), toned(x, y + 1, c));
  soft(x, y, c) = soften(soft_y(x - 1, y, c), soft_y(x, y, c), soft_y(x + 1, y, c));
  Expr own = cast<int16_t>(toned(x, y, c)), detail = own - cast<int16_t>(soft(x, y, c));
  photo(x, y, c) = saturating_cast<uint8_t>(own + ((detail * cast<int16_t>(32)) >> 5));

  const int lanes = job.knob("VECTOR", 32), bytes = job.knob("BYTES", 64), strip = job.knob("STRIP", 64);
  matrix.compute_root();
  curve.compute_root().vectorize(i, 8);
  if (job.schedule != "strips" && job.schedule != "narrow") peers::no_schedule(job, "strips, narrow");
  // Strips of rows, two rows at a time; the places of the mosaic one after the other. "narrow": shorter
  // strips.
  photo.compute_root()
      .bound(c, 0, 3)
      .split(y, yo, yi, job.schedule == "narrow" ? 32 : strip)
      .split(yi, yh, yp, 2)
      .reorder(x, yp, c, yh, yo)
      .vectorize(x, bytes)
      .parallel(yo);
  soft_y.compute_at(photo, yh).vectorize(x, bytes);
  toned.store_at(photo, yo)
      .compute_at(photo, yh)
      .align_bounds(x, 2)
      .align_bounds(y, 2)
      .split(x, xh, xp, 2)
      .split(y, yi, yp, 2)
      .reorder(xp, xh, yp, c, yi)
      .unroll(xp)
      .unroll(yp)
      .vectorize(xh, lanes);
  quarters.compute_at(toned, yi)
      .reorder(p, c, x, y)
      .bound(p, 0, 4)
      .bound(c, 0, 3)
      .unroll(p)
      .unroll(c)
      .vectorize(x, lanes);
  for (Func stage : {green_r, green_b, samples})
    stage.store_at(photo, yo).compute_at(photo, yh).vectorize(x, lanes);
  samples.bound(p, 0, 4).reorder(p, x, y).unroll(p);
  return {Pipeline(photo), {raw}, {{width, height}}, UInt(8), {width, height, 3}};
}

}  // namespace

int main(int argc, char** argv) {
  return peers::serve_or_fail([&] {
    const peers::Job job = peers::parse_job(argc, argv, 1);
    return peers::halide_side([job] { return camera_pipe(job); }, job);
  });
}
