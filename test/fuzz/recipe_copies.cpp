// Copies to shared memory in a kernel, with loops that suit who carries them.
#include <algorithm>

#include "fuzz/kernel_shape.h"
#include "fuzz/recipes.h"

namespace calotype::fuzz {

namespace {

/// Elements that fill 16 bytes, or 4 of those that are narrower.
std::int64_t neighbours(const Draft& d, std::int64_t bytes) {
  return std::max<std::int64_t>(1, bytes / d.func_def().types[0].bytes());
}

/// Threads load and store, or start copies; of narrow elements several at a time.
void carry_by_threads(Draft& d, KernelShape& kernel, const std::string& row) {
  const std::int64_t bytes = d.random.chance(50) ? 16 : d.random.chance(50) ? 8 : 4;
  if (const std::int64_t lanes = neighbours(d, bytes); lanes > 1 && d.random.chance(75))
    d.record_stage([&](Stage& s) { s.vectorize(row, lanes); });
  if (d.random.chance(85)) kernel.deal_out(d.func, 0);
  if (d.random.chance(12)) propose_swizzle(d);
}

/// Rows in one copy each: they start at multiples of 16 bytes, and threads start those of several rows.
void carry_rows(Draft& d, const std::string& row) {
  const std::int64_t of = neighbours(d, 16);
  if (d.func_def().rank() < 2) return;
  if (d.random.chance(85)) d.record_stage([&](Stage& s) { s.align_storage(row, of); });
  const std::string second = d.func_def().args[1]->name;
  if (d.random.chance(40)) d.record_stage([&](Stage& s) { s.gpu_threads(second, d.random.within(1, 4)); });
}

void carry_boxes(Draft& d, const std::string& row) {
  if (d.random.chance(70)) d.record_stage([&](Stage& s) { s.align_storage(row, neighbours(d, 16)); });
  if (d.random.chance(35)) propose_swizzle(d);
}

/// An array in global memory: a Func is computed before the kernel.
bool is_outside(Draft& d, const std::string& source) {
  const lang::FuncDef* f = d.state().out.graph.find_func(source);
  if (!f || d.state().out.graph.is_output(f->id)) return true;
  const schedule::Place::Kind kind = d.state().out.of(f->id).compute.kind;
  if (d.state().funcs[f->id.value].compute_directive >= 0) return kind == schedule::Place::Kind::Root;
  return d.record([&](Schedule& s) { s[source].compute_root(); });
}

}  // namespace

bool stage_a_copy(Draft& d, KernelShape& kernel, const std::string& source, schedule::FuncId reader,
                  const std::string& loop, Copy how) {
  if (!is_outside(d, source)) return false;
  const std::string by = d.state().def(reader).name, name = source + ".in(" + by + ")";
  if (!d.record([&](Schedule& s) { s.in(source, {by}); })) return false;
  const schedule::FuncId copy = d.state().out.graph.find_func(name)->id;
  if (d.state().def(copy).rank() == 0 || !kernel.compute_inside(copy, loop, Memory::Shared)) return false;
  const Addressed here(d, copy, 0);
  const std::string row = d.func_def().args[0]->name;
  if (how == Copy::Bulk) carry_rows(d, row);
  if (how == Copy::Tma) carry_boxes(d, row);
  if (how == Copy::Async || how == Copy::Threads) carry_by_threads(d, kernel, row);
  if (how != Copy::Tma && d.random.chance(10)) d.record_stage([&](Stage& s) { s.pad(row, 1); });
  return how == Copy::Threads || d.record_stage([&](Stage& s) { s.copy(how); });
}

}  // namespace calotype::fuzz
