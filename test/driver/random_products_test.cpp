// Products on tensor cores under random schedules: operands in every order and of every size, epilogues,
// steps of the schedule with and without each other. What is accepted gives the values of the reference and
// has no findings; what is refused says why.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <variant>

#include "sim/random.h"
#include "support/product_by_roles.h"

namespace calotype {
namespace {

using testing::copy_operand;
using testing::deal_out;
using testing::kHopper;
using testing::random_buffer;

class RandomProduct {
 public:
  explicit RandomProduct(std::uint64_t seed) : random_(seed) {
    type_ = pick<Type>({BFloat(16), BFloat(16), Float(16), Int(8)});
    a_by_rows_ = type_ == Int(8) || chance(50);
    b_by_columns_ = type_ == Int(8) || chance(50);
    rows_ = pick({64, 64, 128});
    columns_ = pick({64, 128, 128, 192});
    if (!b_by_columns_) columns_ = columns_ == 192 ? 128 : columns_;
    roles_ = chance(75);
    staged_ = chance(60);
    persistent_ = chance(50);
    cluster_ = roles_ && chance(50) ? pick({2, 2, 4}) : 1;
    along_n_ = chance(40);
    bias_ = chance(50);
    residual_ = chance(35);
    stages_ = pick({1, 2, 3});
  }

  Pipeline pipeline() const {
    Dim M("M"), N("N"), K("K");
    ImageParam A(type_, a_by_rows_ ? std::vector<Expr>{K, M} : std::vector<Expr>{M, K}, "A"),
        B(type_, b_by_columns_ ? std::vector<Expr>{K, N} : std::vector<Expr>{N, K}, "B"),
        bias(result(), {N}, "bias"), residual(result(), {N, M}, "residual");
    Var n("n"), m("m");
    RDom k(0, K, "k");
    Func acc("acc"), C("C");
    acc(n, m) += cast(sum(), a_by_rows_ ? A(k, m) : A(m, k)) * cast(sum(), b_by_columns_ ? B(k, n) : B(n, k));
    Expr value = acc(n, m);
    std::vector<std::variant<ImageParam, Param>> inputs = {A, B};
    if (bias_) {
      value = max(value + cast(sum(), bias(n)), cast(sum(), 0));
      inputs.push_back(bias);
    }
    if (residual_) {
      value = value + cast(sum(), residual(n, m));
      inputs.push_back(residual);
    }
    C(n, m) = cast(result(), value);
    return Pipeline("product", inputs, {Output(C, {N, M})});
  }

  Schedule schedule() {
    Schedule s;
    const std::optional<Stage> out = staged_ ? std::optional(s.stage_out("C")) : std::nullopt;
    loops_ = testing::tile_blocks(s, rows_, columns_, cluster_, along_n_);
    if (out) send(s, *out);
    if (persistent_) s["C"].persistent();
    if (chance(40)) s["C"].raster(Grouped{pick({1, 2, 3})});
    s["acc"].compute_at("C", loops_.block).store_in(Memory::Register);
    s["acc"].update().split("k", "ko", "ki", row()).reorder("ki", "n", "m", "ko");
    s["acc"].update().tensor_core({"m"}, {"n"}, {"ki"});
    const Stage a = copy_operand(s, "A", !a_by_rows_, row()), b = copy_operand(s, "B", !b_by_columns_, row());
    if (cluster_ > 1 && chance(80))
      along_n_ ? deal_out(s, a, !a_by_rows_, rows_, cluster_, row())
               : deal_out(s, b, !b_by_columns_, columns_, cluster_, row());
    if (stages_ > 1) s["acc"].update().pipeline("ko", stages_);
    if (chance(60)) s.assume("K", Assumption::at_least(1));
    if (!roles_) return s;
    std::vector<FuncName> copied = {a, b};
    if (out) copy_epilogue(s, *out, copied);
    s.role("copy", copied, {.warps = pick({1, 4})});
    s.role("multiply", {"C"}, {.warps = rows_ / 16});
    return s;
  }

  std::vector<Buffer> inputs(std::int64_t m, std::int64_t n, std::int64_t k) const {
    const auto extents = [&](bool dense, std::int64_t side) {
      return dense ? std::vector<std::int64_t>{k, side} : std::vector<std::int64_t>{side, k};
    };
    std::vector<Buffer> all = {random_buffer(type_, extents(a_by_rows_, m), 1),
                               random_buffer(type_, extents(b_by_columns_, n), 2)};
    if (bias_) all.push_back(random_buffer(result(), {n}, 3));
    if (residual_) all.push_back(random_buffer(result(), {n, m}, 4));
    return all;
  }

  /// Whether the schedule was accepted.
  bool check() {
    const Schedule s = schedule();
    SCOPED_TRACE(s.str());
    std::optional<Kernel> kernel;
    try {
      kernel.emplace(pipeline().compile(s, kHopper));
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::Schedule) << e.what();
      return false;
    }
    const std::int64_t unit = 16 / type_.bytes();
    const auto size = [&](std::int64_t most) { return unit * (1 + random_.below(most / unit)); };
    const std::int64_t m = a_by_rows_ ? 1 + random_.below(3 * rows_) : size(3 * rows_),
                       n = size(3 * columns_), k = size(4 * row());
    const Verification found =
        pipeline().verify(s, "sm_90a", inputs(m, n, k), {}, {},
                          {.seed = static_cast<std::uint64_t>(m), .random_landing = true});
    EXPECT_TRUE(found.clean()) << m << " x " << n << " x " << k << "\n" << found.str();
    testing::expect_matches(pipeline(), s, kHopper, inputs(m, n, k), {Buffer(result(), {n, m})});
    return true;
  }

 private:
  bool chance(int percent) { return random_.below(100) < percent; }
  template <class T>
  T pick(std::initializer_list<T> all) {
    return *(all.begin() + random_.below(static_cast<std::int64_t>(all.size())));
  }

  Type sum() const { return type_.is_float() ? Float(32) : Int(32); }
  Type result() const { return type_.is_float() ? type_ : Int(32); }
  int row() const { return 128 / type_.bytes(); }

  void send(Schedule& s, const Stage& out) {
    const int bytes = pick({128, 64});
    s["C"]
        .split(loops_.n, "part", "np", bytes / result().bytes())
        .reorder("np", loops_.m, "part")
        .unroll("part")
        .copy(Copy::Tma);
    s[out].compute_at("C", "part").store_in(Memory::Shared).swizzle(bytes);
    s[out].hoist_storage("C", loops_.block).ring_buffer(pick({2, 2, 3}));
  }

  void copy_epilogue(Schedule& s, const Stage& out, std::vector<FuncName>& copied) {
    for (const auto& [name, read] : {std::pair("bias", bias_), {"residual", residual_}}) {
      if (!read || chance(30)) continue;
      const Stage c = s.in(name, {out});
      s[c].compute_at("C", loops_.block).store_in(Memory::Shared).copy(Copy::Tma);
      copied.emplace_back(c);
    }
  }

  sim::Random random_;
  Type type_;
  bool a_by_rows_, b_by_columns_, roles_, staged_, persistent_, along_n_, bias_, residual_;
  int rows_, columns_, cluster_, stages_;
  testing::TileLoops loops_;
};

TEST(RandomProducts, AreRightOrRefused) {
  int accepted = 0;
  constexpr int kTried = 40;
  for (std::uint64_t seed = 0; seed < kTried; ++seed) {
    SCOPED_TRACE(seed);
    accepted += RandomProduct(seed).check();
  }
  EXPECT_GT(accepted, kTried * 3 / 4);
}

}  // namespace
}  // namespace calotype
