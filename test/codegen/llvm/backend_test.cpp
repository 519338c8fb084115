// The interface: texts, other machines, errors, contraction, determinism, several threads at once.
#include <cmath>
#include <thread>

#include "calotype/error.h"
#include "harness.h"

namespace calotype::llvm_backend {
namespace {

using ir::Op;

/// out[i] = x[i] * y[i] + x[i], 16 lanes at a time.
lower::Function multiply_add(const std::string& name, bool strict = false) {
  auto x = argument("x", Float(32), true), y = argument("y", Float(32), true),
       out = argument("out", Float(32));
  auto n = ir::make_symbol(ir::SymbolKind::Dim, "n");
  auto i = loop_var("i");
  Expr at = ramp(binary(Op::Mul, ir::make_var(i), ir::index(16)), 1, 16);
  Expr value = binary(Op::Add, binary(Op::Mul, load(x, at), load(y, at)), load(x, at));
  if (strict) value = ir::make(Op::Strict, value->type, {value});
  lower::Function f;
  f.name = name;
  f.scalars = {n};
  f.buffers = {x, y, out};
  f.body = loop(i, ir::index(0), ir::make_var(n), ir::store(out, value, {at}));
  return f;
}

TEST(Backend, TextsOfEveryMachine) {
  const std::vector<std::pair<std::string, std::string>> machines = {
      {"x86_64-avx2", "ymm"}, {"x86_64-avx512", "zmm"}, {"aarch64-neon", "fmla\tv"}, {"", "f"}};
  for (const auto& [arch, mark] : machines) {
    Options options;
    options.arch = arch;
    auto module = compile({multiply_add("f")}, options);
    EXPECT_NE(module->llvm_text().find("define i32 @f"), std::string::npos) << arch;
    EXPECT_NE(module->asm_text().find(mark), std::string::npos) << arch << "\n" << module->asm_text();
  }
}

TEST(Backend, OtherMachinesDoNotRunHere) {
  Options options;
  options.arch = "aarch64-neon";
  auto module = compile({multiply_add("f")}, options);
  try {
    module->function("f");
    FAIL() << "ran code for another machine";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Target);
  }
}

TEST(Backend, UnknownMachineNamesTheLegalOnes) {
  Options options;
  options.arch = "x86_64-avx3";
  try {
    compile({}, options);
    FAIL() << "compiled for an unknown machine";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Target);
    EXPECT_NE(e.diagnostic().legal.find("x86_64-avx2"), std::string::npos) << e.what();
  }
}

TEST(Backend, BrokenInvariantsAreInternalErrors) {
  auto out = argument("out", Int(32));
  auto unbound = ir::make_symbol(ir::SymbolKind::Dim, "unbound");
  auto check = [](lower::Function f, const std::string& word) {
    f.name = "f";
    try {
      compile({f}, {});
      FAIL() << "compiled although " << word;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::Internal);
      EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
    }
  };
  lower::Function f;
  f.buffers = {out};
  f.body = ir::store(out, ir::make_int(Int(32), 1), {ir::make_var(unbound)});
  check(f, "unbound");
  f.body = ir::store(out, ir::make_int(Int(32), 1), {ir::index(0), ir::index(0)});
  check(f, "flat");
  f.body =
      ir::store(out, ir::make_float(Float(32), 1), {binary(Op::Add, ir::index(0), ir::make_int(Int(32), 1))});
  f.body = ir::barrier("none");
  check(f, "barrier");
  f.body = loop(loop_var("u"), ir::index(0), ir::index(2), ir::block({}), ir::Binding::Unrolled);
  check(f, "unrolled");
  auto huge = local("huge", Int(8), ir::MemorySpace::Stack, ir::make_var(unbound));
  f.scalars = {unbound};
  f.body = ir::allocate(huge, ir::block({}));
  check(f, "constant");
  // What LLVM's verifier objects to: a condition that is no Bool.
  f.body = ir::if_then(ir::make_int(Int(32), 1), ir::store(out, ir::make_int(Int(32), 1), {ir::index(0)}));
  check(f, "valid");
}

TEST(Backend, UnknownFunction) {
  auto module = compile({multiply_add("right")}, {});
  EXPECT_THROW(module->function("wrong"), Error);
}

/// (1 + e)^2 has a last bit that only a fused operation keeps.
TEST(Backend, ContractionCanBeHadAndRefused) {
  Options plain;
  plain.contract = false;
  static constexpr float kX = 1 + 0x1p-12f;
  auto run = [](const Module& module, const char* name) {
    std::vector<float> x(16, kX), y(16, -kX), out(16);
    EXPECT_EQ(call(module, name, {1}, {x.data(), y.data(), out.data()}), kGood);
    return out[5];
  };
  const float separate = -0x1p-12f, fused = std::fma(kX, -kX, kX);
  ASSERT_NE(separate, fused);
  auto contracted = compile({multiply_add("f"), multiply_add("strict", true)}, {});
  auto uncontracted = compile({multiply_add("f")}, plain);
  EXPECT_NE(contracted->llvm_text().find("llvm.fma"), std::string::npos);
  EXPECT_EQ(uncontracted->llvm_text().find("llvm.fma"), std::string::npos);
  EXPECT_EQ(compile({multiply_add("strict", true)}, {})->llvm_text().find("llvm.fma"), std::string::npos);
  EXPECT_EQ(uncontracted->asm_text().find("vfma"), std::string::npos);
  EXPECT_EQ(run(*contracted, "f"), fused);
  EXPECT_EQ(run(*contracted, "strict"), separate);
  EXPECT_EQ(run(*uncontracted, "f"), separate);
}

TEST(Backend, TextsAreDeterministic) {
  auto f = multiply_add("f");
  auto first = compile({f}, {}), second = compile({f}, {});
  EXPECT_EQ(first->llvm_text(), second->llvm_text());
  EXPECT_EQ(first->asm_text(), second->asm_text());
  Options eager;
  eager.keep_text = true;
  EXPECT_EQ(compile({f}, eager)->asm_text(), first->asm_text());
}

TEST(Backend, SeveralThreadsCompileAndCallAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      for (int k = 0; k < 4; ++k) {
        Options options;
        if (t % 2 == 1) options.arch = "x86_64-avx2";
        auto module = compile({multiply_add("f")}, options);
        std::vector<float> x(64), y(64, 2), out(64);
        for (std::size_t i = 0; i < 64; ++i) x[i] = static_cast<float>(i + static_cast<std::size_t>(t));
        if (call(*module, "f", {4}, {x.data(), y.data(), out.data()}) == kGood && out[63] == x[63] * 3)
          ++good;
        if (module->asm_text().empty()) --good;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 24);
}

TEST(Backend, CodeIsKeptByItsModuleAndDroppedWithIt) {
  for (int i = 0; i < 50; ++i) {
    auto module = compile({multiply_add("same_name")}, {});
    std::vector<float> x(16, 3), y(16, 4), out(16);
    ASSERT_EQ(call(*module, "same_name", {1}, {x.data(), y.data(), out.data()}), kGood);
    ASSERT_EQ(out[0], 15);
    ASSERT_EQ(module->seconds().size(), 4u);
  }
}

}  // namespace
}  // namespace calotype::llvm_backend
