// Sums of products of narrow integers, in groups of neighbouring lanes, which machines have dot products for:
// every pair of types, ragged sizes, extreme values; and which instructions they become.

#include <gtest/gtest.h>

#include <random>

#include "calotype/calotype.h"
#include "support/run.h"

namespace calotype {
namespace {

using testing::expect_matches;
using testing::targets;

struct Factors {
  Type a, b;
};

const std::vector<Factors> kBytes = {
    {Int(8), Int(8)}, {UInt(8), Int(8)}, {Int(8), UInt(8)}, {UInt(8), UInt(8)}};
const std::vector<Factors> kHalves = {
    {Int(16), Int(16)}, {Int(8), Int(16)}, {Int(16), UInt(8)}, {UInt(16), UInt(8)}, {UInt(16), UInt(16)}};

/// acc(n, m) = sum of A(k, m) * B(n, k) over k.
Pipeline product(Factors f, Type sum = Int(32)) {
  Dim M("M"), N("N"), K("K");
  ImageParam A(f.a, {K, M}, "A"), B(f.b, {N, K}, "B");
  Var n("n"), m("m");
  RDom k(0, K, "k");
  Func acc("acc");
  acc(n, m) += cast(sum, A(k, m)) * cast(sum, B(n, k));
  return Pipeline("product", {A, B}, {Output(acc, {N, M})});
}

/// Values of the whole range, a third of them at its ends.
Buffer extremes(Type type, std::vector<std::int64_t> extents, unsigned seed) {
  Buffer b(type, std::move(extents));
  std::mt19937_64 random(seed);
  const std::int64_t span = type.max_int() - type.min_int() + 1;
  std::vector<std::int64_t> at(static_cast<std::size_t>(b.rank()), 0);
  for (std::int64_t i = 0; i < b.elements(); ++i) {
    const auto draw = static_cast<std::int64_t>(random() % 6);
    const std::int64_t value = draw == 0   ? type.min_int()
                               : draw == 1 ? type.max_int()
                                           : type.min_int() + static_cast<std::int64_t>(random()) % span;
    b.set_value(at, static_cast<double>(std::clamp(value, type.min_int(), type.max_int())));
    for (std::size_t d = 0; d < at.size(); ++d) {
      if (++at[d] < b.extent(static_cast<int>(d))) break;
      at[d] = 0;
    }
  }
  return b;
}

void on_threads(Stage s, const Target& target) {
  if (target.is_gpu()) s.split("m", "mb", "mt", 4).gpu_blocks("mb").gpu_threads("mt");
}

/// `group` terms of 8 results in one vector.
Schedule groups(const Target& target, int group) {
  Schedule s;
  on_threads(s["acc"], target);
  Stage sums = s["acc"].update();
  sums.split("k", "ko", "ki", group).split("n", "no", "ni", 8).reorder("ki", "ni", "ko", "no", "m");
  sums.vectorize("ki").vectorize("ni");
  on_threads(sums, target);
  return s;
}

/// The same with tiles of sums, and panels of B whose groups lie side by side.
Schedule panels(int group) {
  Schedule s;
  s["acc"].compute_root();
  Stage sums = s["acc"].update();
  sums.split("k", "ko", "ki", group)
      .tile("n", "m", "no", "mo", "nr", "mr", 32, 3)
      .split("nr", "nv", "ni", 16);
  sums.reorder("ki", "ni", "nv", "mr", "ko", "no", "mo");
  sums.vectorize("ki").vectorize("ni").unroll("nv").unroll("mr");
  const std::string g = std::to_string(group);
  Stage packed = s.in("B", {"acc"});
  s[packed].compute_root().layout({"d1 % " + g, "d0 % 16", "d1 / " + g, "d0 / 16"});
  s[packed].split("d0", "d0o", "d0i", 16).split("d1", "d1o", "d1i", group);
  s[packed].reorder("d0i", "d1i", "d0o", "d1o").vectorize("d0i").vectorize("d1i");
  return s;
}

/// Lanes of the reduction alone, which are kept over the rest of it.
Schedule lanes(const Target& target, int factor) {
  Schedule s;
  on_threads(s["acc"], target);
  s["acc"].update().reorder("k", "n", "m").vectorize("k", factor);
  on_threads(s["acc"].update(), target);
  return s;
}

struct Size {
  std::int64_t m, n, k;
};
constexpr Size kSizes[] = {{1, 1, 1}, {3, 16, 8}, {5, 17, 35}, {4, 33, 64}, {2, 7, 3}};

void expect_right(const Pipeline& p, const Schedule& s, const Target& target, Factors f, Type sum) {
  const Kernel kernel = p.compile(s, target);
  for (const Size& size : kSizes) {
    const auto seed = static_cast<unsigned>(size.m * 100 + size.k);
    const Buffer a = extremes(f.a, {size.k, size.m}, seed), b = extremes(f.b, {size.n, size.k}, seed + 1);
    const Buffer out(sum, {size.n, size.m});
    testing::poison(out);
    kernel.call({a, b, out});
    const lang::EqualityReport result = lang::compare_with_reference(out, p.evaluate({a, b}), 0, false);
    ASSERT_TRUE(result.ok) << f.a.str() << " by " << f.b.str() << " for " << target.str() << " under\n"
                           << s.str() << "\n"
                           << result.str() << "\n"
                           << kernel.show("lowered");
  }
}

TEST(DotProducts, OfEveryPairOfBytes) {
  for (const Target& target : targets())
    for (const Factors& f : kBytes)
      for (const Type sum : {Int(32), UInt(32)}) {
        const Pipeline p = product(f, sum);
        for (const int group : {2, 4, 8}) expect_right(p, groups(target, group), target, f, sum);
        for (const int factor : {4, 64}) expect_right(p, lanes(target, factor), target, f, sum);
        if (!target.is_gpu()) expect_right(p, panels(4), target, f, sum);
      }
}

TEST(DotProducts, OfHalves) {
  for (const Target& target : targets())
    for (const Factors& f : kHalves) {
      const Pipeline p = product(f);
      for (const int group : {2, 4, 3}) expect_right(p, groups(target, group), target, f, Int(32));
      expect_right(p, lanes(target, 32), target, f, Int(32));
      if (!target.is_gpu()) expect_right(p, panels(2), target, f, Int(32));
    }
}

#ifdef CALOTYPE_HAS_LLVM

/// Machines that run here, with and without instructions for sums of four products.
std::vector<Target> hosts() {
  std::vector<Target> all;
  for (const char* arch : {"x86_64-avx2", "x86_64-avx512", "x86_64-avx512vnni"}) {
    const Target target = Target::host(arch);
    try {
      const Factors f{Int(8), Int(8)};
      Buffer out(Int(32), {1, 1});
      std::vector<Arg> args{extremes(f.a, {1, 1}, 0), extremes(f.b, {1, 1}, 1), out};
      product(f).compile(Schedule(), target).call(args);
      all.push_back(target);
    } catch (const Error&) {
    }
  }
  return all;
}

TEST(DotProducts, OfOlderMachines) {
  for (const Target& target : hosts()) {
    for (const Factors& f : kBytes) {
      const Pipeline p = product(f);
      for (const int group : {2, 4}) expect_right(p, groups(target, group), target, f, Int(32));
      expect_right(p, lanes(target, 64), target, f, Int(32));
      expect_right(p, panels(4), target, f, Int(32));
    }
    const Factors halves{Int(16), Int(16)};
    expect_right(product(halves), groups(target, 2), target, halves, Int(32));
  }
}

TEST(DotProducts, Wrap) {
  const std::int64_t k = 70000;
  for (const Factors& f : kBytes) {
    Buffer a(f.a, {k, 2}), b(f.b, {2, k});
    a.fill(f.a.is_uint() ? 255 : -128);
    b.fill(f.b.is_uint() ? 255 : -128);
    for (const Target& target : {Target::host()}) {
      expect_matches(product(f), groups(target, 4), target, {a, b}, {Buffer(Int(32), {2, 2})});
      expect_matches(product(f), lanes(target, 64), target, {a, b}, {Buffer(Int(32), {2, 2})});
    }
  }
}

/// total(y) = sum of f(in(k, y)) over k, for terms of other forms.
Pipeline sums(const std::string& name, Type type, Expr (*term)(Expr), bool some) {
  Dim K("K"), N("N");
  ImageParam in(type, {K, N}, "in");
  Var y("m");
  RDom k(0, K, "k");
  if (some) k.where(in(k, y) != cast(type, 3));
  Func total("acc");
  total(y) += term(in(k, y));
  return Pipeline(name, {in}, {Output(total, {N})});
}

TEST(DotProducts, OfOtherTerms) {
  for (const Target& target : targets())
    for (const Type type : {Int(8), UInt(8), Int(16), UInt(16)})
      for (const bool some : {false, true}) {
        const Pipeline all[] = {
            sums(
                "values", type, [](Expr e) { return cast<std::int32_t>(e); }, some),
            sums(
                "squares", type, [](Expr e) { return cast<std::int32_t>(e) * cast<std::int32_t>(e); }, some),
            sums(
                "weighted", type, [](Expr e) { return cast<std::int32_t>(e) * 100; }, some),
            sums(
                "weighted_by_more", type, [](Expr e) { return cast<std::int32_t>(e) * -200; }, some),
            sums(
                "narrow", type, [](Expr e) { return cast<std::int32_t>(e * e); }, some),
            sums("widening", type, [](Expr e) { return cast<std::int32_t>(widening_mul(e, e)); }, some)};
        for (const Pipeline& p : all) {
          Schedule s;
          on_threads(s["acc"], target);
          s["acc"].update().vectorize("k", 16);
          on_threads(s["acc"].update(), target);
          for (const std::int64_t k : {1, 16, 45})
            expect_matches(p, s, target, {extremes(type, {k, 5}, static_cast<unsigned>(k))},
                           {Buffer(Int(32), {5})});
        }
      }
}

std::string assembly(const std::string& arch, Factors f, const Schedule& s) {
  return product(f).compile(s, Target::host(arch)).show("asm");
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

TEST(DotProducts, AreOneInstructionWhereTheMachineHasIt) {
  for (const Factors& f : kBytes)
    for (const Schedule& s : {groups(Target::host(), 4), panels(4), lanes(Target::host(), 64)}) {
      const std::string code = assembly("x86_64-avx512vnni", f, s);
      EXPECT_TRUE(has(code, "vpdpbusd\t")) << code;
      EXPECT_FALSE(has(code, "vpmulld")) << code;
      for (const char* older : {"x86_64-avx2", "x86_64-avx512"}) {
        const std::string other = assembly(older, f, s);
        EXPECT_FALSE(has(other, "vpdpbusd")) << other;
        EXPECT_FALSE(has(other, "vpmaddubsw")) << other;  // saturates
        EXPECT_TRUE(has(other, "vpmaddwd")) << other;
      }
    }
  EXPECT_FALSE(assembly("aarch64-neon", kBytes[0], groups(Target::host(), 4)).empty());
  const Factors halves{Int(16), Int(16)};
  EXPECT_TRUE(has(assembly("x86_64-avx512vnni", halves, panels(2)), "vpdpwssd"));
  EXPECT_FALSE(has(assembly("x86_64-avx512", halves, panels(2)), "vpdpwssd"));
  EXPECT_TRUE(has(assembly("x86_64-avx512", halves, panels(2)), "vpmaddwd"));
  const Factors no{UInt(16), UInt(16)};
  EXPECT_FALSE(has(assembly("x86_64-avx512vnni", no, panels(2)), "vpdpwssd"));
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// Tiles of 3 x 2 vectors of sums in registers: a dot product for each, and one for each row that makes up for
// the offset of signed bytes, or of unsigned ones. That is taken off behind the loop.
TEST(DotProducts, MakeUpForOffsetsBehindTheLoop) {
  Dim M("M"), N("N"), K("K");
  for (const Factors& f : kBytes) {
    ImageParam A(f.a, {K, M}, "A"), B(f.b, {N, K}, "B");
    Var n("n"), m("m");
    RDom k(0, K, "k");
    Func acc("acc"), out("out");
    acc(n, m) += cast<std::int32_t>(A(k, m)) * cast<std::int32_t>(B(n, k));
    out(n, m) = acc(n, m);
    const Pipeline p("tiles", {A, B}, {Output(out, {N, M})});
    Schedule tiles;
    tiles.assume("M", Assumption::multiple(3))
        .assume("N", Assumption::multiple(32))
        .assume("K", Assumption::multiple(4));
    tiles["out"].tile("n", "m", "no", "mo", "nr", "mr", 32, 3).vectorize("nr", 16);
    tiles["acc"].compute_at("out", "no").store_in(Memory::Stack).vectorize("n", 16).unroll("n.o").unroll("m");
    Stage sums = tiles["acc"].update();
    sums.split("k", "ko", "ki", 4).split("n", "nv", "ni", 16).reorder("ki", "ni", "nv", "m", "ko");
    sums.vectorize("ki").vectorize("ni").unroll("nv").unroll("m");
    Stage packed = tiles.in("B", {"acc"});
    tiles[packed].compute_root().layout({"d1 % 4", "d0 % 16", "d1 / 4", "d0 / 16"});
    for (const Size& size : {Size{3, 32, 4}, Size{6, 96, 40}})
      expect_matches(p, tiles, Target::host(),
                     {extremes(f.a, {size.k, size.m}, 1), extremes(f.b, {size.n, size.k}, 2)},
                     {Buffer(Int(32), {size.n, size.m})});
    const std::string code = p.compile(tiles, Target::host("x86_64-avx512vnni")).show("asm");
    const bool offset = f.a.is_int() == f.b.is_int();
    EXPECT_EQ(count(code, "vpdpbusd\t"), offset ? 9 : 6) << code;
    EXPECT_EQ(count(code, "vpsubd\t"), offset ? 6 : 0) << code;
    const std::size_t first = code.find("vpdpbusd\t"), last = code.rfind("vpdpbusd\t");
    ASSERT_NE(first, std::string::npos);
    EXPECT_EQ(count(code.substr(first, last - first), "vpsubd\t"), 0) << code;
  }
}

#endif

}  // namespace
}  // namespace calotype
