// Kernels of schedule files: each call takes the case that fits its sizes.

#include <thread>

#include "support/pipelines.h"
#include "support/run.h"

namespace calotype {
namespace {

using testing::product;
using testing::random_buffer;

const Target interpreter = Target::interpreter("sm_90a");

Schedule tiles(int factor) {
  Schedule s;
  s["C"].gpu_blocks("i").gpu_threads("j", factor);
  s["acc"].compute_at("C", "i").store_in(Memory::Shared).gpu_threads("j", factor);
  s["acc"].update().gpu_threads("j", factor);
  return s;
}

/// Shared rows for N up to 64, more so where K is a multiple of 4; otherwise the defaults.
ScheduleFile sample() {
  ScheduleFile file("product", Target::cuda("sm_90a"));
  file.add(product(), {});
  file.add(product(), tiles(32), {.when = {{"N", 1, 64}}, .template_name = "wide"});
  file.add(product(), tiles(8), {.when = {{"N", 1, 64}, {"K", 0, {}, 4}}, .template_name = "narrow"});
  return file;
}

struct Call {
  Buffer A, B, out;
  Call(std::int64_t m, std::int64_t n, std::int64_t k)
      : A(random_buffer(Float(32), {k, m}, 1)),
        B(random_buffer(Float(32), {n, k}, 2)),
        out(Float(32), {n, m}) {
    testing::poison(out);
  }
  std::vector<Arg> args() const { return {A, B, out}; }
  void expect_right() const {
    const lang::EqualityReport result =
        lang::compare_with_reference(out, product().evaluate({A, B}), 0, false);
    EXPECT_TRUE(result.ok) << result.str();
  }
};

/// Which case explain says is taken.
std::string taken(const Kernel& kernel, const Call& call) {
  const std::string text = kernel.explain(call.args());
  const std::size_t end = text.find(": taken\n");
  EXPECT_NE(end, std::string::npos) << text;
  const std::size_t begin = text.rfind("case ", end);
  return text.substr(begin + 5, 1);
}

TEST(CaseKernel, EachCallTakesTheCaseThatFits) {
  const Kernel kernel = product().compile(sample(), interpreter);
  const struct {
    std::int64_t m, n, k;
    const char* taken;
  } rows[] = {{3, 64, 5, "0"}, {3, 64, 8, "1"}, {1, 1, 1, "0"},
              {3, 65, 8, "2"}, {31, 7, 4, "1"}, {2, 127, 31, "2"}};
  for (const auto& row : rows) {
    const Call call(row.m, row.n, row.k);
    EXPECT_EQ(taken(kernel, call), row.taken) << row.n << " " << row.k;
    kernel.call(call.args());
    call.expect_right();
  }
}

TEST(CaseKernel, CompilesACaseWhenACallNeedsIt) {
  const Kernel kernel = product().compile(sample(), interpreter);
  EXPECT_EQ(kernel.compile_seconds(), 0);
  EXPECT_EQ(kernel.target(), interpreter);
  kernel.call(Call(3, 4, 5).args());
  const double one = kernel.compile_seconds();
  EXPECT_GT(one, 0);
  kernel.call(Call(4, 5, 6).args());
  EXPECT_EQ(kernel.compile_seconds(), one) << "compiled again";
  kernel.call(Call(4, 65, 6).args());
  EXPECT_GT(kernel.compile_seconds(), one);
}

TEST(CaseKernel, ThreadsMayCallAtTheSameTime) {
  const Kernel kernel = product().compile(sample(), interpreter);
  std::vector<std::thread> threads;
  std::vector<Call> calls;
  for (int i = 0; i < 6; i++) calls.emplace_back(2, i % 2 ? 66 : 7, i % 3 ? 4 : 5);
  for (const Call& call : calls) threads.emplace_back([&] { kernel.call(call.args()); });
  for (std::thread& t : threads) t.join();
  for (const Call& call : calls) call.expect_right();
}

TEST(CaseKernel, ExplainsAndShowsItsCases) {
  const Kernel kernel = product().compile(sample(), interpreter);
  EXPECT_EQ(kernel.explain(Call(2, 9, 5).args()),
            "case 0: N 1 to 64; template wide: taken\n"
            "case 1: N 1 to 64, K multiples of 4; template narrow: K is 5, not multiples of 4\n"
            "case 2: all sizes; template main: fits, but case 0 is narrower or stands before it\n");
  EXPECT_EQ(kernel.show("cases"),
            "case 1: N 1 to 64, K multiples of 4; template narrow\n"
            "case 0: N 1 to 64; template wide\n"
            "case 2: all sizes; template main\n");
  const std::string lowered = kernel.show("lowered");
  EXPECT_NE(lowered.find("case 2: all sizes"), std::string::npos);
  EXPECT_THROW(kernel.show("none"), Error);
  EXPECT_NE(product().compile(Schedule{}, interpreter).explain({}).find("no cases"), std::string::npos);
}

TEST(CaseKernel, WrongArgumentsAreRefusedAsByAnyKernel) {
  const Kernel kernel = product().compile(sample(), interpreter);
  const Call call(2, 9, 5);
  EXPECT_THROW(kernel.call({call.A, call.B}), Error);
  EXPECT_THROW(kernel.call({call.A, 1.0, call.out}), Error);
  EXPECT_THROW(kernel.call({call.A, call.A, call.out}), Error);
  EXPECT_THROW(kernel.call({Buffer(), call.B, call.out}), Error);
  EXPECT_THROW(kernel.call(std::vector<Arg>{}), Error);
}

TEST(CaseKernel, SizesOfEnlargedInputsAreFound) {
  const Pipeline p = testing::joint_sizes();
  ScheduleFile file("joint_sizes", Target::cuda("sm_90a"));
  file.add(p, {});
  file.add(p, {}, {.when = {{"W", 7, 7}}});
  file.add(p, {}, {.when = {{"H", 3, 3}}});
  const Kernel kernel = p.compile(file, interpreter);
  const auto explained = [&](std::int64_t w, std::int64_t h) {
    return kernel.explain({Buffer(Float(32), {w, h}), Buffer(Float(32), {2})});
  };
  EXPECT_NE(explained(12, 10).find("W 7; template main: taken"), std::string::npos) << explained(12, 10);
  EXPECT_NE(explained(12, 6).find("H 3; template main: taken"), std::string::npos) << explained(12, 6);
  EXPECT_NE(explained(12, 6).find("W is 9, not 7"), std::string::npos) << explained(12, 6);
  EXPECT_NE(explained(12, 7).find("all sizes; template main: taken"), std::string::npos) << explained(12, 7);
}

/// The same values with rows of `pitch` elements, `past` bytes after a multiple of 256.
Buffer moved(const Buffer& values, std::int64_t pitch, std::int64_t past) {
  Buffer memory(UInt(8), {pitch * values.extent(1) * 4 + 512});
  memory.fill(7);
  const auto at =
      (reinterpret_cast<std::uintptr_t>(memory.data()) + 255) / 256 * 256 + static_cast<std::uintptr_t>(past);
  Buffer b(Float(32), reinterpret_cast<void*>(at), {values.extent(0), values.extent(1)}, {1, pitch},
           std::make_shared<Buffer>(memory));
  for (std::int64_t y = 0; y < b.extent(1); ++y)
    for (std::int64_t x = 0; x < b.extent(0); ++x) b.set_value({x, y}, values.value({x, y}));
  return b;
}

TEST(CaseKernel, CallsWithOtherBuffersGoToTheNextCase) {
  for (const Target& target : testing::targets()) {
    ScheduleFile file("product", target);
    file.add(product(), {});
    file.add(product(), {}, {.buffers = {{.buffer = "A", .dense = true}, {.buffer = "C", .dense = true}}});
    file.add(product(), {}, {.buffers = {{.buffer = "A", .pitch_multiple = 32, .base_align = 32}}});
    file.add(product(), {},
             {.when = {{"N", 1, 16}}, .buffers = {{.buffer = "B", .dense = true, .base_align = 64}}});
    const Kernel kernel = product().compile(file, target);
    const bool copied = target.is_gpu();
    const struct {
      std::int64_t n, a_pitch, a_past, b_pitch, b_past, c_pitch;
      const char* taken;
    } rows[] = {{24, 5, 0, 24, 0, 24, "0"},
                {24, 6, 0, 24, 0, 24, "3"},
                {24, 5, 0, 24, 0, 25, "3"},
                {24, 8, 0, 24, 0, 24, "1"},
                {24, 8, 4, 24, 0, 24, copied ? "1" : "3"},
                {24, 16, 32, 24, 0, 30, "1"},
                {16, 8, 0, 16, 64, 16, "2"},
                {16, 8, 0, 16, 32, 16, copied ? "2" : "1"},
                {16, 5, 0, 17, 0, 16, "0"}};
    for (const auto& row : rows) {
      Call call(3, row.n, 5);
      call.A = moved(call.A, row.a_pitch, row.a_past);
      call.B = moved(call.B, row.b_pitch, row.b_past);
      call.out = moved(call.out, row.c_pitch, 4);
      EXPECT_EQ(taken(kernel, call), row.taken) << kernel.explain(call.args());
      kernel.call(call.args());
      call.expect_right();
    }
    Call call(3, 24, 5);
    call.A = moved(call.A, 6, 0);
    EXPECT_NE(
        kernel.explain(call.args()).find("A is not dense: the stride of dimension 1 is 24 bytes, not 20\n"),
        std::string::npos)
        << kernel.explain(call.args());
    // Each case is compiled for its buffers alone.
    EXPECT_NE(kernel.show("plan").find("the schedule's #1 assume_buffer(A, dense) is for"),
              std::string::npos);
    EXPECT_THROW(kernel.call({call.A, call.B}), Error);
  }
}

TEST(CaseKernel, FilesThatDoNotFitAreRefused) {
  EXPECT_THROW(product().compile(sample(), Target::host()), Error);
  EXPECT_THROW(testing::stencil().compile(sample(), interpreter), Error);
  ScheduleFile open("product", Target::cuda("sm_90a"));
  open.add(product(), {}, {.when = {{"N", 1, 64}}});
  try {
    product().compile(open, interpreter);
    ADD_FAILURE() << "compiled";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("no case for all sizes"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace calotype
