// Text of level `schedule`.
#include <fmt/format.h>

#include "schedule/directive.h"
#include "schedule/parts.h"
#include "schedule/scheduled.h"

namespace calotype::schedule {

namespace {

std::string place_text(const Scheduled& s, const Place& p) {
  if (p.kind == Place::Kind::Inline) return "inline";
  if (p.kind == Place::Kind::Root) return "root";
  return fmt::format("{} of {}", s.loop(p.loop).name, lang::stage_name(s.graph.func(p.func), p.stage));
}

std::string binding_text(const Loop& loop) {
  const std::string kind = ir::to_string(loop.binding);
  const bool gpu = loop.binding == ir::Binding::GpuBlock || loop.binding == ir::Binding::GpuThread;
  if (loop.part != ir::ThreadPart::Whole)
    return fmt::format("{} {}", kind, loop.part == ir::ThreadPart::Lane ? "lane" : "warp");
  return gpu ? fmt::format("{} {}", kind, "xyz"[loop.axis]) : kind;
}

std::string sharing_text(const Loop& loop) {
  switch (loop.sharing) {
    case Sharing::Apart:
      return "";
    case Sharing::Partial:
      return " of partial results";
    case Sharing::Atomic:
      return ", atomic";
  }
  return "";
}

std::string transform_text(const Scheduled& s, const Transform& t) {
  if (t.kind == Transform::Kind::Split)
    return fmt::format("{} = {}*{} + {}, tail {}", s.loop(t.old).name, s.loop(t.outer).name, t.factor,
                       s.loop(t.inner).name, text_of(t.tail));
  return fmt::format("{} = {} over {}", s.loop(t.fused).name, s.loop(t.outer).name, s.loop(t.inner).name);
}

void print_stage(const Scheduled& s, const lang::FuncDef& f, int stage, std::string& out) {
  const StageSchedule& loops = s.of(f.id).stages[stage];
  out += fmt::format("  {}\n", lang::stage_name(f, stage));
  for (const Transform& t : loops.transforms)
    out += fmt::format("    {}  [{}]\n", transform_text(s, t), t.origin);
  std::string indent = "    ";
  for (auto it = loops.loops.rbegin(); it != loops.loops.rend(); ++it) {
    const Loop& loop = s.loop(*it);
    out += fmt::format("{}for {}: {}{}{}{}\n", indent, loop.name, binding_text(loop),
                       loop.reduction ? ", reduction" : "", sharing_text(loop),
                       loop.origin.empty() ? "" : fmt::format("  [{}]", loop.origin));
    indent += "  ";
    if (!loop.partition_origin.empty())
      out += fmt::format("{}partition {}  [{}]\n", indent,
                         partition_options()[static_cast<std::size_t>(loop.partition)].text,
                         loop.partition_origin);
  }
  for (const SoftwarePipeline& p : loops.pipelines)
    out += fmt::format("    copies at {} run {} ahead  [{}]\n", s.loop(p.loop).name, p.depth - 1, p.origin);
  if (const auto& t = loops.tensor_core) {
    const auto names = [&](const std::vector<LoopId>& ids) {
      std::string all;
      for (const LoopId id : ids) all += (all.empty() ? "" : ", ") + s.loop(id).name;
      return all;
    };
    out += fmt::format("    tensor cores: ({}) by ({}), summed over ({})  [{}]\n", names(t->m), names(t->n),
                       names(t->k), t->origin);
  }
  for (const Prefetch& p : loops.prefetches)
    out += fmt::format("    prefetches {} at {}, {} of {} ahead  [{}]\n", p.of->name, s.loop(p.at).name,
                       p.offset, s.loop(p.from).name, p.origin);
}

void print_region(const lang::FuncDef& f, const FuncSchedule& own, std::string& out) {
  const auto line = [&](int dim, const std::string& text, const std::string& origin) {
    out += fmt::format("  {} {}  [{}]\n", f.args[dim]->name, text, origin);
  };
  for (const BoundPromise& b : own.bounds)
    line(
        b.dim,
        b.min ? fmt::format("in [{}, {})", *b.min, *b.min + b.extent) : fmt::format("of extent {}", b.extent),
        b.origin);
  for (const BoundAlignment& a : own.alignments)
    line(a.dim,
         a.remainder ? fmt::format("in multiples of {} from {} modulo it", a.modulus, *a.remainder)
                     : fmt::format("of an extent in multiples of {}", a.modulus),
         a.origin);
  for (const Estimate& e : own.estimates)
    line(e.dim, fmt::format("estimated in [{}, {})", e.min, e.min + e.extent), e.origin);
}

void print_storage(const Scheduled& s, const lang::FuncDef& f, const FuncSchedule& own, std::string& out) {
  const StorageSchedule& storage = own.storage;
  if (!own.hoist_origin.empty())
    out += fmt::format("  allocated at {}  [{}]\n", place_text(s, own.hoist), own.hoist_origin);
  if (!storage.order.empty()) {
    std::string order;
    for (int d : storage.order) order += (order.empty() ? "" : ", ") + f.args[d]->name;
    out += fmt::format("  in memory {}\n", order);
  }
  if (!storage.layout.empty()) {
    std::string parts;
    for (const StoragePart& p : storage.layout)
      parts += (parts.empty() ? "" : ", ") + part_text(p, f.args[p.dim]->name);
    out += fmt::format("  in memory {}  [{}]\n", parts, storage.layout_origin);
  }
  const auto lines = [&](const std::vector<DimNumber>& list, const char* what) {
    for (const DimNumber& n : list)
      out += fmt::format("  memory of {} {} {}  [{}]\n", f.args[n.dim]->name, what, n.value, n.origin);
  };
  lines(storage.multiples, "in multiples of");
  lines(storage.pads, "padded by");
  lines(storage.extents, "of extent");
  lines(storage.folds, "a ring of");
  if (storage.copies > 1)
    out += fmt::format("  {} copies in turn  [{}]\n", storage.copies, storage.copies_origin);
  if (storage.swizzle != 0)
    out += fmt::format("  swizzled in rows of {} bytes  [{}]\n", storage.swizzle, storage.swizzle_origin);
  if (!own.copy_origin.empty())
    out += fmt::format("  copied by {}  [{}]\n", text_of(own.copy), own.copy_origin);
  if (const auto& multicast = own.stages.front().multicast)
    out += fmt::format("  iterations of {} dealt out to the blocks of the cluster  [{}]\n",
                       s.loop(multicast->loop).name, multicast->origin);
  if (own.slide)
    out += fmt::format("  slides along {} of {}, {} ahead  [{}]\n", s.loop(own.slide->dim).name,
                       lang::stage_name(s.graph.func(own.slide->func), own.slide->stage), own.slide->depth,
                       own.slide->origin);
  if (!own.memoize_origin.empty())
    out += fmt::format("  kept from one call to the next  [{}]\n", own.memoize_origin);
  if (storage.stream_loads) out += "  loads pass the caches by\n";
  if (storage.stream_stores) out += "  stores pass the caches by\n";
}

}  // namespace

std::string to_string(const Scheduled& s) {
  std::string out;
  for (FuncId id : s.order) {
    const lang::FuncDef& f = s.graph.func(id);
    const FuncSchedule& own = s.of(id);
    out += fmt::format("{}: computed at {}  [{}]\n", f.name, place_text(s, own.compute), own.compute_origin);
    if (own.compute.kind == Place::Kind::Inline) continue;
    const bool apart = own.store.kind != own.compute.kind || own.store.loop != own.compute.loop;
    if (apart) out += fmt::format("  stored at {}\n", place_text(s, own.store));
    if (own.memory != Memory::Auto) out += fmt::format("  stored in {}\n", text_of(own.memory));
    print_region(f, own, out);
    print_storage(s, f, own, out);
    for (int i = 0; i < static_cast<int>(f.stages.size()); i++) print_stage(s, f, i, out);
  }
  for (const SharedNest& n : s.shared)
    out += fmt::format(
        "{} in the loops of {} down to {}  [{}]\n", lang::stage_name(s.graph.func(n.func), n.stage),
        lang::stage_name(s.graph.func(n.with), n.with_stage), s.loop(n.loops.back().second).name, n.origin);
  for (const FormAssumption& f : s.forms) out += fmt::format("{}  [{}]\n", f.form.str(), f.origin);
  for (const Traced& t : s.traced) out += fmt::format("{} traced  [{}]\n", t.of, t.origin);
  for (const Role& r : s.roles) {
    out += fmt::format("role {}: {} warps", r.name, r.warps);
    if (r.registers > 0) out += fmt::format(" of {} registers", r.registers);
    for (const FuncId f : r.funcs) out += fmt::format(", {}", s.graph.func(f).name);
    out += fmt::format("  [{}]\n", r.origin);
  }
  for (const SizeEstimate& e : s.sizes)
    out += fmt::format("{} estimated as {}  [{}]\n", e.size, e.value, e.origin);
  for (const std::string& loop : s.numerics.reassociates) out += fmt::format("reassociates {}\n", loop);
  return out;
}

}  // namespace calotype::schedule
