// store_in.
#include "helpers.h"

namespace calotype::test {

TEST(StoreIn, ChoosesTheMemory) {
  Schedule s;
  s["bx"].compute_at("by", "y").store_in(Memory::Stack);
  const auto applied = apply(blur(), s);
  EXPECT_EQ(applied.of(applied.graph.find_func("bx")->id).memory, Memory::Stack);
  expect_round_trip(blur(), s);
  expect_spelling(blur(), s, R"({ "stage": "bx", "do": "store_in", "memory": "stack" })",
                  R"(s["bx"].store_in(Memory::Stack);)");
}

TEST(StoreIn, IsRefusedForMemoryTheTargetHasNot) {
  Schedule s;
  s["bx"].compute_root().store_in(Memory::Shared);
  expect_refused(blur(), s, {"the target host has no shared memory", "auto, heap, stack"});
  Schedule stack;
  stack["bx"].compute_root().store_in(Memory::Stack);
  expect_refused(blur(), stack, {"has no stack memory", "auto, global, shared, register, local"},
                 Target::interpreter());
}

TEST(StoreIn, IsRefusedForOutputsAndTwice) {
  Schedule output, twice;
  output["by"].store_in(Memory::Heap);
  expect_refused(blur(), output, {"'by' is an output, which lives in the caller's memory"});
  twice["bx"].compute_root().store_in(Memory::Heap).store_in(Memory::Heap);
  expect_refused(blur(), twice, {"chosen already, by #2 store_in(heap)"});
}

TEST(StoreIn, WantsABlockForSharedMemory) {
  Schedule root, thread, global;
  root["bx"].compute_root().store_in(Memory::Shared);
  expect_refused(blur(), root, {"'bx' is stored outside every block"}, Target::interpreter());
  thread["by"].gpu_blocks("y").gpu_threads("x", 32);
  thread["by"].reorder("x.t", "x.o", "y");
  thread["bx"].compute_at("by", "x.t").store_in(Memory::Shared);
  expect_refused(blur(), thread, {"'bx' is stored inside a thread"}, Target::interpreter());
  global["by"].gpu_blocks("y").gpu_threads("x", 32);
  global["bx"].compute_at("by", "y").store_in(Memory::Global);
  expect_refused(blur(), global, {"global memory belongs to the grid"}, Target::interpreter());
}

}  // namespace calotype::test
