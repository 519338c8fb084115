// Entries survive only whole; several processes may write one key at once.

#include "runtime/disk_cache.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

class DiskCache : public ::testing::Test {
 protected:
  fs::path folder = fs::temp_directory_path() / ("calotype_cache_test." + std::to_string(getpid()));
  calotype_hash key = calotype_hash_text(calotype_hash_start(), "a key");

  void SetUp() override { setenv("CALOTYPE_CACHE", (folder / "deep" / "er").c_str(), 1); }
  void TearDown() override {
    unsetenv("CALOTYPE_CACHE");
    fs::remove_all(folder);
  }
  static std::string read(calotype_hash key) {
    size_t size = 0;
    void* data = calotype_cache_read(key, &size);
    std::string text = data ? std::string(static_cast<char*>(data), size) : "(none)";
    free(data);
    return text;
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> all;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.is_regular_file()) all.push_back(entry.path());
    }
    return all;
  }
};

TEST_F(DiskCache, KeepsWhatItIsGiven) {
  EXPECT_EQ(read(key), "(none)");
  const std::string data("with\0zero", 9);
  ASSERT_EQ(calotype_cache_write(key, data.data(), data.size()), 1);
  EXPECT_EQ(read(key), data);
  EXPECT_EQ(calotype_cache_write(key, "new", 3), 1);
  EXPECT_EQ(read(key), "new");
  EXPECT_EQ(files().size(), 1u);
  EXPECT_EQ(read(calotype_hash_text(key, "another")), "(none)");
}

TEST_F(DiskCache, EveryTruncationAndEveryFlippedByteIsNoEntry) {
  const std::string data = "the data of an entry";
  calotype_cache_write(key, data.data(), data.size());
  const fs::path path = files().at(0);
  std::ifstream in(path, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  const auto put = [&](const std::string& text) { std::ofstream(path, std::ios::binary) << text; };
  for (size_t length = 0; length < whole.size(); ++length) {
    put(whole.substr(0, length));
    EXPECT_EQ(read(key), "(none)") << length;
  }
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string altered = whole;
    altered[at] ^= 0x10;
    put(altered);
    EXPECT_EQ(read(key), "(none)") << at;
  }
  put(whole + "x");
  EXPECT_EQ(read(key), "(none)");
  EXPECT_EQ(calotype_cache_write(key, "again", 5), 1);
  EXPECT_EQ(read(key), "again");
}

TEST_F(DiskCache, ManyProcessesAtOnce) {
  std::vector<pid_t> children;
  for (int child = 0; child < 6; ++child) {
    const pid_t pid = fork();
    if (pid == 0) {
      int torn = 0;
      for (int i = 0; i < 200; ++i) {
        const std::string data(static_cast<size_t>(1000 + 997 * child), static_cast<char>('a' + child));
        calotype_cache_write(key, data.data(), data.size());
        const std::string got = read(key);
        const size_t writer = static_cast<size_t>(got[0] - 'a');
        torn += got != std::string(1000 + 997 * writer, got[0]);
      }
      _exit(torn > 0);
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) {
    int status = 0;
    waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(files().size(), 1u);  // no drafts are left
}

TEST_F(DiskCache, OffAndUnwritable) {
  setenv("CALOTYPE_CACHE", "off", 1);
  EXPECT_EQ(calotype_cache_write(key, "x", 1), 0);
  EXPECT_EQ(read(key), "(none)");
  setenv("CALOTYPE_CACHE", "/dev/null/cannot", 1);
  EXPECT_EQ(calotype_cache_write(key, "x", 1), 0);
  EXPECT_EQ(read(key), "(none)");
}

TEST_F(DiskCache, FoldersInOrder) {
  char folder[256];
  const char* set = getenv("HOME");
  const std::string home = set ? set : "";
  unsetenv("CALOTYPE_CACHE");
  setenv("XDG_CACHE_HOME", "/x", 1);
  ASSERT_EQ(calotype_cache_folder(folder, sizeof folder), 1);
  EXPECT_STREQ(folder, "/x/calotype");
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", "/people/someone", 1);
  ASSERT_EQ(calotype_cache_folder(folder, sizeof folder), 1);
  EXPECT_STREQ(folder, "/people/someone/.cache/calotype");
  unsetenv("HOME");
  EXPECT_EQ(calotype_cache_folder(folder, sizeof folder), 0);
  if (!home.empty()) setenv("HOME", home.c_str(), 1);
}

TEST(Hash, IsTheKnownFunction) {
  // FNV-1a of 128 bits of "a", from its authors' test vectors
  const calotype_hash hash = calotype_hash_bytes(calotype_hash_start(), "a", 1);
  EXPECT_EQ(hash.high, 0xd228cb696f1a8cafu);
  EXPECT_EQ(hash.low, 0x78912b704e4a8964u);
  const calotype_hash ab_c = calotype_hash_text(calotype_hash_text(calotype_hash_start(), "ab"), "c");
  const calotype_hash a_bc = calotype_hash_text(calotype_hash_text(calotype_hash_start(), "a"), "bc");
  EXPECT_NE(ab_c.low, a_bc.low);
}

}  // namespace
