// Images of more elements, or further apart, than 32 bits count. What takes gigabytes runs where the machine
// has them to spare.

#ifdef CALOTYPE_HAS_LLVM

#include <sys/mman.h>

#include <fstream>
#include <functional>
#include <string>

#include "support/run.h"

namespace calotype {
namespace {

/// Address space whose pages take memory once they are touched.
class Reserved {
 public:
  explicit Reserved(std::size_t bytes) : bytes_(bytes) {
    data_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data_ == MAP_FAILED) data_ = nullptr;
  }
  ~Reserved() {
    if (data_) munmap(data_, bytes_);
  }
  Reserved(const Reserved&) = delete;
  Reserved& operator=(const Reserved&) = delete;
  std::uint8_t* data() const { return static_cast<std::uint8_t*>(data_); }

 private:
  std::size_t bytes_;
  void* data_;
};

std::vector<Schedule> schedules() {
  std::vector<Schedule> all(3);
  all[1]["out"].vectorize("x", 32).parallel("y");
  all[2]["out"].vectorize("x", 16, Tail::Guard).unroll("y", 2);
  return all;
}

Pipeline blend() {
  Dim W("W"), H("H");
  ImageParam in(UInt(8), {W, H}, "in");
  Var x("x"), y("y");
  Func out("out");
  out(x, y) = in(x, y) + in(clamp(x + 1, 0, W - 1), clamp(y - 1, 0, H - 1));
  return {"blend", {in}, {{out, {W, H}}}};
}

// Rows lie 2^32 elements apart, upwards and downwards.
TEST(LargeImages, RowsFarApart) {
  constexpr std::int64_t kRow = std::int64_t{1} << 32, kWidth = 77, kHeight = 3;
  const Reserved from(kRow * kHeight), to(kRow * kHeight);
  ASSERT_TRUE(from.data() && to.data()) << "no address space";
  const Pipeline p = blend();
  for (const std::int64_t step : {kRow, -kRow})
    for (const Schedule& s : schedules()) {
      const std::int64_t first = step < 0 ? kRow * (kHeight - 1) : 0;
      const Buffer in(UInt(8), from.data() + first, {kWidth, kHeight}, {1, step}),
          out(UInt(8), to.data() + first, {kWidth, kHeight}, {1, step});
      for (std::int64_t y = 0; y < kHeight; ++y)
        for (std::int64_t x = 0; x < kWidth; ++x)
          in.set_value({x, y}, static_cast<double>((x * 7 + y * 31) & 255));
      testing::expect_matches(p, s, Target::host(), {in}, {out});
    }
}

/// Whether the machine can spare the memory of these tests, two of which may run at one time.
bool has_memory() {
  std::ifstream in("/proc/meminfo");
  std::int64_t kilobytes = 0;
  for (std::string word; in >> word;)
    if (word == "MemAvailable:") in >> kilobytes;
  return kilobytes > 8 << 20;
}

/// The pattern of the image at a point.
std::uint8_t pattern(std::int64_t x, std::int64_t y) {
  return static_cast<std::uint8_t>((x * 7 + y * 13) & 255);
}

// 3.2 * 10^9 elements: written, read back as sums of rows, and changed in place.
TEST(LargeImages, MoreThanThirtyTwoBitsOfElements) {
  if (!has_memory()) GTEST_SKIP() << "less than 8 GB of memory are free, of which this takes 3.2";
  constexpr std::int64_t kWidth = 70001, kHeight = 46001;
  Dim W("W"), H("H");
  Var x("x"), y("y");
  const Buffer image(UInt(8), {kWidth, kHeight});
  Func fill("out");
  fill(x, y) = cast<std::uint8_t>(x * 7 + y * 13);
  Schedule rows;
  rows["out"].vectorize("x", 64).parallel("y");
  Pipeline("fill", {}, {{fill, {W, H}}}).compile(rows, Target::host())(image);

  ImageParam in(UInt(8), {W, H}, "in");
  RDom r(0, W, "r");
  Func total("total");
  total(y) += cast<std::int64_t>(in(r, y));
  const Kernel sum = Pipeline("rows", {in}, {{total, {H}}}).compile({}, Target::host());
  const auto expect_sums = [&](int added) {
    const Buffer sums(Int(64), {kHeight});
    testing::poison(sums);
    sum(image, sums);
    std::int64_t wrong = 0;
    for (std::int64_t j = 0; j < kHeight; ++j) {
      std::int64_t expected = 0;  // 256 columns run through every value once
      for (std::int64_t i = 0; i < kWidth % 256; ++i)
        expected += static_cast<std::uint8_t>(pattern(i, j) + added);
      wrong += sums.at<std::int64_t>({j}) != expected + kWidth / 256 * (255 * 128);
    }
    EXPECT_EQ(wrong, 0);
  };
  expect_sums(0);

  Func more("out");
  more(x, y) = in(x, y) + cast<std::uint8_t>(5);
  Pipeline("more", {in}, {{more, {W, H}}}).alias("out", "in").compile(rows, Target::host())(image, image);
  expect_sums(5);
  EXPECT_EQ(image.at<std::uint8_t>({kWidth - 1, kHeight - 1}),
            static_cast<std::uint8_t>(pattern(kWidth - 1, kHeight - 1) + 5));
}

// One dimension of more than 2^31 elements.
TEST(LargeImages, OneLongRow) {
  if (!has_memory()) GTEST_SKIP() << "less than 8 GB of memory are free, of which this takes 2.1";
  constexpr std::int64_t kLength = (std::int64_t{1} << 31) + 1001;
  Dim N("N");
  Var x("x");
  Func out("out");
  out(x) = cast<std::uint8_t>(x >> 20) + cast<std::uint8_t>(x);
  for (const bool vectors : {false, true}) {
    Schedule s;
    if (vectors) s["out"].vectorize("x", 32).split("x.o", "xo", "xi", 4096).parallel("xo");
    const Buffer row(UInt(8), {kLength});
    Pipeline("long", {}, {{out, {N}}}).compile(s, Target::host())(row);
    for (std::int64_t i = 0; i < kLength; i += i < kLength - 3000 ? 999983 : 1)
      ASSERT_EQ(row.at<std::uint8_t>({i}), static_cast<std::uint8_t>((i >> 20) + i)) << i;
  }
}

}  // namespace
}  // namespace calotype

#endif  // CALOTYPE_HAS_LLVM
