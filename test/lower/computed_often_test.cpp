// How often each schedule computes the values of a Func: the statements run with sizes put in, counting
// stores.

#include "levels.h"

namespace calotype::test {
namespace {

using Counts = std::map<std::string, std::int64_t>;

/// Runs loops, names and conditions of statements that depend on sizes alone.
class Counter {
 public:
  explicit Counter(std::map<std::string, std::int64_t> sizes) : sizes_(std::move(sizes)) {}

  Counts run(const ir::Stmt& s) {
    walk(s, {});
    return counts_;
  }

 private:
  std::int64_t value(const Expr& e, const ir::Substitution& known) {
    Expr v = ir::substitute(e, known);
    ir::Substitution sizes;
    for (const ir::SymbolPtr& s : ir::free_symbols(v))
      if (auto size = sizes_.find(s->name); size != sizes_.end())
        sizes.emplace_back(s, ir::index(size->second));
    v = ir::simplify(ir::substitute(v, sizes));
    if (v->type == Bool()) return ir::is_one(v) ? 1 : 0;
    const auto number = ir::as_int(v);
    EXPECT_TRUE(number) << ir::to_string(v);
    return number.value_or(0);
  }

  void walk(const ir::Stmt& s, const ir::Substitution& known) {
    switch (s->kind) {
      case ir::StmtKind::Store:
        ++counts_[s->buffer()->name];
        return;
      case ir::StmtKind::If:
        if (value(s->exprs[0], known))
          walk(s->stmts[0], known);
        else if (s->stmts.size() > 1)
          walk(s->stmts[1], known);
        return;
      case ir::StmtKind::Let: {
        ir::Substitution more = known;
        if (s->exprs[0]->type == Int(64))
          more.emplace_back(s->symbol(), ir::index(value(s->exprs[0], known)));
        return walk(s->body(), more);
      }
      case ir::StmtKind::For: {
        const std::int64_t min = value(s->exprs[0], known), extent = value(s->exprs[1], known);
        for (std::int64_t i = min; i < min + extent; ++i) {
          ir::Substitution more = known;
          more.emplace_back(s->loop().var, ir::index(i));
          walk(s->body(), more);
        }
        return;
      }
      default:
        for (const ir::Stmt& child : s->stmts) walk(child, known);
    }
  }

  std::map<std::string, std::int64_t> sizes_;
  Counts counts_;
};

Counts stores(const Pipeline& p, const Schedule& s, const std::map<std::string, std::int64_t>& sizes) {
  Counts all;
  for (const lower::Unit& unit : emitted(p, s).units)
    for (const auto& [name, n] : Counter(sizes).run(unit.stmt)) all[name] += n;
  return all;
}

/// out(x, y) from three rows of f.
Pipeline rows() {
  Dim W("W"), H("H");
  ImageParam in(Int(32), {W, H + 2}, "in");
  Var x("x"), y("y");
  Func f("f"), out("out");
  f(x, y) = in(x, y) * 3;
  out(x, y) = f(x, y) + f(x, y + 1) + f(x, y + 2);
  return Pipeline("rows", {in}, {Output(out, {W, H})});
}
const std::map<std::string, std::int64_t> kSizes{{"W", 6}, {"H", 11}};

std::int64_t f_computed(const std::function<void(Schedule&)>& schedule) {
  Schedule s;
  s["out"].serial("y");
  schedule(s);
  const Counts counts = stores(rows(), s, kSizes);
  EXPECT_EQ(counts.at("out"), 66) << s.str();
  return counts.at("f");
}

TEST(ComputedOften, ByPlace) {
  EXPECT_EQ(f_computed([](Schedule& s) { s["f"].compute_root(); }), 6 * 13);
  EXPECT_EQ(f_computed([](Schedule& s) { s["f"].compute_at("out", "y"); }), 6 * 3 * 11);
  EXPECT_EQ(f_computed([](Schedule& s) { s["f"].compute_at("out", "x"); }), 6 * 3 * 11);
  EXPECT_EQ(f_computed([](Schedule& s) { s["f"].store_root().compute_at("out", "y"); }), 6 * 13);
  EXPECT_EQ(f_computed([](Schedule& s) { s["f"].store_root().compute_at("out", "x"); }), 6 * 13);
  // Down a column the window starts again with the next.
  EXPECT_EQ(f_computed([](Schedule& s) {
              s["out"].reorder("y", "x");
              s["f"].store_at("out", "x").compute_at("out", "y");
            }),
            6 * 13);
}

TEST(ComputedOften, OfARowThatWasSplit) {
  for (const Tail tail : {Tail::Guard, Tail::Predicate}) {
    // By itself the window moves along the inner loop and starts again with each tile: 4 + 4 + 3 rows.
    EXPECT_EQ(f_computed([&](Schedule& s) {
                s["out"].split("y", "yo", "yi", 4, tail);
                s["f"].store_root().compute_at("out", "yi");
              }),
              6 * (6 + 6 + 5));
    EXPECT_EQ(f_computed([&](Schedule& s) {
                s["out"].split("y", "yo", "yi", 4, tail);
                s["f"].store_root().compute_at("out", "yi").slide("out", "y");
              }),
              6 * 13);
    EXPECT_EQ(f_computed([&](Schedule& s) {
                s["out"].split("y", "yo", "yi", 4, tail);
                s["f"].store_root().compute_at("out", "yo").slide("out", "y");
              }),
              6 * 13);
    // However far ahead, each once.
    for (int depth : {1, 2, 5, 40})
      EXPECT_EQ(f_computed([&](Schedule& s) {
                  s["out"].split("y", "yo", "yi", 4, tail);
                  s["f"].store_root().compute_at("out", "yi").slide("out", "y", depth);
                }),
                6 * 13);
  }
}

TEST(ComputedOften, OfAChainOfWindows) {
  Dim W("W"), H("H");
  ImageParam in(Int(32), {W, H + 4}, "in");
  Var x("x"), y("y");
  Func f("f"), g("g"), out("out");
  f(x, y) = in(x, y) * 3;
  g(x, y) = f(x, y) + f(x, y + 1) + f(x, y + 2);
  out(x, y) = g(x, y) + g(x, y + 1) + g(x, y + 2);
  const Pipeline p("chain", {in}, {Output(out, {W, H})});
  for (int depth : {0, 2}) {
    Schedule s;
    s["out"].split("y", "yo", "yi", 4);
    s["g"].store_root().compute_at("out", "yi").slide("out", "y", depth);
    s["f"].store_root().compute_at("out", "yi").slide("out", "y");
    const Counts counts = stores(p, s, kSizes);
    EXPECT_EQ(counts.at("g"), 6 * 13);
    EXPECT_EQ(counts.at("f"), 6 * 15);
  }
}

TEST(ComputedOften, OfAFuncWithUpdates) {
  Dim N("N");
  ImageParam in(Int(32), {N + 2}, "in");
  Var x("x");
  RDom r(0, 5, "r");
  Func f("f"), out("out");
  f(x) = in(x);
  f(x) += cast<int>(r);
  out(x) = f(x) + f(x + 2);
  const Pipeline p("updates", {in}, {Output(out, {N})});
  Schedule kept, anew;
  for (Schedule* s : {&kept, &anew}) (*s)["out"].serial("x");
  kept["f"].compute_root();
  anew["f"].store_root().compute_at("out", "x");
  EXPECT_EQ(stores(p, kept, {{"N", 7}}).at("f"), 9 * 6);
  // What an update may change again is computed anew: three values each time.
  EXPECT_EQ(stores(p, anew, {{"N", 7}}).at("f"), 7 * 3 * 6);
}

TEST(ComputedOften, InLoopsThatAreShared) {
  Dim W("W"), H("H"), V("V"), U("U");
  ImageParam in(Int(32), {W + V, H + U + 1}, "in");
  Var x("x"), y("y");
  Func f("f"), a("a"), b("b");
  f(x, y) = in(x, y) * 3;
  a(x, y) = f(x, y) + f(x, y + 1);
  b(x, y) = f(x, y) * 2;
  const Pipeline p("two", {in}, {Output(a, {W, H}), Output(b, {V, U})});
  for (const auto& [w, h, v, u] : {std::array<std::int64_t, 4>{6, 5, 6, 5}, {6, 5, 3, 9}, {2, 9, 6, 5}}) {
    const std::map<std::string, std::int64_t> sizes{{"W", w}, {"H", h}, {"V", v}, {"U", u}};
    Schedule s;
    s["a"].serial("y");
    s["b"].serial("y").compute_with("a", "y");
    s["f"].compute_at("a", "y");
    const Counts counts = stores(p, s, sizes);
    EXPECT_EQ(counts.at("a"), w * h);
    EXPECT_EQ(counts.at("b"), v * u);
    std::int64_t needed = 0;
    for (std::int64_t row = 0; row < std::max(h, u); ++row)
      needed += row < h ? 2 * (row < u ? std::max(w, v) : w) : v;
    EXPECT_LE(counts.at("f"), std::max(w, v) * 2 * std::max(h, u));
    EXPECT_GE(counts.at("f"), needed);
  }
}

TEST(ComputedOften, InsideAGuard) {
  // The last tile needs what is left of it, and the input no more than that.
  Dim N("N");
  ImageParam in(Int(32), {N}, "in");
  Var x("x");
  Func f("f"), out("out");
  f(x) = in(x) * 3;
  out(x) = f(x) + 1;
  const Pipeline p("guarded", {in}, {Output(out, {N})});
  for (const Tail tail : {Tail::Guard, Tail::Predicate})
    for (const char* at : {"xo", "xi"}) {
      Schedule s;
      s["out"].split("x", "xo", "xi", 8, tail);
      s["f"].compute_at("out", at);
      EXPECT_EQ(stores(p, s, {{"N", 19}}).at("f"), 19) << at;
    }
}

}  // namespace
}  // namespace calotype::test
