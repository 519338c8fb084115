#pragma once
// One tile of a product by instructions of tensor cores, operands and results of any form that they have,
// written as lowered programs: d(m, n) = c(m, n) + sum of a(m, k) * b(n, k). The layouts are written down
// here once more, from PTX's pages, for the records to be compared with.

#include "instr/matrix.h"
#include "sim/random.h"
#include "support/hand_program.h"
#include "support/tensor_products.h"

namespace calotype::testing {

/// How an operand lies in shared memory: `rows` along m or n, `k` along k.
struct MatrixForm {
  bool transposed = false;
  int swizzle = 0;
};

class SharedMatrix {
 public:
  SharedMatrix(MatrixForm form, int rows, int k, int size) : form_(form), rows_(rows), k_(k), size_(size) {}

  std::int64_t elements() const { return std::int64_t{rows_} * k_; }
  /// Where an element lies before pieces change places.
  Expr place(const Expr& k, const Expr& row) const {
    const int piece = 16 / size_, width = form_.swizzle / size_;
    if (width > 0 && !form_.transposed)
      return k / number(width) * number(rows_ * width) + row * number(width) + k % number(width);
    if (width > 0) return row / number(width) * number(k_ * width) + k * number(width) + row % number(width);
    if (!form_.transposed)
      return k / number(piece) * number(rows_ * piece) + row / number(8) * number(8 * piece) +
             row % number(8) * number(piece) + k % number(piece);
    return row / number(piece) * number(k_ * piece) + k / number(8) * number(8 * piece) +
           k % number(8) * number(piece) + row % number(piece);
  }
  /// The first element of the part from `k` on.
  std::int64_t begin(int k) const { return *ir::as_int(ir::simplify(place(number(k), number(0)), {})); }
  ir::OperandUse use(const ir::BufferPtr& buffer) const {
    const std::int64_t width = form_.swizzle;
    if (width > 0 && !form_.transposed) return {buffer, false, form_.swizzle, 16, 8 * width};
    if (width > 0) return {buffer, true, form_.swizzle, k_ * width, 8 * width};
    if (!form_.transposed) return {buffer, false, 0, rows_ * 16, 128};
    return {buffer, true, 0, 128, k_ * 16};
  }

 private:
  MatrixForm form_;
  int rows_, k_, size_;
};

struct ProductSpec {
  const instr::TensorRule* rule;
  int n = 8;
  bool a_in_registers = false;
  MatrixForm a, b;
  int steps = 2;  ///< instructions, one behind the other
  bool with_c = true;
  bool by_moves = false;  ///< of mma.sync: operands by ldmatrix
  int m() const { return rule->instruction == "wgmma" ? 64 : 16; }
  int k() const { return steps * rule->products; }
};

/// Random operands, and what they give.
struct ProductData {
  std::vector<std::uint32_t> a, b, c, d;  ///< a[m][k], b[n][k], c[m][n], d[m][n]
};

inline ProductData product_data(const ProductSpec& spec) {
  sim::Random random(static_cast<std::uint64_t>(spec.n * 1000 + spec.steps * 10 + spec.with_c));
  ProductData p;
  const auto k = static_cast<std::size_t>(spec.k()), step = static_cast<std::size_t>(spec.rule->products);
  for (int i = 0; i < spec.m() * spec.k(); ++i) p.a.push_back(random_operand(spec.rule->a, random, 0));
  for (int i = 0; i < spec.n * spec.k(); ++i) p.b.push_back(random_operand(spec.rule->b, random, 0));
  const float some = 1.5f;
  std::uint32_t one = 0;
  std::memcpy(&one, &some, sizeof one);
  for (int i = 0; i < spec.m() * spec.n; ++i)
    p.c.push_back(spec.rule->to_f16      ? 0x3c00u + static_cast<std::uint32_t>(random.below(512))
                  : spec.rule->integer() ? static_cast<std::uint32_t>(random.below(100000))
                                         : one + static_cast<std::uint32_t>(random.below(100000)));
  for (int m = 0; m < spec.m(); ++m)
    for (int n = 0; n < spec.n; ++n) {
      std::uint32_t d = spec.with_c ? p.c[static_cast<std::size_t>(m * spec.n + n)] : 0;
      for (int s = 0; s < spec.steps; ++s) {
        const std::size_t at = static_cast<std::size_t>(s) * step;
        d = instr::tensor_sum(*spec.rule, {p.a.data() + static_cast<std::size_t>(m) * k + at, step},
                              {p.b.data() + static_cast<std::size_t>(n) * k + at, step}, d);
      }
      p.d.push_back(d);
    }
  return p;
}

class TileProduct {
 public:
  explicit TileProduct(ProductSpec spec)
      : spec_(spec),
        data_(product_data(spec)),
        record_(instr::product(*spec.rule, {spec.n, spec.a_in_registers})),
        wide_(spec.rule->instruction == "wgmma"),
        hand_("product", wide_ ? 128 : 32),
        size_(instr::bytes_of(spec.rule->a)),
        of_a_(spec.a, spec.m(), spec.k(), size_),
        of_b_(spec.b, spec.n, spec.k(), instr::bytes_of(spec.rule->b)) {
    declare();
    program_ = hand_.finish(body());
  }

  HandProgram& hand() { return hand_; }
  const lower::Program& program() const { return program_; }
  const ProductData& data() const { return data_; }

 private:
  bool a_loaded() const { return wide_ ? spec_.a_in_registers : !spec_.by_moves; }

  void declare() {
    const Type type_a = in_memory(spec_.rule->a), type_b = in_memory(spec_.rule->b),
               type_d = record_.operands[0].type;
    const std::int64_t m = spec_.m(), n = spec_.n, k = spec_.k();
    a_ = hand_.input("a", type_a, {k, m}, data_.a);
    b_ = hand_.input("b", type_b, {k, n}, data_.b);
    c_ = hand_.input("c", type_d, {n, m}, data_.c);
    out_ = hand_.output("out", type_d, {n, m});
    if (wide_ ? !spec_.a_in_registers : spec_.by_moves)
      tile_a_ = hand_.shared("tile_a", type_a, of_a_.elements(), spec_.a.swizzle);
    if (wide_ || spec_.by_moves) tile_b_ = hand_.shared("tile_b", type_b, of_b_.elements(), spec_.b.swizzle);
    acc_ = hand_.registers("acc", type_d, std::int64_t{16} * spec_.m() / (wide_ ? 4 : 1) * spec_.n / 16 / 32);
    if (!wide_ || spec_.a_in_registers)
      frag_a_ = hand_.registers("frag_a", type_a, spec_.steps * a_elements());
    if (!wide_) frag_b_ = hand_.registers("frag_b", type_b, spec_.steps * b_elements());
  }
  /// Lowered programs hold the bits of 8-bit floats.
  static Type in_memory(instr::Number number) {
    const Type type = instr::type_of(number);
    return type.is_float8() ? UInt(8) : type;
  }
  int a_elements() const { return 16 * spec_.rule->products / 32; }
  int b_elements() const { return 8 * spec_.rule->products / 32; }

  Expr lane() const { return hand_.thread() % number(32); }
  Expr warp() const { return hand_.thread() / number(32); }

  /// The element of the matrix in memory whose rows have `k` elements, for all of them, by all threads.
  ir::Stmt fill(const ir::BufferPtr& from, const ir::BufferPtr& to, const SharedMatrix& matrix,
                int rows) const {
    const int threads = wide_ ? 128 : 32, total = rows * spec_.k();
    return serial("i", (total + threads - 1) / threads, [&](const Expr& i) {
      const Expr e = i * number(threads) + hand_.thread(), k = e % number(spec_.k()),
                 row = e / number(spec_.k());
      return ir::if_then(e < number(total), ir::store(to, load(from, e), {matrix.place(k, row)}));
    });
  }

  /// PTX, "Matrix fragments for mma.m16n8k16" and those of the other shapes: a word of four bytes along k a
  /// register, rows 8 apart, then words 4 apart.
  ir::Stmt load_a() const {
    const int in_word = 4 / size_;
    return repeated(spec_.steps * a_elements(), [&](std::int64_t e) {
      const std::int64_t step = e / a_elements(), in = e % a_elements(), word = in / in_word;
      const Expr row = warp() * number(16) + lane() / number(4) + number(word % 2 * 8);
      const Expr k = (lane() % number(4) + number(word / 2 * 4)) * number(in_word) +
                     number(in % in_word + step * spec_.rule->products);
      return ir::store(frag_a_, load(a_, row * number(spec_.k()) + k), {number(e)});
    });
  }
  ir::Stmt load_b() const {
    const int in_word = 4 / instr::bytes_of(spec_.rule->b);
    return repeated(spec_.steps * b_elements(), [&](std::int64_t e) {
      const std::int64_t step = e / b_elements(), in = e % b_elements(), word = in / in_word;
      const Expr k = (lane() % number(4) + number(word * 4)) * number(in_word) +
                     number(in % in_word + step * spec_.rule->products);
      return ir::store(frag_b_, load(b_, lane() / number(4) * number(spec_.k()) + k), {number(e)});
    });
  }

  /// Rows of 16 bytes at multiples of what SharedMatrix says; lanes 0 to 15 the first 16 bytes of k.
  ir::Stmt move_a(int step) const {
    const instr::Instruction& record = instr::move({.count = 4, .element_bytes = size_});
    const Expr k = number(step * spec_.rule->products) + lane() / number(16) * number(16 / size_);
    return ir::instruction({&record, record.name, {{frag_a_}, {tile_a_}}},
                           {number(step * a_elements()), of_a_.place(k, lane() % number(16))});
  }
  ir::Stmt move_b(int step) const {
    const bool transposed = spec_.b.transposed;
    const instr::Instruction& record =
        instr::move({.count = 2, .transposed = transposed, .element_bytes = size_});
    const Expr half = lane() / number(8) % number(2), row = lane() % number(8);
    const Expr first = number(step * spec_.rule->products);
    const Expr at = transposed ? of_b_.place(first + half * number(8) + row, number(0))
                               : of_b_.place(first + half * number(16 / size_), row);
    return ir::instruction({&record, record.name, {{frag_b_}, {tile_b_}}}, {number(step * b_elements()), at});
  }

  /// Of the result: two columns side by side, rows 8 apart, then 8 columns further.
  Expr place_of_result(std::int64_t e) const {
    const Expr row = warp() * number(16) + lane() / number(4) + number(e / 2 % 2 * 8);
    const Expr column = lane() % number(4) * number(2) + number(e % 2 + e / 4 * 8);
    return row * number(spec_.n) + column;
  }
  std::int64_t results() const { return *ir::as_int(acc_->extents[0]); }

  ir::Stmt product(int step) const {
    const ir::OperandUse a = frag_a_ ? ir::OperandUse{frag_a_} : of_a_.use(tile_a_),
                         b = frag_b_ ? ir::OperandUse{frag_b_} : of_b_.use(tile_b_);
    const int k = step * spec_.rule->products;
    const Expr at_a = frag_a_ ? number(step * a_elements()) : number(of_a_.begin(k)),
               at_b = frag_b_ ? number(step * b_elements()) : number(of_b_.begin(k));
    const Expr adds = ir::make_int(Bool(), spec_.with_c || step > 0);
    return ir::instruction({&record_, record_.name, {{acc_}, a, b}}, {number(0), at_a, at_b, adds});
  }

  ir::Stmt body() const {
    using Kind = ir::SyncInfo::Kind;
    std::vector<ir::Stmt> all;
    if (tile_a_) all.push_back(fill(a_, tile_a_, of_a_, spec_.m()));
    if (tile_b_) all.push_back(fill(b_, tile_b_, of_b_, spec_.n));
    if (tile_b_) all.push_back(ir::synchronise({.kind = Kind::Block, .fence = wide_}));
    if (frag_a_ && a_loaded()) all.push_back(load_a());
    if (frag_b_ && !spec_.by_moves) all.push_back(load_b());
    if (spec_.with_c)
      all.push_back(repeated(results(), [&](std::int64_t e) {
        return ir::store(acc_, load(c_, place_of_result(e)), {number(e)});
      }));
    if (wide_) all.push_back(synchronise(Kind::ProductFence));
    for (int s = 0; s < spec_.steps; ++s) {
      if (spec_.by_moves) all.push_back(move_a(s));
      if (spec_.by_moves) all.push_back(move_b(s));
      all.push_back(product(s));
    }
    if (wide_) all.push_back(synchronise(Kind::ProductCommit));
    if (wide_) all.push_back(synchronise(Kind::ProductWait));
    all.push_back(repeated(results(), [&](std::int64_t e) {
      return ir::store(out_, load(acc_, number(e)), {place_of_result(e)});
    }));
    return ir::block(std::move(all));
  }

  ProductSpec spec_;
  ProductData data_;
  const instr::Instruction& record_;
  bool wide_;
  HandProgram hand_;
  int size_;
  SharedMatrix of_a_, of_b_;
  ir::BufferPtr a_, b_, c_, out_, tile_a_, tile_b_, acc_, frag_a_, frag_b_;
  lower::Program program_;
};

}  // namespace calotype::testing
