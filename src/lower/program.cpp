// Texts of levels `lowered` and `plan`.

#include "lower/program.h"

#include <fmt/format.h>

#include "ir/buffer_text.h"

namespace calotype::lower {
namespace {

std::string source_text(const Program& p, const ScalarSource& s) {
  const bool of_argument = s.kind != ScalarSource::Kind::Value && s.kind != ScalarSource::Kind::Present;
  const std::string argument = of_argument ? p.arguments[s.argument].name : "";
  switch (s.kind) {
    case ScalarSource::Kind::Extent:
      return fmt::format("extent {} of {}", s.dim, argument);
    case ScalarSource::Kind::Stride:
      return fmt::format("stride {} of {}", s.dim, argument);
    case ScalarSource::Kind::Min:
      return fmt::format("min {} of {}", s.dim, argument);
    case ScalarSource::Kind::Param:
      return "parameter " + argument;
    case ScalarSource::Kind::Value:
      return ir::to_string(s.value);
    case ScalarSource::Kind::Present:
      return "whether its values are kept";
  }
  return "";
}

std::string triple(const std::array<Expr, 3>& e) {
  std::string text;
  for (const Expr& x : e) text += (text.empty() ? "" : ", ") + (x.defined() ? ir::to_string(x) : "1");
  return text;
}

/// "A.boxes (A, 64 x 8)".
std::string tensor_text(const ir::TensorMap& map) {
  std::string sides;
  for (const std::int64_t side : map.box) sides += fmt::format("{}{}", sides.empty() ? "" : " x ", side);
  return fmt::format("{} ({}, {}{})", map.name, map.source->name, sides,
                     map.swizzle ? fmt::format(", swizzled by {}", map.swizzle) : "");
}

/// Of a persistent grid the tiles, of which each block takes some.
std::string launch_text(const Function& f) {
  return fmt::format(" grid ({}{}) block ({}) shared {} bytes", triple(f.grid),
                     f.resident_blocks ? ", as many as fit" : "", triple(f.block), f.shared_bytes);
}

}  // namespace

std::string to_string(const Function& f) {
  std::string text = fmt::format("{} {}(", f.gpu ? "kernel" : "function", f.name);
  std::string separator;
  for (const ir::BufferPtr& b : f.buffers) {
    text += fmt::format("{}{} {}{}", separator, b->type.str(), b->name, ir::streaming_text(*b));
    separator = ", ";
  }
  for (const ir::TensorMapPtr& map : f.tensors) {
    text += separator + "tensor " + tensor_text(*map);
    separator = ", ";
  }
  for (const ir::SymbolPtr& s : f.scalars) {
    text += separator + s->name;
    separator = ", ";
  }
  text += ")";
  if (f.gpu) text += launch_text(f);
  return text + ":\n" + ir::to_string(f.body);
}

std::string plan_text(const Program& p) {
  std::string text = fmt::format("plan of {} for {}\n", p.name, p.target.str());
  for (const Argument& a : p.arguments)
    text += fmt::format(
        "argument {} {}: {}{}{}{}{}\n",
        a.is_param    ? "parameter"
        : a.is_output ? "output"
                      : "input",
        a.name, a.type.str(), a.is_param ? "" : fmt::format(" of rank {}", a.rank),
        a.shared_with < 0 ? "" : fmt::format(", may be the memory of '{}'", p.arguments[a.shared_with].name),
        a.base_align == 1 ? "" : fmt::format(", at a multiple of {} bytes", a.base_align),
        a.low ? fmt::format(" from {} to {}", *a.low, *a.high) : "");
  for (const Scalar& s : p.scalars)
    text += fmt::format("scalar {} = {}\n", s.symbol->name, source_text(p, s.source));
  for (const PlanCheck& c : p.checks)
    text += fmt::format("check {}: {}: {}\n", c.func, ir::to_string(c.condition), c.message);
  for (const Workspace& w : p.workspace)
    text += fmt::format("workspace {}: {} bytes\n", w.buffer->name, ir::to_string(w.bytes));
  for (const KeptValues& k : p.kept) {
    std::string key;
    for (const Expr& e : k.key) key += (key.empty() ? "" : ", ") + ir::to_string(e);
    text += fmt::format("kept {} for ({})\n", k.func, key);
  }
  for (const PlanStep& s : p.steps) {
    const Function& f = p.functions[s.function];
    for (const ir::TensorMapPtr& map : f.tensors)
      text += fmt::format("tensor {} of {}\n", tensor_text(*map), f.name);
    text += f.gpu ? fmt::format("launch {}{}\n", f.name, launch_text(f)) : fmt::format("call {}\n", f.name);
  }
  return text;
}

}  // namespace calotype::lower
