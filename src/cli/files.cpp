// Whole files in and out.
#include "cli/files.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "cli/usage.h"

namespace calotype::cli {

std::string read_file(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    usage_error("cannot read the file: it is a directory", path);
  std::ifstream in(path, std::ios::binary);
  if (!in) usage_error("cannot read the file: " + std::string(std::strerror(errno)), path);
  std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (in.bad()) usage_error("cannot read the file to its end", path);
  return bytes;
}

void write_file(const std::string& path, std::string_view bytes) {
  const std::string temporary = path + ".tmp" + std::to_string(getpid());
  std::error_code error;
  {
    std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
    if (!out) usage_error("cannot write the file: " + std::string(std::strerror(errno)), path);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    out.close();
    if (!out) {
      std::filesystem::remove(temporary, error);
      usage_error("cannot write the file to its end", path);
    }
  }
  std::filesystem::rename(temporary, path, error);
  if (!error) return;
  const std::string reason = error.message();
  std::filesystem::remove(temporary, error);
  usage_error("cannot write the file: " + reason, path);
}

std::string extension(const std::string& path) {
  std::string text = std::filesystem::path(path).extension().string();
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

}  // namespace calotype::cli
