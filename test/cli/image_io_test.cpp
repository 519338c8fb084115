// Photos: what is written is read back, formats keep their samples, and broken files are refused.
#include "cli/image_io.h"

#include <gtest/gtest.h>
#include <png.h>

#include <cmath>

#include "calotype/error.h"
#include "cli/random.h"
#include "program.h"

namespace calotype::cli {
namespace {

using test::Directory;

// A PNG of 2 x 1 samples written by libpng itself.
std::string tiny_png(int color, int bits, std::vector<unsigned char> row, bool palette = false) {
  std::string bytes;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &bytes,
      [](png_structp p, png_bytep from, png_size_t n) {
        static_cast<std::string*>(png_get_io_ptr(p))->append(reinterpret_cast<char*>(from), n);
      },
      nullptr);
  png_set_IHDR(png, info, 2, 1, bits, color, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  const png_color colors[2] = {{10, 20, 30}, {40, 50, 60}};
  if (palette) png_set_PLTE(png, info, colors, 2);
  png_write_info(png, info);
  png_write_row(png, row.data());
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return bytes;
}

std::vector<double> samples(const Buffer& b) {
  std::vector<double> all;
  for (std::int64_t c = 0; c < b.extent(2); ++c)
    for (std::int64_t x = 0; x < b.extent(0); ++x) all.push_back(b.value({x, 0, c}));
  return all;
}

TEST(ImageIo, PngSamplesArePlanarByStrides) {
  const Image image = decode_png(tiny_png(PNG_COLOR_TYPE_RGB, 8, {1, 2, 3, 4, 5, 6}), "x.png");
  EXPECT_EQ(image.pixels.type(), UInt(8));
  EXPECT_EQ(image.pixels.extent(2), 3);
  EXPECT_EQ(image.pixels.stride(0), 3);
  EXPECT_EQ(image.pixels.stride(1), 6);
  EXPECT_EQ(image.pixels.stride(2), 1);
  EXPECT_EQ(samples(image.pixels), (std::vector<double>{1, 4, 2, 5, 3, 6}));
  EXPECT_TRUE(image.notes.empty());
}

TEST(ImageIo, AlphaIsDroppedWithANote) {
  const Image image = decode_png(tiny_png(PNG_COLOR_TYPE_RGB_ALPHA, 8, {1, 2, 3, 0, 4, 5, 6, 255}), "x.png");
  EXPECT_EQ(samples(image.pixels), (std::vector<double>{1, 4, 2, 5, 3, 6}));
  ASSERT_EQ(image.notes.size(), 1u);
  EXPECT_NE(image.notes[0].find("alpha"), std::string::npos);
}

TEST(ImageIo, SixteenBitsKeepTheirValues) {
  const Image image = decode_png(tiny_png(PNG_COLOR_TYPE_GRAY, 16, {1, 2, 250, 3}), "x.png");
  EXPECT_EQ(image.pixels.type(), UInt(16));
  EXPECT_EQ(samples(image.pixels), (std::vector<double>{258, 64003}));
}

TEST(ImageIo, PaletteAndFewBitsExpand) {
  EXPECT_EQ(samples(decode_png(tiny_png(PNG_COLOR_TYPE_PALETTE, 8, {1, 0}, true), "x.png").pixels),
            (std::vector<double>{40, 10, 50, 20, 60, 30}));
  EXPECT_EQ(samples(decode_png(tiny_png(PNG_COLOR_TYPE_GRAY, 1, {0x40}), "x.png").pixels),
            (std::vector<double>{0, 255}));
}

TEST(ImageIo, PngRoundTrip) {
  Directory directory;
  for (Type type : {UInt(8), UInt(16)})
    for (std::int64_t channels : {1, 3}) {
      Buffer planar(type, {7, 5, channels});
      for (std::int64_t i = 0; i < planar.elements(); ++i)
        planar.set_value({i % 7, i / 7 % 5, i / 35},
                         static_cast<double>(random_bits(1, 0, i) % (type == UInt(8) ? 256 : 65536)));
      write_image(directory / "r.png", planar);
      const Buffer back = read_image(directory / "r.png").pixels;
      ASSERT_EQ(back.type(), type);
      ASSERT_EQ(back.extent(2), channels);
      for (std::int64_t i = 0; i < planar.elements(); ++i)
        ASSERT_EQ(back.value({i % 7, i / 7 % 5, i / 35}), planar.value({i % 7, i / 7 % 5, i / 35}));
    }
}

TEST(ImageIo, JpegKeepsSmoothPictures) {
  Directory directory;
  Buffer ramp(UInt(8), {32, 24, 3});
  for (int c = 0; c < 3; ++c)
    for (int y = 0; y < 24; ++y)
      for (int x = 0; x < 32; ++x) ramp.set_value({x, y, c}, 40 + 3 * x + 2 * y + 10 * c);
  write_image(directory / "r.jpg", ramp);
  const Buffer back = read_image(directory / "r.jpg").pixels;
  ASSERT_EQ(back.extent(0), 32);
  ASSERT_EQ(back.extent(1), 24);
  ASSERT_EQ(back.extent(2), 3);
  for (int y = 0; y < 24; ++y)
    for (int x = 0; x < 32; ++x) EXPECT_NEAR(back.value({x, y, 1}), ramp.value({x, y, 1}), 6);
}

TEST(ImageIo, WhatIsNoImageIsRefused) {
  Directory directory;
  const std::string good = tiny_png(PNG_COLOR_TYPE_RGB, 8, {1, 2, 3, 4, 5, 6});
  std::string flipped = good;
  flipped[20] = static_cast<char>(flipped[20] ^ 1);  // within the header's checksum
  for (const std::string& bytes : {std::string("not a png"), std::string(), good.substr(0, 40), flipped})
    EXPECT_THROW(decode_png(bytes, "x.png"), Error);
  Buffer grey(UInt(8), {40, 40});
  grey.fill(90);
  write_image(directory / "g.jpg", grey);
  const std::string jpeg = Directory::read(directory / "g.jpg");
  for (const std::string& bytes :
       {std::string("not a jpeg"), std::string(), jpeg.substr(0, 60), jpeg.substr(0, jpeg.size() / 2 + 150)})
    EXPECT_THROW(decode_jpeg(bytes, "x.jpg"), Error) << bytes.size();
  EXPECT_THROW(read_image(directory / "missing.png"), Error);
}

TEST(ImageIo, WhatCannotBeAnImageIsNotWritten) {
  Directory directory;
  EXPECT_THROW(write_image(directory / "a.png", Buffer(Float(32), {4, 4})), Error);
  EXPECT_THROW(write_image(directory / "a.png", Buffer(UInt(8), {4, 4, 2})), Error);
  EXPECT_THROW(write_image(directory / "a.jpg", Buffer(UInt(16), {4, 4})), Error);
  EXPECT_THROW(write_image(directory / "a.png", Buffer(UInt(8), {4})), Error);
  EXPECT_THROW(write_image(directory / "no_such_folder/a.png", Buffer(UInt(8), {4, 4})), Error);
}

}  // namespace
}  // namespace calotype::cli
