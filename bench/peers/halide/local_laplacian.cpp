// local_laplacian for Halide: 8 remapped images, pyramids of 8 levels, details by a power, u8 or u16.
#include <string>

#include "halide_side.h"

namespace {

using namespace Halide;

constexpr int kPyramid = 8, kIntensities = 8, kSteps = 256, kTable = (kIntensities - 1) * kSteps;
Var x("x"), y("y"), c("c"), k("k"), i("i"), yo("yo"), yi("yi"), xh("xh"), xp("xp");

std::string level(const char* name, int j) { return name + std::to_string(j); }

Expr halved(Expr a, Expr b, Expr c, Expr d) { return (a + d + (b + c) + 2.0f * (b + c)) * 0.125f; }
Expr quarter(Expr near, Expr far) { return near + (far - near) * 0.25f; }

/// A level made of another, with the stage between its two passes.
struct Resampled {
  Func between, out;
};

/// The coordinates after x and y: the remapped image, or none.
using Rest = std::vector<Var>;

std::vector<Expr> at(Expr px, Expr py, const Rest& rest) {
  std::vector<Expr> args{px, py};
  args.insert(args.end(), rest.begin(), rest.end());
  return args;
}
std::vector<Var> arguments(const Rest& rest) {
  std::vector<Var> args{x, y};
  args.insert(args.end(), rest.begin(), rest.end());
  return args;
}

Resampled downsample(Func f, const std::string& name, const Rest& rest) {
  Func across(name + "_x"), down(name);
  auto in_x = [&](Expr px) { return f(at(px, y, rest)); };
  auto in_y = [&](Expr py) { return across(at(x, py, rest)); };
  across(arguments(rest)) = halved(in_x(2 * x - 1), in_x(2 * x), in_x(2 * x + 1), in_x(2 * x + 2));
  down(arguments(rest)) = halved(in_y(2 * y - 1), in_y(2 * y), in_y(2 * y + 1), in_y(2 * y + 2));
  return {across, down};
}

Resampled upsample(Func f, const std::string& name, const Rest& rest) {
  Func along(name + "_y"), up(name);
  along(arguments(rest)) = quarter(f(at(x, y / 2, rest)), f(at(x, y / 2 - 1 + 2 * (y % 2), rest)));
  up(arguments(rest)) = quarter(along(at(x / 2, y, rest)), along(at(x / 2 - 1 + 2 * (x % 2), y, rest)));
  return {along, up};
}

Func make_table(float alpha, float beta, float sigma) {
  Func table("table");
  Expr distance = cast<double>(abs(i)) / Expr(double(kTable)), width = Expr(double(sigma));
  Expr power = width * pow(max(distance, Expr(1e-9)) / width, Expr(double(alpha)));
  Expr t = clamp((distance - Expr(0.01)) / Expr(0.01), Expr(0.0), Expr(1.0));
  Expr ease = t * t * (Expr(3.0) - Expr(2.0) * t);
  Expr detail = ease * (power - distance), tone = Expr(double(beta) - 1.0) * (distance - width);
  Expr added = select(distance <= width, detail, tone);
  table(i) = cast<float>(select(i < 0, -added, added));
  return table;
}

struct Stages {
  Func table, gray;
  std::vector<Func> gray_gauss, gauss, across, result;
  Func out;
};

/// "gpu": every level at root, all intensities of a point in one thread. "gpu_blocks": the intensities in
/// blocks of their own, and the remapped image of the finest level and its sums along x in shared memory.
void schedule_gpu(const peers::Job& job, Stages s) {
  Var xo("xo"), xi("xi");
  const int block_width = job.knob("WIDTH", 32), block_height = job.knob("HEIGHT", 8);
  const auto tiles = [&](Func f) {
    f.compute_root().gpu_tile(x, y, xo, yo, xi, yi, block_width, block_height);
  };
  s.table.compute_root().gpu_tile(i, xo, xi, 256);
  tiles(s.gray);
  for (int j = 1; j < kPyramid; ++j) {
    tiles(s.gray_gauss[j]);
    if (job.schedule == "gpu") {
      s.gauss[j].reorder(k, x, y);
      tiles(s.gauss[j]);
    } else if (job.schedule == "gpu_blocks") {
      tiles(s.gauss[j]);
      s.gauss[j].gpu_blocks(k);
    } else {
      peers::no_schedule(job, "levels, fused, gpu, gpu_blocks");
    }
  }
  if (job.schedule == "gpu_blocks") {
    for (Func f : {Func(s.gauss[0].in(s.across[1])), s.across[1]}) {
      Var xs("xs"), xt("xt"), ys("ys"), yt("yt");
      f.compute_at(s.gauss[1], xo)
          .split(x, xs, xt, block_width)
          .split(y, ys, yt, block_height)
          .reorder(xs, ys, xt, yt)
          .gpu_threads(xt, yt);
    }
  }
  for (int j = kPyramid - 1; j > 0; --j) tiles(s.result[j]);
  s.out.bound(c, 0, 3).reorder(c, x, y).unroll(c);
  tiles(s.out);
  s.result[0].compute_at(s.out, xi);
}

peers::HalideOperator local_laplacian(const peers::Job& job) {
  const Type type = peers::halide_type(job.type);
  const float largest = type == UInt(8) ? 255.0f : 65535.0f;
  const int width = job.size("W"), height = job.size("H");
  ImageParam image(type, 3, "image");

  Func table = make_table(0.5f, 1.0f, 0.2f);
  Func edged = BoundaryConditions::repeat_edge(image, {{0, image.width()}, {0, image.height()}});
  Func gray("gray"), remapped("gauss0");
  auto sample = [&](int channel) { return cast<float>(edged(x, y, channel)) * (1.0f / largest); };
  gray(x, y) = 0.299f * sample(0) + 0.587f * sample(1) + 0.114f * sample(2);
  Expr step = clamp(cast<int>(gray(x, y) * float(kTable)), 0, kTable);
  remapped(x, y, k) = gray(x, y) + table(step - kSteps * k);

  std::vector<Func> gauss{remapped}, gray_gauss{gray}, across{Func()}, gray_across{Func()};
  for (int j = 1; j < kPyramid; ++j) {
    Resampled down = downsample(gauss[j - 1], level("gauss", j), {k});
    across.push_back(down.between);
    gauss.push_back(down.out);
    down = downsample(gray_gauss[j - 1], level("gray", j), {});
    gray_across.push_back(down.between);
    gray_gauss.push_back(down.out);
  }
  std::vector<Func> gauss_up(kPyramid), result(kPyramid), result_up(kPyramid);
  for (int j = kPyramid - 1; j >= 0; --j) {
    Func laplace(level("laplace", j)), chosen(level("chosen", j));
    if (j + 1 < kPyramid) {
      gauss_up[j] = upsample(gauss[j + 1], level("gauss_up", j), {k}).out;
      laplace(x, y, k) = gauss[j](x, y, k) - gauss_up[j](x, y, k);
    } else {
      laplace(x, y, k) = gauss[j](x, y, k);
    }
    Expr place = gray_gauss[j](x, y) * float(kIntensities - 1);
    Expr below = clamp(cast<int>(place), 0, kIntensities - 2), weight = place - cast<float>(below);
    Expr low = laplace(x, y, below), high = laplace(x, y, below + 1);
    chosen(x, y) = low + weight * (high - low);
    result[j] = Func(level("result", j));
    if (j + 1 < kPyramid) {
      result_up[j] = upsample(result[j + 1], level("result_up", j), {}).out;
      result[j](x, y) = result_up[j](x, y) + chosen(x, y);
    } else {
      result[j](x, y) = chosen(x, y);
    }
  }
  Func out("out");
  const float offset = 0.01f;
  Expr color = cast<float>(image(x, y, c)) * (1.0f / largest);
  Expr scaled = (result[0](x, y) + offset) * (color + offset) / (gray(x, y) + offset) - offset;
  out(x, y, c) = cast(type, round(clamp(scaled * largest, 0.0f, largest)));

  if (job.schedule.rfind("gpu", 0) == 0) {
    schedule_gpu(job, {table, gray, gray_gauss, gauss, across, result, out});
    return {Pipeline(out), {image}, {{width, height, 3}}, type, {width, height, 3}};
  }
  const int lanes = job.knob("VECTOR", peers::machine().natural_vector_size<float>());
  const int strip = job.knob("STRIP", 32);
  table.compute_root();
  gray.compute_root().split(y, yo, yi, strip).vectorize(x, lanes).parallel(yo);
  if (job.schedule == "levels") {
    // Every level of the pyramids in strips of rows; the remapped images are never stored whole.
    for (int j = 1; j < kPyramid; ++j) {
      gray_gauss[j].compute_root().vectorize(x, lanes);
      gray_across[j].compute_at(gray_gauss[j], y).vectorize(x, lanes);
      gauss[j]
          .compute_root()
          .reorder_storage(x, k, y)
          .reorder(x, k, y)
          .split(y, yo, yi, 8)
          .vectorize(x, lanes)
          .parallel(yo);
      across[j]
          .compute_at(gauss[j], yi)
          .store_at(gauss[j], yo)
          .reorder_storage(x, k, y)
          .reorder(x, k, y)
          .vectorize(x, lanes);
    }
    gauss[0].in(across[1]).compute_at(across[1], k).vectorize(x, lanes);
    auto upsampled = [&](Func up, Func reader) {
      up.compute_at(reader, yi).align_bounds(x, 2).split(x, xh, xp, 2).unroll(xp).vectorize(xh, lanes);
    };
    for (int j = kPyramid - 2; j >= 0; --j) {
      if (j > 0) result[j].compute_root().split(y, yo, yi, 8).vectorize(x, lanes).parallel(yo);
      upsampled(gauss_up[j], j == 0 ? out : result[j]);
      upsampled(result_up[j], j == 0 ? out : result[j]);
    }
    result[kPyramid - 1].compute_root();
    result[0].compute_at(out, yi).vectorize(x, lanes);
  } else if (job.schedule == "fused") {
    // The finer levels of the result slide down the strips of the output; what is coarse is made whole.
    for (int j = 1; j < kPyramid; ++j) {
      const bool fine = j < 5;
      gray_gauss[j].compute_root();
      gauss[j].compute_root();
      result[j].compute_root();
      if (fine) {
        gray_gauss[j].split(y, yo, yi, 32).parallel(yo).vectorize(x, lanes);
        gauss[j].reorder_storage(x, k, y).reorder(k, y).split(y, yo, yi, 8).parallel(yo).vectorize(x, lanes);
        result[j].store_at(out, yo).compute_at(out, yi).fold_storage(y, 4).vectorize(x, lanes);
      } else {
        gauss[j].parallel(k);
      }
    }
    result[0].compute_at(out, yi).vectorize(x, lanes);
  } else {
    peers::no_schedule(job, "levels, fused");
  }
  out.bound(c, 0, 3).split(y, yo, yi, strip).reorder(x, c, yi, yo).vectorize(x, lanes).parallel(yo);
  return {Pipeline(out), {image}, {{width, height, 3}}, type, {width, height, 3}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2 && std::string(argv[1]) == "emit")
    return peers::emit(local_laplacian(peers::parse_job(argc, argv, 4)), argv[2], argv[3]);
  return peers::serve_or_fail([&] {
    const peers::Job job = peers::parse_job(argc, argv, 1);
    return peers::halide_side([job] { return local_laplacian(job); }, job);
  });
}
