// Kernels whose warps have different roles, as CUDA C: rings and synchronisations between them, and elements
// of tiles that threads use one by one.

#include <gtest/gtest.h>

#include "calotype/error.h"
#include "codegen/cuda/nvrtc_compile.h"
#include "runtime/nvrtc.h"
#include "tiles.h"

namespace {

using namespace calotype_test;
using instr::Number;

void expect_text(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << part << "\nis not in\n" << text;
}

void expect_compiles(const std::string& source) {
  calotype_context context{};
  if (calotype_nvrtc_version(&context) == 0) GTEST_SKIP() << context.error.message;
  const cuda::Compiled c = cuda::compile(source, "sm_90a", {.cache = false});
  for (const std::string& warning : c.warnings) ADD_FAILURE() << warning;
  for (const cuda::KernelFigures& k : c.kernels) EXPECT_EQ(k.spill_bytes + k.stack_bytes, 0) << k.name;
}

TEST(Roles, ProductOfWarpsThatCopyAndWarpsThatMultiply) {
  const std::string text = cuda::print({product_of_roles()}, {.aligned_arguments = true});
  expect_text(text, R"cuda(
  unsigned long long* const full = (unsigned long long*)(shared_memory + 131072);
  int slot = 0;
  unsigned int full_phases = 0;
  make_ring(full, 4, 1);
  unsigned long long* const empty = (unsigned long long*)(shared_memory + 131104);
  unsigned int empty_phases = ~0u;
  make_ring(empty, 4, 8);
  __syncthreads();  // the rings are ready
)cuda");
  // It has a multiprocessor to itself: it gives registers from warps to others.
  expect_text(text, "__launch_bounds__(384, 1) product(");
  expect_text(text, R"cuda(
  if (thread < 256) {
    take_registers<240>();
    const int four = __shfl_sync(0xffffffffu, thread >> 7, 0);
    float sum[64];
    for (int k = 0; k < (K >> 6); ++k) {
      await_next(full, slot, full_phases);  // a_tile and b_tile
      pin(sum);
      fence_products();
      wgmma_m64n128k16_f32_bf16_bf16_shared(
          sum, matrix_at<128, 16, 1024>(a_tile, slot * 1024 + four * 512),
          matrix_at<128, 16, 1024>(b_tile, slot * 1024), 0 < k);
      wgmma_m64n128k16_f32_bf16_bf16_shared(
          sum, matrix_at<128, 16, 1024>(a_tile, slot * 1024 + four * 512 + 2),
          matrix_at<128, 16, 1024>(b_tile, slot * 1024 + 2), true);
      wgmma_m64n128k16_f32_bf16_bf16_shared(
          sum, matrix_at<128, 16, 1024>(a_tile, slot * 1024 + four * 512 + 4),
          matrix_at<128, 16, 1024>(b_tile, slot * 1024 + 4), true);
      wgmma_m64n128k16_f32_bf16_bf16_shared(
          sum, matrix_at<128, 16, 1024>(a_tile, slot * 1024 + four * 512 + 6),
          matrix_at<128, 16, 1024>(b_tile, slot * 1024 + 6), true);
      commit_products();
      wait_products<0>();
      pin(sum);
      arrive(&empty[slot]);
      slot = slot + 1 == 4 ? 0 : slot + 1;
    }
    wait_products<0>();
    pin(sum);
)cuda");
  expect_text(text, R"cuda(
  } else {
    give_registers<24>();
    if (thread < 288) {
      // starts the copies
      for (int k = 0; k < (K >> 6); ++k) {
        await_next(empty, slot, empty_phases);  // the slot is free
        if (lane_in_warp() == 0) copy_box_2d(&a_tile[slot * 8192 + 0], &a_map, k * 64, row * 128, 16384, &full[slot]);
        if (lane_in_warp() == 0) copy_box_2d(&b_tile[slot * 8192 + 0], &b_map, k * 64, column * 128, 16384, &full[slot]);
        arrive(&full[slot]);
        slot = slot + 1 == 4 ? 0 : slot + 1;
      }
    }
  }
}
)cuda");
  expect_compiles(text);
}

TEST(Roles, ProductsGoOnWhileASlotIsFreed) {
  const std::string text = cuda::print({product_of_roles({.go_on = true})}, {.aligned_arguments = true});
  expect_text(text, R"cuda(
      commit_products();
      wait_products<1>();
      pin(sum);
      if (0 < k) {
        arrive(&empty[((slot + 3) & 3)]);
      }
      slot = slot + 1 == 4 ? 0 : slot + 1;
    }
    wait_products<0>();
    pin(sum);
)cuda");
  expect_compiles(text);
}

TEST(Roles, ProductsOfRegisters) {
  const std::string text =
      cuda::print({product_of_roles({.a_in_registers = true})}, {.aligned_arguments = true});
  expect_text(text, R"cuda(
    unsigned int a_own[16];
    float sum[64];
)cuda");
  expect_text(text, R"cuda(
      pin(a_own);
      pin(sum);
      fence_products();
      wgmma_m64n128k16_f32_bf16_bf16_registers(
          sum, a_own, matrix_at<128, 16, 1024>(b_tile, slot * 1024), 0 < k);
      wgmma_m64n128k16_f32_bf16_bf16_registers(
          sum, a_own + 4, matrix_at<128, 16, 1024>(b_tile, slot * 1024 + 2), true);
)cuda");
  expect_compiles(text);
}

/// Of one slot and of two, with what threads have stored among what arrives.
TEST(Roles, RingsOfOneSlotAndTwo) {
  const auto turn = symbol("turn");
  const auto one = std::make_shared<const ir::Ring>(ir::Ring{.name = "one", .arrivals = 2});
  const auto two = std::make_shared<const ir::Ring>(
      ir::Ring{.name = "two", .slots = 2, .turn = turn, .arrivals = 4, .open = true});
  const auto at = [&](Kind kind, const ir::RingPtr& ring, const Expr& slot, bool fence = false) {
    return ir::synchronise({.kind = kind, .ring = ring, .fence = fence}, slot);
  };
  lower::Function f =
      tile_kernel("rings", {}, nullptr, 256,
                  ir::block({at(Kind::Await, two, var(turn)), at(Kind::Arrive, one, number(0), true),
                             at(Kind::Await, one, number(0)), at(Kind::Arrive, two, var(turn)),
                             ir::synchronise({.kind = Kind::Turn, .ring = two})}));
  f.rings = {one, two};
  const std::string text = cuda::print({f});
  expect_text(text, R"cuda(
  __shared__ unsigned long long one[1];
  unsigned int one_phases = 0;
  make_ring(one, 1, 2);
  __shared__ unsigned long long two[2];
  int turn = 0;
  unsigned int two_phases = ~0u;
  make_ring(two, 2, 4);
  __syncthreads();  // the rings are ready
  await_next(two, turn, two_phases);
  fence_copies();
  arrive(&one[0]);
  await_next(one, 0, one_phases);
  arrive(&two[turn]);
  turn ^= 1;
}
)cuda");
  // Of a block alone: what other blocks see takes longer.
  expect_text(text, "mbarrier.arrive.shared::cta.b64 _, [%0];");
  expect_compiles(text);
}

TEST(Roles, SynchronisationsOfSome) {
  const auto thread = symbol("thread", Int(32), ir::SymbolKind::Thread);
  const auto some = [](Kind kind) {
    return ir::synchronise({.kind = kind, .reason = "of eight warps", .number = 2, .threads = 256});
  };
  const std::string text = cuda::print({tile_kernel(
      "some", {}, thread, 384,
      ir::block({sync(Kind::Warp), sync(Kind::Fence),
                 ir::if_then(less(var(thread), number(128)), some(Kind::SomeArrive), some(Kind::Some))}))});
  expect_text(text, R"cuda(
  __syncwarp();
  fence_copies();
  if (thread < 128) {
    come<2, 256>();  // of eight warps
  } else {
    meet<2, 256>();  // of eight warps
  }
}
)cuda");
  expect_text(text, "bar.sync %0, %1;");
  expect_text(text, "bar.arrive %0, %1;");
  expect_compiles(text);
}

/// Threads begin with an equal part of the registers: 65536 / 384 are 168, and 256 are the most.
TEST(Roles, RegistersChange) {
  const auto text = [](int threads, int registers) {
    return cuda::print({tile_kernel("registers", {}, nullptr, threads,
                                    ir::synchronise({.kind = Kind::Registers, .number = registers}))});
  };
  expect_text(text(384, 160), "\n  give_registers<160>();\n");
  expect_text(text(384, 176), "\n  take_registers<176>();\n");
  expect_text(text(128, 248), "\n  give_registers<248>();\n");
  expect_text(text(384, 160), "setmaxnreg.dec.sync.aligned.u32 %0;");
  expect_text(text(384, 176), "setmaxnreg.inc.sync.aligned.u32 %0;");
  expect_compiles(text(384, 176));
}

/// A wait leaves groups under way, and pins what is in scope alone.
TEST(Roles, ResultsInScopeStayBehindTheWait) {
  const instr::Instruction& record =
      instr::product(*instr::find_rule("wgmma", Number::S8, Number::S8), {.n = 8});
  const auto thread = symbol("thread", Int(32), ir::SymbolKind::Thread);
  const auto a = storage("a", Int(8), ir::MemorySpace::Shared, 4096),
             b = storage("b", Int(8), ir::MemorySpace::Shared, 4096, 4096),
             out = argument("out", Int(32), 0, false),
             first = storage("first", Int(32), ir::MemorySpace::Register, 8),
             second = storage("second", Int(32), ir::MemorySpace::Register, 4);
  const auto product = [&](const ir::BufferPtr& sum, int at) {
    const ir::OperandUse of_a{.buffer = a, .leading = 128, .stride = 256},
        of_b{.buffer = b, .leading = 128, .stride = 256};
    return ir::block(
        {sync(Kind::ProductFence),
         ir::instruction({.record = &record, .name = record.name, .operands = {{.buffer = sum}, of_a, of_b}},
                         {number(at), number(0), number(2048), ir::make_int(Bool(), 0)}),
         sync(Kind::ProductCommit)});
  };
  const auto keep = [&](const ir::BufferPtr& sum, int count) {
    return ir::store(out, load(sum, ramp(number(0), count)), {ramp(mul(var(thread), number(8)), count)});
  };
  // The first group of the block is there, the second goes on.
  const ir::Stmt inner = ir::allocate(
      second, ir::block({product(second, 0), product(first, 4),
                         ir::synchronise({.kind = Kind::ProductWait, .pending = 1}), keep(second, 4)}));
  const auto block = symbol("block", Int(32), ir::SymbolKind::Thread);
  const ir::Stmt body =
      ir::allocate(first, ir::block({product(first, 0), ir::if_then(less(var(block), number(4)), inner),
                                     sync(Kind::ProductWait), keep(first, 8)}));
  lower::Function f = tile_kernel("scopes", {out}, thread, 128, ir::allocate(a, ir::allocate(b, body)));
  f.block_vars[0] = block;
  const std::string text = cuda::print({f});
  expect_text(text, R"cuda(
  int first[8];
  pin(first);
  fence_products();
  wgmma_m64n8k32_s32_s8_s8_shared(
      first, matrix_at<0, 128, 256>(a, 0), matrix_at<0, 128, 256>(b, 128), false);
  commit_products();
)cuda");
  expect_text(text, R"cuda(
    int second[4];
    pin(first);
    pin(second);
    fence_products();
)cuda");
  expect_text(text, R"cuda(
    wgmma_m64n8k32_s32_s8_s8_shared(
        first + 4, matrix_at<0, 128, 256>(a, 0), matrix_at<0, 128, 256>(b, 128), false);
    commit_products();
    wait_products<1>();
    pin(first);
    pin(second);
)cuda");
  expect_text(text, R"cuda(
  }
  wait_products<0>();
  pin(first);
)cuda");
  expect_compiles(text);
}

/// out[i] = in[i] for each of four elements, in registers that a product reads too, one by one and as words.
lower::Function element_by_element(Type type) {
  const Number number_type = type.bytes() == 1 ? Number::S8 : Number::BF16;
  const instr::Instruction& record =
      instr::product(*instr::find_rule("mma.sync", number_type, number_type), {});
  const auto thread = symbol("thread", Int(32), ir::SymbolKind::Thread);
  const auto in = argument("in", type, 0, true), out = argument("out", type, 1, false),
             sums = argument("sums", record.operands[0].type, 2, false);
  const auto a = storage("a", type, ir::MemorySpace::Register, 16),
             b = storage("b", type, ir::MemorySpace::Register, 8),
             d = storage("d", record.operands[0].type, ir::MemorySpace::Register, 4);
  const auto words = [&](const ir::BufferPtr& to, int count) {
    return ir::store(to, load(in, ramp(mul(var(thread), number(16)), count)), {ramp(number(0), count)});
  };
  const Expr four = ramp(number(0), 4);
  return tile_kernel(
      "elements", {in, out, sums}, thread, 32,
      ir::allocate(
          a, ir::allocate(
                 b, ir::allocate(
                        d, ir::block(
                               {words(a, 16), words(b, 8), ir::store(a, load(in, var(thread)), {number(5)}),
                                ir::instruction({.record = &record,
                                                 .name = record.name,
                                                 .operands = {{.buffer = d}, {.buffer = a}, {.buffer = b}}},
                                                {number(0), number(0), number(0), ir::make_int(Bool(), 0)}),
                                ir::store(sums, load(d, four), {four}),
                                ir::store(out, load(a, number(5)), {var(thread)})})))));
}

TEST(Roles, ElementsOfWordsOneByOne) {
  const std::string bytes = cuda::print({element_by_element(Int(8))});
  expect_text(bytes, "  unsigned int a[4];\n");
  expect_text(bytes, "    a[l] = word_of_bytes(in[");
  expect_text(bytes, "\n  set_byte(a, 5, in[thread]);\n");
  expect_text(bytes, "\n  out[thread] = ((signed char)byte_at(a, 5));\n");
  expect_compiles(bytes);
  const std::string halves = cuda::print({element_by_element(BFloat(16))});
  expect_text(halves, "  unsigned int a[8];\n");
  expect_text(halves, "\n  set_bits(a, 5, (in[thread]).bits);\n");
  expect_text(halves, "\n  out[thread] = bf16_from_bits(bits_at(a, 5));\n");
  expect_compiles(halves);
}

TEST(Roles, WhatNoInstructionTakesIsRefused) {
  const instr::Instruction& product =
      instr::product(*instr::find_rule("wgmma", Number::BF16, Number::BF16), {.n = 8});
  const auto thread = symbol("thread", Int(32), ir::SymbolKind::Thread);
  const auto a = storage("a", BFloat(16), ir::MemorySpace::Shared, 4096),
             d = storage("d", Float(32), ir::MemorySpace::Register, 8);
  const auto text = [&](const Expr& at_d, const Expr& at_a, const ir::OperandUse& of_d = {}) {
    ir::InstructionUse use_of{
        .record = &product, .name = product.name, .operands = {of_d, {.buffer = a}, {.buffer = a}}};
    if (!of_d.buffer) use_of.operands[0].buffer = d;
    const ir::Stmt use = ir::instruction(use_of, {at_d, at_a, number(0), ir::make_int(Bool(), 0)});
    return cuda::print({tile_kernel("refused", {}, thread, 128, ir::allocate(a, ir::allocate(d, use)))});
  };
  EXPECT_NO_THROW(text(number(4), mul(var(thread), number(8))));
  EXPECT_THROW(text(var(thread), number(0)), Error);
  EXPECT_THROW(text(number(0), mul(var(thread), number(4))), Error);
  EXPECT_THROW(text(number(0), number(0), {.buffer = d, .transposed = true}), Error);
  EXPECT_THROW(text(number(0), number(0), {.buffer = a}), Error);
}

}  // namespace
