// What each pass promises of the statements it leaves.

#include <functional>
#include <map>

#include "lower/levels.h"

namespace calotype::test {
namespace {

using lower::Unit;

/// Schedules of `chain` that use every kind of loop of a host.
std::vector<Schedule> host_schedules() {
  std::vector<Schedule> all(5);
  all[1]["up"].compute_inline();
  all[1]["out"].tile("x", "y", "xo", "yo", "xi", "yi", 16, 4).vectorize("xi").unroll("yi").parallel("yo");
  all[2]["out"].split("y", "yo", "yi", 4, Tail::Guard).unroll("yi").vectorize("x", 8);
  all[2]["up"].compute_at("out", "yo").vectorize("x", 8).unroll("y");
  all[3]["out"].serial("y").vectorize("x", 8);
  all[3]["up"].store_root().compute_at("out", "y").vectorize("x", 4);
  all[4]["up"].compute_root().split("x", "xo", "xi", 8, Tail::RoundUp).vectorize("xi").unroll("y", 3);
  all[4]["out"].split("x", "xo", "xi", 8, Tail::ShiftInwards).vectorize("xi").serial("y");
  return all;
}

/// Schedules of `chain` on a GPU.
std::vector<Schedule> gpu_schedules() {
  std::vector<Schedule> all(3);
  all[1]["out"].tile("x", "y", "xo", "yo", "xi", "yi", 32, 4).gpu_blocks("xo", "yo").gpu_threads("xi", "yi");
  all[1]["up"].compute_at("out", "xo").store_in(Memory::Shared);
  all[2]["out"].tile("x", "y", "xo", "yo", "xi", "yi", 128, 4).gpu_blocks("xo", "yo");
  all[2]["out"].vectorize("xi", 4).gpu_threads("xi.o", "yi");
  all[2]["up"].compute_at("out", "xi.o").vectorize("x").unroll("y");
  return all;
}

void each_statement(const std::function<void(const Emitted&, const Unit&)>& f) {
  for (const Schedule& s : host_schedules()) {
    SCOPED_TRACE(s.str());
    const Emitted e = emitted(chain(), s);
    for (const Unit& unit : e.units) f(e, unit);
  }
  for (const Schedule& s : gpu_schedules()) {
    SCOPED_TRACE(s.str());
    const Emitted e = emitted(chain(), s, gpu);
    for (const Unit& unit : e.units) f(e, unit);
  }
}

void each_function(const std::function<void(const lower::Function&)>& f) {
  for (const Schedule& s : host_schedules())
    for (const lower::Function& function : lowered(chain(), s, Target::host()).functions) f(function);
  for (const Schedule& s : gpu_schedules())
    for (const lower::Function& function : lowered(chain(), s, gpu, 32).functions) f(function);
}

TEST(Vectorize, LeavesNoVectorLoop) {
  int vectors = 0;
  each_statement([&](const Emitted& e, const Unit& unit) {
    vectors += count_loops(unit.stmt, ir::Binding::Vector);
    const ir::Stmt wide = lower::vectorize_loops(unit.stmt, lower::with_loops(e.tree.facts, unit.stmt));
    EXPECT_EQ(count_loops(wide, ir::Binding::Vector), 0) << ir::to_string(wide);
    EXPECT_EQ(count_loops(wide, ir::Binding::Unrolled), count_loops(unit.stmt, ir::Binding::Unrolled));
  });
  EXPECT_GT(vectors, 5) << "the schedules have vectors";
}

TEST(Unroll, LeavesNoUnrolledLoop) {
  int unrolled = 0;
  each_statement([&](const Emitted& e, const Unit& unit) {
    unrolled += count_loops(unit.stmt, ir::Binding::Unrolled);
    const ir::Stmt flat = lower::unroll_loops(unit.stmt, lower::with_loops(e.tree.facts, unit.stmt));
    EXPECT_EQ(count_loops(flat, ir::Binding::Unrolled), 0) << ir::to_string(flat);
  });
  EXPECT_GT(unrolled, 3) << "the schedules have unrolled loops";
}

/// Every name and loop variable that a statement binds, but for the extents of storage, which are the
/// storage's.
std::vector<ir::SymbolPtr> bound_names(const ir::Stmt& s) {
  std::vector<ir::SymbolPtr> names;
  ir::visit(s, [&](const ir::Stmt& node) {
    if (node->kind == ir::StmtKind::Let && !lower::names_storage(node)) names.push_back(node->symbol());
    if (node->kind == ir::StmtKind::For) names.push_back(node->loop().var);
  });
  return names;
}

// What is known of a name (its range, its value) is known of one place: copies of a body have names of their
// own.
TEST(Lowering, BindsEveryNameOnce) {
  each_function([](const lower::Function& f) {
    std::map<std::uint64_t, int> times;
    for (const ir::SymbolPtr& name : bound_names(f.body))
      EXPECT_EQ(++times[name->unique], 1) << name->name << "\n" << ir::to_string(f.body);
  });
}

TEST(Lowering, LeavesOnlySerialAndParallelLoops) {
  each_function([](const lower::Function& f) {
    for (const auto binding :
         {ir::Binding::Vector, ir::Binding::Unrolled, ir::Binding::GpuBlock, ir::Binding::GpuThread})
      EXPECT_EQ(count_loops(f.body, binding), 0) << ir::to_string(f.body);
  });
}

TEST(Simplify, IsDoneAfterOneRun) {
  each_statement([](const Emitted& e, const Unit& unit) {
    EXPECT_EQ(ir::to_string(lower::simplify_stmt(unit.stmt, e.tree.facts)), ir::to_string(unit.stmt));
  });
}

// ---- By hand

struct Hand {
  ir::SymbolPtr W = ir::make_symbol(ir::SymbolKind::Dim, "W"), x = ir::make_symbol(ir::SymbolKind::Loop, "x"),
                s = ir::make_symbol(ir::SymbolKind::Let, "s");
  ir::BufferPtr in = ir::make_buffer({.name = "in", .type = Int(32), .space = ir::MemorySpace::Argument}),
                out = ir::make_buffer({.name = "out", .type = Int(32), .space = ir::MemorySpace::Argument});
  ir::Facts facts;

  Hand() { facts.set_range(W, ir::index(0), {}); }
  Expr var(const ir::SymbolPtr& symbol) const { return ir::make_var(symbol); }
  Expr load(const Expr& at) const { return ir::make(ir::Op::Load, Int(32), {at}, in); }
  ir::Stmt loop(const Expr& extent, const ir::Stmt& body) const {
    return ir::for_loop({.var = x}, ir::index(0), extent, body);
  }
  std::string simplified(const ir::Stmt& stmt) const {
    return ir::to_string(lower::simplify_stmt(stmt, facts));
  }
};

TEST(Simplify, PutsNamesOfPlainSumsInPlace) {
  const Hand h;
  const auto named = [&](const Expr& value) {
    return h.simplified(
        h.loop(h.var(h.W), ir::let_stmt(h.s, value, ir::store(h.out, h.load(h.var(h.s) + 1), {h.var(h.x)}))));
  };
  EXPECT_EQ(named(h.var(h.x) * 4 + h.var(h.W) - 2), "for x in [0, W):\n  out[x] = in[W + x*4 - 1]\n");
  EXPECT_EQ(named(min(h.var(h.x) * 4, h.var(h.W))),
            "for x in [0, W):\n  let s = min(W, x*4)\n  out[x] = in[s + 1]\n");
  EXPECT_EQ(named(h.var(h.x) * h.var(h.W)), "for x in [0, W):\n  let s = W*x\n  out[x] = in[s + 1]\n");
}

TEST(Simplify, DecidesWhatLoopsSay) {
  const Hand h;
  const ir::Stmt store = ir::store(h.out, ir::make_int(Int(32), 1), {h.var(h.x)});
  EXPECT_EQ(h.simplified(h.loop(h.var(h.W), ir::if_then(h.var(h.x) < h.var(h.W), store))),
            "for x in [0, W):\n  out[x] = 1\n");
  EXPECT_EQ(h.simplified(h.loop(h.var(h.W), ir::if_then(h.var(h.x) < ir::index(0), store))), "");
  EXPECT_EQ(h.simplified(h.loop(ir::index(1), store)), "out[0] = 1\n");
  EXPECT_EQ(h.simplified(h.loop(ir::index(0), store)), "");
}

TEST(ShareValues, NamesWhatOneStatementRepeats) {
  const Hand h;
  const Expr square = h.load(h.var(h.x)) * h.load(h.var(h.x)), index = h.var(h.x);
  EXPECT_EQ(ir::to_string(lower::share_values(ir::store(h.out, square * square + 1, {index}))),
            "let v0 = in[x]\nlet v1 = v0*v0\nout[x] = v1*v1 + 1\n");
  const ir::Stmt once = ir::store(h.out, h.load(index) + 1, {index});
  EXPECT_EQ(lower::share_values(once), once) << "nothing to name";
  // Two statements: memory may change between them.
  const ir::Stmt two = ir::block({once, ir::store(h.in, h.load(index) + 2, {index})});
  EXPECT_EQ(ir::to_string(lower::share_values(two)), ir::to_string(two));
}

TEST(ShareValues, LeavesNothingThatLoadsTwice) {
  each_statement([](const Emitted& e, const Unit& unit) {
    ir::Stmt s = lower::vectorize_loops(unit.stmt, lower::with_loops(e.tree.facts, unit.stmt));
    s = lower::share_values(s);
    ir::visit(s, [&](const ir::Stmt& node) {
      if (node->kind != ir::StmtKind::Store) return;
      std::vector<Expr> loads;
      const std::function<void(const Expr&)> look = [&](const Expr& n) {
        for (const Expr& a : n->args) look(a);
        if (!ir::is(n, ir::Op::Load) && !ir::is(n, ir::Op::LoadIf)) return;
        for (const Expr& other : loads) EXPECT_FALSE(ir::equal(n, other)) << ir::to_string(node);
        loads.push_back(n);
      };
      for (const Expr& root : node->exprs) look(root);
    });
  });
}

/// The type of every loop variable, index and bound of a kernel.
void expect_index_width(const lower::Function& f, int bits) {
  const auto expect = [&](const Expr& e, const char* what) {
    EXPECT_EQ(e->type.bits, bits) << what << " " << ir::to_string(e) << "\n" << ir::to_string(f.body);
  };
  const auto expect_loads = [&](const Expr& root) {
    ir::visit(root, [&](const Expr& e) {
      if (ir::is(e, ir::Op::Load)) expect(e->args[0], "index");
      if (ir::is(e, ir::Op::LoadIf)) expect(e->args[1], "index");
    });
  };
  ir::visit_exprs(f.body, expect_loads);
  ir::visit(f.body, [&](const ir::Stmt& s) {
    if (s->kind == ir::StmtKind::For)
      for (const Expr& e : s->exprs) expect(e, "bound");
    if (s->kind == ir::StmtKind::Store) expect(s->exprs[2], "index");
  });
}

TEST(NarrowIndices, LeavesIndexArithmeticOf32Bits) {
  for (const Schedule& s : gpu_schedules()) {
    for (const lower::Function& f : lowered(chain(), s, gpu, 32).functions) expect_index_width(f, 32);
    for (const lower::Function& f : lowered(chain(), s, gpu, 64).functions) expect_index_width(f, 64);
  }
}

// A coordinate that is a value of the algorithm has the algorithm's 64 bits.
TEST(NarrowIndices, LeavesValuesAsTheyAre) {
  Dim W("W");
  Var x("x");
  Func out("out");
  out(x) = Expr(x) * Expr(x);
  const Pipeline squares("squares", {}, {Output(out, {W})});
  int stores = 0;
  ir::visit(lowered(squares, {}, gpu, 32).functions.at(0).body, [&](const ir::Stmt& s) {
    if (s->kind != ir::StmtKind::Store) return;
    ++stores;
    EXPECT_EQ(s->exprs[0]->type.bits, 64) << ir::to_string(s);
    EXPECT_EQ(s->exprs[2]->type.bits, 32) << ir::to_string(s);
  });
  EXPECT_GT(stores, 0);
}

// ---- Barriers

/// in -> a -> b -> out in one block, each at the same point of a neighbour.
Pipeline stages_of_a_block() {
  Dim N("N");
  ImageParam in(Float(32), {N + 2}, "in");
  Var x("x");
  Func a("a"), b("b"), out("out");
  a(x) = in(x) * 2.0f;
  b(x) = a(x) + a(x + 1);
  out(x) = b(x) * b(x + 1);
  return Pipeline("stages", {in}, {Output(out, {N})});
}

std::vector<std::string> barriers(const Pipeline& pipeline, const Schedule& schedule) {
  std::vector<std::string> reasons;
  lower::visit(emitted(pipeline, schedule, gpu).tree.root,
               [&](const lower::Node& node, const std::vector<const lower::Node*>&) {
                 if (node.kind == lower::NodeKind::Sync) reasons.push_back(node.sync.reason);
               });
  return reasons;
}

Schedule in_blocks() {
  Schedule s;
  s["out"].split("x", "block", "thread", 64).gpu_blocks("block").gpu_threads("thread");
  return s;
}

using Names = std::vector<std::string>;

TEST(Barriers, StandBetweenSharedWritesAndReads) {
  Schedule s = in_blocks();
  s["a"].compute_at("out", "block").store_in(Memory::Shared).gpu_threads("x", 64);
  s["b"].compute_at("out", "block").store_in(Memory::Shared).gpu_threads("x", 64);
  EXPECT_EQ(barriers(stages_of_a_block(), s),
            (Names{"a is complete before it is read", "b is complete before it is read"}));
}

TEST(Barriers, AreNotNeededBetweenStagesThatShareNothing) {
  Schedule threads = in_blocks();
  threads["a"].compute_at("out", "thread");
  threads["b"].compute_at("out", "thread");
  EXPECT_EQ(barriers(stages_of_a_block(), threads), Names{});
  Schedule one = in_blocks();
  one["a"].compute_inline();
  one["b"].compute_at("out", "block").store_in(Memory::Shared);
  EXPECT_EQ(barriers(stages_of_a_block(), one), Names{"b is complete before it is read"});
}

// Two stages written, then both read: one barrier serves both.
TEST(Barriers, ServeSeveralStages) {
  Dim N("N");
  ImageParam in(Float(32), {N + 1}, "in");
  Var x("x");
  Func a("a"), b("b"), out("out");
  a(x) = in(x) * 2.0f;
  b(x) = in(x) * 3.0f;
  out(x) = a(x + 1) + b(x);
  Schedule s = in_blocks();
  for (const char* name : {"a", "b"})
    s[name].compute_at("out", "block").store_in(Memory::Shared).gpu_threads("x", 64);
  EXPECT_EQ(barriers(Pipeline("two", {in}, {Output(out, {N})}), s), Names{"a is complete before it is read"});
}

// A tile that every iteration of a serial loop writes again: one barrier before it is read, one before the
// next writes.
TEST(Barriers, StandAtTheBackEdgeOfALoop) {
  Schedule s;
  s["out"]
      .split("x", "block", "rest", 256)
      .split("rest", "step", "thread", 64)
      .gpu_blocks("block")
      .gpu_threads("thread");
  s["a"].compute_inline();
  s["b"].compute_at("out", "step").store_in(Memory::Shared).gpu_threads("x", 64);
  EXPECT_EQ(barriers(stages_of_a_block(), s),
            (Names{"b has been read before it is written again", "b is complete before it is read"}));
}

TEST(Barriers, AreNoMatterOfAHost) {
  const Emitted e = emitted(chain(), host_schedules()[2]);
  lower::visit(e.tree.root, [](const lower::Node& node, const std::vector<const lower::Node*>&) {
    EXPECT_NE(node.kind, lower::NodeKind::Sync);
  });
}

}  // namespace
}  // namespace calotype::test
