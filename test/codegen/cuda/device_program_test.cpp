// Kernels on a GPU against the definition of the language's arithmetic and plain C++; without a GPU: what is
// said.

#include "codegen/cuda/device_program.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "calotype/error.h"
#include "hand_plan.h"
#include "operation_cases.h"
#include "runtime/nvrtc.h"

namespace {

using namespace calotype_test;

lower::Program program_of(const lower::Function& f) {
  lower::Program p;
  p.name = f.name;
  p.target = Target::cuda();
  for (const auto& b : f.buffers) p.arguments.push_back({b->name, false, !b->read_only, b->type, 1});
  p.functions = {f};
  p.steps = {{0}};
  return p;
}

const ScalarFrom kExtentOfFirst{CALOTYPE_SCALAR_EXTENT, 0, 0};

/// Ends the process well if `body` expected nothing that failed in it.
void end_of(void (*body)()) {
  body();
  _Exit(::testing::Test::HasFailure() ? 1 : 0);
}

/// Runs `body` in a process of its own, which finds no driver even where there is a GPU.
void without_a_driver(void (*body)()) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  setenv("CALOTYPE_LIBCUDA", "libno_such_driver.so.1", 1);
  EXPECT_EXIT(end_of(body), ::testing::ExitedWithCode(0), "");
  unsetenv("CALOTYPE_LIBCUDA");
}

void refuses_to_compile() {
  const std::string why = cuda::Device::why_absent();
  EXPECT_NE(why.find("libno_such_driver.so.1 not found: no NVIDIA driver on this machine"), std::string::npos)
      << why;
  try {
    cuda::DeviceProgram program(program_of(blur_row()));
    ADD_FAILURE() << "made without a GPU or an architecture";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Target);
  }
}

void compiles_and_refuses_to_run() {
  lower::Program p = program_of(blur_row());
  p.target = Target::cuda("sm_90a");
  const cuda::DeviceProgram program(p);
  EXPECT_NE(program.source().find("blur_row"), std::string::npos);
  EXPECT_NE(program.compiled().ptx.find(".target sm_90a"), std::string::npos);
  std::vector<std::uint8_t> in(40, 1), out(40, 7);
  const HandPlan plan(p.functions[0], {{CALOTYPE_SCALAR_EXTENT, 1, 0}, {CALOTYPE_SCALAR_STRIDE, 0, 1}}, 4, 64,
                      2);
  const calotype_buffer a = dense(UInt(8), in.data(), 10, 4, 10), b = dense(UInt(8), out.data(), 10, 4, 10);
  calotype_context context{};
  EXPECT_THROW(program.run(plan.plan(), context, std::vector<calotype_argument>{{&a, 0}, {&b, 0}}), Error);
  EXPECT_EQ(out, std::vector<std::uint8_t>(40, 7));
}

TEST(DeviceAbsent, IsAnErrorOfTheTarget) { without_a_driver(refuses_to_compile); }

TEST(DeviceAbsent, NamedArchitectureCompilesAndRefusesToRun) {
  calotype_context context{};
  if (calotype_nvrtc_version(&context) == 0) GTEST_SKIP() << context.error.message;
  without_a_driver(compiles_and_refuses_to_run);
}

class OnDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string why = cuda::Device::why_absent();
    if (!why.empty()) GTEST_SKIP() << "no GPU: " << why;
    calotype_context context{};
    if (calotype_nvrtc_version(&context) == 0) GTEST_SKIP() << context.error.message;
  }
  static void run(const cuda::DeviceProgram& program, const HandPlan& plan,
                  const std::vector<calotype_buffer>& buffers) {
    std::vector<calotype_argument> arguments;
    for (const calotype_buffer& b : buffers) arguments.push_back({&b, 0});
    calotype_context context{};
    ASSERT_EQ(program.run(plan.plan(), context, arguments), CALOTYPE_GOOD)
        << context.error.message << " " << context.error.value;
  }
};

TEST_F(OnDevice, EveryOperationOnEveryType) {
  constexpr std::size_t n = 3000;
  std::mt19937_64 random(3);
  const std::vector<Operation> operations = all_operations();
  for (const Type t : all_types()) {
    std::vector<Operation> mine;
    for (const Operation& o : operations) {
      if (o.operand == t) mine.push_back(o);
    }
    const lower::Function f = operations_kernel(t, operations);
    std::vector<std::vector<char>> memory;
    for (const auto& b : f.buffers)
      memory.emplace_back(n * static_cast<std::size_t>(b->type.bytes()), char{0x5a});
    std::vector<std::vector<ir::Value>> operands(n);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t a = 0; a < 3; ++a) {
        operands[i].push_back(draw(t, random));
        write_element(t, memory[a].data(), i, operands[i][a]);
      }
    }
    std::vector<calotype_buffer> buffers;
    for (std::size_t b = 0; b < memory.size(); ++b)
      buffers.push_back(dense(f.buffers[b]->type, memory[b].data(), n));
    run(cuda::DeviceProgram(program_of(f)), HandPlan(f, {kExtentOfFirst}, (n + 127) / 128, 128), buffers);
    for (std::size_t j = 0; j < mine.size(); ++j) {
      int wrong = 0;
      for (std::size_t i = 0; i < n && wrong < 3; ++i) {
        const ir::Value got = read_element(mine[j].result, memory[3 + j].data(), i),
                        want = expected(mine[j], operands[i]);
        if (agrees(mine[j], got, want, operands[i])) continue;
        ++wrong;
        ADD_FAILURE() << mine[j].name << "(" << ir::to_string(ir::make_value(operands[i][0])) << ", "
                      << ir::to_string(ir::make_value(operands[i][1])) << ", "
                      << ir::to_string(ir::make_value(operands[i][2]))
                      << ") = " << ir::to_string(ir::make_value(got)) << " and not "
                      << ir::to_string(ir::make_value(want));
      }
    }
  }
}

/// Numbers of which any order gives the same.
ir::Value exact_number(Type t, std::mt19937_64& random) {
  if (t.is_integral()) return ir::Value::of_int(t, static_cast<std::int64_t>(random() % 7) + 1);
  const double powers[] = {1, -1, 2, 0.5};
  return ir::Value::of_float(t, powers[random() % 4]);
}

TEST_F(OnDevice, AtomicUpdatesOfEveryType) {
  constexpr std::size_t n = 400;
  std::mt19937_64 random(5);
  for (const AtomicKernel& k : atomic_kernels()) {
    const auto bytes = static_cast<std::size_t>(k.type.bytes());
    std::vector<char> in(n * bytes), out(8 * bytes);
    std::vector<ir::Value> places;
    for (std::size_t i = 0; i < 8; ++i) {
      places.push_back(exact_number(k.type, random));
      write_element(k.type, out.data(), i, places[i]);
    }
    for (std::size_t e = 0; e < n; ++e) {
      // products: mostly ones, so that they stay finite
      const ir::Value one = k.type.is_float() ? ir::Value::of_float(k.type, 1) : ir::Value::of_int(k.type, 1);
      const ir::Value v = k.op == Op::Mul && e % 40 != 0 ? one : exact_number(k.type, random);
      write_element(k.type, in.data(), e, v);
      if (e + 1 == n) continue;
      const ir::Value operands[] = {places[e % 5], v};
      places[e % 5] = *ir::apply(k.op, k.type, operands);
    }
    run(cuda::DeviceProgram(program_of(k.function)),
        HandPlan(k.function, {kExtentOfFirst}, (n + 63) / 64, 64, 1, true),
        {dense(k.type, in.data(), n), dense(k.type, out.data(), 8)});
    for (std::size_t i = 0; i < 8; ++i)
      EXPECT_EQ(read_element(k.type, out.data(), i).i, places[i].i)
          << ir::info(k.op).name << " of " << k.type.str() << " at " << i;
  }
}

TEST_F(OnDevice, BlurOfRaggedRows) {
  const lower::Function f = blur_row();
  const cuda::DeviceProgram program(program_of(f));
  std::mt19937 random(1);
  for (const int w : {1, 2, 63, 64, 65, 200}) {
    const int h = 17, pitch = w + 3;
    std::vector<std::uint8_t> in(static_cast<std::size_t>(pitch * h)),
        out(static_cast<std::size_t>(w * h), 0);
    for (auto& p : in) p = static_cast<std::uint8_t>(random());
    const HandPlan plan(f, {{CALOTYPE_SCALAR_EXTENT, 1, 0}, {CALOTYPE_SCALAR_STRIDE, 0, 1}}, h, 64, 2);
    run(program, plan, {dense(UInt(8), in.data(), w, h, pitch), dense(UInt(8), out.data(), w, h, w)});
    for (int y = 0; y < h; ++y) {
      for (int x = 0; x < w; ++x) {
        const auto at = [&](int c) {
          return in[static_cast<std::size_t>(y) * pitch + std::clamp(c, 0, w - 1)];
        };
        ASSERT_EQ(out[static_cast<std::size_t>(y * w + x)], (at(x - 1) + at(x) + at(x + 1) + 4) / 9)
            << w << ": " << x << ", " << y;
      }
    }
  }
}

TEST_F(OnDevice, NormalisedRowsWithAndWithoutAlignment) {
  lower::Function f = normalise_rows();
  lower::Program p = program_of(f);
  p.arguments[0].rank = p.arguments[1].rank = 2;
  p.scalars = {{f.scalars[0], {.kind = lower::ScalarSource::Kind::Extent, .argument = 0, .dim = 0}},
               {f.scalars[1], {.kind = lower::ScalarSource::Kind::Stride, .argument = 0, .dim = 1}}};
  const cuda::DeviceProgram program(p);
  EXPECT_NE(program.source().find("bf16x8"), std::string::npos);
  const HandPlan plan(f, {kExtentOfFirst, {CALOTYPE_SCALAR_STRIDE, 0, 1}}, 33, 64, 2);
  std::mt19937 random(9);
  std::uniform_real_distribution<float> draw_float(-2, 2);
  for (const auto& [n, pitch] :
       std::vector<std::pair<int, int>>{{512, 512}, {500, 512}, {7, 8}, {1, 1}, {509, 509}, {511, 517}}) {
    std::vector<std::uint16_t> in(static_cast<std::size_t>(pitch * 33)), out(in.size(), 0x1234);
    for (auto& v : in) v = float_to_bfloat_bits(draw_float(random));
    run(program, plan,
        {dense(BFloat(16), in.data(), n, 33, pitch), dense(BFloat(16), out.data(), n, 33, pitch)});
    for (int r = 0; r < 33; ++r) {
      double sum = 0;
      for (int c = 0; c < n; ++c)
        sum += std::pow(bfloat_bits_to_float(in[static_cast<std::size_t>(r) * pitch + c]), 2);
      for (int c = 0; c < pitch; ++c) {
        const std::size_t at = static_cast<std::size_t>(r) * pitch + c;
        if (c >= n) {
          EXPECT_EQ(out[at], 0x1234);
          continue;
        }
        const double want = bfloat_bits_to_float(in[at]) / std::sqrt(sum / n + 1e-6);
        ASSERT_NEAR(bfloat_bits_to_float(out[at]), want, std::abs(want) * 0x1p-8 + 1e-6)
            << n << ": " << c << ", " << r;
      }
    }
  }
}

TEST_F(OnDevice, DynamicSharedMemory) {
  const lower::Function f = reverse_in_shared();
  std::vector<float> in(16384), out(16384, -1.0f);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i * i % 1013);
  run(cuda::DeviceProgram(program_of(f)), HandPlan(f, {}, 1, 256),
      {dense(Float(32), in.data(), 16384), dense(Float(32), out.data(), 16384)});
  for (std::size_t i = 0; i < in.size(); ++i) ASSERT_EQ(out[i], in[in.size() - 1 - i]) << i;
}

TEST_F(OnDevice, Vectors) {
  const std::int64_t n = 61;  // vectors of four, in two blocks
  std::vector<float> in(300);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>((i * 37) % 101) - 50;
  // What each kernel makes of element e of its output, given what was there before.
  using Model = std::function<float(std::int64_t e, float before)>;
  const std::vector<std::pair<std::string, Model>> models = {
      {"gather",
       [&](std::int64_t e, float b) { return e < 4 * n ? in[static_cast<std::size_t>(e ^ 3)] : b; }},
      {"shifted",
       [&](std::int64_t e, float b) { return e < 4 * n ? in[static_cast<std::size_t>(e + 1)] : b; }},
      {"in_place",
       [&](std::int64_t e, float b) {
         return e < 4 * n ? in[static_cast<std::size_t>(e / 4 * 4 + 3 - e % 4)] : b;
       }},
      {"masked",
       [&](std::int64_t e, float b) {
         if (e >= 4 * n) return b;
         const bool inside = e < 4 * n - 2, odd = e % 2 != 0;
         if (odd) return (inside ? in[static_cast<std::size_t>(e)] : 0.0f) + 1.0f;
         return inside ? in[static_cast<std::size_t>(e)] : -1.0f;
       }},
      {"uniform",
       [&](std::int64_t e, float b) {
         return e >= 4 * n ? b : e < 12 ? in[static_cast<std::size_t>(e)] : 1.0f;
       }},
      {"reduce",
       [&](std::int64_t e, float b) {
         if (e >= n) return b;
         const float* v = &in[static_cast<std::size_t>(4 * e)];
         return v[0] + v[1] + (v[2] + v[3]) + std::max(std::max(v[0], v[1]), std::max(v[2], v[3])) + v[3];
       }},
      {"lets", [&](std::int64_t e, float b) {
         if (e >= 4 * n) return b;
         const float s = in[static_cast<std::size_t>(e / 4 * 4)];
         return 2 * in[static_cast<std::size_t>(e)] * (s * s);
       }}};
  for (const lower::Function& f : vector_kernels()) {
    const auto model =
        std::find_if(models.begin(), models.end(), [&](const auto& m) { return m.first == f.name; });
    if (model == models.end()) continue;  // "stride" writes elements of one place from several threads
    const cuda::DeviceProgram program(program_of(f));
    for (const std::size_t offset : {0, 1}) {  // aligned or not
      std::vector<float> shifted(in.size() + offset), out(300, 0.25f);
      std::copy(in.begin(), in.end(), shifted.begin() + static_cast<std::ptrdiff_t>(offset));
      const cuda::Device& device = cuda::Device::get();
      const cuda::DeviceMemory d_in(device, shifted.size() * 4), d_out(device, out.size() * 4);
      d_in.upload(shifted.data());
      d_out.upload(out.data());
      // n is the extent of `in`, whatever lies behind it
      calotype_buffer a = dense(Float(32), static_cast<float*>(d_in.data()) + offset, n),
                      b = dense(Float(32), d_out.data(), 300);
      a.device = b.device = 1;
      run(program, HandPlan(f, {kExtentOfFirst}, 2, 32), {a, b});
      d_out.download(out.data());
      for (std::int64_t e = 0; e < 300; ++e)
        ASSERT_EQ(out[static_cast<std::size_t>(e)], model->second(e, 0.25f)) << f.name << " at " << e;
    }
  }
}

TEST_F(OnDevice, CallsFromSeveralThreads) {
  const lower::Function f = reverse_in_shared();
  const cuda::DeviceProgram program(program_of(f));
  const HandPlan plan(f, {}, 1, 256);
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      std::vector<float> in(16384), out(16384);
      for (std::size_t i = 0; i < in.size(); ++i)
        in[i] = static_cast<float>(i) + static_cast<float>(t) * 100000;
      for (int repeat = 0; repeat < 10; ++repeat) {
        run(program, plan, {dense(Float(32), in.data(), 16384), dense(Float(32), out.data(), 16384)});
        EXPECT_EQ(out.front(), in.back());
        EXPECT_EQ(out.back(), in.front());
      }
    });
  }
  for (std::thread& t : threads) t.join();
}

TEST_F(OnDevice, TimeOfACopyIsPlausible) {
  const cuda::Device& device = cuda::Device::get();
  const cuda::DeviceMemory a(device, 64 << 20), b(device, 64 << 20);
  const double seconds = device.seconds([&](calotype_cu_handle stream) { b.copy_from(a, stream); });
  EXPECT_GT(seconds, 1e-6);
  EXPECT_LT(seconds, 1.0);
}

TEST_F(OnDevice, WrongArchitectureIsRefused) {
  lower::Program p = program_of(reverse_in_shared());
  const std::string other = cuda::Device::get().raw().major == 9 ? "sm_100a" : "sm_90a";
  p.target = Target::cuda(other);
  const cuda::DeviceProgram program(p);
  std::vector<float> memory(2 * 16384);
  const HandPlan plan(p.functions[0], {}, 1, 256);
  calotype_context context{};
  const calotype_buffer a = dense(Float(32), memory.data(), 16384),
                        b = dense(Float(32), memory.data() + 16384, 16384);
  try {
    program.run(plan.plan(), context, std::vector<calotype_argument>{{&a, 0}, {&b, 0}});
    FAIL() << "ran";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Target);
    EXPECT_EQ(e.diagnostic().value, other);
  }
}

}  // namespace
