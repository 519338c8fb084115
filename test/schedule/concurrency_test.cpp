// Several threads apply different schedules to one algorithm.
#include <thread>

#include "helpers.h"

namespace calotype::test {

TEST(Concurrency, ThreadsShareOneAlgorithm) {
  const Pipeline p = matmul();
  const std::string algorithm = lang::to_string(p.graph());
  auto make = [](int i) {
    Schedule s;
    s["acc"].update().split("k", "ko", "ki", 2 + i);
    if (i % 2 == 0) s["acc"].update().rfactor({{"ki", "u"}}, "part");
    if (i % 3 == 0) s[s.in("B", {i % 2 == 0 ? "part" : "acc"})].split("d0", "a", "b", 3 + i);
    return s;
  };
  std::vector<std::string> expected, found(32);
  for (int i = 0; i < 8; i++) expected.push_back(schedule::to_string(apply(p, make(i))));
  std::vector<std::thread> threads;
  for (int i = 0; i < 32; i++)
    threads.emplace_back([&, i] { found[i] = schedule::to_string(apply(p, make(i % 8))); });
  for (std::thread& t : threads) t.join();
  for (int i = 0; i < 32; i++) EXPECT_EQ(found[i], expected[i % 8]);
  EXPECT_EQ(lang::to_string(p.graph()), algorithm);
}

}  // namespace calotype::test
