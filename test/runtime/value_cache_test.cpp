// The cache of values: what is found, what goes, and several threads.

#include "runtime/value_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

namespace {

using Cache = std::unique_ptr<calotype_value_cache, void (*)(calotype_value_cache*)>;
using Key = std::vector<int64_t>;

Cache make_cache() { return {calotype_value_cache_make(), calotype_value_cache_free}; }

/// Makes values of one piece and publishes them.
void put(const Cache& cache, uint32_t owner, const Key& key, int64_t bytes, char content) {
  calotype_values* v = calotype_values_make(owner, key.data(), static_cast<uint32_t>(key.size()), &bytes, 1);
  ASSERT_NE(v, nullptr);
  if (bytes) memset(calotype_values_memory(v, 0), content, static_cast<size_t>(bytes < 64 ? bytes : 64));
  calotype_values_publish(cache.get(), v);
  calotype_values_give_back(cache.get(), v);
}

/// The first byte, or -1 if there are no such values.
int look(const Cache& cache, uint32_t owner, const Key& key) {
  calotype_values* v =
      calotype_values_find(cache.get(), owner, key.data(), static_cast<uint32_t>(key.size()));
  if (!v) return -1;
  const int content = *static_cast<const unsigned char*>(calotype_values_memory(v, 0));
  calotype_values_give_back(cache.get(), v);
  return content;
}

TEST(ValueCache, FindsByOwnerAndKey) {
  const Cache cache = make_cache();
  put(cache, 0, {1, 2}, 10, 'a');
  put(cache, 1, {1, 2}, 10, 'b');
  put(cache, 0, {1, 3}, 10, 'c');
  put(cache, 0, {}, 10, 'd');
  EXPECT_EQ(look(cache, 0, {1, 2}), 'a');
  EXPECT_EQ(look(cache, 1, {1, 2}), 'b');
  EXPECT_EQ(look(cache, 0, {1, 3}), 'c');
  EXPECT_EQ(look(cache, 0, {}), 'd');
  EXPECT_EQ(look(cache, 0, {1}), -1);
  EXPECT_EQ(look(cache, 2, {1, 2}), -1);
  EXPECT_EQ(calotype_value_cache_entries(cache.get()), 4u);
  EXPECT_EQ(calotype_value_cache_bytes(cache.get()), 4 * 64);
}

TEST(ValueCache, PiecesAreAlignedAndApart) {
  const Cache cache = make_cache();
  const int64_t key = 5, bytes[] = {100, 0, 3};
  calotype_values* v = calotype_values_make(0, &key, 1, bytes, 3);
  ASSERT_NE(v, nullptr);
  for (uint32_t i = 0; i < 3; ++i)
    EXPECT_EQ(reinterpret_cast<uintptr_t>(calotype_values_memory(v, i)) % 64, 0u);
  EXPECT_NE(calotype_values_memory(v, 0), calotype_values_memory(v, 2));
  calotype_values_give_back(cache.get(), v);  // never published
  EXPECT_EQ(calotype_value_cache_entries(cache.get()), 0u);
}

TEST(ValueCache, SaysWhereThereIsNoMemory) {
  const int64_t key = 5, much[] = {64, INT64_MAX - 1};
  EXPECT_EQ(calotype_values_make(0, &key, 1, much, 2), nullptr);
}

TEST(ValueCache, TheFirstOfOneKeyStays) {
  const Cache cache = make_cache();
  put(cache, 0, {1}, 10, 'a');
  put(cache, 0, {1}, 10, 'b');
  EXPECT_EQ(look(cache, 0, {1}), 'a');
  EXPECT_EQ(calotype_value_cache_entries(cache.get()), 1u);
}

TEST(ValueCache, WhatWasUsedLongestAgoGoes) {
  const Cache cache = make_cache();
  const int64_t quarter = CALOTYPE_KEPT_BYTES / 4;
  for (int64_t i = 0; i < 4; ++i) put(cache, 0, {i}, quarter, static_cast<char>('a' + i));
  EXPECT_EQ(look(cache, 0, {0}), 'a');
  put(cache, 0, {4}, quarter, 'e');
  EXPECT_EQ(look(cache, 0, {1}), -1);
  for (int64_t i : {0, 2, 3, 4}) EXPECT_EQ(look(cache, 0, {i}), 'a' + i);
  EXPECT_EQ(calotype_value_cache_bytes(cache.get()), CALOTYPE_KEPT_BYTES);
}

TEST(ValueCache, TheNewestOfEachOwnerStays) {
  const Cache cache = make_cache();
  put(cache, 0, {1}, CALOTYPE_KEPT_BYTES + 64, 'a');
  put(cache, 1, {1}, CALOTYPE_KEPT_BYTES + 64, 'b');
  EXPECT_EQ(look(cache, 0, {1}), 'a');
  EXPECT_EQ(look(cache, 1, {1}), 'b');
  put(cache, 0, {2}, 10, 'c');
  EXPECT_EQ(look(cache, 0, {1}), -1);
  EXPECT_EQ(look(cache, 0, {2}), 'c');
  EXPECT_EQ(look(cache, 1, {1}), 'b');
}

TEST(ValueCache, HoldsSoManyEntries) {
  const Cache cache = make_cache();
  for (int64_t i = 0; i < CALOTYPE_KEPT_ENTRIES + 10; ++i) put(cache, 0, {i}, 1, 'a');
  EXPECT_EQ(calotype_value_cache_entries(cache.get()), static_cast<uint32_t>(CALOTYPE_KEPT_ENTRIES));
  EXPECT_EQ(look(cache, 0, {9}), -1);
  EXPECT_EQ(look(cache, 0, {10}), 'a');
}

TEST(ValueCache, ValuesInUseOutliveTheirEntry) {
  const Cache cache = make_cache();
  put(cache, 0, {1}, CALOTYPE_KEPT_BYTES, 'a');
  const int64_t key = 1;
  calotype_values* v = calotype_values_find(cache.get(), 0, &key, 1);
  put(cache, 0, {2}, 64, 'b');
  EXPECT_EQ(look(cache, 0, {1}), -1);
  EXPECT_EQ(*static_cast<char*>(calotype_values_memory(v, 0)), 'a');
  calotype_values_give_back(cache.get(), v);
}

TEST(ValueCache, SeveralThreads) {
  const Cache cache = make_cache();
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int64_t i = 0; i < 2000; ++i) {
        const int64_t key = (i * 31 + t * 17) % 400, bytes = CALOTYPE_KEPT_BYTES / 100;
        calotype_values* v = calotype_values_find(cache.get(), 0, &key, 1);
        if (!v) {
          v = calotype_values_make(0, &key, 1, &bytes, 1);
          *static_cast<int64_t*>(calotype_values_memory(v, 0)) = key;
          calotype_values_publish(cache.get(), v);
        }
        if (*static_cast<int64_t*>(calotype_values_memory(v, 0)) != key) ++wrong;
        calotype_values_give_back(cache.get(), v);
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(calotype_value_cache_bytes(cache.get()), CALOTYPE_KEPT_BYTES);
}

}  // namespace
