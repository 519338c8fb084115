// One kernel: its head, its scalar statements and its storage.

#include "codegen/cuda/kernel_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "calotype/error.h"
#include "codegen/cuda/alignment.h"
#include "codegen/cuda/tile_helper.h"
#include "codegen/cuda/types.h"

namespace calotype::cuda {

using ir::MemorySpace;
using ir::Op;
using ir::StmtKind;

namespace {

[[noreturn]] void refuse(std::string message, std::string value) {
  throw Error({.kind = ErrorKind::Internal, .message = std::move(message), .value = std::move(value)});
}

bool stores_into(const ir::Stmt& body, const ir::BufferPtr& buffer) {
  bool found = false;
  ir::visit(body, [&](const ir::Stmt& s) { found |= s->kind == StmtKind::Store && s->buffer() == buffer; });
  return found;
}

/// Boxes write it, of which the compiler knows nothing.
bool sends_boxes_to(const ir::Stmt& body, const ir::BufferPtr& buffer) {
  bool found = false;
  ir::visit(body, [&](const ir::Stmt& s) {
    found |= s->kind == StmtKind::Store && s->box() && s->bulk()->out && s->box()->source == buffer;
  });
  return found;
}

bool uses_symbol(const ir::Stmt& body, const ir::SymbolPtr& symbol) {
  bool found = false;
  ir::visit_exprs(body, [&](const Expr& e) { found |= e.defined() && ir::uses(e, symbol); });
  return found;
}

/// One block then has all registers of a multiprocessor, and the assembler must know.
bool changes_registers(const ir::Stmt& body) {
  bool found = false;
  ir::visit(body, [&](const ir::Stmt& s) {
    found |= s->kind == StmtKind::Barrier && s->sync().kind == ir::SyncInfo::Kind::Registers;
  });
  return found;
}

std::int64_t constant_elements(const ir::BufferPtr& buffer) {
  std::int64_t total = 1;
  for (const Expr& e : buffer->extents) {
    const std::optional<std::int64_t> extent = ir::as_int(e);
    if (!extent) refuse("storage in a kernel has no constant size", buffer->name);
    total *= *extent;
  }
  return total;
}

/// True if every access of the buffer is to element 0.
bool only_first_element(const ir::Stmt& body, const ir::BufferPtr& buffer) {
  bool good = true;
  const auto look = [&](const Expr& index) { good &= ir::is_zero(index); };
  ir::visit(body, [&](const ir::Stmt& s) {
    if (s->kind == StmtKind::Store && s->buffer() == buffer) look(s->exprs[2]);
  });
  ir::visit_exprs(body, [&](const Expr& root) {
    if (!root.defined()) return;
    ir::visit(root, [&](const Expr& e) {
      if ((ir::is(e, Op::Load) || ir::is(e, Op::LoadIf)) && ir::buffer_of(e) == buffer) look(e->args.back());
    });
  });
  return good;
}

}  // namespace

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (!text.empty() && text.back() == '\\') text.pop_back();
  return text;
}

KernelPrinter::KernelPrinter(const lower::Function& kernel, const PrintOptions& options, Prelude& prelude)
    : kernel_(kernel),
      options_(options),
      prelude_(prelude),
      expressions_(names_, prelude, *this),
      facts_(options.facts) {
  for (std::size_t i = 0; i < kernel.multiples.size(); ++i) {
    const ir::Facts::Known* known = facts_.find(kernel.scalars[i]);
    const std::int64_t multiple = std::lcm(known ? known->multiple : 1, kernel.multiples[i]);
    if (multiple > 1) facts_.set_multiple(kernel.scalars[i], multiple);
  }
}

// ---- Head

std::string KernelPrinter::print(const std::string& name) {
  find_index_symbols(kernel_.body);
  find_tile_registers();
  for (const ir::BufferPtr& b : kernel_.buffers) names_.declare(b);
  for (const ir::TensorMapPtr& map : kernel_.tensors) names_.declare(map);
  const ir::Stmt body = take_narrow_scalars(kernel_.body);
  const bool alone = options_.alone.contains(name) || changes_registers(kernel_.body);
  const std::string bounds = kernel_.max_threads > 0 ? fmt::format(" __launch_bounds__({}{})",
                                                                   kernel_.max_threads, alone ? ", 1" : "")
                                                     : "";
  const std::string cluster =
      kernel_.cluster > 1 ? fmt::format(" __cluster_dims__({}, 1, 1)", kernel_.cluster) : "";
  const std::string head = fmt::format("extern \"C\" __global__ void{}{} {}(", cluster, bounds, name);
  line(head + parameters(head.size()) + ") {");
  ++depth_;
  if (options_.begins_early) line(prelude_.use("begin_behind_kernel_before") + "();");
  for (const ir::TensorMapPtr& map : kernel_.tensors)
    line(fmt::format("{}(&{});", prelude_.use("fetch_tensor_map"), names_.of(map)));
  shared_memory();
  make_rings();
  place_variables();
  statement(body);
  finish_rings();
  finish_boxes();
  --depth_;
  line("}");
  return out_;
}

/// A head of lets that narrow scalar arguments is read off the arguments themselves: a parameter of the
/// narrow type takes the low part of the plan's slot.
ir::Stmt KernelPrinter::take_narrow_scalars(const ir::Stmt& body) {
  std::set<const ir::Symbol*> narrowed;
  ir::Stmt rest = body;
  while (rest->kind == StmtKind::Let) {
    const Expr& value = rest->exprs[0];
    if (!ir::is(value, Op::Cast) || !ir::is(value->args[0], Op::Variable)) break;
    const ir::SymbolPtr& wide = ir::symbol_of(value->args[0]);
    const bool is_scalar =
        std::find(kernel_.scalars.begin(), kernel_.scalars.end(), wide) != kernel_.scalars.end();
    if (!is_scalar || value->type != Int(32) || wide->type != Int(64) || uses_symbol(rest->body(), wide))
      break;
    const int multiple = power_of_two_divisor(value->args[0], facts_);
    if (multiple > 1) facts_.set_multiple(rest->symbol(), multiple);
    names_.write_as(wide, names_.declare(rest->symbol()));
    narrowed.insert(wide.get());
    index_symbols_.insert(rest->symbol().get());
    narrow_scalars_.insert(wide.get());
    rest = rest->body();
  }
  for (const ir::SymbolPtr& s : kernel_.scalars) {
    if (!narrowed.contains(s.get())) names_.declare(s);
  }
  return rest;
}

std::string KernelPrinter::parameters(std::size_t indent) {
  std::vector<std::string> all;
  for (const ir::BufferPtr& b : kernel_.buffers) {
    const bool sent = sends_boxes_to(kernel_.body, b);
    const bool constant = b->read_only || !(sent || stores_into(kernel_.body, b));
    if (is_half(b->type)) prelude_.use(c_type(b->type));
    // Behind __restrict__ loads may take the way that sees no stores.
    const char* alone = b->shared_with < 0 && !sent ? "__restrict__ " : "";
    all.push_back(fmt::format("{}{}* {}{}", constant ? "const " : "", c_type(b->type), alone, names_.of(b)));
  }
  for (const ir::TensorMapPtr& map : kernel_.tensors)
    all.push_back(fmt::format("const __grid_constant__ {} {}", prelude_.use("tensor_map"), names_.of(map)));
  for (const ir::SymbolPtr& s : kernel_.scalars) {
    if (is_half(s->type)) prelude_.use(c_type(s->type));
    const Type type = narrow_scalars_.contains(s.get()) ? Int(32) : s->type;
    all.push_back(fmt::format("const {} {}", c_type(type), names_.of(s)));
  }
  std::string text, row;
  std::size_t used = indent;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string next = all[i] + (i + 1 < all.size() ? "," : "");
    if (!row.empty() && used + row.size() + next.size() > 108) {
      text += row + "\n    ";
      row.clear();
      used = 4;
    }
    row += (row.empty() ? "" : " ") + next;
  }
  return text + row;
}

void KernelPrinter::place_variables() {
  for (const bool block : {true, false}) {
    const auto& vars = block ? kernel_.block_vars : kernel_.thread_vars;
    for (int axis = 0; axis < 3; ++axis) {
      const ir::SymbolPtr& s = vars[axis];
      if (!s) continue;
      line(fmt::format("const {} {} = {}.{};", c_type(s->type), names_.declare(s),
                       block ? "blockIdx" : "threadIdx", "xyz"[axis]));
    }
  }
  if (const ir::SymbolPtr& s = kernel_.resident_blocks)
    line(fmt::format("const {} {} = gridDim.x;", c_type(s->type), names_.declare(s)));
}

// ---- Statements

void KernelPrinter::line(const std::string& text) {
  std::string indent(static_cast<std::size_t>(depth_) * 2, ' ');
  out_ += indent + text + "\n";
}

void KernelPrinter::comment(const std::string& text) {
  if (!text.empty()) line("// " + one_line(text));
}

std::string KernelPrinter::scalar(const Expr& e, Arithmetic a, Precedence p) {
  return expressions_.print(e, a, p);
}

void KernelPrinter::statement(const ir::Stmt& s) {
  switch (s->kind) {
    case StmtKind::Block:
      for (const ir::Stmt& child : s->stmts) statement(child);
      return;
    case StmtKind::Let:
      return let(s);
    case StmtKind::For:
      return loop(s);
    case StmtKind::If:
      return branch(s);
    case StmtKind::Store:
      if (s->atomic()) return atomic_store(s);
      if (s->is_async()) return async_store(s);
      if (s->box()) return box_store(s);
      if (s->bulk()) return bulk_store(s);
      if (s->remote()) return remote_store(s);
      return s->exprs[0]->type.is_vector() ? vector_store(s) : scalar_store(s);
    case StmtKind::Allocate:
      return allocation(s);
    case StmtKind::Check:
      comment(s->text());
      return line(fmt::format("if (!({})) __trap();", scalar(s->exprs[0], Arithmetic::Index)));
    case StmtKind::Print:
      return print_line(s);
    case StmtKind::Barrier:
      return synchronisation(s);
    case StmtKind::Instruction:
      return instruction(s);
    case StmtKind::Note:
      comment(s->text());
      return statement(s->body());
    case StmtKind::Prefetch:
      refuse("a prefetch in a kernel", s->buffer()->name);
    case StmtKind::Extern:
      refuse("an extern stage in a kernel", s->extern_call().func);
    case StmtKind::Meter:
      refuse("a profile of a kernel", s->meter().name);
    case StmtKind::Locked:
      refuse("a lock in a kernel", s->buffer()->name);
  }
}

namespace {

/// A format of printf, in C's quotes, of a text with a {} for each value.
std::string printf_format(const std::string& text, const std::vector<Expr>& exprs) {
  std::string format;
  std::size_t value = 1;  // the first is the condition
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "{}") == 0 && value < exprs.size()) {
      const Type t = exprs[value++]->type;
      format += t.is_bool()    ? "%s"
                : t.is_float() ? (t.bits == 64 ? "%.17g" : "%.9g")
                : t.is_int()   ? "%lld"
                               : "%llu";
      ++i;
      continue;
    }
    if (text.compare(i, 2, "{{") == 0) ++i;
    if (text[i] == '\n') {
      format += "\\n";
    } else if (text[i] == '%') {
      format += "%%";
    } else {
      if (text[i] == '"' || text[i] == '\\') format += '\\';
      format += text[i];
    }
  }
  return '"' + format + "\\n\"";
}

}  // namespace

/// The device's printf: a line goes to the standard output of the process, once the driver has it.
void KernelPrinter::print_line(const ir::Stmt& s) {
  std::string arguments = printf_format(s->text(), s->exprs);
  for (std::size_t i = 1; i < s->exprs.size(); ++i) {
    const Type t = s->exprs[i]->type;
    const std::string value = scalar(s->exprs[i], Arithmetic::Data);
    arguments += t.is_bool()    ? fmt::format(", {} ? \"true\" : \"false\"", value)
                 : t.is_float() ? fmt::format(", (double)({})", value)
                 : t.is_int()   ? fmt::format(", (long long)({})", value)
                                : fmt::format(", (unsigned long long)({})", value);
  }
  line(fmt::format("if ({}) printf({});", scalar(s->exprs[0], Arithmetic::Index), arguments));
}

void KernelPrinter::braced(const std::string& head, const ir::Stmt& body) {
  line(head + " {");
  ++depth_;
  {
    NameScope scope(names_);
    statement(body);
  }
  --depth_;
}

void KernelPrinter::let(const ir::Stmt& s) {
  if (s->symbol()->type.is_vector()) {
    vector_let(s);
  } else {
    declare(s->symbol(), s->exprs[0]);
  }
  statement(s->body());
}

void KernelPrinter::declare(const ir::SymbolPtr& symbol, const Expr& value) {
  const std::string text = scalar(value, arithmetic_of(symbol));
  if (is_half(symbol->type)) prelude_.use(c_type(symbol->type));
  line(fmt::format("const {} {} = {};", c_type(symbol->type), names_.declare(symbol), text));
  if (symbol->type.is_int() && arithmetic_of(symbol) == Arithmetic::Index) facts_.set_value(symbol, value);
}

void KernelPrinter::loop(const ir::Stmt& s) {
  const ir::LoopInfo& info = s->loop();
  if (info.binding != ir::Binding::Serial && info.binding != ir::Binding::Unrolled)
    refuse(fmt::format("a {} loop inside a kernel", ir::to_string(info.binding)), info.var->name);
  const Expr &min = s->exprs[0], &extent = s->exprs[1];
  comment(info.text());
  NameScope scope(names_);
  const std::string first = scalar(min, Arithmetic::Index);
  const Expr end =
      ir::is_zero(min) ? extent : ir::simplify(ir::make(Op::Add, min->type, {min, extent}), facts_);
  const std::string last = scalar(end, Arithmetic::Index, Precedence::Sum);
  facts_.set_range(info.var, min, ir::make(Op::Sub, min->type, {end, ir::make_one(min->type)}));
  const std::string& var = names_.declare(info.var);
  if (info.binding == ir::Binding::Unrolled) line("#pragma unroll");
  braced(fmt::format("for ({0} {1} = {2}; {1} < {3}; ++{1})", c_type(info.var->type), var, first, last),
         s->body());
  line("}");
}

void KernelPrinter::branch(const ir::Stmt& s) {
  const std::string condition = scalar(s->exprs[0], Arithmetic::Index);
  braced(fmt::format("if ({})", condition), s->stmts[0]);
  if (s->stmts.size() > 1) braced("} else", s->stmts[1]);
  line("}");
}

void KernelPrinter::scalar_store(const ir::Stmt& s) {
  const Expr& predicate = s->exprs[1];
  const bool masked = predicate.defined() && !ir::is_one(predicate);
  if (masked) {
    line(fmt::format("if ({}) {{", scalar(predicate, Arithmetic::Index)));
    ++depth_;
  }
  const std::string value = scalar(s->exprs[0], Arithmetic::Data);
  store_element(s->buffer(), s->exprs[2], value);
  if (masked) {
    --depth_;
    line("}");
  }
}

/// To the same place in the shared memory of another block of the cluster.
void KernelPrinter::remote_store(const ir::Stmt& s) {
  const Type type = s->buffer()->type;
  const int bits = 8 * type.bytes();
  const Expr value = type.is_float() ? ir::make(Op::Bitcast, UInt(bits), {s->exprs[0]}) : s->exprs[0];
  const std::string element = expressions_.element(s->buffer(), s->exprs[2]);
  const std::string rank = scalar(s->exprs[3], Arithmetic::Index);
  const std::string text = scalar(value, Arithmetic::Data);
  if (const ir::RingPtr& ring = s->remote()->ring) {
    const std::string slot = ring->turn ? names_.of(ring->turn) : "0";
    return line(fmt::format("{}(&{}, {}, {}, &{}[{}]);", prelude_.use(fmt::format("send_{}", bits)), element,
                            rank, text, rings_.at(ring.get()), slot));
  }
  line(fmt::format("{}(&{}, {}, {});", prelude_.use(fmt::format("store_remote_{}", bits)), element, rank,
                   text));
}

void KernelPrinter::allocation(const ir::Stmt& s) {
  const ir::BufferPtr& b = s->buffer();
  const std::int64_t elements = constant_elements(b);
  if (is_half(b->type)) prelude_.use(c_type(b->type));
  switch (b->space) {
    case MemorySpace::Shared:
      shared_array(b, elements);
      break;
    case MemorySpace::Register:
    case MemorySpace::Local:
      own_array(b, s->body(), elements);
      break;
    default:
      refuse(fmt::format("{} memory allocated inside a kernel", ir::to_string(b->space)), b->name);
  }
  const auto tile = tile_registers_.find(b.get());
  const bool pinned = tile != tile_registers_.end() && tile->second;
  if (pinned) pinned_.push_back(b);
  statement(s->body());
  if (pinned) pinned_.pop_back();
}

/// Memory of a thread.
void KernelPrinter::own_array(const ir::BufferPtr& b, const ir::Stmt& body, std::int64_t elements) {
  if (elements == 1 && !is_tile(b) && only_first_element(body, b)) {
    expressions_.set_single(b);
    return line(fmt::format("{} {};", c_type(b->type), names_.declare(b)));
  }
  if (is_packed(body, b)) {
    expressions_.set_packed(b);
    const int in_word = kWordBytes / b->type.bytes();
    return line(fmt::format("unsigned int {}[{}];", names_.declare(b), (elements + in_word - 1) / in_word));
  }
  line(fmt::format("{} {}[{}];", c_type(b->type), names_.declare(b), std::max<std::int64_t>(elements, 1)));
}

// ---- What is an index

/// Symbols that addresses, bounds or conditions are computed of, through lets too.
void KernelPrinter::find_index_symbols(const ir::Stmt& s) {
  std::vector<std::pair<ir::SymbolPtr, Expr>> lets;
  const auto mark = [&](const Expr& e) {
    for (const ir::SymbolPtr& symbol : ir::free_symbols(e)) index_symbols_.insert(symbol.get());
  };
  const auto look = [&](const Expr& root) {
    ir::visit(root, [&](const Expr& e) {
      if (ir::is(e, Op::Load) || ir::is(e, Op::LoadIf)) mark(e->args.back());
      if (ir::is(e, Op::Let)) lets.emplace_back(ir::symbol_of(e), e->args[0]);
    });
  };
  ir::visit(s, [&](const ir::Stmt& node) {
    for (const Expr& e : node->exprs) {
      if (e.defined()) look(e);
    }
    if (node->kind == StmtKind::Let) lets.emplace_back(node->symbol(), node->exprs[0]);
    if (node->kind == StmtKind::Store)
      for (std::size_t i = 2; i < node->exprs.size(); ++i) mark(node->exprs[i]);
    if (node->kind == StmtKind::For || node->kind == StmtKind::If || node->kind == StmtKind::Barrier ||
        node->kind == StmtKind::Instruction) {
      for (const Expr& e : node->exprs) mark(e);
    }
  });
  // Lets stand before their uses, so from the last to the first every use is known.
  for (auto it = lets.rbegin(); it != lets.rend(); ++it) {
    if (index_symbols_.contains(it->first.get())) mark(it->second);
  }
}

/// A let is index arithmetic if addresses use it and it is not computed from memory.
Arithmetic KernelPrinter::arithmetic_of(const ir::SymbolPtr& symbol) const {
  return index_symbols_.contains(symbol.get()) ? Arithmetic::Index : Arithmetic::Data;
}

}  // namespace calotype::cuda
