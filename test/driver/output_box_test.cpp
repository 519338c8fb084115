// Outputs hold what the caller's buffer holds: updates that write or read beyond it are refused at the call,
// with nothing written.

#include "support/run.h"

namespace calotype {
namespace {

#ifdef CALOTYPE_HAS_LLVM

/// counts(b) of values 0 to 7, straight into the output.
Pipeline counts() {
  Dim N("N"), B("B");
  ImageParam in(Int(32), {N}, "in");
  Var b("b");
  RDom r(0, N, "r");
  Func counts("counts");
  counts(b) = 0;
  counts(clamp(cast<std::int64_t>(in(r)), 0, 7)) += 1;
  return Pipeline("counts", {in}, {Output(counts, {B})});
}

TEST(OutputBox, AnUpdateOutsideIsRefusedWithNothingWritten) {
  const Buffer in = testing::random_buffer(Int(32), {20}, 1);
  Buffer memory(Int(32), {16});
  memory.fill(113);
  const Kernel kernel = counts().compile(Schedule(), Target::host());
  try {
    kernel(in, memory.crop(0, 0, 5));
    FAIL() << "ran";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Argument);
    EXPECT_NE(std::string(e.what()).find("updates touch coordinates 0 to 7"), std::string::npos) << e.what();
    EXPECT_NE(e.diagnostic().legal.find("coordinates 0 to 4"), std::string::npos) << e.diagnostic().legal;
  }
  for (std::int64_t i = 0; i < 16; ++i) EXPECT_EQ(memory.at<std::int32_t>({i}), 113) << i;
}

TEST(OutputBox, AnUpdateThatJustFitsRuns) {
  const Buffer in = testing::random_buffer(Int(32), {20}, 1);
  for (const std::int64_t size : {8, 11})
    testing::expect_matches(counts(), Schedule(), Target::host(), {in}, {Buffer(Int(32), {size})},
                            {{"B", size}});
}

TEST(OutputBox, ARowThatTheOutputLacksIsRefused) {
  Dim W("W");
  Var x("x"), y("y");
  Func f("f");
  f(x, y) = 1;
  f(x, 2) = 5;
  const Kernel kernel = Pipeline("rows", {}, {Output(f, {W, 2})}).compile(Schedule(), Target::host());
  EXPECT_THROW(kernel(Buffer(Int(32), {4, 2})), Error);
}

#endif  // CALOTYPE_HAS_LLVM

}  // namespace
}  // namespace calotype
