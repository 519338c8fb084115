// Records of products and moves, made when they are first asked for.

#include "instr/matrix.h"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <tuple>

#include "calotype/error.h"
#include "calotype/float8.h"

namespace calotype::instr {
namespace {

using layout::Axis;
using layout::Digit;
using layout::Layout;

constexpr int kRowBytes = 16, kRows = 8, kWordBytes = 4;

/// Elements of a row of words over registers and lanes: side by side in a word, four words over lanes, then
/// registers `next` apart.
void row_digits(std::vector<Digit>& digits, int extent, int element_bytes, int next) {
  const int in_word = kWordBytes / element_bytes;
  digits.push_back({0, 1, in_word, Axis::Register, 1});
  digits.push_back({0, in_word, 4, Axis::ThreadX, 1});
  digits.push_back({0, 4 * in_word, extent / (4 * in_word), Axis::Register, next});
}

/// Eight rows over lanes, then `halves` in registers, then warps.
void column_digits(std::vector<Digit>& digits, int halves, int next, int warps) {
  digits.push_back({1, 1, kRows, Axis::ThreadX, 4});
  digits.push_back({1, kRows, halves, Axis::Register, next});
  digits.push_back({1, kRows * halves, warps, Axis::ThreadX, 32});
}

Layout fragment_of_a(const TensorRule& rule, int warps) {
  const int bytes = bytes_of(rule.a), in_word = kWordBytes / bytes;
  std::vector<Digit> digits;
  row_digits(digits, rule.products, bytes, 2 * in_word);
  column_digits(digits, 2, in_word, warps);
  return Layout(std::move(digits), 2);
}

Layout fragment_of_b(const TensorRule& rule) {
  const int bytes = bytes_of(rule.b), in_word = kWordBytes / bytes;
  std::vector<Digit> digits;
  row_digits(digits, rule.products, bytes, in_word);
  column_digits(digits, 1, 1, 1);
  return Layout(std::move(digits), 2);
}

/// Of the result; with 16 bits two columns share a register, which is the same order of elements.
Layout fragment_of_d(int n, int warps) {
  std::vector<Digit> digits{
      {0, 1, 2, Axis::Register, 1}, {0, 2, 4, Axis::ThreadX, 1}, {0, 8, n / 8, Axis::Register, 4}};
  column_digits(digits, 2, 2, warps);
  return Layout(std::move(digits), 2);
}

const char* ptx_type(Number number) {
  static const char* const names[] = {"f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8"};
  return names[static_cast<int>(number)];
}

Type result_type(const TensorRule& rule) {
  return rule.integer() ? Int(32) : rule.to_f16 ? Float(16) : Float(32);
}

const char* result_name(const TensorRule& rule) {
  return rule.integer() ? "s32" : rule.to_f16 ? "f16" : "f32";
}

[[noreturn]] void no_such(const std::string& what) {
  throw Error({.kind = ErrorKind::Internal, .message = "there is no instruction " + what});
}

bool is_wide(const TensorRule& rule) { return rule.instruction == "wgmma"; }

Instruction make_product(const TensorRule& rule, const ProductForm& form) {
  const bool wide = is_wide(rule), a_in_registers = !wide || form.a_in_registers;
  const int warps = wide ? 4 : 1, m = 16 * warps, k = rule.products;
  const std::string shape = fmt::format("m{}n{}k{}", m, form.n, k);
  const std::string types = fmt::format("{}.{}.{}", result_name(rule), ptx_type(rule.a), ptx_type(rule.b));
  const Completion when = wide ? Completion::ProductGroup : Completion::ProgramOrder;
  const auto by = [&](bool registers) { return registers ? Proxy::Generic : Proxy::Async; };
  Instruction record{
      .name = fmt::format("{}.{}.{}{}", rule.instruction, shape, types,
                          wide ? (a_in_registers ? ".registers" : ".shared") : ""),
      .engine = wide ? Engine::WideTensor : Engine::Tensor,
      .loops = {{"k", k}, {"n", form.n}, {"m", m}},
      .meaning = "d(n, m) += a(k, m) * b(k, n)",
      .operands = {{"d", result_type(rule), {fragment_of_d(form.n, warps)}, Operand::Place::Registers},
                   {"a", type_of(rule.a), {}, Operand::Place::Matrix},
                   {"b", type_of(rule.b), {}, Operand::Place::Matrix}},
      .accesses = {{.operand = 0, .writes = true, .completion = when},
                   {.operand = 1, .writes = false, .proxy = by(a_in_registers), .completion = when},
                   {.operand = 2, .writes = false, .proxy = by(!wide), .completion = when}},
      .targets = {"cuda"},
      .threads = 32 * warps,
      .rule = &rule};
  if (a_in_registers) {
    record.operands[1].place = Operand::Place::Registers;
    record.operands[1].layouts = {fragment_of_a(rule, warps)};
  }
  if (!wide) {
    record.operands[2].place = Operand::Place::Registers;
    record.operands[2].layouts = {fragment_of_b(rule)};
  }
  record.text = wide ? fmt::format("wgmma.mma_async.sync.aligned.{}.{}", shape, types)
                     : fmt::format("mma.sync.aligned.{}.row.col.{}.{}", shape, types, result_name(rule));
  return record;
}

/// Rows of 16 bytes, four registers at most: transposed ones have columns over lanes and rows in words.
Layout fragment_of_move(const MoveForm& form) {
  const int elements = kRowBytes / form.element_bytes, in_word = kWordBytes / form.element_bytes;
  std::vector<Digit> digits;
  if (form.transposed) {
    digits = {{0, 1, elements, Axis::ThreadX, 4},
              {1, 1, in_word, Axis::Register, 1},
              {1, in_word, kRows / in_word, Axis::ThreadX, 1},
              {1, kRows, form.count, Axis::Register, in_word}};
  } else {
    row_digits(digits, elements, form.element_bytes, 1);
    column_digits(digits, form.count, in_word, 1);
  }
  return Layout(std::move(digits), 2);
}

/// A lane a row.
Layout rows_of_move(const MoveForm& form) {
  return Layout({{0, 1, kRowBytes / form.element_bytes, Axis::Register, 1},
                 {1, 1, kRows * form.count, Axis::ThreadX, 1}},
                2);
}

Instruction make_move(const MoveForm& form) {
  const char* name = form.to_memory ? "stmatrix" : "ldmatrix";
  const std::string ending = fmt::format("x{}{}", form.count, form.transposed ? ".trans" : "");
  const Type type = UInt(8 * form.element_bytes);
  Operand fragment{"fragment", type, {fragment_of_move(form)}, Operand::Place::Registers};
  Operand rows{"rows", type, {rows_of_move(form)}, Operand::Place::Rows};
  return {.name = fmt::format("{}.{}.b{}", name, ending, 8 * form.element_bytes),
          .engine = Engine::Generic,
          .loops = {{"c", kRowBytes / form.element_bytes}, {"r", kRows * form.count}},
          .meaning = "d(c, r) = a(c, r)",
          .operands =
              form.to_memory ? std::vector<Operand>{rows, fragment} : std::vector<Operand>{fragment, rows},
          .accesses = {{.operand = 0, .writes = true}, {.operand = 1, .writes = false}},
          .targets = {"cuda"},
          .threads = 32,
          .text = fmt::format("{}.sync.aligned.m8n8.{}.shared.b16", name, ending)};
}

/// Records stay where they are once made.
template <class Key, class Make>
const Instruction& once(const Key& key, Make make) {
  static std::mutex guard;
  static std::map<Key, Instruction> made;
  const std::lock_guard<std::mutex> lock(guard);
  auto found = made.find(key);
  if (found == made.end()) found = made.emplace(key, make()).first;
  return found->second;
}

}  // namespace

Type type_of(Number number) {
  switch (number) {
    case Number::F16:
      return Float(16);
    case Number::BF16:
      return BFloat(16);
    case Number::TF32:
      return Float(32);
    case Number::E4M3:
      return E4M3();
    case Number::E5M2:
      return E5M2();
    case Number::S8:
      return Int(8);
    case Number::U8:
      return UInt(8);
  }
  return {};
}

bool allows(const TensorRule& rule, int n) {
  if (!is_wide(rule)) return n == 8;
  const int step = rule.integer() && n > 32 ? 16 : 8;
  return n >= 8 && n <= 256 && n % step == 0;
}

const Instruction& product(const TensorRule& rule, const ProductForm& form) {
  if (!allows(rule, form.n)) no_such(fmt::format("{} with {} columns", rule.instruction, form.n));
  return once(std::tuple(&rule, form.n, form.a_in_registers), [&] { return make_product(rule, form); });
}

const Instruction& move(const MoveForm& form) {
  const bool two_bytes = form.element_bytes == 2;
  const bool known = (form.count == 1 || form.count == 2 || form.count == 4) &&
                     (two_bytes || form.element_bytes == 1 || form.element_bytes == 4) &&
                     (two_bytes || (!form.transposed && !form.to_memory));
  if (!known)
    no_such(fmt::format("that moves {} tiles of {} bytes an element", form.count, form.element_bytes));
  return once(std::tuple(form.count, form.transposed, form.to_memory, form.element_bytes),
              [&] { return make_move(form); });
}

}  // namespace calotype::instr
