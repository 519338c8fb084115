// Statements: building, rewriting and pseudo-code.

#include "ir/stmt.h"

#include <gtest/gtest.h>

namespace calotype::ir {
namespace {

/// A loop nest with one of each kind of statement.
struct Nest {
  SymbolPtr n = make_symbol(SymbolKind::Dim, "n");
  SymbolPtr outer = make_symbol(SymbolKind::Loop, "x.o");
  SymbolPtr inner = make_symbol(SymbolKind::Loop, "x.i");
  SymbolPtr t = make_symbol(SymbolKind::Let, "t");
  BufferPtr in = make_buffer({.name = "in", .type = Float(32), .space = MemorySpace::Argument});
  BufferPtr out = make_buffer({.name = "out", .type = Float(32), .space = MemorySpace::Argument});
  BufferPtr tile = make_buffer(
      {.name = "tile", .type = Float(32), .space = MemorySpace::Shared, .extents = {index(8), index(4)}});
  Stmt program;

  Nest() {
    const Expr x = make_var(t);
    const Stmt produce = note({"produce tile, computed at x.o"},
                              store(tile, make(Op::Load, Float(32), {x}, in), {make_var(inner), index(0)}));
    const Stmt consume =
        store(out, make(Op::Load, Float(32), {make_var(inner), index(0)}, tile) * 2, {x}, x < make_var(n));
    const Stmt ragged = if_then(x < make_var(n) - 8, consume, check(x >= 0, "{} is below 0", {x}));
    const Stmt body = let_stmt(t, make_var(outer) * 8 + make_var(inner),
                               block({produce, barrier("tile written, read"), ragged}));
    const Stmt threads = for_loop({.var = inner, .binding = Binding::GpuThread}, index(0), index(8), body);
    program = for_loop(
        {.var = outer, .binding = Binding::GpuBlock, .axis = 1, .origin = "out: split(x, x.o, x.i, 8)"},
        index(2), make_var(n) / 8, allocate(tile, threads));
  }
};

TEST(StmtText, EveryKind) {
  EXPECT_EQ(to_string(Nest().program),
            "for x.o in [2, 2 + n/8) gpu_block.y:  // out: split(x, x.o, x.i, 8)\n"
            "  allocate tile: f32[8, 4] in shared\n"
            "  for x.i in [0, 8) gpu_thread.x:\n"
            "    let t = x.o*8 + x.i\n"
            "    // produce tile, computed at x.o\n"
            "    tile[x.i, 0] = in[t]\n"
            "    barrier  // tile written, read\n"
            "    if t < n - 8:\n"
            "      out[t] = tile[x.i, 0]*2.0 if t < n\n"
            "    else:\n"
            "      check 0 <= t, \"{t} is below 0\"\n");
}

TEST(StmtText, LoopsAndEmptyBodies) {
  const SymbolPtr x = make_symbol(SymbolKind::Loop, "x");
  const auto loop = [&](Binding binding, Expr min, Expr extent) {
    return to_string(for_loop({.var = x, .binding = binding}, std::move(min), std::move(extent), block({})));
  };
  EXPECT_EQ(loop(Binding::Serial, index(0), make_var(x)), "for x in [0, x):\n  pass\n");
  EXPECT_EQ(loop(Binding::Parallel, index(3), index(4)), "for x in [3, 7) parallel:\n  pass\n");
  EXPECT_EQ(loop(Binding::Vector, index(0), index(8)), "for x in [0, 8) vector:\n  pass\n");
  EXPECT_EQ(loop(Binding::Unrolled, index(0), index(8)), "for x in [0, 8) unrolled:\n  pass\n");
  EXPECT_EQ(to_string(Stmt()), "");
}

TEST(Stmt, StoreAlwaysHasAPredicate) {
  const Nest nest;
  const Stmt scalar = store(nest.out, make_float(Float(32), 1), {index(0)});
  EXPECT_TRUE(is_one(scalar->exprs[1]));
  EXPECT_EQ(scalar->exprs[1].type(), Bool());
  EXPECT_EQ(store(nest.out, make_float(Float(32, 8), 1), {index(0)})->exprs[1].type(), Bool(8));
}

TEST(Stmt, BlocksAreFlat) {
  const Nest nest;
  const Stmt a = barrier("a"), b = barrier("b"), c = barrier("c");
  const Stmt flat = block({block({a, block({})}), nullptr, block({b, block({c})})});
  EXPECT_EQ(flat->stmts, (std::vector<Stmt>{a, b, c}));
  EXPECT_EQ(block({block({a})}), a);
  EXPECT_TRUE(block({})->stmts.empty());
}

TEST(Stmt, UnchangedTreesAreTheSameObject) {
  const Nest nest;
  EXPECT_EQ(rewrite(nest.program, [](const Stmt& s) { return s; }), nest.program);
  EXPECT_EQ(rewrite_exprs(nest.program, [](const Expr& e) { return e; }), nest.program);
  EXPECT_EQ(substitute(nest.program, {{make_symbol(SymbolKind::Dim, "n"), index(1)}}), nest.program);
}

TEST(Stmt, SubstituteReachesEveryExpression) {
  const Nest nest;
  const Stmt fixed = substitute(nest.program, {{nest.n, index(80)}});
  int roots = 0;
  visit_exprs(fixed, [&](const Expr& e) {
    ++roots;
    EXPECT_FALSE(uses(e, nest.n));
  });
  EXPECT_EQ(roots,
            2 + 2 + 1 + 4 + 1 + 3 + 2);  // loops, let, store of two coordinates, if, store of one, check
}

TEST(Stmt, VisitIsPreorder) {
  std::vector<StmtKind> kinds;
  visit(Nest().program, [&](const Stmt& s) { kinds.push_back(s->kind); });
  EXPECT_EQ(kinds, (std::vector<StmtKind>{StmtKind::For, StmtKind::Allocate, StmtKind::For, StmtKind::Let,
                                          StmtKind::Block, StmtKind::Note, StmtKind::Store, StmtKind::Barrier,
                                          StmtKind::If, StmtKind::Store, StmtKind::Check}));
}

TEST(Stmt, ARemovedStatementLeavesNoHole) {
  const Nest nest;
  const auto without = [&](StmtKind kind) {
    return to_string(rewrite(nest.program, [&](const Stmt& s) { return s->kind == kind ? nullptr : s; }));
  };
  EXPECT_EQ(without(StmtKind::Barrier).find("barrier"), std::string::npos);
  EXPECT_EQ(without(StmtKind::Check).find("else"), std::string::npos);
  EXPECT_NE(without(StmtKind::Store).find("if t < n - 8:\n      pass"), std::string::npos);
}

TEST(Stmt, RewriteGoesBottomUp) {
  const Nest nest;
  const Stmt plain =
      rewrite(nest.program, [](const Stmt& s) { return s->kind == StmtKind::Note ? s->body() : s; });
  EXPECT_EQ(to_string(plain).find("produce"), std::string::npos);
  EXPECT_NE(to_string(plain).find("tile[x.i, 0] = in[t]"), std::string::npos);
}

TEST(Stmt, BoxesSayWhereTheyGo) {
  const auto buffer = [](const char* name, MemorySpace space) {
    return make_buffer({.name = name, .type = Float(32), .space = space});
  };
  const BufferPtr tile = buffer("tile", MemorySpace::Shared), in = buffer("in", MemorySpace::Argument);
  const auto ring = std::make_shared<const Ring>(Ring{.name = "full", .slots = 2, .arrivals = 1});
  const auto map =
      std::make_shared<const TensorMap>(TensorMap{.name = "in.boxes", .source = in, .box = {32, 8}});
  const Expr x = make_var(make_symbol(SymbolKind::Loop, "x"));
  BoxCopy box{.index = index(64), .slot = index(1), .start = {x, index(3)}};
  const Stmt alone = box_store({.buffer = tile, .ring = ring, .map = map}, box);
  EXPECT_EQ(to_string(alone), "tile[64] box = in at (x, 3), 32 x 8 elements, to full[1]\n");
  EXPECT_FALSE(alone->receivers().defined());
  box.receivers = index(3);
  const Stmt spread = box_store({.buffer = tile, .ring = ring, .map = map}, box);
  EXPECT_EQ(to_string(spread),
            "tile[64] box = in at (x, 3), 32 x 8 elements, to full[1] of blocks with bits 3\n");
  EXPECT_TRUE(is_const(spread->receivers()));
  EXPECT_EQ(to_string(box_store({.buffer = tile, .map = map, .out = true},
                                {.index = index(64), .start = {x, index(3)}})),
            "in at (x, 3), 32 x 8 elements, box = tile[64]\n");
  EXPECT_EQ(to_string(synchronise({.kind = SyncInfo::Kind::Arrive, .ring = ring}, index(1), x)),
            "arrive at full of block x\n");
  EXPECT_EQ(to_string(synchronise({.kind = SyncInfo::Kind::BoxesWritten, .pending = 1})),
            "wait until boxes but the latest 1 are written\n");
}

}  // namespace
}  // namespace calotype::ir
