// Directives that must be refused on a host: what each refusal says, and that it leaves nothing half changed.

#include "error/refusals.h"

namespace calotype::test {
namespace {

struct Row {
  const char* what;
  void (*edit)(Schedule&);
  Refusal refusal;
};

/// `check` and `compile` say the same; the schedule and the pipeline are as before.
void expect_rows(const std::vector<Row>& rows) {
  const Pipeline pipeline = sample();
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    Schedule schedule;
    row.edit(schedule);
    const Schedule before = schedule;
    expect_refused([&] { pipeline.compile(schedule, Target::host()); }, row.refusal);
    const std::vector<Diagnostic> all = schedule.check(pipeline, Target::host());
    ASSERT_EQ(all.size(), 1u) << (all.empty() ? "" : all.back().str());
    expect_refusal(all[0], row.refusal);
    EXPECT_TRUE(schedule == before);
  }
  expect_usable(pipeline);
}

constexpr ErrorKind kSchedule = ErrorKind::Schedule;

TEST(RefusedSchedules, Names) {
  expect_rows({
      {"stage",
       [](Schedule& s) {
         s["out"].vectorize("x", 8);
         s["rosw"].parallel("y");
       },
       {kSchedule,
        "there is no stage 'rosw'",
        "rosw",
        "#2 parallel(y)",
        "rosw",
        {"did you mean 'rows'?", "total.update(0)"}}},
      {"Func",
       [](Schedule& s) { s["totals"].compute_root(); },
       {kSchedule,
        "there is no Func 'totals'",
        "totals",
        "#1 compute_root()",
        "totals",
        {"did you mean 'total'?"}}},
      {"update",
       [](Schedule& s) { s["total"].update(1).serial("k"); },
       {kSchedule,
        "there is no stage 'total.update(1)'",
        "total",
        "#1 serial(k)",
        "total.update(1)",
        {"did you mean 'total.update(0)'"}}},
      {"loop",
       [](Schedule& s) { s["out"].split("y", "outer", "inner", 8).parallel("otuer"); },
       {kSchedule,
        "there is no loop 'otuer' in out",
        "out",
        "#2 parallel(otuer)",
        "otuer",
        {"did you mean 'outer'?", "x, inner, outer"}}},
      {"loop that a split has replaced",
       [](Schedule& s) { s["out"].split("y", "yo", "yi", 8).parallel("y"); },
       {kSchedule, "the loop 'y' is gone", "out", "#2 parallel(y)", "y", {"loops of out: x, yi, yo"}}},
      {"loop of a pure definition in an update that scatters",
       [](Schedule& s) { s["scan"].update().vectorize("x", 8); },
       {kSchedule, "has no loop 'x'", "scan", "#1 vectorize(x, 8)", "x", {"loops of scan.update(0)"}}},
      {"input",
       [](Schedule& s) { s["image"].split("x", 8); },
       {kSchedule, "'image' is an input", "image", "#1 split(x, x.o, x.i, 8)", "image", {"in(image)"}}},
      {"directive",
       [](Schedule& s) { s["out"].record("paralel", {{"loop", "y"}}); },
       {kSchedule,
        "there is no directive 'paralel'",
        "out",
        "#1 paralel(y)",
        "paralel",
        {"did you mean 'parallel'?"}}},
      {"argument",
       [](Schedule& s) { s["total"].update().record("unroll", {{"lop", "k"}}); },
       {kSchedule,
        "'unroll' has no argument 'lop'",
        "total",
        "#1 unroll(k)",
        "lop",
        {"did you mean 'loop'?"}}},
      {"coordinate of a bound",
       [](Schedule& s) { s["out"].bound("z", 0, 8); },
       {kSchedule,
        "'out' has no coordinate 'z'",
        "out",
        "#1 bound(z, 0, 8)",
        "z",
        {"coordinates of out: x, y"}}},
      {"knob",
       [](Schedule& s) {
         s.knob("ROWS", 8);
         s["out"].split("y", "yo", "yi", Knob{"ROW", 8});
       },
       {kSchedule,
        "there is no knob 'ROW'",
        "out",
        "#1 split(y, yo, yi, ROW)",
        "ROW",
        {"did you mean 'ROWS'?"}}},
  });
}

TEST(RefusedSchedules, Numbers) {
  expect_rows({
      {"factor 0",
       [](Schedule& s) { s["out"].split("y", "yo", "yi", 0); },
       {kSchedule, "'by' is out of range", "out", "#1 split(y, yo, yi, 0)", "0", {"1 to 2147483647"}}},
      {"factor -8",
       [](Schedule& s) { s["out"].vectorize("x", -8); },
       {kSchedule, "'by' is out of range", "out", "#1 vectorize(x, -8)", "-8", {"1 to 256"}}},
      {"factor by a knob",
       [](Schedule& s) { s["out"].split("y", "yo", "yi", s.knob("ROWS", 0)); },
       {kSchedule, "'by' is out of range", "out", "#1 split(y, yo, yi, ROWS)", "0", {"1 to 2147483647"}}},
      {"factors of a tile",
       [](Schedule& s) { s["out"].tile("x", "y", "xo", "yo", "xi", "yi", 8, -1); },
       {kSchedule,
        "'by' is out of range",
        "out",
        "#1 tile(x, y, xo, yo, xi, yi, 8, -1)",
        "-1",
        {"1 to 2147483647"}}},
      {"factors and loops of a tile",
       [](Schedule& s) { s["out"].tile({"x", "y"}, {"xo", "yo"}, {"xi", "yi"}, {8}); },
       {kSchedule,
        "2 loops make 4 new ones by 2 factors",
        "out",
        "#1 tile(x, y, xo, yo, xi, yi, 8)",
        "4 names, 1 factors",
        {"one factor a loop"}}},
      {"257 lanes",
       [](Schedule& s) { s["out"].vectorize("x", 257); },
       {kSchedule, "'by' is out of range", "out", "#1 vectorize(x, 257)", "257", {"1 to 256"}}},
      {"512 lanes by a split",
       [](Schedule& s) { s["out"].split("x", "xo", "xi", 512).vectorize("xi"); },
       {kSchedule, "'xi' has 512 iterations", "out", "#2 vectorize(xi)", "512", {"at most 256"}}},
      {"unrolled loop of any extent",
       [](Schedule& s) { s["out"].unroll("x"); },
       {kSchedule,
        "the extent of 'x' is not a constant",
        "out",
        "#1 unroll(x)",
        "x",
        {"unroll(x, FACTOR)", "bound"}}},
      {"bound of nothing",
       [](Schedule& s) { s["out"].bound("x", 0, 0); },
       {kSchedule, "'extent' is out of range", "out", "#1 bound(x, 0, 0)", "0", {"1 to"}}},
      {"bound twice",
       [](Schedule& s) { s["out"].bound("x", 0, 8).bound("x", 0, 16); },
       {kSchedule,
        "'x' is bounded already, by #1 bound(x, 0, 8)",
        "out",
        "#2 bound(x, 0, 16)",
        "x",
        {"one bound"}}},
  });
}

TEST(RefusedSchedules, Loops) {
  expect_rows({
      {"bound twice",
       [](Schedule& s) { s["out"].parallel("y").vectorize("y"); },
       {kSchedule,
        "'y' is bound already, by #1 parallel(y)",
        "out",
        "#2 vectorize(y)",
        "y",
        {"still serial"}}},
      {"split after binding",
       [](Schedule& s) { s["out"].parallel("y").split("y", "yo", "yi", 4); },
       {kSchedule, "'y' is bound already", "out", "#2 split(y, yo, yi, 4)", "y", {"still serial"}}},
      {"two vector loops",
       [](Schedule& s) { s["out"].vectorize("x", 8).vectorize("y", 4); },
       {kSchedule, "vectorised already, over 'x.v'", "out", "#2 vectorize(y, 4)", "y", {"one vector loop"}}},
      {"split into a name that is there",
       [](Schedule& s) { s["out"].split("y", "x", "yi", 4); },
       {kSchedule,
        "has or had a loop 'x' already",
        "out",
        "#1 split(y, x, yi, 4)",
        "x",
        {"a name that no loop of the stage has had"}}},
      {"split into its own name",
       [](Schedule& s) { s["out"].split("y", "y", "yi", 4); },
       {kSchedule,
        "has or had a loop 'y' already",
        "out",
        "#1 split(y, y, yi, 4)",
        "y",
        {"a name that no loop"}}},
      {"split into one name",
       [](Schedule& s) { s["out"].split("y", "a", "a", 4); },
       {kSchedule, "'a' is made twice", "out", "#1 split(y, a, a, 4)", "a", {"each name once"}}},
      {"reorder of a loop that is not there",
       [](Schedule& s) { s["out"].reorder("y", "z"); },
       {kSchedule, "there is no loop 'z'", "out", "#1 reorder(y, z)", "z", {"loops of out: x, y"}}},
      {"reorder with a loop twice",
       [](Schedule& s) { s["out"].reorder("y", "x", "y"); },
       {kSchedule, "'y' is used twice", "out", "#1 reorder(y, x, y)", "y", {"each name once"}}},
      {"reorder of updates whose order matters",
       [](Schedule& s) { s["scan"].update().reorder("r.y", "r.x"); },
       {kSchedule,
        "exchanging 'r.x' and 'r.y' changes the order of updates",
        "scan",
        "#1 reorder(r.y, r.x)",
        "r.y",
        {"keeps 'r.x' inside 'r.y'"}}},
      {"fuse of loops with one between, whose order matters",
       [](Schedule& s) { s["scan"].update().fuse("r.x", "r.z", "f"); },
       {kSchedule,
        "changes the order of updates",
        "scan",
        "#1 fuse(r.x, r.z, f)",
        "r.z",
        {"keeps 'r.y' inside 'r.z'"}}},
      {"fuse of a pure loop and a reduction",
       [](Schedule& s) { s["total"].update().fuse("k", "y", "f"); },
       {kSchedule,
        "a reduction loop cannot be fused with a pure one",
        "total",
        "#1 fuse(k, y, f)",
        "k",
        {"two pure loops"}}},
      {"race of lanes",
       [](Schedule& s) { s["total"].update().vectorize("k", 8); },
       {kSchedule,
        "vectorize over the reduction loop 'k' is a race",
        "total",
        "#1 vectorize(k, 8)",
        "k",
        {"rfactor"}}},
      {"race of threads",
       [](Schedule& s) { s["scan"].update().parallel("r.y"); },
       {kSchedule,
        "parallel over the reduction loop 'r.y' is a race",
        "scan",
        "#1 parallel(r.y)",
        "r.y",
        {"pure loops"}}},
      {"blocks on a host",
       [](Schedule& s) { s["out"].gpu_blocks("y"); },
       {kSchedule,
        "the target host has no GPU blocks and threads",
        "out",
        "#1 gpu_blocks(y)",
        "y",
        {"cuda", "parallel"}}},
      {"threads on a host",
       [](Schedule& s) { s["out"].gpu_threads("x", 32); },
       {kSchedule,
        "the target host has no GPU blocks and threads",
        "out",
        "#1 gpu_threads(x, 32)",
        "x",
        {"cuda"}}},
      {"shifting an update",
       [](Schedule& s) { s["total"].update().split("y", "yo", "yi", 4, Tail::ShiftInwards); },
       {kSchedule,
        "computes points twice",
        "total",
        "#1 split(y, yo, yi, 4, shift_inwards)",
        "shift_inwards",
        {"guard, predicate"}}},
      {"rounding up an output",
       [](Schedule& s) { s["out"].split("y", "yo", "yi", 4, Tail::RoundUp); },
       {kSchedule,
        "writes past the end",
        "out",
        "#1 split(y, yo, yi, 4, round_up)",
        "round_up",
        {"guard, predicate, shift_inwards"}}},
  });
}

TEST(RefusedSchedules, Places) {
  expect_rows({
      {"loop that does not enclose every consumer",
       [](Schedule& s) { s["rows"].compute_at("out", "y"); },
       {kSchedule,
        "the loop 'y' of out does not enclose every consumer of 'rows'",
        "rows",
        "#1 compute_at(out, y)",
        "y",
        {"compute_root", "in"}}},
      {"Func that does not consume",
       [](Schedule& s) { s["total"].compute_at("scan.pure", "y"); },
       {kSchedule,
        "'scan' does not consume 'total'",
        "total",
        "#1 compute_at(scan.pure, y)",
        "scan",
        {"its consumers: out"}}},
      {"consumer that is not there",
       [](Schedule& s) { s["total"].compute_at("oot", "y"); },
       {kSchedule,
        "there is no stage 'oot'",
        "total",
        "#1 compute_at(oot, y)",
        "oot",
        {"did you mean 'out'?"}}},
      {"loop of a consumer that is not there",
       [](Schedule& s) { s["total"].compute_at("out", "yo"); },
       {kSchedule, "there is no loop 'yo' in out", "total", "#1 compute_at(out, yo)", "yo", {"x, y"}}},
      {"loop of a consumer that is gone",
       [](Schedule& s) {
         s["total"].compute_at("out", "y");
         s["out"].split("y", "yo", "yi", 4);
       },
       {kSchedule, "the loop 'y' of out is gone", "total", "#1 compute_at(out, y)", "y", {"x, yi, yo"}}},
      {"loop that several stages have",
       [](Schedule& s) { s["rows"].compute_at("total", "y"); },
       {kSchedule,
        "found in several stages of total",
        "rows",
        "#1 compute_at(total, y)",
        "y",
        {"total.pure, total.update(0)"}}},
      {"output",
       [](Schedule& s) { s["out"].compute_at("total", "y"); },
       {kSchedule, "'out' is an output", "out", "#1 compute_at(total, y)", "out", {"compute_root"}}},
      {"two places",
       [](Schedule& s) { s["total"].compute_root().compute_at("out", "y"); },
       {kSchedule,
        "has its place already, by #1 compute_root()",
        "total",
        "#2 compute_at(out, y)",
        "total",
        {"one compute directive"}}},
      {"inside a vector",
       [](Schedule& s) {
         s["out"].vectorize("x", 8);
         s["total"].compute_at("out", "x.v");
       },
       {kSchedule,
        "inside the vector loop 'x.v'",
        "total",
        "#2 compute_at(out, x.v)",
        "x.v",
        {"outside 'x.v'"}}},
      {"inline with updates",
       [](Schedule& s) { s["total"].compute_inline(); },
       {kSchedule, "update", "total", "#1 compute_inline()", "total", {"compute_root"}}},
      {"inline output",
       [](Schedule& s) { s["out"].compute_inline(); },
       {kSchedule, "'out' is an output", "out", "#1 compute_inline()", "out", {"compute_root"}}},
      {"loops of an inlined Func",
       [](Schedule& s) { s["rows"].compute_inline().vectorize("x", 8); },
       {kSchedule,
        "'rows' is inlined by #1 compute_inline()",
        "rows",
        "#2 vectorize(x, 8)",
        "rows",
        {"compute_root or compute_at"}}},
      {"storage without a place",
       [](Schedule& s) { s["total"].store_at("out", "y"); },
       {kSchedule,
        "'total' is not computed at a loop",
        "total",
        "#1 store_at(out, y)",
        "total",
        {"compute_at"}}},
      {"storage inside",
       [](Schedule& s) { s["total"].compute_at("out", "y").store_at("out", "x"); },
       {kSchedule, "'x' of out is not around the loop", "total", "#2 store_at(out, x)", "x", {"y of out"}}},
      {"storage across threads",
       [](Schedule& s) {
         s["out"].parallel("y");
         s["total"].compute_at("out", "x").store_root();
       },
       {kSchedule,
        "the parallel loop 'y' stands between",
        "total",
        "#3 store_root()",
        "y",
        {"storage inside 'y'"}}},
      {"storage of an output",
       [](Schedule& s) { s["out"].store_in(Memory::Heap); },
       {kSchedule, "the caller's memory", "out", "#1 store_in(heap)", "heap", {"auto"}}},
      {"memory of a GPU",
       [](Schedule& s) { s["total"].store_in(Memory::Shared); },
       {kSchedule,
        "the target host has no shared memory",
        "total",
        "#1 store_in(shared)",
        "shared",
        {"auto, heap, stack"}}},
  });
}

TEST(RefusedSchedules, EditsOfTheGraph) {
  expect_rows({
      {"copy for a Func that does not read it",
       [](Schedule& s) { s.in("rows", {"out"}); },
       {kSchedule,
        "'out' does not consume 'rows'",
        "rows",
        "#1 in(rows, out, rows.in(out))",
        "out",
        {"consumers of rows: scan, total"}}},
      {"copy for a Func that is not there",
       [](Schedule& s) { s.in("rows", {"totl"}); },
       {kSchedule,
        "'totl' does not consume 'rows'",
        "rows",
        "#1 in(rows, totl, rows.in(totl))",
        "totl",
        {"did you mean 'total'?"}}},
      {"copy of what is not there",
       [](Schedule& s) { s.in("imagg"); },
       {kSchedule,
        "there is no Func or input 'imagg'",
        "imagg",
        "#1 in(imagg, imagg.in)",
        "imagg",
        {"did you mean 'image'?"}}},
      {"copy of what nothing reads",
       [](Schedule& s) { s.in("out"); },
       {kSchedule, "nothing consumes 'out'", "out", "#1 in(out, out.in)", "out", {"a Func that is read"}}},
      {"copy twice",
       [](Schedule& s) {
         s.in("rows", {"total"});
         s.in("rows", {"total"});
       },
       {kSchedule,
        "there is a copy 'rows.in(total)' already",
        "rows",
        "#2 in(rows, total, rows.in(total))",
        "rows.in(total)",
        {"other consumers"}}},
      {"partial results of an update whose order matters",
       [](Schedule& s) { s["scan"].update().rfactor({{"r.x", "u"}}, "partial"); },
       {kSchedule,
        "scan.update(0) is no associative update",
        "scan",
        "#1 rfactor(r.x, u, partial)",
        "scan.update(0)",
        {"one of +, *, min, max"}}},
      {"partial results over a pure loop",
       [](Schedule& s) { s["total"].update().rfactor({{"y", "u"}}, "partial"); },
       {kSchedule,
        "'y' is no reduction loop",
        "total",
        "#1 rfactor(y, u, partial)",
        "y",
        {"the reduction loops"}}},
      {"partial results under a name that is taken",
       [](Schedule& s) { s["total"].update().rfactor({{"k", "u"}}, "rows"); },
       {kSchedule,
        "there is a Func or input 'rows' already",
        "total",
        "#1 rfactor(k, u, rows)",
        "rows",
        {"a new name"}}},
      {"partial results in a coordinate that is taken",
       [](Schedule& s) { s["total"].update().rfactor({{"k", "y"}}, "partial"); },
       {kSchedule,
        "'total' has a coordinate 'y' already",
        "total",
        "#1 rfactor(k, y, partial)",
        "y",
        {"another name"}}},
  });
}

// Inside a consumer's loop only bounds inference knows extents.
TEST(RefusedSchedules, Regions) {
  const std::vector<Row> rows = {
      {"vector of any extent",
       [](Schedule& s) {
         s["total"].compute_at("out", "y");
         s.in("rows", {"total"}).compute_at("total.update(0)", "y").vectorize("x");
       },
       {kSchedule,
        "loop 'x' cannot be a vector: its extent has no constant bound",
        "rows.in(total)",
        "#4 vectorize(x)",
        "W",
        {"vectorize by a factor"}}},
      {"unrolled loop of any extent",
       [](Schedule& s) {
         s["total"].compute_at("out", "y");
         s.in("rows", {"total"}).compute_at("total.update(0)", "y").unroll("x");
       },
       {kSchedule,
        "loop 'x' cannot be unrolled: its extent has no constant bound",
        "rows.in(total)",
        "#4 unroll(x)",
        "W",
        {"unroll by a factor"}}},
      {"stack of no constant size",
       [](Schedule& s) { s["scan"].store_in(Memory::Stack); },
       {kSchedule, "needs a constant size, and dimension 0", "scan", "#1 store_in(stack)", "W", {"tile"}}},
      {"bound that is too small for what is read",
       [](Schedule& s) {
         s["out"].split("y", "yo", "yi", 8);
         s["total"].compute_at("out", "yo").bound("y", 0, 4);
       },
       {kSchedule,
        "'total' is bounded to 0 to 3 in 'y'",
        "total",
        "#3 bound(y, 0, 4)",
        "4 from 0",
        {"what is needed"}}},
  };
  const Pipeline pipeline = sample();
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    Schedule schedule;
    row.edit(schedule);
    expect_refused([&] { pipeline.compile(schedule, Target::host()); }, row.refusal);
  }
  expect_usable(pipeline);
}

TEST(RefusedSchedules, SeveralAtOnceAreAllReported) {
  Schedule s;
  s["out"].parallel("z").vectorize("x", 0);
  s["totl"].compute_root();
  const std::vector<Diagnostic> all = s.check(sample());
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].directive, "#1 parallel(z)");
  EXPECT_EQ(all[1].directive, "#2 vectorize(x, 0)");
  EXPECT_EQ(all[2].directive, "#3 compute_root()");
}

TEST(RefusedSchedules, KnobsThatAreNotThere) {
  Schedule s;
  s.knob("ROWS", 8);
  expect_refused(
      [&] { s.set("ROW", 4); },
      {ErrorKind::Usage, "the schedule has no knob 'ROW'", "", "", "ROW", {"did you mean 'ROWS'?"}});
  expect_refused([&] { s.knob("ROWS", 4); },
                 {ErrorKind::Usage, "the schedule has a knob 'ROWS' already", "", "", "ROWS", {"set()"}});
  EXPECT_EQ(s.knobs().size(), 1u);
  EXPECT_EQ(s.knobs()[0].value, 8);
}

}  // namespace
}  // namespace calotype::test
