// The caller's hooks reach compiled host code: its memory, its parallel loops, and what happens without
// memory.

#include <cstdlib>
#include <mutex>
#include <set>

#include "support/run.h"

#ifdef CALOTYPE_HAS_LLVM

namespace calotype {
namespace {

/// Hooks that count, and that have no memory from one allocation on.
struct Counting {
  std::mutex mutex;
  std::set<void*> live;
  int allocations = 0, loops = 0, fail_at = -1;
  calotype_context context{};

  Counting() {
    context.user = this;
    context.allocate = [](void* user, std::size_t bytes) { return of(user).allocate(bytes); };
    context.release = [](void* user, void* memory) { of(user).release(memory); };
  }

 private:
  static Counting& of(void* user) { return *static_cast<Counting*>(user); }
  void* allocate(std::size_t bytes) {
    const std::lock_guard lock(mutex);
    if (allocations++ == fail_at) return nullptr;
    return *live.insert(std::aligned_alloc(64, (bytes + 63) / 64 * 64)).first;
  }
  void release(void* memory) {
    const std::lock_guard lock(mutex);
    EXPECT_EQ(live.erase(memory), 1u);
    std::free(memory);
  }
};

/// out <- b <- a, sums of neighbours.
Pipeline chain() {
  Dim W("W"), H("H");
  ImageParam in(Float(32), {W, H}, "in");
  Var x("x"), y("y");
  Func edged = boundary::repeat_edge(in, "edged"), a("a"), b("b"), out("out");
  a(x, y) = edged(x - 1, y) + edged(x + 1, y);
  b(x, y) = a(x, y - 1) + a(x, y + 1);
  out(x, y) = b(x, y) * 2.0f;
  return Pipeline("chain", {in}, {Output(out, {W, H})});
}

Schedule two_in_memory() {
  Schedule s;
  s["edged"].compute_inline();
  s["a"].compute_root();
  s["b"].compute_root();
  return s;
}

// Each row of the output has memory of its own, in whatever thread it runs.
Schedule one_in_each_row() {
  Schedule s;
  s["edged"].compute_inline();
  s["out"].parallel("y");
  s["a"].compute_at("out", "y");
  s["b"].compute_at("out", "y");
  return s;
}

// The same a row at a time, in memory that serves all rows.
Schedule one_for_all_rows() {
  Schedule s;
  s["edged"].compute_inline();
  s["out"].serial("y");
  s["a"].compute_at("out", "y").hoist_storage_root();
  s["b"].compute_at("out", "y").hoist_storage_root();
  return s;
}

void expect_right(const Pipeline& pipeline, const Buffer& in, const Buffer& out) {
  const lang::EqualityReport report = lang::compare_with_reference(out, pipeline.evaluate({in}), 0, false);
  EXPECT_TRUE(report.ok) << report.str();
}

TEST(Hooks, MemoryOfStagesComesFromTheCaller) {
  const Pipeline pipeline = chain();
  const Buffer in = testing::random_buffer(Float(32), {40, 30}, 1), out(Float(32), {40, 30});
  for (const auto& [schedule, most] :
       {std::pair{two_in_memory(), 2}, {one_in_each_row(), 60}, {one_for_all_rows(), 2}}) {
    Counting counting;
    testing::poison(out);
    pipeline.compile(schedule, Target::host()).call({in, out}, counting.context);
    EXPECT_EQ(counting.allocations, most);
    EXPECT_TRUE(counting.live.empty());
    EXPECT_EQ(counting.context.host_context, nullptr);
    expect_right(pipeline, in, out);
  }
}

// `first` is what the first allocation of `a` takes. Of the later ones in parallel rows it is open which
// comes next.
TEST(Hooks, WithoutMemoryACallFailsAndGivesAllBack) {
  const Pipeline pipeline = chain();
  const Buffer in = testing::random_buffer(Float(32), {40, 30}, 2), out(Float(32), {40, 30});
  for (const auto& [schedule, first] :
       {std::pair{two_in_memory(), 40 * 32 * 4}, {one_in_each_row(), 40 * 3 * 4}, {one_for_all_rows(), 0}}) {
    const Kernel kernel = pipeline.compile(schedule, Target::host());
    for (int at : {0, 1}) {
      Counting counting;
      counting.fail_at = at;
      try {
        kernel.call({in, out}, counting.context);
        ADD_FAILURE() << "the call went well";
      } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::Memory);
        const Diagnostic& d = e.diagnostic();
        const std::string bytes = std::to_string(first) + " bytes";
        EXPECT_TRUE(d.func == "a" || d.func == "b") << e.what();
        EXPECT_EQ(d.subject, Subject::Func);
        EXPECT_EQ(d.message, "chain: no memory for " + d.value + " of storage");
        EXPECT_NE(d.legal.find("smaller sizes"), std::string::npos);
        EXPECT_TRUE(at > 0 || first == 0 || d.func + " " + d.value == "a " + bytes) << e.what();
      }
      EXPECT_EQ(counting.context.error.kind, CALOTYPE_OUT_OF_MEMORY);
      EXPECT_TRUE(counting.live.empty()) << at;
    }
    kernel(in, out);  // nothing is left of the failures
    expect_right(pipeline, in, out);
  }
}

TEST(Hooks, StorageBeyondAllNumbersIsNoMemory) {
  // 2^32 by 2^30 floats are 2^64 bytes, of which 64 bits keep nothing. The inputs are one element each.
  Dim W("W"), H("H");
  ImageParam a(Float(32), {W}, "a"), b(Float(32), {H}, "b");
  Var x("x"), y("y"), i("i");
  Func f("f"), out("out");
  f(x, y) = a(x) * b(y);
  out(i) = f(clamp(i * W, 0, W - 1), clamp(i * H, 0, H - 1));
  const Pipeline p("huge", {a, b}, {Output(out, {2})});
  Schedule s;
  s["f"].compute_root();
  float one = 1;
  const Buffer wide(Float(32), &one, {std::int64_t{1} << 32}, {0}), high(Float(32), &one, {1 << 30}, {0});
  try {
    p.compile(s, Target::host()).call({wide, high, Buffer(Float(32), {2})});
    FAIL() << "ran";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Memory) << e.what();
    EXPECT_EQ(e.diagnostic().func, "f");
  }
}

TEST(Hooks, ParallelLoopsAreTheCallers) {
  const Pipeline pipeline = chain();
  const Buffer in = testing::random_buffer(Float(32), {40, 30}, 3), out(Float(32), {40, 30});
  Counting counting;
  counting.context.parallel_for = [](void* user, calotype_parallel_body body, std::int64_t begin,
                                     std::int64_t end, void* closure) {
    ++static_cast<Counting*>(user)->loops;
    for (std::int64_t i = end; i-- > begin;)
      if (const int status = body(nullptr, i, i + 1, closure)) return status;
    return 0;
  };
  const Kernel kernel = pipeline.compile(one_in_each_row(), Target::host());
  kernel.call({in, out}, counting.context);
  EXPECT_EQ(counting.loops, 1);
  EXPECT_TRUE(counting.live.empty());
  expect_right(pipeline, in, out);
  // A loop stops at the first failure.
  counting.fail_at = counting.allocations + 3;
  EXPECT_THROW(kernel.call({in, out}, counting.context), Error);
  EXPECT_EQ(counting.fail_at + 1, counting.allocations);
  EXPECT_TRUE(counting.live.empty());
}

}  // namespace
}  // namespace calotype

#endif  // CALOTYPE_HAS_LLVM
