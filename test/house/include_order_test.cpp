// The order of the house: folders of src/ are layers and includes go one way; LLVM and CUDA stay in their
// rooms.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

// A layer may include itself and every layer of a lower number; two layers of one number know nothing of each
// other.
const std::map<std::string, int> kLayers = {
    {"runtime", 0},  {"ir", 1},      {"layout", 2}, {"instr", 3},        {"lang", 4},
    {"schedule", 5}, {"lower", 6},   {"sim", 7},    {"codegen/cuda", 7}, {"codegen/llvm", 7},
    {"driver", 8},   {"analyze", 9}, {"tune", 10},  {"aot", 11},         {"cli", 12},
};

// "codegen/cuda" of "codegen/cuda/printer.h", "ir" of "ir/stmt.h"; empty: none of the layers.
std::string layer_of(const std::string& path) {
  for (const auto& [layer, order] : kLayers)
    if (path.rfind(layer + "/", 0) == 0) return layer;
  return "";
}

bool is_source(const fs::path& path) {
  const std::string e = path.extension().string();
  return e == ".h" || e == ".cpp" || e == ".c" || e == ".def";
}

struct Include {
  std::string file, target;
  int line;
  std::string where() const { return file + ":" + std::to_string(line) + " includes " + target; }
};

std::vector<Include> includes_under(const std::string& folder) {
  const fs::path root = fs::path(CALOTYPE_SOURCE_DIR) / folder;
  const std::regex pattern(R"re(^\s*#\s*include\s*[<"]([^>"]+)[>"])re");
  std::vector<Include> found;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (!entry.is_regular_file() || !is_source(entry.path())) continue;
    std::ifstream in(entry.path());
    std::string text;
    std::smatch match;
    for (int line = 1; std::getline(in, text); ++line)
      if (std::regex_search(text, match, pattern))
        found.push_back({fs::relative(entry.path(), root).string(), match[1], line});
  }
  return found;
}

TEST(IncludeOrder, LayersIncludeOnlyWhatLiesBelow) {
  int between_layers = 0;
  for (const Include& include : includes_under("src")) {
    const std::string from = layer_of(include.file), to = layer_of(include.target);
    EXPECT_FALSE(from.empty()) << include.file << " is in no layer";
    if (from.empty() || to.empty() || from == to) continue;
    ++between_layers;
    EXPECT_GT(kLayers.at(from), kLayers.at(to)) << include.where();
  }
  EXPECT_GT(between_layers, 50) << "the test reads no includes";
}

TEST(IncludeOrder, PublicHeadersIncludeNothingPrivate) {
  for (const Include& include : includes_under("include"))
    EXPECT_TRUE(layer_of(include.target).empty()) << include.where();
}

TEST(IncludeOrder, LlvmIsKnownToItsBackendsAlone) {
  for (const Include& include : includes_under("src"))
    if (include.target.rfind("llvm", 0) == 0) {
      EXPECT_TRUE(layer_of(include.file) == "codegen/llvm" || layer_of(include.file) == "aot")
          << include.where();
    }
}

TEST(IncludeOrder, CudaIsKnownToItsBackendAndTheRuntimeAlone) {
  for (const Include& include : includes_under("src"))
    if (include.target.rfind("cuda", 0) == 0 || include.target.rfind("nvrtc", 0) == 0) {
      EXPECT_TRUE(layer_of(include.file) == "codegen/cuda" || layer_of(include.file) == "runtime")
          << include.where();
    }
}

// The runtime is shipped without the compiler: C, and no header of any other layer.
TEST(IncludeOrder, TheRuntimeIsC) {
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(CALOTYPE_SOURCE_DIR) / "src/runtime"))
    if (entry.is_regular_file()) {
      EXPECT_TRUE(entry.path().extension() == ".c" || entry.path().extension() == ".h") << entry.path();
    }
  for (const Include& include : includes_under("src"))
    if (layer_of(include.file) == "runtime" && include.target.rfind("calotype/", 0) == 0) {
      EXPECT_EQ(include.target, "calotype/runtime.h") << include.where();
    }
}

}  // namespace
