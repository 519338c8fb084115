// The helpers as text. Integers: DESIGN's floor division and Euclidean modulo with x / 0 = 0 and wrapping
// ends; floats: conversions that round once and saturate.

#include "codegen/cuda/prelude.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "calotype/error.h"
#include "codegen/cuda/prelude_helpers.h"
#include "codegen/cuda/types.h"

namespace calotype::cuda {
namespace {

const std::vector<Helper>& plain_helpers() {
  static const std::vector<Helper> all = {
      {"f16", {}, "struct f16 { unsigned short bits; };\n"},
      {"bf16", {}, "struct bf16 { unsigned short bits; };\n"},
      {"float_of_f16",
       {"f16"},
       "@ float float_of(f16 x) {\n"
       "  float r;\n"
       "  asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(r) : \"h\"(x.bits));\n"
       "  return r;\n"
       "}\n"},
      {"float_of_bf16",
       {"bf16"},
       // One instruction for either half of a register, where a shift takes two for the upper one.
       "@ float float_of(bf16 x) {\n"
       "  float r;\n"
       "  asm(\"mov.b32 %0, {%1, %2};\" : \"=f\"(r) : \"h\"((unsigned short)0), \"h\"(x.bits));\n"
       "  return r;\n"
       "}\n"},
      {"f16_of",
       {"f16"},
       "@ f16 f16_of(float x) {\n"
       "  f16 r;\n"
       "  asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(r.bits) : \"f\"(x));\n"
       "  return r;\n"
       "}\n"},
      {"bf16_of",
       {"bf16"},
       "@ bf16 bf16_of(float x) {\n"
       "  bf16 r;\n"
       "  asm(\"cvt.rn.bf16.f32 %0, %1;\" : \"=h\"(r.bits) : \"f\"(x));\n"
       "  return r;\n"
       "}\n"},
      {"fma_f16",
       {"f16"},
       "@ f16 fma_f16(f16 a, f16 b, f16 c) {\n"
       "  f16 r;\n"
       "  asm(\"fma.rn.f16 %0, %1, %2, %3;\" : \"=h\"(r.bits) : \"h\"(a.bits), \"h\"(b.bits), "
       "\"h\"(c.bits));\n"
       "  return r;\n"
       "}\n"},
      {"fma_bf16",
       {"bf16"},
       "@ bf16 fma_bf16(bf16 a, bf16 b, bf16 c) {\n"
       "  bf16 r;\n"
       "  asm(\"fma.rn.bf16 %0, %1, %2, %3;\" : \"=h\"(r.bits) : \"h\"(a.bits), \"h\"(b.bits), "
       "\"h\"(c.bits));\n"
       "  return r;\n"
       "}\n"},
      {"shuffle_xor_f16",
       {"f16"},
       "@ f16 shuffle_xor_f16(f16 x, int lane) {\n"
       "  f16 r;\n"
       "  r.bits = (unsigned short)__shfl_xor_sync(0xffffffffu, (unsigned int)x.bits, lane);\n"
       "  return r;\n"
       "}\n"},
      {"shuffle_f16",
       {"f16"},
       "@ f16 shuffle_f16(f16 x, int lane) {\n"
       "  f16 r;\n"
       "  r.bits = (unsigned short)__shfl_sync(0xffffffffu, (unsigned int)x.bits, lane);\n"
       "  return r;\n"
       "}\n"},
      {"shuffle_xor_bf16",
       {"bf16"},
       "@ bf16 shuffle_xor_bf16(bf16 x, int lane) {\n"
       "  bf16 r;\n"
       "  r.bits = (unsigned short)__shfl_xor_sync(0xffffffffu, (unsigned int)x.bits, lane);\n"
       "  return r;\n"
       "}\n"},
      {"shuffle_bf16",
       {"bf16"},
       "@ bf16 shuffle_bf16(bf16 x, int lane) {\n"
       "  bf16 r;\n"
       "  r.bits = (unsigned short)__shfl_sync(0xffffffffu, (unsigned int)x.bits, lane);\n"
       "  return r;\n"
       "}\n"},
      // The kernel behind this one in its stream may come onto the GPU as this one leaves it; what this one
      // does begins when the one before it has ended.
      {"begin_behind_kernel_before",
       {},
       "@ void begin_behind_kernel_before() {\n"
       "  asm volatile(\"griddepcontrol.launch_dependents;\");\n"
       "  asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");\n"
       "}\n"},
      // To odd, so that rounding the result to a narrower type is the only rounding.
      {"odd_float_f64",
       {},
       "@ float odd_float(double x) {\n"
       "  float r = __double2float_rz(x);\n"
       "  return (double)r == x ? r : __uint_as_float(__float_as_uint(r) | 1u);\n"
       "}\n"},
      {"odd_float_s64",
       {},
       "@ float odd_float(long long x) {\n"
       "  float r = __ll2float_rz(x);\n"
       "  return __float2ll_rz(r) == x ? r : __uint_as_float(__float_as_uint(r) | 1u);\n"
       "}\n"},
      {"odd_float_u64",
       {},
       "@ float odd_float(unsigned long long x) {\n"
       "  float r = __ull2float_rz(x);\n"
       "  return __float2ull_rz(r) == x ? r : __uint_as_float(__float_as_uint(r) | 1u);\n"
       "}\n"},
      {"floor_div_s32",
       {},
       "@ int floor_div_s32(int a, int b) {\n"
       "  if (b == 0) return 0;\n"
       "  if (b == -1) return (int)(0u - (unsigned int)a);\n"
       "  int q = a / b, r = a % b;\n"
       "  return r != 0 && (r < 0) != (b < 0) ? q - 1 : q;\n"
       "}\n"},
      {"floor_div_s64",
       {},
       "@ long long floor_div_s64(long long a, long long b) {\n"
       "  if (b == 0) return 0;\n"
       "  if (b == -1) return (long long)(0ull - (unsigned long long)a);\n"
       "  long long q = a / b, r = a % b;\n"
       "  return r != 0 && (r < 0) != (b < 0) ? q - 1 : q;\n"
       "}\n"},
      {"floor_div_u32",
       {},
       "@ unsigned int floor_div_u32(unsigned int a, unsigned int b) { return b == 0 ? 0 : a / b; }\n"},
      {"floor_div_u64",
       {},
       "@ unsigned long long floor_div_u64(unsigned long long a, unsigned long long b) { return b == 0 ? 0 : "
       "a / b; }\n"},
      {"mod_s32",
       {},
       "@ int mod_s32(int a, int b) {\n"
       "  if (b == 0 || b == -1) return 0;\n"
       "  int r = a % b;\n"
       "  return r >= 0 ? r : (int)((unsigned int)r + (b < 0 ? 0u - (unsigned int)b : (unsigned int)b));\n"
       "}\n"},
      {"mod_s64",
       {},
       "@ long long mod_s64(long long a, long long b) {\n"
       "  if (b == 0 || b == -1) return 0;\n"
       "  long long r = a % b;\n"
       "  return r >= 0 ? r : (long long)((unsigned long long)r + (b < 0 ? 0ull - (unsigned long long)b : "
       "(unsigned long long)b));\n"
       "}\n"},
      {"mod_u32",
       {},
       "@ unsigned int mod_u32(unsigned int a, unsigned int b) { return b == 0 ? 0 : a % b; }\n"},
      {"mod_u64",
       {},
       "@ unsigned long long mod_u64(unsigned long long a, unsigned long long b) { return b == 0 ? 0 : a % "
       "b; }\n"},
      {"abs_s32",
       {},
       "@ unsigned int abs_s32(int a) { return a < 0 ? 0u - (unsigned int)a : (unsigned int)a; }\n"},
      {"abs_s64",
       {},
       "@ unsigned long long abs_s64(long long a) {\n"
       "  return a < 0 ? 0ull - (unsigned long long)a : (unsigned long long)a;\n"
       "}\n"},
      // Left for positive amounts, right for negative ones; `bits` is the width of the type.
      {"shift_signed",
       {},
       "@ long long shift_signed(long long a, long long by, int bits) {\n"
       "  if (by >= bits) return 0;\n"
       "  if (by >= 0) return (long long)((unsigned long long)a << by);\n"
       "  return by > -bits ? a >> -by : a >> 63;\n"
       "}\n"},
      {"shift_unsigned",
       {},
       "@ unsigned long long shift_unsigned(unsigned long long a, long long by, int bits) {\n"
       "  if (by >= bits || by <= -bits) return 0;\n"
       "  return by >= 0 ? a << by : a >> -by;\n"
       "}\n"},
      {"amount_of",
       {},
       "@ long long amount_of(unsigned long long by) { return by > 64 ? 64 : (long long)by; }\n"},
      {"minus", {}, "@ long long minus(long long by) { return by < -64 ? 64 : -by; }\n"},
      // The conversions of the machine saturate, but not all of them give 0 for a NaN.
      {"s64_of_f32", {}, "@ long long s64_of(float x) { return x != x ? 0 : __float2ll_rz(x); }\n"},
      {"u64_of_f32", {}, "@ unsigned long long u64_of(float x) { return x != x ? 0 : __float2ull_rz(x); }\n"},
      {"s32_of_f64", {}, "@ int s32_of(double x) { return x != x ? 0 : __double2int_rz(x); }\n"},
      {"u32_of_f64", {}, "@ unsigned int u32_of(double x) { return x != x ? 0 : __double2uint_rz(x); }\n"},
      {"s64_of_f64", {}, "@ long long s64_of(double x) { return x != x ? 0 : __double2ll_rz(x); }\n"},
      {"u64_of_f64",
       {},
       "@ unsigned long long u64_of(double x) { return x != x ? 0 : __double2ull_rz(x); }\n"},
      {"mod_f32",
       {},
       "@ float mod_f32(float a, float b) { return __fsub_rn(a, __fmul_rn(b, floorf(__fdiv_rn(a, b)))); }\n"},
      {"mod_f64",
       {},
       "@ double mod_f64(double a, double b) { return __dsub_rn(a, __dmul_rn(b, floor(__ddiv_rn(a, b)))); "
       "}\n"},
      {"mod_f16",
       {"float_of_f16", "f16_of"},
       "@ f16 mod_f16(f16 a, f16 b) {\n"
       "  float q = float_of(f16_of(float_of(a) / float_of(b)));\n"
       "  return f16_of(float_of(a) - float_of(f16_of(float_of(b) * floorf(q))));\n"
       "}\n"},
      {"mod_bf16",
       {"float_of_bf16", "bf16_of"},
       "@ bf16 mod_bf16(bf16 a, bf16 b) {\n"
       "  float q = float_of(bf16_of(float_of(a) / float_of(b)));\n"
       "  return bf16_of(float_of(a) - float_of(bf16_of(float_of(b) * floorf(q))));\n"
       "}\n"},
      {"fast_exp",
       {},
       "@ float fast_exp(float x) {\n"
       "  float r;\n"
       "  asm(\"ex2.approx.ftz.f32 %0, %1;\" : \"=f\"(r) : \"f\"(x * 1.44269504f));\n"
       "  return r;\n"
       "}\n"},
      {"fast_exp2",
       {},
       "@ float fast_exp2(float x) {\n"
       "  float r;\n"
       "  asm(\"ex2.approx.ftz.f32 %0, %1;\" : \"=f\"(r) : \"f\"(x));\n"
       "  return r;\n"
       "}\n"},
      {"fast_log",
       {},
       "@ float fast_log(float x) {\n"
       "  float r;\n"
       "  asm(\"lg2.approx.ftz.f32 %0, %1;\" : \"=f\"(r) : \"f\"(x));\n"
       "  return r * 0.693147181f;\n"
       "}\n"},
      {"fast_sin", {}, "@ float fast_sin(float x) { return __sinf(x); }\n"},
      {"fast_cos", {}, "@ float fast_cos(float x) { return __cosf(x); }\n"},
      {"fast_tanh",
       {},
       "@ float fast_tanh(float x) {\n"
       "  float r;\n"
       "  asm(\"tanh.approx.f32 %0, %1;\" : \"=f\"(r) : \"f\"(x));\n"
       "  return r;\n"
       "}\n"},
      {"fast_divide",
       {},
       "@ float fast_divide(float a, float b) {\n"
       "  float r;\n"
       "  asm(\"rcp.approx.ftz.f32 %0, %1;\" : \"=f\"(r) : \"f\"(b));\n"
       "  return a * r;\n"
       "}\n"},
      // Puts `next` where `seen` is, in one step; false, and what is there, if that is something else by now.
      {"exchanged",
       {},
       "template <class T>\n"
       "@ bool exchanged(T* place, T& seen, T next) {\n"
       "  if (sizeof(T) == 8) {\n"
       "    unsigned long long from = 0, to = 0;\n"
       "    memcpy(&from, &seen, sizeof(T));\n"
       "    memcpy(&to, &next, sizeof(T));\n"
       "    const unsigned long long found = atomicCAS((unsigned long long*)place, from, to);\n"
       "    memcpy(&seen, &found, sizeof(T));\n"
       "    return found == from;\n"
       "  }\n"
       "  const unsigned long long address = (unsigned long long)place;\n"
       "  volatile unsigned int* word = (volatile unsigned int*)(address & ~3ull);\n"
       "  const unsigned int shift = (unsigned int)(address & 3) * 8;\n"
       "  const unsigned int mask = (sizeof(T) == 4 ? ~0u : (1u << (sizeof(T) % 4 * 8)) - 1u) << shift;\n"
       "  unsigned int from = 0, to = 0;\n"
       "  memcpy(&from, &seen, sizeof(T));\n"
       "  memcpy(&to, &next, sizeof(T));\n"
       "  const unsigned int others = *word & ~mask;\n"
       "  from = others | from << shift;\n"
       "  to = others | to << shift;\n"
       "  const unsigned int found = atomicCAS((unsigned int*)word, from, to);\n"
       "  const unsigned int own = (found & mask) >> shift;\n"
       "  memcpy(&seen, &own, sizeof(T));\n"
       "  return found == from;\n"
       "}\n"},
      // The pieces of 16 bytes of a row change places by the number of the row.
      {"swizzled", {}, "@ int swizzled(int i, int mask) { return i ^ (i >> 3 & mask); }\n"},
      // Two elements of 16 bits in a register. They are taken out anew wherever one is used (volatile): the
      // compiler would rather keep what it has computed of them, in twice the registers and more.
      {"pair_of_bits",
       {},
       "@ unsigned int pair_of_bits(unsigned short low, unsigned short high) {\n"
       "  unsigned int r;\n"
       "  asm(\"mov.b32 %0, {%1, %2};\" : \"=r\"(r) : \"h\"(low), \"h\"(high));\n"
       "  return r;\n"
       "}\n"},
      {"bits_at",
       {},
       "@ unsigned short bits_at(const unsigned int* pairs, int i) {\n"
       "  unsigned short low, high;\n"
       "  asm volatile(\"mov.b32 {%0, %1}, %2;\" : \"=h\"(low), \"=h\"(high) : \"r\"(pairs[i >> 1]));\n"
       "  return i & 1 ? high : low;\n"
       "}\n"},
      {"set_bits",
       {},
       "@ void set_bits(unsigned int* pairs, int i, unsigned short bits) {\n"
       "  const unsigned int other = pairs[i >> 1] & (i & 1 ? 0xffffu : 0xffff0000u);\n"
       "  pairs[i >> 1] = other | (unsigned int)bits << (i & 1) * 16;\n"
       "}\n"},
      // Four of 8 bits.
      {"word_of_bytes",
       {},
       "@ unsigned int word_of_bytes(unsigned char a, unsigned char b, unsigned char c, unsigned char d) {\n"
       "  return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);\n"
       "}\n"},
      {"byte_at",
       {},
       "@ unsigned char byte_at(const unsigned int* words, int i) {\n"
       "  return (unsigned char)(words[i >> 2] >> (i & 3) * 8);\n"
       "}\n"},
      {"set_byte",
       {},
       "@ void set_byte(unsigned int* words, int i, unsigned char byte) {\n"
       "  const unsigned int others = words[i >> 2] & ~(0xffu << (i & 3) * 8);\n"
       "  words[i >> 2] = others | (unsigned int)byte << (i & 3) * 8;\n"
       "}\n"},
      {"f16_from_bits",
       {"f16"},
       "@ f16 f16_from_bits(unsigned short bits) {\n  f16 r = {bits};\n  return r;\n}\n"},
      {"bf16_from_bits",
       {"bf16"},
       "@ bf16 bf16_from_bits(unsigned short bits) {\n  bf16 r = {bits};\n  return r;\n}\n"},
  };
  return all;
}

/// Each behind those that it needs.
const std::vector<Helper>& helpers() {
  static const std::vector<Helper> all = [] {
    std::vector<Helper> both = plain_helpers();
    both.insert(both.end(), copy_helpers().begin(), copy_helpers().end());
    both.insert(both.end(), tile_helpers().begin(), tile_helpers().end());
    return both;
  }();
  return all;
}

const Helper& find(const std::string& name) {
  for (const Helper& h : helpers()) {
    if (h.name == name) return h;
  }
  throw Error({.kind = ErrorKind::Internal, .message = "the CUDA prelude has no such helper", .value = name});
}

std::string expanded(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '@') {
      result += "static __device__ __forceinline__";
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace

const std::string& Prelude::use(const std::string& name) {
  const auto [it, fresh] = used_.insert(name);
  if (fresh) {
    for (const std::string& needed : find(name).needs) use(needed);
  }
  return *it;
}

std::string Prelude::use_vector(Type element, int lanes, int align) {
  if (is_half(element)) use(c_type(element));
  const int bytes = lanes * element.bytes();
  std::string name = fmt::format("{}x{}", element.str(), lanes);
  if (align < std::min(bytes, 16)) name += fmt::format("_align{}", align);
  vectors_.insert(
      fmt::format("struct __align__({}) {} {{ {} v[{}]; }};\n", align, name, c_type(element), lanes));
  return name;
}

namespace {

/// Registers that `bytes` pass through, as PTX writes them: their type in C, the suffix of the instruction,
/// the operands from number `first` on and their constraints.
struct Registers {
  std::string type, suffix, operands, constraints;
};

Registers registers_of(int bytes, int first, const char* direction) {
  const auto constraint = [&](const char* member) { return fmt::format("\"{}r\"(r{})", direction, member); };
  if (bytes == 4) return {"unsigned int", "u32", fmt::format("%{}", first), constraint("")};
  const std::vector<const char*> members =
      bytes == 8 ? std::vector{".x", ".y"} : std::vector{".x", ".y", ".z", ".w"};
  Registers r{fmt::format("uint{}", members.size()), fmt::format("v{}.u32", members.size()), "", ""};
  for (std::size_t i = 0; i < members.size(); ++i) {
    r.operands += fmt::format("{}%{}", i == 0 ? "{" : ", ", first + static_cast<int>(i));
    r.constraints += (i == 0 ? "" : ", ") + constraint(members[i]);
  }
  r.operands += "}";
  return r;
}

}  // namespace

std::string Prelude::use_streamed_load(const std::string& type, int bytes, bool read_only) {
  std::string name = read_only ? "load_streamed" : "load_streamed_written";
  const Registers r = registers_of(bytes, 0, "=");
  made_.insert(fmt::format(
      "@ {0} {1}(const {0}* place) {{\n"
      "  {2} r;\n"
      "  asm{3}(\"ld.global{4}.L1::no_allocate.{5} {6}, [%{7}];\" : {8} : \"l\"(place){9});\n"
      "  {0} value;\n"
      "  memcpy(&value, &r, {10});\n"
      "  return value;\n"
      "}}\n",
      type, name, r.type, read_only ? "" : " volatile", read_only ? ".nc" : "", r.suffix, r.operands,
      std::max(bytes / 4, 1), r.constraints, read_only ? "" : " : \"memory\"", bytes));
  return name;
}

std::string Prelude::use_streamed_store(const std::string& type, int bytes) {
  const Registers r = registers_of(bytes, 1, "");
  made_.insert(
      fmt::format("@ void store_streamed({0}* place, const {0}& value) {{\n"
                  "  {1} r;\n"
                  "  memcpy(&r, &value, {2});\n"
                  "  asm volatile(\"st.global.cs.{3} [%0], {4};\" :: \"l\"(place), {5} : \"memory\");\n"
                  "}}\n",
                  type, r.type, bytes, r.suffix, r.operands, r.constraints));
  return "store_streamed";
}

std::string Prelude::str() const {
  std::string text;
  for (const Helper& h : helpers()) {
    if (used_.contains(std::string(h.name))) text += expanded(h.text);
  }
  for (const std::string& v : vectors_) text += v;
  for (const std::string& s : made_) text += expanded(s);
  return text;
}

bool is_reserved(const std::string& name) {
  static const std::set<std::string> words = {
      "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case",
      "catch", "char", "class", "compl", "const", "constexpr", "continue", "decltype", "default", "delete",
      "do", "double", "else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend",
      "goto", "if", "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq",
      "nullptr", "operator", "or", "or_eq", "private", "protected", "public", "register", "return", "short",
      "signed", "sizeof", "static", "struct", "switch", "template", "this", "throw", "true", "try", "typedef",
      "typeid", "typename", "union", "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while",
      "xor", "xor_eq",
      // CUDA's and ours
      "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "shared_memory", "min", "max", "abs", "f16",
      "bf16", "float_of", "f16_of", "bf16_of", "odd_float", "minus", "amount_of", "s64_of", "u64_of",
      "s32_of", "u32_of", "fma_f16", "fma_bf16", "shift_signed", "shift_unsigned", "f16_from_bits",
      "bf16_from_bits", "load_streamed", "load_streamed_written", "store_streamed", "mod_f32", "mod_f64",
      "mod_f16", "mod_bf16", "pin_word",
      // the math library, as far as printed
      "exp", "expf", "log", "logf", "sqrt", "sqrtf", "rsqrt", "rsqrtf", "tanh", "tanhf", "erf", "erff", "sin",
      "sinf", "cos", "cosf", "pow", "exp2", "exp2f", "expm1", "expm1f", "log2", "log2f", "log1p", "log1pf",
      "hypot", "tan", "asin", "asinf", "acos", "acosf", "atan", "atanf", "atan2", "sinh", "cosh", "coshf",
      "asinh", "acosh", "atanh", "floor", "floorf", "ceil", "ceilf", "trunc", "truncf", "rint", "rintf",
      "fma", "fmaf", "fmin", "fminf", "fmax", "fmaxf", "fabs", "fabsf"};
  static const std::set<std::string> helper_names = [] {
    std::set<std::string> names;
    for (const Helper& h : helpers()) names.emplace(h.name);
    return names;
  }();
  return words.contains(name) || helper_names.contains(name);
}

}  // namespace calotype::cuda
