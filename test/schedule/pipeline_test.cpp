// pipeline.
#include "helpers.h"

namespace calotype::test {

static Schedule copied(bool b_as_well = true) {
  Schedule s;
  s["C"].tile("n", "m", "no", "mo", "ni", "mi", 8, 8).gpu_blocks("no", "mo").gpu_threads("ni", "mi");
  s["acc"].compute_at("C", "no").store_in(Memory::Register).gpu_threads("n", "m");
  s["acc"].update().split("k", "ko", "ki", 4).reorder("ki", "n", "m", "ko").gpu_threads("n", "m");
  Stage a = s.in("A", {"acc"});
  s[a].compute_at(s["acc"].update(), "ko").store_in(Memory::Shared).copy(Copy::Async);
  if (!b_as_well) return s;
  Stage b = s.in("B", {"acc"});
  s[b].compute_at(s["acc"].update(), "ko").store_in(Memory::Shared).copy(Copy::Async);
  return s;
}

TEST(Pipelined, IsRecorded) {
  Schedule s = copied();
  s["acc"].update().pipeline("ko", 3);
  const auto applied = apply(matmul(), s, gpu);
  for (const char* name : {"A.in(acc)", "B.in(acc)"}) {
    const auto& func = applied.of(applied.graph.find_func(name)->id);
    EXPECT_EQ(func.storage.copies, 3);
    EXPECT_EQ(place(applied, func.hoist), "C.no");
    EXPECT_EQ(place(applied, func.store), "acc.update(0).ko");
  }
  EXPECT_NE(to_string(applied).find("    copies at ko run 2 ahead  ["), std::string::npos)
      << to_string(applied);
  EXPECT_TRUE(s.check(matmul(), gpu).empty());
  expect_round_trip(matmul(), s, gpu);
  expect_spelling(matmul(), s,
                  R"-({ "stage": "acc.update(0)", "do": "pipeline", "loop": "ko", "depth": 3 })-",
                  R"-(s["acc"].update(0).pipeline("ko", 3);)-", gpu);
}

TEST(Pipelined, IsRefusedForTheLoop) {
  Schedule twice = copied(), threads = copied(), gone = copied(), one = copied(), unrolled = copied();
  twice["acc"].update().pipeline("ko", 3).pipeline("ko", 2);
  expect_refused(matmul(), twice, {"'ko' is a pipeline already, by #", "one pipeline a loop"}, gpu);
  threads["acc"].update().pipeline("m", 3);
  expect_refused(matmul(), threads, {"the loop 'm' is", "so that no iteration comes before another"}, gpu);
  gone["acc"].update().pipeline("ki", 3).split("ki", "kj", "kk", 2);
  expect_refused(matmul(), gone, {"the loop 'ki' is gone", "kj"}, gpu);
  one["acc"].update().pipeline("ko", 1);
  expect_refused(matmul(), one, {"'depth' is out of range", "2 to 16"}, gpu);
  unrolled["acc"].update().pipeline("ki", 2).unroll("ki");
  expect_refused(matmul(), unrolled, {"the loop 'ki' is unrolled"}, gpu);
}

TEST(Pipelined, IsRefusedForWhatIsComputedThere) {
  Schedule none = copied(), plain = copied(false), hoisted = copied(), ring = copied(), host;
  none["acc"].update().pipeline("ki", 3);
  expect_refused(matmul(), none, {"nothing that is computed at 'ki' is an asynchronous copy", "copy(async)"},
                 gpu);
  Stage b = plain.in("B", {"acc"});
  plain[b].compute_at(plain["acc"].update(), "ko").store_in(Memory::Shared);
  plain["acc"].update().pipeline("ko", 3);
  expect_refused(matmul(), plain,
                 {"'B.in(acc)' is copied at 'ko' by the threads", "copy(async) on 'B.in(acc)'"}, gpu);
  hoisted["A.in(acc)"].hoist_storage("C", "no");
  hoisted["acc"].update().pipeline("ko", 3);
  expect_refused(matmul(), hoisted, {"'A.in(acc)' is allocated elsewhere already", "no store_at"}, gpu);
  ring["A.in(acc)"].hoist_storage("C", "no").ring_buffer(2);
  ring["acc"].update().pipeline("ko", 3);
  expect_refused(matmul(), ring, {"'A.in(acc)' is allocated elsewhere already"}, gpu);
  host["by"].serial("y").pipeline("y", 2);
  expect_refused(blur(), host, {"the loop 'y' is in no block"});
}

TEST(Pipelined, IsRefusedForFuncsComputedInsideEachOther) {
  Schedule s;
  s["C"].gpu_blocks("n", "m");
  Stage a = s.in("A", {"acc"}), b = s.in("B", {"acc"});
  s[a].compute_at(b, "d1");
  s[b].compute_at(a, "d1").pipeline("d0", 2);
  expect_refused(matmul(), s, {"nothing that is computed at 'd0' is an asynchronous copy"}, gpu);
}

}  // namespace calotype::test
