// Dot products of narrow integers on x86.
//
// vpdpbusd adds four products of unsigned and signed bytes to a lane of 32 bits, vpdpwssd two of signed
// halves; neither saturates (vpmaddubsw would). Bytes that are both signed, or both unsigned, are made to
// differ by an offset of 128, which a change of the upper bit adds or takes away:
//
//   signed:   x * y = (x + 128) * y - 128 * y        (x + 128 is unsigned)
//   unsigned: x * y = (x - 128) * y - -128 * y       (x - 128 is signed)
//
// so what is taken off again is a dot product of y with a constant, whose bytes are 0x80 either way. Machines
// without these instructions multiply signed halves by vpmaddwd, the even bytes and the odd ones of each
// half.
#include "codegen/llvm/dot_product.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>

namespace calotype::llvm_backend {

using llvm::Value;

namespace {

namespace I = llvm::Intrinsic;

/// Instructions of one kind for registers of 128, 256 and 512 bits.
struct Instruction {
  I::ID by_width[3];
  bool accumulates;  ///< has the sum as its first operand
};

constexpr Instruction kBytes = {
    {I::x86_avx512_vpdpbusd_128, I::x86_avx512_vpdpbusd_256, I::x86_avx512_vpdpbusd_512}, true};
constexpr Instruction kHalves = {
    {I::x86_avx512_vpdpwssd_128, I::x86_avx512_vpdpwssd_256, I::x86_avx512_vpdpwssd_512}, true};
constexpr Instruction kMultiplyAdd = {
    {I::x86_sse2_pmadd_wd, I::x86_avx2_pmadd_wd, I::x86_avx512_pmaddw_d_512}, false};

/// So many lanes from `first` on, zeros where there are none.
Value* lanes_from(Builder& b, Value* vector, int first, int count) {
  const int all = lanes_of(vector);
  if (first == 0 && count == all) return vector;
  std::vector<int> taken;
  for (int i = first; i < first + count; ++i) taken.push_back(i < all ? i : all);
  return b.CreateShuffleVector(vector, llvm::Constant::getNullValue(vector->getType()), taken);
}

Value* as_words(Builder& b, Value* vector) {
  const int lanes = lanes_of(vector) * static_cast<int>(vector->getType()->getScalarSizeInBits()) / 32;
  return b.CreateBitCast(vector, llvm::FixedVectorType::get(b.getInt32Ty(), static_cast<unsigned>(lanes)));
}

Value* as_halves(Builder& b, Value* vector) {
  const int lanes = lanes_of(vector) * static_cast<int>(vector->getType()->getScalarSizeInBits()) / 16;
  return b.CreateBitCast(vector, llvm::FixedVectorType::get(b.getInt16Ty(), static_cast<unsigned>(lanes)));
}

/// The instruction on registers of at most `bits`; x and y have the words of its operands, `sum` as many
/// lanes or null.
Value* apply(Builder& b, const Instruction& instruction, int bits, Value* sum, Value* x, Value* y) {
  x = as_words(b, x);
  y = as_words(b, y);
  const int lanes = lanes_of(x);
  int width = 4, which = 0;
  for (; width < bits / 32 && width < lanes; width *= 2) ++which;
  std::vector<Value*> pieces;
  for (int first = 0; first < lanes; first += width) {
    Value *a = lanes_from(b, x, first, width), *c = lanes_from(b, y, first, width);
    Value* part = sum ? lanes_from(b, sum, first, width) : llvm::Constant::getNullValue(a->getType());
    if (instruction.accumulates) {
      pieces.push_back(b.CreateIntrinsic(instruction.by_width[which], {}, {part, a, c}));
    } else {
      Value* products =
          b.CreateIntrinsic(instruction.by_width[which], {}, {as_halves(b, a), as_halves(b, c)});
      pieces.push_back(b.CreateAdd(part, products));
    }
  }
  return lanes_from(b, pieces.size() == 1 ? pieces[0] : llvm::concatenateVectors(b, pieces), 0, lanes);
}

Value* dot_bytes(Builder& b, const Machine& machine, Value* sum, Factor x, Factor y) {
  const auto products = [&](Value* to, Value* of_unsigned, Value* of_signed) {
    return apply(b, kBytes, machine.dot_bits, to, of_unsigned, of_signed);
  };
  if (x.type.is_uint() != y.type.is_uint())
    return x.type.is_uint() ? products(sum, x.value, y.value) : products(sum, y.value, x.value);
  llvm::Constant* upper_bits = llvm::ConstantInt::get(x.value->getType(), 0x80);
  Value* offset = b.CreateXor(x.value, upper_bits);
  if (x.type.is_int())
    return b.CreateSub(products(sum, offset, y.value), products(nullptr, upper_bits, y.value));
  return b.CreateSub(products(sum, y.value, offset), products(nullptr, y.value, upper_bits));
}

/// The even bytes of halves as numbers of 16 bits, and the odd ones.
std::pair<Value*, Value*> split_bytes(Builder& b, Factor f) {
  Value* halves = as_halves(b, f.value);
  if (f.type.is_uint())
    return {b.CreateAnd(halves, llvm::ConstantInt::get(halves->getType(), 0xff)), b.CreateLShr(halves, 8)};
  return {b.CreateAShr(b.CreateShl(halves, 8), 8), b.CreateAShr(halves, 8)};
}

Value* dot_halves(Builder& b, const Machine& machine, Value* sum, Value* x, Value* y) {
  return machine.dot_bits > 0 ? apply(b, kHalves, machine.dot_bits, sum, x, y)
                              : apply(b, kMultiplyAdd, machine.vector_bits, sum, x, y);
}

Value* widened(Builder& b, Factor f) {
  llvm::Type* type = with_element(f.value->getType(), b.getInt16Ty());
  return f.type.is_uint() ? b.CreateZExt(f.value, type) : b.CreateSExt(f.value, type);
}

/// Neighbours added up until as many lanes are left.
Value* added_up(Builder& b, Value* v, int lanes) {
  if (lanes == 1)
    return lanes_of(v) == 1 ? b.CreateExtractElement(v, std::uint64_t{0}) : b.CreateAddReduce(v);
  const int group = lanes_of(v) / lanes;
  Value* total = nullptr;
  for (int k = 0; k < group; ++k) {
    std::vector<int> taken;
    for (int i = 0; i < lanes; ++i) taken.push_back(i * group + k);
    Value* part = group == 1 ? v : b.CreateShuffleVector(v, taken);
    total = total ? b.CreateAdd(total, part) : part;
  }
  return total;
}

}  // namespace

bool has_dot_product(const Machine& machine, Type x, Type y, int group) {
  const auto is_half = [](Type t) { return t.bits == 8 || t.is_int(); };  // a signed one, if not narrower
  return machine.x86 && is_half(x) && is_half(y) && group % 2 == 0;
}

Value* dot_product(Builder& b, const Machine& machine, Value* sum, Factor x, Factor y, int group) {
  const bool bytes = x.type.bits == 8 && y.type.bits == 8 && group % 4 == 0;
  const int step = bytes ? 4 : 2, lanes = lanes_of(x.value) / group;
  Value* start = group == step && lanes > 1 ? sum : nullptr;
  Value* products = nullptr;
  if (bytes && machine.dot_bits > 0) {
    products = dot_bytes(b, machine, start, x, y);
  } else if (bytes) {
    const auto [even_x, odd_x] = split_bytes(b, x);
    const auto [even_y, odd_y] = split_bytes(b, y);
    products = dot_halves(b, machine, dot_halves(b, machine, start, even_x, even_y), odd_x, odd_y);
  } else {
    products = dot_halves(b, machine, start, widened(b, x), widened(b, y));
  }
  if (start) return products;
  Value* total = added_up(b, products, lanes);
  return sum ? b.CreateAdd(sum, total) : total;
}

}  // namespace calotype::llvm_backend
