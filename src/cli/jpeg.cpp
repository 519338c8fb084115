// JPEG by libjpeg. Its errors come through a handler that must not return, here by longjmp, so the functions
// that call setjmp hold nothing with a destructor.
#include <csetjmp>
#include <cstdio>  // before jpeglib.h, which needs it
#include <cstdlib>
#include <string>

// clang-format off: jpeglib.h includes nothing that it needs
#include <jpeglib.h>
// clang-format on

#include "cli/image_io.h"
#include "cli/usage.h"

namespace calotype::cli {
namespace {

struct Handler {
  jpeg_error_mgr base;  // first: libjpeg hands back a pointer to it
  std::jmp_buf escape;
  char message[JMSG_LENGTH_MAX];
  bool damaged;
};

void on_error(j_common_ptr common) {
  auto* handler = reinterpret_cast<Handler*>(common->err);
  common->err->format_message(common, handler->message);
  std::longjmp(handler->escape, 1);
}

// Level -1 is a corrupt file that libjpeg would paper over with grey; such a file is refused.
void on_message(j_common_ptr common, int level) {
  auto* handler = reinterpret_cast<Handler*>(common->err);
  if (level >= 0 || handler->damaged) return;
  handler->damaged = true;
  common->err->format_message(common, handler->message);
}

jpeg_error_mgr* install(Handler* handler) {
  jpeg_error_mgr* base = jpeg_std_error(&handler->base);
  base->error_exit = on_error;
  base->emit_message = on_message;
  return base;
}

bool start(jpeg_decompress_struct* jpeg, Handler* handler, const unsigned char* data, unsigned long size) {
  if (setjmp(handler->escape)) return false;
  jpeg_mem_src(jpeg, data, size);
  jpeg_read_header(jpeg, TRUE);
  if (jpeg->jpeg_color_space != JCS_GRAYSCALE) jpeg->out_color_space = JCS_RGB;
  jpeg_start_decompress(jpeg);
  return true;
}

bool read_rows(jpeg_decompress_struct* jpeg, Handler* handler, unsigned char* to) {
  if (setjmp(handler->escape)) return false;
  const std::size_t pitch = std::size_t{jpeg->output_width} * jpeg->output_components;
  while (jpeg->output_scanline < jpeg->output_height) {
    JSAMPROW row = to + jpeg->output_scanline * pitch;
    jpeg_read_scanlines(jpeg, &row, 1);
  }
  jpeg_finish_decompress(jpeg);
  return !handler->damaged;
}

bool write_all(jpeg_compress_struct* jpeg, Handler* handler, const unsigned char* samples, unsigned width,
               unsigned height, int channels, unsigned char** out, unsigned long* size) {
  if (setjmp(handler->escape)) return false;
  jpeg_mem_dest(jpeg, out, size);
  jpeg->image_width = width;
  jpeg->image_height = height;
  jpeg->input_components = channels;
  jpeg->in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(jpeg);
  jpeg_set_quality(jpeg, 95, TRUE);
  jpeg_start_compress(jpeg, TRUE);
  while (jpeg->next_scanline < height) {
    JSAMPROW row = const_cast<JSAMPROW>(samples + std::size_t{jpeg->next_scanline} * width * channels);
    jpeg_write_scanlines(jpeg, &row, 1);
  }
  jpeg_finish_compress(jpeg);
  return true;
}

struct Reader {
  explicit Reader(Handler* handler) {
    jpeg.err = install(handler);
    jpeg_create_decompress(&jpeg);
  }
  ~Reader() { jpeg_destroy_decompress(&jpeg); }
  jpeg_decompress_struct jpeg{};
};

struct Writer {
  explicit Writer(Handler* handler) {
    jpeg.err = install(handler);
    jpeg_create_compress(&jpeg);
  }
  ~Writer() {
    jpeg_destroy_compress(&jpeg);
    std::free(out);
  }
  jpeg_compress_struct jpeg{};
  unsigned char* out = nullptr;
  unsigned long size = 0;
};

}  // namespace

Image decode_jpeg(const std::string& bytes, const std::string& path) {
  Handler handler{};
  Reader reader(&handler);
  auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  if (bytes.size() < 3 || data[0] != 0xff || data[1] != 0xd8)
    usage_error("the file is no JPEG", path, "a JPEG file");
  if (!start(&reader.jpeg, &handler, data, bytes.size()))
    usage_error("the JPEG file cannot be read: " + std::string(handler.message), path);
  Image image;
  image.pixels = interleaved(UInt(8), reader.jpeg.output_width, reader.jpeg.output_height,
                             reader.jpeg.output_components, path);
  if (!read_rows(&reader.jpeg, &handler, static_cast<unsigned char*>(image.pixels.data())))
    usage_error("the JPEG file cannot be read: " + std::string(handler.message), path);
  return image;
}

std::string encode_jpeg(const unsigned char* samples, unsigned width, unsigned height, int channels) {
  Handler handler{};
  Writer writer(&handler);
  if (!write_all(&writer.jpeg, &handler, samples, width, height, channels, &writer.out, &writer.size))
    usage_error("the JPEG file cannot be written: " + std::string(handler.message));
  return std::string(reinterpret_cast<char*>(writer.out), writer.size);
}

}  // namespace calotype::cli
