// The overlap test against a list of every byte.

#include "runtime/overlap.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

namespace {

calotype_buffer buffer(char* data, int bits, const std::vector<std::pair<std::int64_t, std::int64_t>>& dims) {
  calotype_buffer b{};
  b.data = data;
  b.type = {CALOTYPE_UINT, static_cast<std::uint8_t>(bits)};
  b.rank = static_cast<int>(dims.size());
  for (int d = 0; d < b.rank; ++d) b.dims[d] = {0, dims[d].first, dims[d].second};
  return b;
}

std::vector<const char*> elements(const calotype_buffer& b) {
  std::vector<const char*> all{static_cast<const char*>(b.data)};
  for (int d = 0; d < b.rank; ++d) {
    std::vector<const char*> next;
    for (const char* base : all) {
      for (std::int64_t i = 0; i < b.dims[d].extent; ++i)
        next.push_back(base + i * b.dims[d].stride * (b.type.bits / 8));
    }
    all = next;
  }
  return all;
}

std::set<const char*> bytes(const calotype_buffer& b) {
  std::set<const char*> all;
  for (const char* e : elements(b)) {
    for (int i = 0; i < b.type.bits / 8; ++i) all.insert(e + i);
  }
  return all;
}

bool share_bytes(const calotype_buffer& a, const calotype_buffer& b) {
  const std::set<const char*> of_b = bytes(b);
  for (const char* p : bytes(a)) {
    if (of_b.contains(p)) return true;
  }
  return false;
}

TEST(Overlap, AgreesWithEveryByteOfRandomBuffers) {
  static char memory[1 << 16];
  std::mt19937 random(11);
  int overlapping = 0, apart_within_range = 0;
  for (int trial = 0; trial < 30000; ++trial) {
    const auto draw = [&] {
      std::vector<std::pair<std::int64_t, std::int64_t>> dims(random() % 4);
      for (auto& d : dims)
        d = {static_cast<std::int64_t>(random() % 4), static_cast<std::int64_t>(random() % 25) - 12};
      return buffer(memory + 30000 + random() % 40, 8 << (random() % 3), dims);
    };
    const calotype_buffer a = draw(), b = draw();
    const bool expected = share_bytes(a, b);
    ASSERT_EQ(calotype_overlap(&a, &b) != 0, expected) << trial;
    ASSERT_EQ(calotype_overlap(&b, &a) != 0, expected) << trial;
    overlapping += expected;
    const auto of_a = bytes(a), of_b = bytes(b);
    if (!expected && !of_a.empty() && !of_b.empty())
      apart_within_range += *of_a.begin() < *of_b.rbegin() && *of_b.begin() < *of_a.rbegin();
    std::map<const char*, int> times;
    int most = 0;
    for (const char* e : elements(a)) most = std::max(most, ++times[e]);
    ASSERT_EQ(calotype_overlaps_itself(&a) != 0, bytes(a).size() < elements(a).size() * (a.type.bits / 8))
        << trial << " " << most;
  }
  EXPECT_GT(overlapping, 1000);
  EXPECT_GT(apart_within_range, 1000);
}

TEST(Overlap, PlanesOfOneImageAreApart) {
  static char image[64 * 48 * 3];
  // interleaved: planes 0 and 1; planar: rows 0..23 and 24..47; two crops side by side
  const auto plane0 = buffer(image, 8, {{64, 3}, {48, 192}}),
             plane1 = buffer(image + 1, 8, {{64, 3}, {48, 192}});
  EXPECT_FALSE(calotype_overlap(&plane0, &plane1));
  EXPECT_TRUE(calotype_overlap(&plane0, &plane0));
  const auto left = buffer(image, 8, {{30, 1}, {48, 64}}), right = buffer(image + 30, 8, {{34, 1}, {48, 64}});
  EXPECT_FALSE(calotype_overlap(&left, &right));
  const auto wider = buffer(image, 8, {{31, 1}, {48, 64}});
  EXPECT_TRUE(calotype_overlap(&wider, &right));
  const auto flipped = buffer(image + 63 * 3, 8, {{64, -3}, {48, 192}});
  EXPECT_TRUE(calotype_overlap(&plane0, &flipped));
  EXPECT_FALSE(calotype_overlap(&plane1, &flipped));
}

TEST(Overlap, HugeBuffersTakeNoTime) {
  char* base = reinterpret_cast<char*>(std::uintptr_t{1} << 40);
  const std::int64_t n = 1ll << 20;
  const auto even = buffer(base, 16, {{n, 2}, {n, 2 * n}}), odd = buffer(base + 2, 16, {{n, 2}, {n, 2 * n}});
  EXPECT_FALSE(calotype_overlap(&even, &odd));
  EXPECT_FALSE(calotype_overlaps_itself(&even));
  EXPECT_TRUE(calotype_overlap(&even, &even));
}

TEST(Overlap, SpansBeyondTheAddressSpaceAreSeen) {
  std::int64_t size = 0, below = 0;
  const auto b = buffer(nullptr, 32, {{3, -4}, {5, 20}});
  EXPECT_EQ(calotype_span(&b, &size, &below), 0);
  EXPECT_EQ(below, 2 * 4 * 4);
  EXPECT_EQ(size, (2 * 4 + 4 * 20 + 1) * 4);
  const auto huge = buffer(nullptr, 64, {{INT64_MAX, 1}});
  EXPECT_EQ(calotype_span(&huge, &size, &below), 1);
  const auto worst = buffer(nullptr, 64, {{INT64_MAX, INT64_MIN}, {INT64_MAX, INT64_MIN}});
  EXPECT_EQ(calotype_span(&worst, &size, &below), 1);
}

}  // namespace
