#pragma once
// Photos: PNG and JPEG files as buffers with dims (x, y, c).

#include <string>
#include <vector>

#include "calotype/buffer.h"

namespace calotype::cli {

/// An image file's samples, u8 or u16, planar by strides over its interleaved samples: stride(0) is the
/// number of channels. Always of rank 3; a grey image has one channel.
struct Image {
  Buffer pixels;
  std::vector<std::string> notes;  ///< what the reading left out, as "alpha is dropped"
};

/// Whether a path names an image by its extension: .png, .jpg or .jpeg.
bool is_image_path(const std::string& path);
/// Error(Usage) for a file that is no such image or is cut short.
Image read_image(const std::string& path);
/// Writes u8 or u16 of dims (x, y) or (x, y, c) with 1 or 3 channels. JPEG takes u8 only, at quality 95.
void write_image(const std::string& path, const Buffer& pixels);

// The two formats, on bytes in memory. `path` is for messages.
Image decode_png(const std::string& bytes, const std::string& path);
Image decode_jpeg(const std::string& bytes, const std::string& path);
/// Of interleaved samples: width * height * channels, big-endian where 16 bits.
std::string encode_png(const unsigned char* samples, unsigned width, unsigned height, int channels, int bits);
std::string encode_jpeg(const unsigned char* samples, unsigned width, unsigned height, int channels);

/// Interleaved owned memory for an image, seen as (x, y, c). Error(Usage) where it would be absurdly large.
Buffer interleaved(Type type, std::int64_t width, std::int64_t height, std::int64_t channels,
                   const std::string& path);

}  // namespace calotype::cli
