// copy.
#include "helpers.h"

namespace calotype::test {

/// Tiles of 8 x 8 threads, operands 4 deep in shared memory.
static Schedule shared_operands() {
  Schedule s;
  s["C"].tile("n", "m", "no", "mo", "ni", "mi", 8, 8).gpu_blocks("no", "mo").gpu_threads("ni", "mi");
  s["acc"].compute_at("C", "no").store_in(Memory::Register).gpu_threads("n", "m");
  s["acc"].update().split("k", "ko", "ki", 4).reorder("ki", "n", "m", "ko").gpu_threads("n", "m");
  Stage a = s.in("A", {"acc"});
  s[a].compute_at(s["acc"].update(), "ko").store_in(Memory::Shared);
  return s;
}

TEST(Copy, IsRecorded) {
  Schedule s = shared_operands();
  s["A.in(acc)"].copy(Copy::Async);
  const auto applied = apply(matmul(), s, gpu);
  EXPECT_EQ(applied.of(applied.graph.find_func("A.in(acc)")->id).copy, Copy::Async);
  EXPECT_NE(to_string(applied).find("  copied by async  ["), std::string::npos) << to_string(applied);
  EXPECT_TRUE(s.check(matmul(), gpu).empty());
  expect_round_trip(matmul(), s, gpu);
  expect_spelling(matmul(), s, R"-({ "stage": "A.in(acc)", "do": "copy", "how": "async" })-",
                  R"-(s["A.in(acc)"].copy(Copy::Async);)-", gpu);
}

TEST(Copy, ByThreadsIsLegalAnywhere) {
  Schedule s;
  s["bx"].compute_root().copy(Copy::Threads);
  EXPECT_TRUE(s.check(blur()).empty());
}

TEST(Copy, IsRefusedByWhatTheScheduleSays) {
  Schedule host, output, twice = shared_operands(), updates = shared_operands(), local = shared_operands(),
                         shared;
  host["bx"].compute_root().copy(Copy::Async);
  expect_refused(blur(), host, {"has no asynchronous copies", "threads; the targets cuda"});
  output["by"].copy(Copy::Async);
  expect_refused(blur(), output, {"'by' is an output"}, gpu);
  twice["A.in(acc)"].copy(Copy::Async).copy(Copy::Threads);
  expect_refused(matmul(), twice, {"is chosen already, by #", "one copy directive a Func"}, gpu);
  updates["acc"].copy(Copy::Async);
  expect_refused(matmul(), updates, {"'acc' has updates, so it is no plain copy", "made by in()"}, gpu);
  shared = tiled();
  shared["bx"].compute_at("by", "xi").copy(Copy::Async);
  expect_refused(blur(), shared, {"'bx' computes", "changes nothing on its way"}, gpu);
}

TEST(Copy, IsRefusedByWhatIsCopiedAndWhere) {
  Schedule computes = tiled(), thread = tiled(), narrow = shared_operands();
  computes["bx"].compute_at("by", "xo").store_in(Memory::Shared).copy(Copy::Async);
  expect_refused(blur(), computes, {"'bx' computes", "changes nothing on its way", "a plain copy by in()"},
                 gpu);
  Stage image = thread.in("image", {"bx"});
  thread["bx"].compute_at("by", "xi");
  thread[image].compute_at("by", "xi").copy(Copy::Async);
  expect_refused(blur(), thread, {"is in local memory", "asynchronous copies go to shared memory"}, gpu);
  narrow["A.in(acc)"].copy(Copy::Async);
  expect_refused(matmul(UInt(8)), narrow,
                 {"is copied in single elements of 1 byte", "4, 8 or 16", "vectorize by a multiple of 4"},
                 gpu);
  narrow["A.in(acc)"].vectorize("d0", 4);
  EXPECT_TRUE(narrow.check(matmul(UInt(8)), gpu).empty());
  expect_refused(
      matmul(),
      [] {
        Schedule inner = shared_operands();
        inner["A.in(acc)"].copy(Copy::Async);
        Stage again = inner.in("A", {"A.in(acc)"});
        inner[again].compute_at(inner["acc"].update(), "ko").store_in(Memory::Shared);
        return inner;
      }(),
      {"which is computed inside the same kernel", "compute_root on"}, gpu);
}

const Target hopper = Target::cuda("sm_90a");

TEST(Copy, InBulkIsRecorded) {
  Schedule s = shared_operands();
  s["A.in(acc)"].copy(Copy::Bulk);
  EXPECT_TRUE(s.check(matmul(), hopper).empty());
  expect_round_trip(matmul(), s, hopper);
  expect_spelling(matmul(), s, R"-({ "stage": "A.in(acc)", "do": "copy", "how": "bulk" })-",
                  R"-(s["A.in(acc)"].copy(Copy::Bulk);)-", hopper);
}

TEST(Copy, InBulkIsRefused) {
  Schedule old = shared_operands();
  old["A.in(acc)"].copy(Copy::Bulk);
  expect_refused(matmul(), old, {"cuda-sm_80 has no bulk copies", "sm_90 and later"}, Target::cuda("sm_80"));

  Schedule vectors = old, threads = old, across = old, swizzled = old;
  vectors["A.in(acc)"].vectorize("d0", 4);
  expect_refused(matmul(), vectors, {"copied in whole rows", "innermost loop 'd0.v' is vector"}, hopper);
  threads["A.in(acc)"].gpu_threads("d0");
  expect_refused(matmul(), threads, {"innermost loop 'd0' is gpu_thread"}, hopper);
  across["A.in(acc)"].reorder("d1", "d0");
  expect_refused(matmul(), across, {"elements of 'd1' are no neighbours in its memory"}, hopper);
  swizzled["A.in(acc)"].swizzle(32);
  expect_refused(matmul(), swizzled, {"lie in pieces, by #", "no swizzle"}, hopper);

  Schedule halo = tiled(), narrow = shared_operands();
  Stage image = halo.in("image", {"bx"});
  halo["bx"].compute_at("by", "xi");
  halo[image].compute_at("by", "xo").store_in(Memory::Shared).copy(Copy::Bulk);
  expect_refused(blur(), halo,
                 {"begin in 'image.in(bx)' at places that are not known to be multiples of 16 bytes"},
                 hopper);
  narrow["A.in(acc)"].copy(Copy::Bulk);
  expect_refused(matmul(UInt(8)), narrow, {"not known to be multiples of 16 bytes", "16 elements"}, hopper);
  expect_refused(
      blur(),
      [] {
        Schedule s = tiled();
        s["bx"].compute_at("by", "xo").store_in(Memory::Shared).copy(Copy::Bulk);
        return s;
      }(),
      {"'bx' computes", "changes nothing on its way"}, hopper);
}

TEST(Copy, InBoxesIsRecorded) {
  Schedule s = shared_operands();
  s["A.in(acc)"].copy(Copy::Tma);
  EXPECT_TRUE(s.check(matmul(), hopper).empty());
  expect_round_trip(matmul(), s, hopper);
  expect_spelling(matmul(), s, R"-({ "stage": "A.in(acc)", "do": "copy", "how": "tma" })-",
                  R"-(s["A.in(acc)"].copy(Copy::Tma);)-", hopper);
  const auto applied = apply(matmul(), s, hopper);
  ASSERT_EQ(applied.forms.size(), 1u);
  EXPECT_TRUE(applied.forms[0].tensor);
  EXPECT_EQ(applied.forms[0].form.str(), "A pitch multiple of 16 bytes, base aligned to 16 bytes");
}

TEST(Copy, InBoxesTogetherWithOtherDirectives) {
  Schedule swizzled = shared_operands(), piped = shared_operands(), parts = shared_operands();
  swizzled["A.in(acc)"].copy(Copy::Tma).align_storage("d0", 8).swizzle(32);
  EXPECT_TRUE(swizzled.check(matmul(), hopper).empty());
  piped["A.in(acc)"].copy(Copy::Tma);
  piped["acc"].update().pipeline("ko", 3);
  EXPECT_TRUE(piped.check(matmul(), hopper).empty());
  parts["A.in(acc)"].copy(Copy::Tma).split("d1", "part", "row", 8);
  EXPECT_TRUE(parts.check(matmul(), hopper).empty());
}

TEST(Copy, InBoxesIsRefusedByTargetsAndStorage) {
  Schedule old = shared_operands(), padded = shared_operands(), swizzled = shared_operands(), scalar;
  old["A.in(acc)"].copy(Copy::Tma);
  expect_refused(matmul(), old, {"cuda-sm_80 has no tensor copies", "sm_90 and later"},
                 Target::cuda("sm_80"));
  padded["A.in(acc)"].copy(Copy::Tma).pad("d0", 4);
  expect_refused(matmul(), padded,
                 {"elements in memory that nothing uses, by pad", "swizzle in place of pad"}, hopper);
  swizzled["A.in(acc)"].copy(Copy::Tma).swizzle(64);
  expect_refused(matmul(), swizzled, {"rows of 'A.in(acc)' in memory take 16 bytes", "rows of 64 bytes"},
                 hopper);
}

TEST(Copy, InBoxesIsRefusedByItsLoops) {
  Schedule all = shared_operands();
  all["A.in(acc)"].copy(Copy::Tma);
  Schedule vectors = all, threads = all, across = all, parts = all;
  vectors["A.in(acc)"].vectorize("d0", 4);
  expect_refused(matmul(), vectors, {"copied in boxes, and the loop 'd0.v' is vector", "a serial loop"},
                 hopper);
  for (const Copy how : {Copy::Tma, Copy::Bulk}) {
    Schedule around = shared_operands();
    around["A.in(acc)"].vectorize("d1", 2).copy(how);
    expect_refused(matmul(), around, {"the lanes of 'd1.v', around them, would start one each"}, hopper);
  }
  threads["A.in(acc)"].gpu_threads("d1");
  expect_refused(matmul(), threads,
                 {"one thread starts them all, but 'd1' is bound to threads", "copy(bulk)"}, hopper);
  across["A.in(acc)"].reorder("d1", "d0");
  expect_refused(matmul(), across,
                 {"'d1' runs over dimension 1 of 'A', out of turn", "the first one innermost"}, hopper);
  // The inner part is copied, in rows of 8 bytes.
  parts["A.in(acc)"].split("d0", "part", "own", 2);
  expect_refused(matmul(), parts, {"rows of the box take 8 bytes, no multiple of 16", "tiles of 4 elements"},
                 hopper);
  Schedule uneven = all;
  uneven["A.in(acc)"].split("d1", "part", "row", 3);
  expect_refused(matmul(), uneven, {"the last box along", "ends at", "where memory has 8", "align_storage"},
                 hopper);
}

/// out(x, y) = t(x, y) + 1, t(x, y) = in(coordinates), by tiles of `width` by 8.
static Pipeline through_copy(int rank, const std::vector<Expr>& coordinates) {
  std::vector<Dim> dims;
  for (int d = 0; d < rank; ++d) dims.emplace_back("N" + std::to_string(d));
  ImageParam in(Float(32), std::vector<Expr>(dims.begin(), dims.end()), "in");
  Dim W("W"), H("H");
  Var x("x"), y("y");
  Func t("t"), out("out");
  t(x, y) = in.at(coordinates);
  out(x, y) = t(x, y) + 1.0f;
  return Pipeline("through_copy", {in}, {{out, {W, H}}});
}

static Schedule in_boxes(int width) {
  Schedule s;
  s["out"].tile("x", "y", "xo", "yo", "xi", "yi", width, 8).gpu_blocks("xo", "yo").gpu_threads("xi", 32);
  s["out"].gpu_threads("yi");
  s["t"].compute_at("out", "xo").store_in(Memory::Shared).copy(Copy::Tma);
  return s;
}

TEST(Copy, InBoxesIsRefusedByWhatIsRead) {
  Schedule computes = tiled(), halo = tiled();
  computes["bx"].compute_at("by", "xo").store_in(Memory::Shared).copy(Copy::Tma);
  expect_refused(blur(), computes, {"'bx' computes", "changes nothing on its way"}, hopper);
  Stage image = halo.in("image", {"bx"});
  halo["bx"].compute_at("by", "xi");
  halo[image].compute_at("by", "xo").store_in(Memory::Shared).copy(Copy::Tma);
  EXPECT_TRUE(halo.check(blur(), hopper).empty());

  const Var x("x"), y("y");
  const Expr i = x, j = y;
  EXPECT_TRUE(in_boxes(32).check(through_copy(2, {i, 2 * j}), hopper).empty());  // rows, each a box
  expect_refused(
      through_copy(2, {i + 1, j}), in_boxes(32),
      {"boxes of 't' begin along the first dimension of 'in'", "multiples of 4, which is 16 bytes"}, hopper);
  expect_refused(through_copy(2, {j, i}), in_boxes(32), {"'x' runs over dimension 1 of 'in', out of turn"},
                 hopper);
  expect_refused(through_copy(2, {2 * i, j}), in_boxes(32),
                 {"the iterations of 'x' do not advance one coordinate of 'in' by 1"}, hopper);
  Schedule outside;
  outside["out"].tile("x", "y", "xo", "yo", "xi", "yi", 32, 8).reorder("xi", "yi", "xo", "yo");
  outside["out"].gpu_blocks("yo").gpu_threads("xi", "yi");
  outside["t"].compute_at("out", "xo").store_at("out", "yo").store_in(Memory::Shared).copy(Copy::Tma);
  outside["out"].bound("x", 0, 100);
  expect_refused(through_copy(2, {i, j}), outside,
                 {"the elements of 'x' do not lie densely behind each other in its memory"}, hopper);
  expect_refused(through_copy(2, {i, j}), in_boxes(512),
                 {"the loop 'x' has up to 512 iterations", "at most 256: split"}, hopper);
  expect_refused(through_copy(6, {i, j, Expr(0), Expr(0), Expr(0), Expr(0)}), in_boxes(32),
                 {"'in' has 6 dimensions", "at most 5"}, hopper);
}

}  // namespace calotype::test
