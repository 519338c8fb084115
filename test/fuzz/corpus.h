#pragma once
// Pairs that failed once, kept as files.

#include <string>
#include <vector>

#include "fuzz/property.h"

namespace calotype::fuzz {

/// The files of a folder that end in ".pair", sorted. std::runtime_error if there is no such folder.
std::vector<std::string> pair_files(const std::string& folder);
/// std::runtime_error for a file that is not there or is no pair.
Pair load_pair(const std::string& path);

}  // namespace calotype::fuzz
