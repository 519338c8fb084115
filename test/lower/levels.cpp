// Small pipelines and their text at the levels of lowering.

#include "lower/levels.h"

#include "schedule/scheduled.h"

namespace calotype::test {

Pipeline chain() {
  Dim W("W"), H("H");
  ImageParam in(Float(32), {W, H + 2}, "in");
  Var x("x"), y("y");
  Func up("up"), out("out");
  up(x, y) = in(x, y) * 2.0f;
  out(x, y) = up(x, y) + up(x, y + 1) + up(x, y + 2);
  return Pipeline("chain", {in}, {Output(out, {W, H})});
}

Pipeline edges() {
  Dim W("W");
  ImageParam in(Float(32), {W}, "in");
  Var x("x");
  Func edged = boundary::repeat_edge(in, "edged");
  Func out("out");
  out(x) = edged(x - 1) + edged(x) + edged(x + 1);
  return Pipeline("edges", {in}, {Output(out, {W})});
}

Pipeline row_sums() {
  Dim W("W"), H("H");
  ImageParam in(Int(32), {W, H}, "in");
  Var y("y");
  RDom k(0, W, "k");
  Func total("total");
  total(y) += in(k, y);
  return Pipeline("row_sums", {in}, {Output(total, {H})});
}

namespace {

lower::Options options(const Target& target, int index_bits) {
  return {.target = target, .index_bits = index_bits};
}

}  // namespace

std::string level(const Pipeline& pipeline, const Schedule& schedule, const std::string& name,
                  const Target& target) {
  lower::Trace trace{.keep_text = true};
  lower::lower(schedule::apply_or_throw(pipeline.graph(), schedule, target), options(target, 64), &trace);
  for (const auto& [level, text] : trace.levels)
    if (level == name) return "\n" + text;
  return "no level " + name;
}

std::string body(const Pipeline& pipeline, const Schedule& schedule, const Target& target) {
  return "\n" + ir::to_string(lowered(pipeline, schedule, target).functions.at(0).body);
}

lower::Program lowered(const Pipeline& pipeline, const Schedule& schedule, const Target& target,
                       int index_bits) {
  return lower::lower(schedule::apply_or_throw(pipeline.graph(), schedule, target),
                      options(target, index_bits));
}

Emitted emitted(const Pipeline& pipeline, const Schedule& schedule, const Target& target) {
  schedule::Scheduled scheduled = schedule::apply_or_throw(pipeline.graph(), schedule, target);
  lower::inline_funcs(scheduled);
  Emitted e{lower::place(std::move(scheduled), options(target, 64)), {}};
  lower::infer_bounds(e.tree);
  lower::resolve_tiles(e.tree);
  lower::schedule_pipeline(e.tree);
  lower::assign_memory(e.tree);
  lower::place_barriers(e.tree);
  e.units = lower::emit(e.tree);
  for (lower::Unit& unit : e.units) unit.stmt = lower::simplify_stmt(unit.stmt, e.tree.facts);
  return e;
}

int count_loops(const ir::Stmt& s, ir::Binding binding) {
  int count = 0;
  ir::visit(s, [&](const ir::Stmt& node) {
    count += node->kind == ir::StmtKind::For && node->loop().binding == binding;
  });
  return count;
}

}  // namespace calotype::test
