// Pairs kept as files.
#include "fuzz/corpus.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace calotype::fuzz {

std::vector<std::string> pair_files(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".pair") paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

Pair load_pair(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error("no file " + path);
  std::stringstream text;
  text << in.rdbuf();
  return pair_of(text.str());
}

}  // namespace calotype::fuzz
