// PNG by libpng. Its errors come as longjmp, so the functions that call setjmp hold nothing with a
// destructor.
#include <png.h>

#include <csetjmp>
#include <cstring>
#include <string>
#include <vector>

#include "cli/image_io.h"
#include "cli/usage.h"

namespace calotype::cli {
namespace {

struct Source {
  const unsigned char* data;
  std::size_t left;
  char message[128];
};

void on_error(png_structp png, png_const_charp message) {
  auto* source = static_cast<Source*>(png_get_error_ptr(png));
  std::strncpy(source->message, message, sizeof source->message - 1);
  png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}

void read_bytes(png_structp png, png_bytep to, png_size_t count) {
  auto* source = static_cast<Source*>(png_get_io_ptr(png));
  if (count > source->left) png_error(png, "the file is cut short");
  std::memcpy(to, source->data, count);
  source->data += count;
  source->left -= count;
}

struct Header {
  png_uint_32 width, height;
  int channels, bits;
  bool alpha;
};

bool read_header(png_structp png, png_infop info, Header* header) {
  if (setjmp(png_jmpbuf(png))) return false;
  png_read_info(png, info);
  const int color = png_get_color_type(png, info);
  const bool transparent = png_get_valid(png, info, PNG_INFO_tRNS) != 0;
  if (color == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png);
  if (color == PNG_COLOR_TYPE_GRAY && png_get_bit_depth(png, info) < 8) png_set_expand_gray_1_2_4_to_8(png);
  if (transparent) png_set_tRNS_to_alpha(png);
  png_set_strip_alpha(png);
  const std::uint16_t probe = 1;
  if (png_get_bit_depth(png, info) == 16 && *reinterpret_cast<const unsigned char*>(&probe) == 1)
    png_set_swap(png);
  png_set_interlace_handling(png);
  png_read_update_info(png, info);
  header->width = png_get_image_width(png, info);
  header->height = png_get_image_height(png, info);
  header->channels = png_get_channels(png, info);
  header->bits = png_get_bit_depth(png, info);
  header->alpha = transparent || (color & PNG_COLOR_MASK_ALPHA) != 0;
  return true;
}

bool read_rows(png_structp png, png_bytepp rows) {
  if (setjmp(png_jmpbuf(png))) return false;
  png_read_image(png, rows);
  png_read_end(png, nullptr);
  return true;
}

struct Sink {
  std::string bytes;
  char message[128];
};

void on_write_error(png_structp png, png_const_charp message) {
  auto* sink = static_cast<Sink*>(png_get_error_ptr(png));
  std::strncpy(sink->message, message, sizeof sink->message - 1);
  png_longjmp(png, 1);
}

void write_bytes(png_structp png, png_bytep from, png_size_t count) {
  static_cast<Sink*>(png_get_io_ptr(png))->bytes.append(reinterpret_cast<const char*>(from), count);
}

bool write_rows(png_structp png, png_infop info, unsigned width, unsigned height, int channels, int bits,
                png_bytepp rows) {
  if (setjmp(png_jmpbuf(png))) return false;
  png_set_IHDR(png, info, width, height, bits, channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB,
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_set_compression_level(png, 3);
  png_write_info(png, info);
  png_write_image(png, rows);
  png_write_end(png, info);
  return true;
}

// Frees libpng's state on every way out.
struct Reader {
  explicit Reader(Source* source)
      : png(png_create_read_struct(PNG_LIBPNG_VER_STRING, source, on_error, on_warning)),
        info(png_create_info_struct(png)) {
    png_set_read_fn(png, source, read_bytes);
  }
  ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }
  png_structp png;
  png_infop info;
};

struct Writer {
  explicit Writer(Sink* sink)
      : png(png_create_write_struct(PNG_LIBPNG_VER_STRING, sink, on_write_error, on_warning)),
        info(png_create_info_struct(png)) {
    png_set_write_fn(png, sink, write_bytes, nullptr);
  }
  ~Writer() { png_destroy_write_struct(&png, &info); }
  png_structp png;
  png_infop info;
};

[[noreturn]] void refuse(const std::string& path, const char* reason) {
  usage_error("the PNG file cannot be read: " + std::string(reason), path);
}

}  // namespace

Image decode_png(const std::string& bytes, const std::string& path) {
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  if (bytes.size() < 8 || png_sig_cmp(data, 0, 8) != 0) usage_error("the file is no PNG", path, "a PNG file");
  Source source{data, bytes.size(), {}};
  Reader reader(&source);
  Header header{};
  if (!read_header(reader.png, reader.info, &header)) refuse(path, source.message);
  Image image;
  image.pixels = interleaved(UInt(header.bits), header.width, header.height, header.channels, path);
  if (header.alpha) image.notes.push_back(path + ": alpha is dropped");
  std::vector<png_bytep> rows(header.height);
  const std::size_t pitch = std::size_t{header.width} * header.channels * (header.bits / 8);
  for (std::size_t y = 0; y < rows.size(); ++y)
    rows[y] = static_cast<png_bytep>(image.pixels.data()) + y * pitch;
  if (!read_rows(reader.png, rows.data())) refuse(path, source.message);
  return image;
}

std::string encode_png(const unsigned char* samples, unsigned width, unsigned height, int channels,
                       int bits) {
  Sink sink{};
  Writer writer(&sink);
  std::vector<png_bytep> rows(height);
  const std::size_t pitch = std::size_t{width} * channels * (bits / 8);
  for (std::size_t y = 0; y < rows.size(); ++y) rows[y] = const_cast<png_bytep>(samples + y * pitch);
  if (!write_rows(writer.png, writer.info, width, height, channels, bits, rows.data()))
    usage_error("the PNG file cannot be written: " + std::string(sink.message));
  return sink.bytes;
}

}  // namespace calotype::cli
