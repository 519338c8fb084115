// Statements as indented pseudo-code.

#include <fmt/format.h>

#include "ir/buffer_text.h"
#include "ir/stmt.h"

namespace calotype::ir {

namespace {

std::string list(const std::vector<Expr>& exprs, std::size_t first = 0) {
  std::string text;
  for (std::size_t i = first; i < exprs.size(); ++i) text += (i > first ? ", " : "") + to_string(exprs[i]);
  return text;
}

/// What the iterations are, after the range: "" for a serial loop.
std::string binding_text(const LoopInfo& loop) {
  if (loop.binding == Binding::Serial) return "";
  std::string text = std::string(" ") + to_string(loop.binding);
  if (loop.part != ThreadPart::Whole) {
    text += loop.part == ThreadPart::Lane ? ".lane" : ".warp";
  } else if (loop.binding == Binding::GpuBlock || loop.binding == Binding::GpuThread) {
    text += fmt::format(".{}", "xyz"[loop.axis]);
  }
  return text;
}

/// The end of a loop's range, computed where both parts are constants.
std::string range_end(const Expr& min, const Expr& extent) {
  if (is_zero(min)) return to_string(extent);
  if (as_int(min) && as_int(extent)) return fmt::format("{}", *as_int(min) + *as_int(extent));
  return to_string(make(Op::Add, min->type, {min, extent}));
}

/// The text of a check with its values in place of the {}.
std::string check_text(const StmtNode& s) {
  std::string result;
  std::size_t value = 1;
  const std::string& text = s.text();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "{}") != 0 || value >= s.exprs.size()) {
      result += text[i];
      continue;
    }
    result += "{" + to_string(s.exprs[value++]) + "}";
    ++i;
  }
  return result;
}

class StmtPrinter {
 public:
  std::string take() { return std::move(text_); }

  void print(const Stmt& s) {
    if (s == nullptr) return;
    switch (s->kind) {
      case StmtKind::Block:
        return print_children(*s);
      case StmtKind::Let:
        line(fmt::format("let {} = {}", s->symbol()->name, to_string(s->exprs[0])));
        return print_children(*s);
      case StmtKind::For:
        return print_for(*s);
      case StmtKind::If:
        return print_if(*s);
      case StmtKind::Store:
        return print_store(*s);
      case StmtKind::Allocate:
        return print_allocate(*s);
      case StmtKind::Check:
        return line(fmt::format("check {}, \"{}\"", to_string(s->exprs[0]), check_text(*s)));
      case StmtKind::Print:
        return line(fmt::format("print if {}, \"{}\"", to_string(s->exprs[0]), check_text(*s)));
      case StmtKind::Barrier:
        return line(to_string(s->sync()) +
                    (s->exprs.size() > 1 ? " of block " + to_string(s->exprs[1]) : "") +
                    comment(s->sync().reason));
      case StmtKind::Note:
        line("// " + s->text());
        return print_children(*s);
      case StmtKind::Prefetch:
        return print_prefetch(*s);
      case StmtKind::Extern:
        return print_extern(*s);
      case StmtKind::Meter:
        line((s->exprs.empty() ? "// measured: " : "count " + to_string(s->exprs[0]) + " of ") +
             s->meter().name);
        return print_children(*s);
      case StmtKind::Locked:
        line(fmt::format("locked by {}[{}]", s->buffer()->name, to_string(s->exprs[0])));
        return print_children(*s);
      case StmtKind::Instruction:
        return print_instruction(*s);
    }
  }

 private:
  void line(const std::string& text) {
    text_ += std::string(static_cast<std::size_t>(indent_) * 2, ' ') + text + "\n";
  }

  /// "extern f = name(f [0, +8) x [0, +4); in [0, +9) x [0, +4); n)": the outputs, the inputs, the scalars.
  void print_extern(const StmtNode& s) {
    const ExternCall& call = s.extern_call();
    std::size_t next = 0;
    std::string texts[2];
    for (std::size_t i = 0; i < call.boxes.size(); ++i) {
      std::string& text = texts[i < call.outputs() ? 0 : 1];
      text += (text.empty() ? "" : ", ") + call.boxes[i].buffer->name;
      ++next;  // the index says the same
      for (int d = 0; d < call.boxes[i].rank; ++d, next += 3)
        text += fmt::format("{}[{}, +{})", d ? " x " : " ", to_string(s.exprs[next]),
                            to_string(s.exprs[next + 1]));
    }
    std::string scalars;
    for (; next < s.exprs.size(); ++next) scalars += (scalars.empty() ? "" : ", ") + to_string(s.exprs[next]);
    line(fmt::format("extern {} = {}({}; {}; {})", call.func, call.callee->function.name, texts[0], texts[1],
                     scalars));
  }

  static std::string comment(const std::string& text) { return text.empty() ? "" : "  // " + text; }

  void print_children(const StmtNode& s) {
    for (const Stmt& child : s.stmts) print(child);
  }

  void print_nested(const Stmt& s) {
    ++indent_;
    if (s == nullptr || (s->kind == StmtKind::Block && s->stmts.empty())) {
      line("pass");
    } else {
      print(s);
    }
    --indent_;
  }

  void print_for(const StmtNode& s) {
    const LoopInfo& loop = s.loop();
    line(fmt::format("for {} in [{}, {}){}:{}", loop.var->name, to_string(s.exprs[0]),
                     range_end(s.exprs[0], s.exprs[1]), binding_text(loop), comment(loop.text())));
    print_nested(s.body());
  }

  void print_if(const StmtNode& s) {
    line(fmt::format("if {}:", to_string(s.exprs[0])));
    print_nested(s.stmts[0]);
    if (s.stmts.size() < 2) return;
    line("else:");
    print_nested(s.stmts[1]);
  }

  void print_store(const StmtNode& s) {
    if (const TensorMapPtr map = s.box()) return print_box(s, *map);
    if (const BulkStore* row = s.bulk()) return print_row(s, *row);
    const std::string condition = is_one(s.exprs[1]) ? "" : " if " + to_string(s.exprs[1]);
    const std::string what = s.atomic()     ? fmt::format("atomic {}", info(s.atomic()->op).text)
                             : s.is_async() ? "async ="
                                            : "=";
    line(fmt::format("{}[{}] {} {}{}", s.buffer()->name, list(s.exprs, 2), what, to_string(s.exprs[0]),
                     condition));
  }

  void print_row(const StmtNode& s, const BulkStore& row) {
    line(fmt::format("{}[{}] bulk = {}, {} elements {} apart, to {}[{}]", row.buffer->name,
                     to_string(s.exprs[2]), to_string(s.exprs[0]), to_string(s.exprs[4]),
                     to_string(s.exprs[5]), row.ring->name, to_string(s.exprs[3])));
  }

  /// "tile[0] box = in at (x.o*64, y), 64 x 8 elements, swizzled by 128, to full[0]".
  void print_box(const StmtNode& s, const TensorMap& map) {
    std::string extents, start;
    for (std::size_t d = 0; d < map.box.size(); ++d) {
      extents += fmt::format("{}{}", d ? " x " : "", map.box[d]);
      start += (d ? ", " : "") + to_string(s.exprs[4 + d]);
    }
    const std::string place = fmt::format("{}[{}]", s.buffer()->name, to_string(s.exprs[2])),
                      tensor = fmt::format("{} at ({})", map.source->name, start),
                      elements = fmt::format("{} elements{}", extents,
                                             map.swizzle ? fmt::format(", swizzled by {}", map.swizzle) : "");
    if (s.bulk()->out) return line(fmt::format("{}, {}, box = {}", tensor, elements, place));
    const Expr receivers = s.receivers();
    line(fmt::format("{} box = {}, {}, to {}[{}]{}", place, tensor, elements, s.bulk()->ring->name,
                     to_string(s.exprs[3]),
                     receivers.defined() ? " of blocks with bits " + to_string(receivers) : ""));
  }

  void print_allocate(const StmtNode& s) {
    const Buffer& buffer = *s.buffer();
    line(fmt::format("allocate {}: {}[{}] in {}{}", buffer.name, buffer.type.str(), list(buffer.extents),
                     to_string(buffer.space), streaming_text(buffer)));
    print_children(s);
  }

  /// "wgmma.m64n128k16.f32.bf16: acc[0] += As[slot*8192] (swizzled by 128), Bs[slot*8192] if k > 0".
  void print_instruction(const StmtNode& s) {
    const InstructionUse& use = s.instruction();
    std::string text = use.name + ":";
    for (std::size_t i = 0; i < use.operands.size(); ++i) {
      const OperandUse& o = use.operands[i];
      text += fmt::format("{} {}[{}]", i < 2 ? "" : ",", o.buffer->name, to_string(s.exprs[i]));
      if (o.swizzle) text += fmt::format(" (swizzled by {})", o.swizzle);
      if (o.transposed) text += " (transposed)";
      if (i == 0) text += s.exprs.size() > use.operands.size() ? " +=" : " =";
    }
    for (std::size_t i = use.operands.size(); i < s.exprs.size(); ++i)
      if (!is_one(s.exprs[i])) text += ", added if " + to_string(s.exprs[i]);
    line(text);
  }

  void print_prefetch(const StmtNode& s) {
    std::string text = fmt::format("prefetch {}[{}]", s.buffer()->name, to_string(s.exprs[0]));
    for (std::size_t i = 1; i < s.exprs.size(); i += 2)
      text += fmt::format(", {} by {}", to_string(s.exprs[i]), to_string(s.exprs[i + 1]));
    line(text);
  }

  std::string text_;
  int indent_ = 0;
};

}  // namespace

std::string streaming_text(const Buffer& buffer) {
  if (buffer.stream_loads) return buffer.stream_stores ? " (streamed)" : " (loads streamed)";
  return buffer.stream_stores ? " (stores streamed)" : "";
}

std::string to_string(const SyncInfo& sync) {
  switch (sync.kind) {
    case SyncInfo::Kind::Block:
      return sync.fence ? "barrier with fence" : "barrier";
    case SyncInfo::Kind::Cluster:
      return sync.fence ? "cluster barrier with fence" : "cluster barrier";
    case SyncInfo::Kind::ClusterArrive:
      return "arrive in cluster";
    case SyncInfo::Kind::ClusterWait:
      return "wait for cluster";
    case SyncInfo::Kind::Commit:
      return "commit copies";
    case SyncInfo::Kind::Wait:
      return sync.pending == 0 ? "wait for copies"
                               : fmt::format("wait for copies but the latest {}", sync.pending);
    case SyncInfo::Kind::Arrive:
      return (sync.fence ? "fence, arrive at " : "arrive at ") + sync.ring->name +
             (sync.bytes ? fmt::format(", to which {} bytes are sent", sync.bytes) : "");
    case SyncInfo::Kind::Await:
      return "await " + sync.ring->name;
    case SyncInfo::Kind::Turn:
      return "turn " + sync.ring->name;
    case SyncInfo::Kind::Warp:
      return "warp barrier";
    case SyncInfo::Kind::Some:
      return fmt::format("barrier {} of {} threads", sync.number, sync.threads);
    case SyncInfo::Kind::SomeArrive:
      return fmt::format("arrive at barrier {} of {} threads", sync.number, sync.threads);
    case SyncInfo::Kind::Fence:
      return "fence";
    case SyncInfo::Kind::ProductFence:
      return "fence of products";
    case SyncInfo::Kind::ProductCommit:
      return "commit products";
    case SyncInfo::Kind::ProductWait:
      return sync.pending == 0 ? "wait for products"
                               : fmt::format("wait for products but the latest {}", sync.pending);
    case SyncInfo::Kind::ProductRead:
      return fmt::format("wait until products but the latest {} have read", sync.pending);
    case SyncInfo::Kind::BoxesCommit:
      return "commit boxes";
    case SyncInfo::Kind::BoxesRead:
      return sync.pending == 0 ? "wait until boxes are read"
                               : fmt::format("wait until boxes but the latest {} are read", sync.pending);
    case SyncInfo::Kind::BoxesWritten:
      return sync.pending == 0 ? "wait until boxes are written"
                               : fmt::format("wait until boxes but the latest {} are written", sync.pending);
    case SyncInfo::Kind::Registers:
      return fmt::format("{} registers", sync.number);
  }
  return "";
}

std::string to_string(const Stmt& s) {
  StmtPrinter printer;
  printer.print(s);
  return printer.take();
}

}  // namespace calotype::ir
