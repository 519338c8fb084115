// Loads and stores: strides, gathers, masks. Memory lies at the very end or start of a page next to an
// unreadable one, so that an access outside what is asked for ends the test.
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>

#include "harness.h"

namespace calotype::llvm_backend {
namespace {

using ir::Op;

constexpr int kLanes[] = {3, 4, 5, 8, 16, 32};
const std::vector<Type> kTypes = {Int(8), UInt(16), Float(32), Float(64), BFloat(16), Bool()};
const std::vector<std::string> kArchs = {"", "x86_64-avx2"};

/// `bytes` of memory that ends (or begins) right at an unreadable page.
class Guarded {
 public:
  Guarded(std::size_t bytes, bool at_end) {
    page_ = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    inner_ = (bytes + page_ - 1) / page_ * page_;
    void* memory = mmap(nullptr, inner_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    base_ = static_cast<std::byte*>(memory);
    mprotect(base_ + page_, inner_, PROT_READ | PROT_WRITE);
    std::memset(base_ + page_, 0x5A, inner_);
    data_ = at_end ? base_ + page_ + inner_ - bytes : base_ + page_;
  }
  ~Guarded() { munmap(base_, inner_ + 2 * page_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  std::byte* data() { return data_; }

 private:
  std::size_t page_, inner_;
  std::byte *base_, *data_;
};

Options on(const std::string& arch) {
  Options options;
  options.arch = arch;
  return options;
}

/// Memory of one type at a guarded place, with random values.
class Elements {
 public:
  Elements(Type type, std::int64_t size, bool at_end, unsigned seed)
      : type_(type),
        size_(static_cast<std::size_t>(size)),
        memory_(size_ * static_cast<std::size_t>(type.bytes()), at_end) {
    std::mt19937 random(seed);
    for (std::size_t i = 0; i < size_ * width(); ++i) {
      memory_.data()[i] = static_cast<std::byte>(type.is_bool() ? random() % 2 : random() % 251 + 1);
    }
  }
  void* data() { return memory_.data(); }
  std::vector<std::byte> bytes() { return {memory_.data(), memory_.data() + size_ * width()}; }
  std::vector<std::byte> element(std::int64_t i) {
    auto* at = memory_.data() + static_cast<std::size_t>(i) * width();
    return {at, at + width()};
  }
  void set(std::int64_t i, const std::vector<std::byte>& value) {
    std::memcpy(memory_.data() + static_cast<std::size_t>(i) * width(), value.data(), width());
  }

 private:
  std::size_t width() const { return static_cast<std::size_t>(type_.bytes()); }
  Type type_;
  std::size_t size_;
  Guarded memory_;
};

/// The first element of a run of `lanes` elements with a stride, and how many elements it spans.
struct Run {
  std::int64_t first, span;
};
Run run_of(std::int64_t stride, int lanes) {
  std::int64_t span = std::abs(stride) * (lanes - 1) + 1;
  return {stride < 0 ? span - 1 : 0, span};
}

/// How a tail is masked: not at all, by a limit that a ramp is compared with, or by bits from memory.
enum class Mask { None, Limit, Bits };

/// out[0..lanes) = in[first + i * stride] where the mask holds, into dense memory; the stride a constant or a
/// scalar.
lower::Function strided_load(Type type, int lanes, std::int64_t stride, bool constant, Mask mask) {
  lower::Function f;
  f.name = "f";
  auto first = ir::make_symbol(ir::SymbolKind::Param, "first"),
       step = ir::make_symbol(ir::SymbolKind::Stride, "step");
  auto limit = ir::make_symbol(ir::SymbolKind::Param, "limit");
  auto in = argument("in", type, true), bits = argument("bits", Bool(), true), out = argument("out", type);
  f.scalars = {first, step, limit};
  f.buffers = {in, bits, out};
  Expr by = constant ? ir::index(stride) : ir::make_var(step);
  Expr index = ir::make(Op::Ramp, Int(64, lanes), {ir::make_var(first), by});
  Expr dense = ramp(ir::index(0), 1, lanes);
  Expr predicate = mask == Mask::Limit  ? binary(Op::Lt, dense, broadcast(ir::make_var(limit), lanes))
                   : mask == Mask::Bits ? load(bits, dense)
                                        : Expr();
  f.body = ir::store(out, predicate.defined() ? load_if(in, predicate, index) : load(in, index), {dense});
  return f;
}

/// The other way round: out[first + i * stride] = in[i].
lower::Function strided_store(Type type, int lanes, std::int64_t stride, bool constant, Mask mask) {
  lower::Function f = strided_load(type, lanes, stride, constant, Mask::None);
  auto in = f.buffers[0], bits = f.buffers[1], out = f.buffers[2];
  Expr dense = ramp(ir::index(0), 1, lanes);
  Expr by = constant ? ir::index(stride) : ir::make_var(f.scalars[1]);
  Expr index = ir::make(Op::Ramp, Int(64, lanes), {ir::make_var(f.scalars[0]), by});
  Expr predicate = mask == Mask::Limit  ? binary(Op::Lt, dense, broadcast(ir::make_var(f.scalars[2]), lanes))
                   : mask == Mask::Bits ? load(bits, dense)
                                        : broadcast(Expr(true), lanes);
  f.body = ir::store(out, load(in, dense), {index}, predicate);
  return f;
}

/// The access at every stride and mask, on memory guarded on both sides in turn.
void check_strided(bool storing, const std::string& arch) {
  for (Type type : kTypes) {
    for (int lanes : kLanes) {
      for (std::int64_t stride : {1, -1, 2, 3, 4, -2, 7}) {
        for (bool constant : {true, false}) {
          for (Mask mask : {Mask::None, Mask::Limit, Mask::Bits}) {
            if (!constant && stride != 3 && stride != 1) continue;
            auto function = storing ? strided_store(type, lanes, stride, constant, mask)
                                    : strided_load(type, lanes, stride, constant, mask);
            auto module = compile({function}, on(arch));
            for (bool at_end : {false, true}) {
              for (std::int64_t limit : {0, 1, lanes - 1, lanes}) {
                if (mask != Mask::Limit && limit != lanes) continue;
                // A masked run ends where its last active lane is: memory has no room for the others.
                int active = mask == Mask::Limit ? std::max(static_cast<int>(limit), 1) : lanes;
                auto [first, span] = run_of(stride, active);
                Elements strided(type, span, at_end, 1), dense(type, lanes, at_end, 2),
                    bits(Bool(), lanes, at_end, 3);
                auto expected_strided = strided.bytes(), expected_dense = dense.bytes();
                const auto width = static_cast<std::size_t>(type.bytes());
                for (int i = 0; i < lanes; ++i) {
                  bool on = mask == Mask::None ||
                            (mask == Mask::Limit ? i < limit : bits.element(i)[0] == std::byte{1});
                  auto at_dense = static_cast<std::size_t>(i) * width;
                  if (!on && !storing) std::fill_n(&expected_dense[at_dense], width, std::byte{0});
                  if (!on) continue;
                  std::int64_t place = first + i * stride;
                  auto at_strided = static_cast<std::size_t>(place) * width;
                  auto from = storing ? dense.element(i) : strided.element(place);
                  std::copy(from.begin(), from.end(),
                            storing ? &expected_strided[at_strided] : &expected_dense[at_dense]);
                }
                std::vector<void*> pointers = {strided.data(), bits.data(), dense.data()};
                if (storing) std::swap(pointers[0], pointers[2]);
                ASSERT_EQ(call(*module, "f", {first, stride, limit}, pointers), kGood);
                ASSERT_TRUE(strided.bytes() == expected_strided && dense.bytes() == expected_dense)
                    << (storing ? "store " : "load ") << type.str() << " x" << lanes << " stride " << stride
                    << " mask " << static_cast<int>(mask) << " limit " << limit << " at_end " << at_end
                    << " arch " << arch;
              }
            }
          }
        }
      }
    }
  }
}

TEST(Memory, StridedLoads) { check_strided(false, ""); }
TEST(Memory, StridedLoadsAvx2) { check_strided(false, "x86_64-avx2"); }
TEST(Memory, StridedStores) { check_strided(true, ""); }
TEST(Memory, StridedStoresAvx2) { check_strided(true, "x86_64-avx2"); }

/// out[i] = in[base + table[i]] and out[table[i]] = in[i], masked and not, with 64-bit and 32-bit tables.
TEST(Memory, GatherAndScatter) {
  for (const std::string& arch : kArchs) {
    for (Type type : kTypes) {
      for (Type index_type : {Int(64), Int(32)}) {
        for (bool masked : {false, true}) {
          constexpr int lanes = 8;
          auto in = argument("in", type, true), table = argument("table", index_type, true);
          auto bits = argument("bits", Bool(), true), gathered = argument("g", type),
               scattered = argument("s", type);
          auto base = ir::make_symbol(ir::SymbolKind::Param, "base");
          Expr dense = ramp(ir::index(0), 1, lanes);
          Expr offsets = ir::make(Op::Cast, Int(64, lanes), {load(table, dense)});
          Expr index = binary(Op::Add, broadcast(ir::make_var(base), lanes), offsets);
          Expr predicate = masked ? load(bits, dense) : broadcast(Expr(true), lanes);
          lower::Function f;
          f.name = "f";
          f.scalars = {base};
          f.buffers = {in, table, bits, gathered, scattered};
          f.body = ir::block(
              {ir::store(gathered, masked ? load_if(in, predicate, index) : load(in, index), {dense}),
               ir::store(scattered, load(in, dense), {index}, predicate)});
          const std::int64_t offset[lanes] = {9, 3, 0, 11, 4, 4, 7, -2};
          Array t(index_type, lanes), b(Bool(), lanes), x(type, 24), g(type, lanes), s(type, 24);
          Values values(5);
          for (std::size_t i = 0; i < 24; ++i) x.set(i, values.any(type));
          for (std::size_t i = 0; i < lanes; ++i) {
            t.set(i, ir::Value::of_int(index_type, offset[i]));
            b.set(i, ir::Value::of_int(Bool(), i != 3 && i != 5));
          }
          Array expected_g = g, expected_s = s;
          for (std::size_t i = 0; i < lanes; ++i) {
            auto at = static_cast<std::size_t>(5 + offset[i]);
            bool active = !masked || b.get(i).i != 0;
            expected_g.set(i, active ? x.get(at) : ir::Value{type, {0}});
            if (active) expected_s.set(at, x.get(i));
          }
          auto module = compile({f}, on(arch));
          ASSERT_EQ(call(*module, "f", {5}, {x.data(), t.data(), b.data(), g.data(), s.data()}), kGood);
          ASSERT_TRUE(g == expected_g && s == expected_s)
              << type.str() << " masked " << masked << " " << arch;
        }
      }
    }
  }
}

/// Limits on either side of a ramp, in every position relative to it, also far away.
TEST(Memory, RampComparisons) {
  for (int lanes : {4, 16, 32, 64}) {
    for (std::int64_t stride : {1, 3}) {
      auto base = ir::make_symbol(ir::SymbolKind::Param, "base"),
           limit = ir::make_symbol(ir::SymbolKind::Param, "limit");
      auto out = argument("out", Bool());
      Expr r = ramp(ir::make_var(base), stride, lanes), k = broadcast(ir::make_var(limit), lanes);
      Expr shifted = binary(Op::Sub, r, broadcast(ir::index(5), lanes));  // seen through as a ramp as well
      const std::vector<Expr> truths = {binary(Op::Lt, r, k), binary(Op::Le, r, k), binary(Op::Lt, k, r),
                                        binary(Op::Le, k, r), binary(Op::Lt, shifted, k)};
      lower::Function f;
      f.name = "f";
      f.scalars = {base, limit};
      f.buffers = {out};
      std::vector<ir::Stmt> stores;
      for (std::size_t n = 0; n < truths.size(); ++n) {
        stores.push_back(
            ir::store(out, truths[n], {ramp(ir::index(static_cast<std::int64_t>(n) * lanes), 1, lanes)}));
      }
      f.body = ir::block(stores);
      auto module = compile({f}, {});
      for (std::int64_t b : {std::int64_t{0}, std::int64_t{-7}, std::int64_t{1} << 40}) {
        for (std::int64_t d :
             {std::int64_t{-1} << 50, std::int64_t{-1}, std::int64_t{0}, std::int64_t{1}, std::int64_t{2},
              lanes * stride - stride, lanes * stride - 1, lanes * stride, std::int64_t{1} << 50}) {
          std::vector<std::uint8_t> got(truths.size() * static_cast<std::size_t>(lanes), 9);
          ASSERT_EQ(call(*module, "f", {b, b + d}, {got.data()}), kGood);
          for (int i = 0; i < lanes; ++i) {
            std::int64_t x = b + i * stride, l = b + d;
            const bool expected[] = {x < l, x <= l, l < x, l <= x, x - 5 < l};
            for (std::size_t n = 0; n < std::size(expected); ++n) {
              ASSERT_EQ(got[n * static_cast<std::size_t>(lanes) + static_cast<std::size_t>(i)], expected[n])
                  << "form " << n << " lane " << i << " of " << lanes << " base " << b << " distance " << d;
            }
          }
        }
      }
    }
  }
}

/// A scalar predicate guards the access and everything in its index.
TEST(Memory, ScalarPredicates) {
  auto in = argument("in", Int(32), true), table = argument("table", Int(64), true),
       out = argument("out", Int(32));
  auto i = loop_var("i"), n = ir::make_symbol(ir::SymbolKind::Param, "n");
  Expr inside = binary(Op::Lt, ir::make_var(i), ir::make_var(n));
  lower::Function f;
  f.name = "f";
  f.scalars = {n};
  f.buffers = {in, table, out};
  Expr value = load_if(in, inside, load(table, ir::make_var(i)));
  Expr shared = binary(Op::Add, value, ir::make(Op::Cast, Int(32), {inside}));
  f.body = loop(i, ir::index(0), ir::index(8),
                ir::block({ir::store(out, shared, {ir::make_var(i)}, inside),
                           ir::store(out, binary(Op::Mul, shared, ir::make_int(Int(32), 2)),
                                     {binary(Op::Add, ir::make_var(i), ir::index(8))})}));
  auto module = compile({f}, {});
  std::vector<std::int32_t> x = {10, 20, 30, 40}, got(16, -7);
  Guarded guarded(3 * sizeof(std::int64_t), true);  // the table holds three entries only
  auto* t = reinterpret_cast<std::int64_t*>(guarded.data());
  t[0] = 3, t[1] = 0, t[2] = 2;
  ASSERT_EQ(call(*module, "f", {3}, {x.data(), t, got.data()}), kGood);
  EXPECT_EQ(got, (std::vector<std::int32_t>{41, 11, 31, -7, -7, -7, -7, -7, 82, 22, 62, 0, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace calotype::llvm_backend
