// Atomic updates: CUDA's own where it has one of the type, else comparing and exchanging in a loop, of the
// word around the element where that is narrow.

#include <fmt/format.h>

#include "codegen/cuda/kernel_printer.h"
#include "codegen/cuda/types.h"

namespace calotype::cuda {

using ir::Op;

namespace {

/// The function's name; empty if there is none for the type.
std::string native(Op op, Type type) {
  const bool whole = type.is_integral() && type.bits >= 32;
  switch (op) {
    case Op::Add:
      return whole || (type.is_float() && type.bits >= 32) ? "atomicAdd" : "";
    case Op::Min:
      return whole ? "atomicMin" : "";
    case Op::Max:
      return whole ? "atomicMax" : "";
    case Op::BitAnd:
      return whole ? "atomicAnd" : "";
    case Op::BitOr:
      return whole ? "atomicOr" : "";
    case Op::BitXor:
      return whole ? "atomicXor" : "";
    default:
      return "";
  }
}

/// The type that the function takes: it knows sums and bits of 64 bits as unsigned only.
Type taken(Op op, Type type) {
  const bool ordered = op == Op::Min || op == Op::Max;
  return type == Int(64) && !ordered ? UInt(64) : type;
}

}  // namespace

/// One element; `index` and `value` are scalar.
void KernelPrinter::atomic_update(const ir::Atomic& update, const Expr& index, const Expr& value) {
  const Type type = value->type;
  const std::string element = expressions_.element(update.buffer, index);
  const std::string function = native(update.op, type);
  if (!function.empty()) {
    const Type as = taken(update.op, type);
    const std::string cast = as == type ? "" : fmt::format("({}*)", c_type(as));
    return line(fmt::format("{}({}&{}, {});", function, cast, element,
                            scalar(ir::make(Op::Cast, as, {value}), Arithmetic::Data)));
  }
  prelude_.use("exchanged");
  if (is_half(type)) prelude_.use(c_type(type));
  line("{");
  ++depth_;
  {
    NameScope scope(names_);
    const auto variable = [&](const char* name) {
      kept_.push_back(ir::make_symbol(ir::SymbolKind::Let, name, type));
      return kept_.back();
    };
    const std::string text = scalar(value, Arithmetic::Data);
    const ir::SymbolPtr term = variable("term"), seen = variable("seen");
    line(fmt::format("const {} {} = {};", c_type(type), names_.declare(term), text));
    line(fmt::format("{} {} = {};", c_type(type), names_.declare(seen), element));
    const Expr next = ir::make(update.op, type, {ir::make_var(seen), ir::make_var(term)});
    line(fmt::format("while (!exchanged<{}>(&{}, {}, {})) {{}}", c_type(type), element, names_.of(seen),
                     scalar(next, Arithmetic::Data)));
  }
  --depth_;
  line("}");
}

void KernelPrinter::atomic_store(const ir::Stmt& s) {
  const Conditions conditions = conjuncts(s->exprs[1]);
  const auto update = [&](const Expr& at) {
    const auto part = [&](const Expr& e) { return at.defined() ? lane(e, at) : e; };
    if (!conditions.empty()) {
      line(fmt::format("if ({}) {{", scalar(part(s->exprs[1]), Arithmetic::Index)));
      ++depth_;
    }
    atomic_update(*s->atomic(), part(s->exprs[2]), part(s->exprs[0]));
    if (!conditions.empty()) {
      --depth_;
      line("}");
    }
  };
  if (s->exprs[0]->type.is_vector())
    lane_loop(s->exprs[0]->type.lanes, update);
  else
    update({});
}

}  // namespace calotype::cuda
