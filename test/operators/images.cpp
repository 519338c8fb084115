// Random images in several layouts; see images.h.
#include "operators/images.h"

#include <cmath>
#include <random>

#include "cli/convert.h"

namespace calotype::test {
namespace {

Buffer image_memory(Type type, const std::vector<std::int64_t>& extents, Layout layout) {
  const int rank = static_cast<int>(extents.size());
  std::vector<std::int64_t> larger = extents;
  if (layout == Layout::Padded) {
    larger[0] += 5;
    return Buffer(type, larger).crop(0, 0, extents[0]);
  }
  if (layout == Layout::Planar) return Buffer(type, extents);
  if (rank == 3) return Buffer(type, {extents[2], extents[0], extents[1]}).transpose({1, 2, 0});
  larger.insert(larger.begin(), 2);
  Buffer whole(type, larger);
  std::vector<std::int64_t> strides;
  for (int d = 1; d <= rank; ++d) strides.push_back(whole.stride(d));
  return Buffer(type, whole.data(), extents, strides, std::make_shared<Buffer>(whole));
}

}  // namespace

Buffer random_image(Type type, const std::vector<std::int64_t>& extents, Layout layout, unsigned seed) {
  Buffer image = image_memory(type, extents, layout);
  std::mt19937_64 random(seed);
  const double largest = type.is_float() ? 1.0 : std::ldexp(1.0, type.bits) - 1;
  std::uniform_real_distribution<double> any(0, 1);
  double patch = any(random);
  for (std::int64_t i = 0; i < image.elements(); ++i) {
    if (random() % 4 == 0) patch = any(random);
    const double value = 0.75 * patch + 0.25 * any(random);
    image.set_value(cli::coordinates_of(image, i),
                    type.is_float() ? value : std::floor(value * (largest + 1)));
  }
  return image;
}

cli::Call image_call(const std::string& op, const Pipeline& pipeline, const cli::Sizes& sizes,
                     const std::map<std::string, double>& params, Layout layout) {
  cli::Call call = random_call(op, pipeline, sizes, params);
  unsigned seed = 5;
  for (Buffer& input : call.inputs) {
    std::vector<std::int64_t> extents;
    for (int d = 0; d < input.rank(); ++d) extents.push_back(input.extent(d));
    input = random_image(input.type(), extents, layout, seed++);
  }
  return call;
}

void check_images(const ScheduleCase& c, const cli::Sizes& sizes,
                  const std::map<std::string, double>& params) {
  const Pipeline pipeline = find_operator(c.op).pipeline(OperatorTypes::parse(c.types));
  check_call(c, pipeline, image_call(c.op, pipeline, sizes, params, Layout::Planar));
}

void check_layouts(const ScheduleCase& c, const cli::Sizes& sizes,
                   const std::map<std::string, double>& params) {
  const Pipeline pipeline = find_operator(c.op).pipeline(OperatorTypes::parse(c.types));
  for (const Layout layout : {Layout::Interleaved, Layout::Padded})
    check_call(c, pipeline, image_call(c.op, pipeline, sizes, params, layout));
}

}  // namespace calotype::test
