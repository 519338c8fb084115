// What failed once: every pair of the corpus runs.
#include "fuzz/corpus.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "fuzz/shrink.h"

namespace calotype::fuzz {
namespace {

const std::string folder = CALOTYPE_SOURCE_DIR "/test/fuzz/corpus";

bool can_run([[maybe_unused]] const Target& target) {
#ifdef CALOTYPE_HAS_LLVM
  return true;
#else
  return target.is_gpu();
#endif
}

TEST(Corpus, EveryPairRunsOrIsRefused) {
  int tried = 0;
  for (const std::string& path : pair_files(folder)) {
    const Pair pair = load_pair(path);
    if (!can_run(pair.target)) continue;
    const Outcome outcome = try_in_child(pair);
    ++tried;
    // A file's name says where it is to be refused.
    const std::string name = std::filesystem::path(path).filename().string();
    const Verdict expected = name.starts_with("refused_")        ? Verdict::Refused
                             : name.starts_with("call_refused_") ? Verdict::CallRefused
                                                                 : Verdict::Accepted;
    EXPECT_EQ(static_cast<int>(outcome.verdict), static_cast<int>(expected))
        << name << ": " << outcome.what << "\n"
        << outcome.detail;
  }
  EXPECT_GT(tried, 0);
}

TEST(Corpus, PairsAreReadAsTheyWereWritten) {
  for (const std::string& path : pair_files(folder)) {
    const Pair pair = load_pair(path);
    EXPECT_TRUE(pair_of(text(pair)).schedule == pair.schedule) << path;
    EXPECT_EQ(text(pair_of(text(pair))), text(pair)) << path;
  }
}

}  // namespace
}  // namespace calotype::fuzz
