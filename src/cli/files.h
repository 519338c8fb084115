#pragma once
// Whole files in and out. Writing goes to a file beside the target and is renamed, so that nothing is left
// half written.

#include <string>
#include <string_view>

namespace calotype::cli {

/// The bytes of a file. Error(Usage) if it cannot be read.
std::string read_file(const std::string& path);
/// Replaces the file by the bytes. Error(Usage) if it cannot be written.
void write_file(const std::string& path, std::string_view bytes);
/// The extension in lower case with its dot, as ".png".
std::string extension(const std::string& path);

}  // namespace calotype::cli
