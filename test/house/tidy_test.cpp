// Habits of the house that a reader relies on: files of a readable length that say what they are for, nothing
// left unfinished, algorithms free of scheduling.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct File {
  std::string name, text;
};

std::vector<File> files_under(const std::vector<std::string>& folders,
                              const std::vector<std::string>& endings) {
  std::vector<File> files;
  for (const std::string& folder : folders) {
    const fs::path root = fs::path(CALOTYPE_SOURCE_DIR) / folder;
    if (!fs::exists(root)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      const bool wanted =
          std::find(endings.begin(), endings.end(), entry.path().extension()) != endings.end();
      if (!entry.is_regular_file() || !wanted) continue;
      std::ifstream in(entry.path(), std::ios::binary);
      files.push_back({fs::relative(entry.path(), CALOTYPE_SOURCE_DIR).string(),
                       {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()}});
    }
  }
  return files;
}

const std::vector<std::string> kCode = {".h", ".c", ".cpp"};

TEST(Tidy, NoFileIsLongerThanAReaderCanHold) {
  for (const File& file : files_under({"include", "src", "apps", "test", "bench"}, kCode))
    EXPECT_LE(std::count(file.text.begin(), file.text.end(), '\n'), 600) << file.name;
}

TEST(Tidy, EveryFileSaysWhatItIsFor) {
  for (const File& file : files_under({"include", "src", "apps", "test", "bench"}, kCode)) {
    std::string text = file.text;
    if (text.rfind("#pragma once\n", 0) == 0) text.erase(0, 13);
    EXPECT_TRUE(text.rfind("//", 0) == 0 || text.rfind("/*", 0) == 0) << file.name;
  }
}

TEST(Tidy, NothingIsLeftUnfinished) {
  // Spelled in two parts, so that this file does not find itself.
  const std::regex unfinished(
      "\\b(TO"
      "DO|FIX"
      "ME|XX"
      "X|HA"
      "CK)\\b");
  for (const File& file :
       files_under({"include", "src", "apps", "test", "bench", "docs", "cmake", "schedules"},
                   {".h", ".c", ".cpp", ".def", ".md", ".cmake", ".txt", ".json", ".py"})) {
    std::smatch match;
    EXPECT_FALSE(std::regex_search(file.text, match, unfinished)) << file.name << ": " << match.str();
  }
}

TEST(Tidy, NoFileNamesAPathOfOneMachine) {
  const std::regex path(
      "/(wo"
      "rk/main|wo"
      "rk/shared|ho"
      "me/[a-z]|ro"
      "ot/)");
  for (const File& file :
       files_under({"include", "src", "apps", "test", "bench", "docs", "cmake", "schedules"},
                   {".h", ".c", ".cpp", ".md", ".cmake", ".txt", ".json", ".py", ""})) {
    std::smatch match;
    EXPECT_FALSE(std::regex_search(file.text, match, path)) << file.name << ": " << match.str();
  }
}

// The algorithm is one file, its schedules another.
TEST(Tidy, AlgorithmsHaveNoSchedulingCalls) {
  const std::regex scheduling(
      R"(\.(compute_\w+|store_\w+|split|fuse|tile|reorder|unroll|vectorize|parallel|bound|in|rfactor|gpu_\w+)\()");
  int algorithms = 0;
  for (const File& file : files_under({"apps"}, {".cpp"})) {
    if (file.name.find("_schedules.cpp") != std::string::npos) continue;
    ++algorithms;
    std::smatch match;
    EXPECT_FALSE(std::regex_search(file.text, match, scheduling)) << file.name << ": " << match.str();
    const std::string stem = file.name.substr(0, file.name.size() - 4);
    EXPECT_TRUE(fs::exists(fs::path(CALOTYPE_SOURCE_DIR) / (stem + "_schedules.cpp"))) << file.name;
    EXPECT_TRUE(fs::exists((fs::path(CALOTYPE_SOURCE_DIR) / file.name).parent_path() / "README.md"))
        << file.name;
  }
  EXPECT_GE(algorithms, 5);
}

}  // namespace
