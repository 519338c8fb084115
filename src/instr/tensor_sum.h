#pragma once
// The arithmetic of tensor cores, bit for bit: what one mma.sync or wgmma gives for one element of its
// result.
//
// The rules are those of an H200: test/codegen/cuda/tensor_products_test.cpp compares them there. (An
// independent model of the same hardware is MMA-Sim, arXiv 2511.10909.) Fused sum: the terms are C and the
// exact products. A product has the exponent of a plus that of b, whatever its digits; a subnormal operand
// has the exponent of the smallest normal one; zeros do not count. Each term is cut toward zero to so many
// bits below the largest exponent, the cut terms are added exactly, and the sum is cut toward zero to the
// result's mantissa. No bit is kept from one instruction to the next.

#include <cstdint>
#include <span>
#include <string>

namespace calotype::instr {

/// How an operand's bits are read. tf32: 32 bits of which the low 13 do not count.
enum class Number { F16, BF16, TF32, E4M3, E5M2, S8, U8 };
int bytes_of(Number number);

/// What an instruction does to the terms of one element.
struct TensorRule {
  std::string instruction;  ///< "mma.sync", "wgmma"
  Number a, b;
  bool to_f16 = false;  ///< the result, rounded to nearest even; else f32, and s32 of integers
  int products = 16;    ///< k of the instruction
  int kept = 25;        ///< bits of a term below the largest exponent
  int mantissa = 23;    ///< bits of the result behind the first, the rest are 0
  bool halves =
      false;  ///< emulated: first the k with (k & 3) < 2, then the others, and C is added to nearest
  bool integer() const { return a == Number::S8 || a == Number::U8; }
};

/// Those of sm_90a: mma.sync m16n8 and wgmma m64nN with f16, bf16, tf32, e4m3, e5m2 and the mixed 8-bit ones.
std::span<const TensorRule> tensor_rules();
/// The rule of these operands; nullptr: there is no such instruction.
const TensorRule* find_rule(const std::string& instruction, Number a, Number b, bool to_f16 = false);

/// D = C + sum of a[k] * b[k], from and to bits. `a` and `b` have `products` elements of `bytes_of` their
/// Number, each in the low bits of a word; `c` and the result are f32, f16 in the low half, or s32.
std::uint32_t tensor_sum(const TensorRule& rule, std::span<const std::uint32_t> a,
                         std::span<const std::uint32_t> b, std::uint32_t c);

}  // namespace calotype::instr
