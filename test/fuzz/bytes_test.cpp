// What must hold of any bytes, over a small corpus: what a fuzzer found once, and where it starts from.
#include "fuzz/bytes.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "calotype/schedule_file.h"
#include "fuzz/random.h"

namespace calotype::fuzz {
namespace {

using Check = void (*)(const std::uint8_t*, std::size_t);

std::string failure_of(Check check, const std::string& bytes) {
  try {
    check(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    return "";
  } catch (const std::exception& e) {
    return e.what();
  }
}

std::vector<std::string> corpus(const std::string& name) {
  std::vector<std::string> all;
  for (const auto& [path, bytes] : byte_files(CALOTYPE_SOURCE_DIR "/test/fuzz/bytes/" + name))
    all.push_back(bytes);
  return all;
}

void expect_good(Check check, const std::string& name) {
  for (const auto& [path, bytes] : byte_files(CALOTYPE_SOURCE_DIR "/test/fuzz/bytes/" + name))
    EXPECT_EQ(failure_of(check, bytes), "") << path;
}

/// The bytes with some changed, left out or repeated.
std::string mutated(Random& random, std::string bytes) {
  for (std::int64_t n = random.within(1, 8); n > 0 && !bytes.empty(); --n) {
    const auto at = static_cast<std::size_t>(random.below(static_cast<std::int64_t>(bytes.size())));
    const auto length = static_cast<std::size_t>(random.within(1, 12));
    switch (random.below(4)) {
      case 0:
        bytes[at] = static_cast<char>(random.below(256));
        break;
      case 1:
        bytes.erase(at, length);
        break;
      case 2:
        bytes.insert(at, bytes.substr(at, length));
        break;
      default:
        bytes.insert(at, std::to_string(random.within(-2, 1000000)));
    }
  }
  return bytes;
}

void expect_good_when_mutated(Check check, const std::vector<std::string>& from, int tries) {
  Random random(7);
  ASSERT_FALSE(from.empty());
  for (int i = 0; i < tries; ++i) {
    const std::string bytes = mutated(random, random.pick(from));
    const std::string failure = failure_of(check, bytes);
    ASSERT_EQ(failure, "") << "try " << i << ":\n" << bytes;
  }
}

TEST(Bytes, SchedulesFilesOfTheCorpus) { expect_good(try_schedule_file, "schedule_file"); }
TEST(Bytes, ExpressionsOfTheCorpus) { expect_good(try_simplifier, "simplifier"); }

TEST(Bytes, TheGoodFileIsRead) {
  for (const auto& [path, bytes] : byte_files(CALOTYPE_SOURCE_DIR "/test/fuzz/bytes/schedule_file"))
    if (path.ends_with("/good")) {
      EXPECT_EQ(ScheduleFile::parse(bytes).cases().size(), 2u);
    }
}

TEST(Bytes, ScheduleFilesChangedAtRandom) {
  std::vector<std::string> from = corpus("schedule_file");
  for (const auto& op : std::filesystem::directory_iterator(CALOTYPE_SOURCE_DIR "/schedules"))
    for (const auto& [path, bytes] : byte_files(op.path().string())) from.push_back(bytes);
  expect_good_when_mutated(try_schedule_file, from, 400);
}

TEST(Bytes, ExpressionsChangedAtRandom) {
  expect_good_when_mutated(try_simplifier, corpus("simplifier"), 3000);
}

TEST(Bytes, DeepAndLongTextsAreRefused) {
  for (const char* piece : {"[", "{\"a\":", "[[],", "\"", "1", "{\"calotype_schedule\": 1e"})
    for (const int times : {1000, 20000}) {
      std::string text;
      for (int i = 0; i < times; ++i) text += piece;
      EXPECT_EQ(failure_of(try_schedule_file, text), "") << piece;
    }
}

}  // namespace
}  // namespace calotype::fuzz
