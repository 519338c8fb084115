// Vector statements. CUDA C has no vectors to compute with: a vector is computed in a loop over its lanes
// that is unrolled, between wide loads before it and a wide store behind it.

#include <fmt/format.h>

#include "calotype/error.h"
#include "codegen/cuda/kernel_printer.h"
#include "codegen/cuda/types.h"
#include "lower/passes.h"

namespace calotype::cuda {

using ir::Op;

namespace {

/// Whether lanes may read elements of the buffer that others write at `index`.
bool reads(const Expr& e, const ir::BufferPtr& buffer, const Expr& index) {
  const bool apart = is_dense(index);
  return ir::any_of(e, [&](const Expr& node) {
    return (ir::is(node, Op::Load) || ir::is(node, Op::LoadIf)) && ir::buffer_of(node) == buffer &&
           !(apart && ir::equal(node->args.back(), index));
  });
}

bool reads_memory(const Expr& e) {
  return ir::any_of(e, [](const Expr& node) {
    return ir::is(node, Op::LoadIf) ||
           (ir::is(node, Op::Load) && ir::buffer_of(node)->space != ir::MemorySpace::Register);
  });
}

Op operation_of(Op reduce) {
  switch (reduce) {
    case Op::ReduceAdd:
      return Op::Add;
    case Op::ReduceMul:
      return Op::Mul;
    case Op::ReduceMin:
      return Op::Min;
    default:
      return Op::Max;
  }
}

}  // namespace

Expr drop_known(const Expr& e, const std::vector<Expr>& known) {
  return ir::rewrite(e, [&](const Expr& node) -> Expr {
    if (!ir::is(node, Op::LoadIf) || !node->type.is_vector()) return node;
    for (const Expr& mask : conjuncts(node->args[0])) {
      bool holds = false;
      for (const Expr& k : known) holds |= ir::equal(k, mask);
      if (!holds) return node;
    }
    return ir::make(Op::Load, node->type, {node->args[1]}, node->attr);
  });
}

// ---- Lanes

Expr KernelPrinter::vector_variable(const std::string& name, Type type, bool in_struct) {
  const ir::SymbolPtr symbol = ir::make_symbol(ir::SymbolKind::Let, name, type);
  kept_.push_back(symbol);
  names_.write_as(symbol, name);
  if (in_struct) in_structs_.insert(symbol.get());
  return ir::make_var(symbol);
}

Expr KernelPrinter::lane(const Expr& e, const Expr& at) {
  return lane_of(e, at, [&](const Expr& vector, const Expr& position) {
    const ir::SymbolPtr& symbol = ir::symbol_of(vector);
    const char* member = in_structs_.contains(symbol.get()) ? ".v" : "";
    const ir::SymbolPtr element = ir::make_symbol(ir::SymbolKind::Let, symbol->name, vector->type.element());
    kept_.push_back(element);
    names_.write_as(element,
                    fmt::format("{}{}[{}]", names_.of(symbol), member, scalar(position, Arithmetic::Index)));
    return ir::make_var(element);
  });
}

void KernelPrinter::lane_loop(int lanes, const std::function<void(const Expr& lane)>& body) {
  NameScope scope(names_);
  const ir::SymbolPtr symbol = ir::make_symbol(ir::SymbolKind::Loop, "l", Int(32));
  kept_.push_back(symbol);
  const std::string& name = names_.declare(symbol);
  line("#pragma unroll");
  line(fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {{", name, lanes));
  ++depth_;
  body(ir::make_var(symbol));
  --depth_;
  line("}");
}

/// The value of a lane; what it computes more than once is declared before the statement at hand. So are the
/// values that a Select chooses from: inside ?: they would become a branch, on which the lanes of a warp
/// part.
Expr KernelPrinter::name_shared(Expr value) {
  const auto name = [&](const ir::SymbolPtr& symbol, const Expr& of) {
    kept_.push_back(symbol);
    declare(symbol, of);
    return ir::make_var(symbol);
  };
  const auto choose_from_names = [&](const Expr& root) {
    return ir::rewrite(root, [&](const Expr& e) -> Expr {
      if (!ir::is(e, Op::Select) || !e->type.is_float()) return e;
      return ir::map_args(e, [&](const Expr& operand) {
        const bool named = operand->type.is_float() && !operand->args.empty() && !reads_memory(operand);
        return named ? name(ir::make_symbol(ir::SymbolKind::Let, "chosen", operand->type), operand) : operand;
      });
    });
  };
  for (const auto& [symbol, shared] : lower::share_values(value)) name(symbol, choose_from_names(shared));
  return choose_from_names(value);
}

void KernelPrinter::fill_lanes(const std::string& lanes, const Expr& value, Arithmetic arithmetic) {
  lane_loop(value->type.lanes, [&](const Expr& at) {
    const std::string text = scalar(name_shared(lane(value, at)), arithmetic);
    line(fmt::format("{}[{}] = {};", lanes, scalar(at, Arithmetic::Index), text));
  });
}

Expr KernelPrinter::vector_value(const Expr& value, const std::string& name, Arithmetic arithmetic) {
  Expr loaded = hoist_loads(value, {});
  if (ir::is(loaded, Op::Variable)) return loaded;
  const std::string array = names_.fresh(name);
  if (is_half(value->type)) prelude_.use(c_type(value->type.element()));
  line(fmt::format("{} {}[{}];", c_type(value->type.element()), array, value->type.lanes));
  fill_lanes(array, loaded, arithmetic);
  return vector_variable(array, value->type, false);
}

void KernelPrinter::vector_let(const ir::Stmt& s) {
  const ir::SymbolPtr& symbol = s->symbol();
  const ir::SymbolPtr made = ir::symbol_of(vector_value(s->exprs[0], symbol->name, arithmetic_of(symbol)));
  names_.write_as(symbol, names_.of(made));
  if (in_structs_.contains(made.get())) in_structs_.insert(symbol.get());
}

/// A lane, or a reduction of all of them: neighbours are combined until one is left, an odd last one waits.
Expr KernelPrinter::take_apart(const Expr& e) {
  if (ir::is(e, Op::Lane)) return lane(e->args[0], ir::make_int(Int(32), ir::as_int(e->args[1]).value_or(0)));
  const Expr vector = vector_value(e->args[0], "terms", Arithmetic::Data);
  std::vector<Expr> parts;
  for (int i = 0; i < vector->type.lanes; ++i) parts.push_back(lane(vector, ir::make_int(Int(32), i)));
  while (parts.size() > 1) {
    std::vector<Expr> next;
    for (std::size_t i = 0; i + 1 < parts.size(); i += 2) {
      next.push_back(ir::make(operation_of(e->op), e->type, {parts[i], parts[i + 1]}));
    }
    if (parts.size() % 2 == 1) next.push_back(parts.back());
    parts = std::move(next);
  }
  return parts.front();
}

// ---- Stores

void KernelPrinter::vector_store(const ir::Stmt& s) {
  const Conditions conditions = conjuncts(s->exprs[1]);
  if (conditions.empty()) return store_all_lanes(s, {});
  const Expr all = all_lanes(s->exprs[1]);
  const bool same_for_all = uniform(conditions);
  if (!all.defined() || (!same_for_all && !any_wide(s))) return store_some_lanes(s, conditions);
  line(fmt::format("if ({}) {{", scalar(all, Arithmetic::Index)));
  ++depth_;
  {
    NameScope scope(names_);
    store_all_lanes(s, conditions);
  }
  --depth_;
  if (!same_for_all) {
    line("} else {");
    ++depth_;
    const NameScope scope(names_);
    store_some_lanes(s, conditions);
    --depth_;
  }
  line("}");
}

void KernelPrinter::one_store(const ir::Stmt& s, const Expr& at, const Expr& value) {
  const std::string text = scalar(name_shared(value), Arithmetic::Data);
  store_element(s->buffer(), lane(s->exprs[2], at), text);
}

void KernelPrinter::store_all_lanes(const ir::Stmt& s, const Conditions& known) {
  const Expr& index = s->exprs[2];
  const Expr value = hoist_loads(s->exprs[0], known);
  if (wide_bytes(s->buffer(), index) > 0) {
    const std::string type = wide_type(s->buffer(), index);
    const std::string result = names_.fresh(s->buffer()->name + "_v");
    line(fmt::format("{} {};", type, result));
    fill_lanes(result + ".v", value, Arithmetic::Data);
    return wide_store(s->buffer(), index, type, result);
  }
  // All lanes are read before any is written.
  const Expr ready = reads(value, s->buffer(), index)
                         ? vector_value(value, s->buffer()->name + "_v", Arithmetic::Data)
                         : value;
  if (expressions_.is_packed(s->buffer()) && fills_words(s->buffer(), index)) return store_words(s, ready);
  lane_loop(value->type.lanes, [&](const Expr& at) { one_store(s, at, lane(ready, at)); });
}

void KernelPrinter::store_some_lanes(const ir::Stmt& s, const Conditions& conditions) {
  Expr value = drop_known(s->exprs[0], conditions);
  if (reads(value, s->buffer(), s->exprs[2]))
    value = vector_value(s->exprs[0], s->buffer()->name + "_v", Arithmetic::Data);
  lane_loop(value->type.lanes, [&](const Expr& at) {
    line(fmt::format("if ({}) {{", scalar(lane(s->exprs[1], at), Arithmetic::Index)));
    ++depth_;
    one_store(s, at, lane(value, at));
    --depth_;
    line("}");
  });
}

}  // namespace calotype::cuda
