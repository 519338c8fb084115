// Memory that threads keep: what is given again, what is not, and to whom.
#include "codegen/llvm/scratch.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

namespace calotype::llvm_backend {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

/// Released at the end.
class Piece {
 public:
  explicit Piece(std::int64_t bytes) : memory_(allocate_scratch(bytes)) {
    if (memory_) std::memset(memory_, 0x5A, static_cast<std::size_t>(bytes));
  }
  ~Piece() { release_scratch(memory_); }
  Piece(const Piece&) = delete;
  Piece& operator=(const Piece&) = delete;
  void* get() const { return memory_; }

 private:
  void* memory_;
};

void* once(std::int64_t bytes) { return Piece(bytes).get(); }

TEST(Scratch, IsAlignedAndApart) {
  std::vector<std::unique_ptr<Piece>> pieces;
  for (std::int64_t bytes : {0, 1, 63, 64, 65, 1000, 100000}) {
    pieces.push_back(std::make_unique<Piece>(bytes));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pieces.back()->get()) % 64, 0u) << bytes;
    for (std::size_t i = 0; i + 1 < pieces.size(); ++i) EXPECT_NE(pieces[i]->get(), pieces.back()->get());
  }
}

TEST(Scratch, ServesAgain) {
  void* first = once(3 * kMiB);
  EXPECT_EQ(once(3 * kMiB), first);
  EXPECT_EQ(once(2 * kMiB), first) << "less will do";
  Piece larger(4 * kMiB);
  EXPECT_NE(larger.get(), first);
  EXPECT_EQ(once(3 * kMiB), first) << "the smallest that is large enough";
}

TEST(Scratch, IsNotWastedOnLittle) {
  void* large = once(5 * kMiB);
  Piece little(2 * kMiB);
  EXPECT_NE(little.get(), large);
  EXPECT_EQ(once(5 * kMiB), large);
}

TEST(Scratch, WhatAThreadKeepsIsBounded) {
  std::thread([] {
    EXPECT_EQ(kept_scratch(), 0);
    once(40 * kMiB);
    EXPECT_EQ(kept_scratch(), 40 * kMiB);
    once(15 * kMiB);
    EXPECT_EQ(kept_scratch(), 55 * kMiB);
    once(7 * kMiB);
    EXPECT_EQ(kept_scratch(), 62 * kMiB);
    once(3 * kMiB);
    EXPECT_EQ(kept_scratch(), 25 * kMiB) << "the oldest goes first";
    {
      std::vector<std::unique_ptr<Piece>> pieces;
      for (int i = 0; i < 20; ++i) pieces.push_back(std::make_unique<Piece>(kMiB));
    }
    EXPECT_EQ(kept_scratch(), 16 * kMiB) << "16 pieces";
    once(65 * kMiB);
    EXPECT_LE(kept_scratch(), 64 * kMiB);
  }).join();
}

TEST(Scratch, MayBeReleasedByAnotherThread) {
  void* memory = allocate_scratch(kMiB);
  std::thread([&] {
    release_scratch(memory);
    EXPECT_EQ(once(kMiB), memory);
  }).join();
}

TEST(Scratch, NoMemoryIsNull) {
  EXPECT_EQ(allocate_scratch(-1), nullptr);
  EXPECT_EQ(allocate_scratch(INT64_MAX), nullptr);
  release_scratch(nullptr);
}

}  // namespace
}  // namespace calotype::llvm_backend
