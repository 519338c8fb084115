// Photos: the choice of format, and the interleaved memory they share.
#include "cli/image_io.h"

#include <fmt/format.h>

#include "cli/files.h"
#include "cli/usage.h"

namespace calotype::cli {
namespace {

bool is_jpeg(const std::string& ending) { return ending == ".jpg" || ending == ".jpeg"; }

// Samples in the order of the file; u16 big-endian, as PNG stores them.
std::string interleave(const Buffer& pixels, int channels) {
  const std::int64_t width = pixels.extent(0), height = pixels.extent(1);
  const int bytes = pixels.type().bytes();
  std::string out(static_cast<std::size_t>(width * height * channels) * bytes, '\0');
  const auto* base = static_cast<const unsigned char*>(pixels.data());
  std::size_t at = 0;
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x)
      for (int c = 0; c < channels; ++c) {
        const std::int64_t plane = pixels.rank() == 3 ? c * pixels.stride(2) : 0;
        const unsigned char* p = base + (x * pixels.stride(0) + y * pixels.stride(1) + plane) * bytes;
        for (int b = bytes - 1; b >= 0; --b) out[at++] = static_cast<char>(p[b]);
      }
  return out;
}

}  // namespace

bool is_image_path(const std::string& path) {
  const std::string ending = extension(path);
  return ending == ".png" || is_jpeg(ending);
}

Buffer interleaved(Type type, std::int64_t width, std::int64_t height, std::int64_t channels,
                   const std::string& path) {
  const std::int64_t limit = std::int64_t{1} << 34;
  if (width < 1 || height < 1 || width > limit / height / channels / type.bytes())
    usage_error(fmt::format("the image of {} x {} is empty or too large", width, height), path);
  return Buffer(type, {channels, width, height}).transpose({1, 2, 0});
}

Image read_image(const std::string& path) {
  const std::string bytes = read_file(path);
  return extension(path) == ".png" ? decode_png(bytes, path) : decode_jpeg(bytes, path);
}

void write_image(const std::string& path, const Buffer& pixels) {
  const bool jpeg = is_jpeg(extension(path));
  const Type type = pixels.type();
  if (type != UInt(8) && (jpeg || type != UInt(16)))
    usage_error("an image of this element type cannot be written", type.str(), jpeg ? "u8" : "u8 or u16");
  const std::int64_t channels = pixels.rank() == 3 ? pixels.extent(2) : 1;
  if (pixels.rank() < 2 || pixels.rank() > 3 || (channels != 1 && channels != 3))
    usage_error(fmt::format("a buffer of rank {} with {} channels is no image", pixels.rank(), channels),
                path, "dims (x, y) or (x, y, c) with 1 or 3 channels; or a .npy file");
  if (pixels.elements() == 0) usage_error("an image of size 0 cannot be written", path, "a .npy file");
  const std::string samples = interleave(pixels, static_cast<int>(channels));
  const auto* data = reinterpret_cast<const unsigned char*>(samples.data());
  const auto width = static_cast<unsigned>(pixels.extent(0)),
             height = static_cast<unsigned>(pixels.extent(1));
  const int n = static_cast<int>(channels);
  write_file(path,
             jpeg ? encode_jpeg(data, width, height, n) : encode_png(data, width, height, n, type.bits));
}

}  // namespace calotype::cli
