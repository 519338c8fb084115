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

/// How a tail is masked: not at all, by a limit that a ramp is compared with, by one that is known, or by
/// bits from memory.
enum class Mask { None, Limit, Known, Bits };
constexpr int known_limit(int lanes) { return std::max(lanes * 7 / 8, 1); }

/// One access of `lanes` elements with a stride, of a type, masked or not.
struct Access {
  bool storing;
  Type type;
  int lanes;
  std::int64_t stride;
  bool constant;  ///< the stride; else it is a scalar argument
  Mask mask;

  std::string text() const {
    return (storing ? "store " : "load ") + type.str() + " x" + std::to_string(lanes) + " stride " +
           std::to_string(stride) + (constant ? "" : " varying") + " mask " +
           std::to_string(static_cast<int>(mask));
  }
};

/// dense[i] = strided[first + i * stride] where the mask holds, or the other way round.
lower::Function function_of(const Access& a, const std::string& name) {
  lower::Function f;
  f.name = name;
  auto first = ir::make_symbol(ir::SymbolKind::Param, "first"),
       step = ir::make_symbol(ir::SymbolKind::Stride, "step");
  auto limit = ir::make_symbol(ir::SymbolKind::Param, "limit");
  auto strided = argument("strided", a.type, !a.storing), dense = argument("dense", a.type, a.storing);
  auto bits = argument("bits", Bool(), true);
  f.scalars = {first, step, limit};
  f.buffers = {strided, dense, bits};
  Expr by = a.constant ? ir::index(a.stride) : ir::make_var(step);
  Expr there = ir::make(Op::Ramp, Int(64, a.lanes), {ir::make_var(first), by});
  Expr here = ramp(ir::index(0), 1, a.lanes);
  Expr predicate = broadcast(Expr(true), a.lanes);
  if (a.mask == Mask::Limit) predicate = binary(Op::Lt, here, broadcast(ir::make_var(limit), a.lanes));
  if (a.mask == Mask::Known)
    predicate = binary(Op::Lt, here, broadcast(ir::index(known_limit(a.lanes)), a.lanes));
  if (a.mask == Mask::Bits) predicate = load(bits, here);
  if (a.storing) {
    f.body = ir::store(strided, load(dense, here), {there}, predicate);
  } else {
    f.body = ir::store(
        dense, a.mask == Mask::None ? load(strided, there) : load_if(strided, predicate, there), {here});
  }
  return f;
}

/// Run it with memory guarded on one side and compare every byte.
void check_access(const Access& a, const Module& module, const std::string& name, bool at_end,
                  std::int64_t limit) {
  // A masked run ends where its last active lane is: memory has no room for the others.
  if (a.mask == Mask::Known) limit = known_limit(a.lanes);
  const bool limited = a.mask == Mask::Limit || a.mask == Mask::Known;
  const int active = limited ? std::max(static_cast<int>(limit), 1) : a.lanes;
  const auto [first, span] = run_of(a.stride, active);
  Elements strided(a.type, span, at_end, 1), dense(a.type, a.lanes, at_end, 2),
      bits(Bool(), a.lanes, at_end, 3);
  auto expected_strided = strided.bytes(), expected_dense = dense.bytes();
  const auto width = static_cast<std::size_t>(a.type.bytes());
  for (int i = 0; i < a.lanes; ++i) {
    bool on = a.mask == Mask::None || (limited ? i < limit : bits.element(i)[0] == std::byte{1});
    auto* here = &expected_dense[static_cast<std::size_t>(i) * width];
    if (!on) {
      if (!a.storing) std::fill_n(here, width, std::byte{0});
      continue;
    }
    auto* there = &expected_strided[static_cast<std::size_t>(first + i * a.stride) * width];
    std::copy_n(a.storing ? here : there, width, a.storing ? there : here);
  }
  ASSERT_EQ(call(module, name, {first, a.stride, limit}, {strided.data(), dense.data(), bits.data()}), kGood);
  ASSERT_TRUE(strided.bytes() == expected_strided && dense.bytes() == expected_dense)
      << a.text() << " limit " << limit << " at_end " << at_end;
}

/// Every stride and mask of a type.
std::vector<Access> all_accesses(bool storing, Type type) {
  std::vector<Access> accesses;
  for (int lanes : kLanes) {
    for (Mask mask : {Mask::None, Mask::Limit, Mask::Known, Mask::Bits}) {
      for (std::int64_t stride : {1, -1, 2, 3, 4, -2, 7})
        accesses.push_back({storing, type, lanes, stride, true, mask});
      for (std::int64_t stride : {1, 3}) accesses.push_back({storing, type, lanes, stride, false, mask});
    }
  }
  return accesses;
}

void check_strided(bool storing, const std::string& arch) {
  for (Type type : kTypes) {
    const auto accesses = all_accesses(storing, type);
    std::vector<lower::Function> functions;
    for (const Access& a : accesses)
      functions.push_back(function_of(a, "f" + std::to_string(functions.size())));
    auto module = compile(functions, on(arch));
    for (std::size_t n = 0; n < accesses.size(); ++n) {
      const int lanes = accesses[n].lanes;
      for (bool at_end : {false, true}) {
        for (int limit : {0, 1, lanes - 1, lanes}) {
          if (accesses[n].mask == Mask::Limit || limit == lanes) {
            check_access(accesses[n], *module, functions[n].name, at_end, limit);
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

/// Runs that start at every element of a tile on the stack and stay inside it, as columns of its rows.
void check_tile(Type type, std::int64_t stride, int lanes, std::int64_t spare, const std::string& arch) {
  const std::int64_t size = stride * lanes + spare, runs = stride + spare;
  auto in = argument("in", type, true), out = argument("out", type);
  auto tile = local("tile", type, ir::MemorySpace::Stack, ir::index(size));
  auto i = loop_var("i");
  std::vector<ir::Stmt> body{
      loop(i, ir::index(0), ir::index(size), ir::store(tile, load(in, ir::make_var(i)), {ir::make_var(i)}))};
  for (std::int64_t first = 0; first < runs; ++first) {
    body.push_back(ir::store(out, load(tile, ramp(ir::index(first), stride, lanes)),
                             {ramp(ir::index(first * lanes), 1, lanes)}));
  }
  lower::Function f;
  f.name = "f";
  f.buffers = {in, out};
  f.body = ir::allocate(tile, ir::block(body));
  Array x(type, static_cast<std::size_t>(size)), got(type, static_cast<std::size_t>(runs * lanes)),
      expected = got;
  Values values(7);
  for (std::int64_t n = 0; n < size; ++n) x.set(static_cast<std::size_t>(n), values.any(type));
  for (std::int64_t first = 0; first < runs; ++first)
    for (std::int64_t n = 0; n < lanes; ++n)
      expected.set(static_cast<std::size_t>(first * lanes + n),
                   x.get(static_cast<std::size_t>(first + n * stride)));
  auto module = compile({f}, on(arch));
  ASSERT_EQ(call(*module, "f", {}, {x.data(), got.data()}), kGood);
  ASSERT_TRUE(got == expected) << type.str() << " stride " << stride << " lanes " << lanes << " spare "
                               << spare << " " << arch;
}

/// Those that are loaded as whole vectors and those too near to the end for it.
TEST(Memory, StridedLoadsOfATile) {
  for (const std::string& arch : kArchs)
    for (Type type : kTypes)
      for (std::int64_t stride : {2, 3, 4, 7})
        for (std::int64_t spare : {0, 1, 5}) check_tile(type, stride, 16, spare, arch);
}

/// Rows of 16 bytes, which are transposed as blocks: from one to more than a register has.
TEST(Memory, ColumnsOfATile) {
  for (const std::string& arch : kArchs)
    for (Type type : {Int(8), UInt(16), BFloat(16), Float(32), Int(64)}) {
      const int stride = 16 / type.bytes();
      for (int blocks : {1, 2, 3, 4, 8})
        for (std::int64_t spare : {0, 3}) check_tile(type, stride, blocks * stride, spare, arch);
    }
}

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
