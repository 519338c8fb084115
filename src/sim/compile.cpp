// Statements to instructions.
//
// A branch is If .. [Else ..] End, a loop Enter .. Next; both keep a mask of lanes on a stack, so lanes may
// take different ways and different numbers of iterations. A loop whose bounds are uniform has a uniform
// variable.

#include "sim/compile.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/builder.h"
#include "sim/index_uses.h"

namespace calotype::sim {
namespace {

using ir::StmtKind;

constexpr std::int64_t kMostElements = std::int64_t{1} << 31;

/// Whether warps wait for some of the others, or tensor cores read shared memory beside them.
bool waits_in_part(const lower::Function& function) {
  bool any = std::any_of(function.rings.begin(), function.rings.end(),
                         [](const ir::RingPtr& ring) { return ring->arrivals > 0; });
  ir::visit(function.body, [&](const ir::Stmt& s) {
    any |= s->kind == StmtKind::Instruction ||
           (s->kind == StmtKind::Barrier &&
            (s->sync().kind == ir::SyncInfo::Kind::Some || s->sync().kind == ir::SyncInfo::Kind::Warp));
  });
  return any;
}

class Compiler {
 public:
  Compiler(const lower::Function& function, Code& code) : function_(function), code_(code), builder_(code) {}

  void run() {
    code_.name = function_.name;
    if (!function_.gpu || function_.body == nullptr) refuse(code_, "it is no GPU kernel");
    code_.max_threads = function_.max_threads;
    code_.shared_bytes = function_.shared_bytes;
    code_.cluster = function_.cluster;
    code_.rings = function_.rings;
    code_.tensors = function_.tensors;
    code_.partly = waits_in_part(function_);
    declare_arguments();
    declare_threads();
    in_indices_ = index_uses(function_.body);
    builder_.enter({.stage = last_stage()});
    statement(function_.body);
    builder_.emit(run_exit, "Exit");
  }

 private:
  /// What the kernel is there for: code that stands in no production belongs to the last stage, which is what
  /// it writes to the memory of others.
  std::string last_stage() const {
    std::string name;
    ir::visit(function_.body, [&](const ir::Stmt& s) {
      if (s->kind != StmtKind::Store) return;
      const ir::MemorySpace space = s->buffer()->space;
      if (space == ir::MemorySpace::Argument || space == ir::MemorySpace::Global) name = s->buffer()->name;
    });
    // Of a Tuple there is a buffer for each value: NAME.0 and on.
    const std::size_t dot = name.rfind('.');
    const bool numbered = dot != std::string::npos && dot + 1 < name.size() &&
                          name.find_first_not_of("0123456789", dot + 1) == std::string::npos;
    return numbered ? name.substr(0, dot) : name;
  }

  void declare_arguments() {
    for (const ir::BufferPtr& b : function_.buffers) {
      if (b->space != ir::MemorySpace::Argument && b->space != ir::MemorySpace::Global)
        refuse(code_, fmt::format("the argument '{}' is in {} memory", b->name, ir::to_string(b->space)));
      BufferUse use{b->name, b->type.element(), b->space, 0, 0, code_.arguments++};
      builder_.declare_buffer(b, std::move(use));
    }
    for (std::size_t i = 0; i < function_.tensors.size(); ++i) {
      const ir::Buffer& b = *function_.tensors[i]->source;
      BufferUse use{b.name, b.type.element(), b.space, 0, 0, static_cast<int>(i)};
      use.idempotent = b.idempotent;
      code_.buffers.push_back(std::move(use));
    }
    for (const ir::SymbolPtr& s : function_.scalars) {
      if (s->type.is_vector()) refuse(code_, fmt::format("the argument '{}' is a vector", s->name));
      code_.scalars.emplace_back(builder_.reserve(1, true), s->type);
      builder_.bind(s, code_.scalars.back().first);
    }
  }

  void declare_threads() {
    for (const ir::RingPtr& ring : function_.rings) {
      code_.ring_turns.push_back(ring->turn ? builder_.reserve(1, true) : Register());
      if (ring->turn) builder_.bind(ring->turn, code_.ring_turns.back());
    }
    if (const ir::SymbolPtr& s = function_.resident_blocks) {
      code_.has_grid_var = true;
      code_.grid_var = builder_.reserve(1, true);
      builder_.bind(s, code_.grid_var);
    }
    for (int axis = 0; axis < 3; ++axis) {
      if (const ir::SymbolPtr& s = function_.block_vars[axis]) {
        code_.has_block_var[axis] = true;
        code_.block_vars[axis] = builder_.reserve(1, true);
        builder_.bind(s, code_.block_vars[axis]);
      }
      if (const ir::SymbolPtr& s = function_.thread_vars[axis]) {
        code_.has_thread_var[axis] = true;
        code_.thread_vars[axis] = builder_.reserve(1, false);
        builder_.bind(s, code_.thread_vars[axis]);
      }
    }
  }

  void statement(const ir::Stmt& s) {
    const int mark = builder_.mark();
    switch (s->kind) {
      case StmtKind::Block:
        for (const ir::Stmt& child : s->stmts) statement(child);
        break;
      case StmtKind::Let:
        builder_.bind(s->symbol(), bound(s));
        body(s->body());
        break;
      case StmtKind::For:
        loop(s);
        break;
      case StmtKind::If:
        branch(s);
        break;
      case StmtKind::Store:
        store(s);
        break;
      case StmtKind::Allocate:
        allocate(s);
        break;
      case StmtKind::Check:
        check(s);
        break;
      case StmtKind::Print:
        print(s);
        break;
      case StmtKind::Barrier:
        synchronisation(s);
        break;
      case StmtKind::Note:
        builder_.enter({.stage = s->note().stage, .origin = s->note().origin});
        statement(s->body());
        builder_.leave();
        break;
      case StmtKind::Prefetch:
        refuse(code_, "a prefetch in a kernel", ir::to_string(s));
      case StmtKind::Extern:
        refuse(code_, "an extern stage in a kernel", ir::to_string(s));
      case StmtKind::Meter:
        refuse(code_, "a profile of a kernel", ir::to_string(s));
      case StmtKind::Locked:
        refuse(code_, "a lock in a kernel", ir::to_string(s));
      case StmtKind::Instruction:
        builder_.tile(s);
        break;
    }
    builder_.release(mark);
  }

  Register bound(const ir::Stmt& let) {
    const Expr& value = let->exprs[0];
    return in_indices_.count(let->symbol()->unique) ? builder_.index(value, value->type.lanes)
                                                    : builder_.value(value);
  }

  void store(const ir::Stmt& s) {
    if (s->box()) return box(s);
    if (s->bulk() && !is_element(s)) return statement(row_elements(s));
    if (s->exprs.size() != (s->bulk() ? 6u : s->remote() ? 4u : 3u))
      refuse(code_, "an access is not flat", ir::to_string(s));
    builder_.store(s);
  }

  /// A statement that runs later than what was computed so far: it keeps registers in use, but no value of a
  /// load.
  void body(const ir::Stmt& s) {
    builder_.forget();
    statement(s);
  }

  static bool is_element(const ir::Stmt& s) { return !s->bulk()->common && ir::is_one(s->exprs[4]); }

  /// A row element by element; what is common by the first thread.
  ir::Stmt row_elements(const ir::Stmt& s) const {
    const Type type = s->exprs[2]->type;
    ir::LoopInfo loop{.var = ir::make_symbol(ir::SymbolKind::Loop, "element", type)};
    const Expr at = ir::make_var(loop.var), one = ir::make_one(type), &load = s->exprs[0];
    const auto moved = [&](const Expr& first, const Expr& step) {
      return ir::make(ir::Op::Add, type, {first, ir::make(ir::Op::Mul, type, {at, step})});
    };
    ir::Stmt element =
        ir::bulk_store({s->bulk()->buffer, s->bulk()->ring},
                       {.load = ir::make(ir::Op::Load, load->type, {moved(load->args.back(), s->exprs[5])},
                                         ir::buffer_of(load)),
                        .index = moved(s->exprs[2], one),
                        .count = one,
                        .step = one,
                        .slot = s->exprs[3]});
    const ir::Stmt all = ir::for_loop(loop, ir::make_zero(type), s->exprs[4], std::move(element));
    const Expr first = s->bulk()->common ? is_first_thread() : Expr();
    return first.defined() ? ir::if_then(first, all) : all;
  }

  /// Undefined: there is one alone.
  Expr is_first_thread() const {
    Expr first;
    for (const ir::SymbolPtr& thread : function_.thread_vars) {
      if (!thread) continue;
      const Expr here = ir::make_var(thread) == ir::make_zero(thread->type);
      first = first.defined() ? first && here : here;
    }
    return first;
  }

  /// Warps lie along x. Undefined: a warp has one thread alone.
  Expr is_first_lane() const {
    const ir::SymbolPtr& x = function_.thread_vars[0];
    if (!x) return {};
    const Expr lane = ir::make(ir::Op::BitAnd, x->type, {ir::make_var(x), ir::make_int(x->type, kWarp - 1)});
    return lane == ir::make_zero(x->type);
  }

  /// What goes out is sent by each thread that comes there.
  void box(const ir::Stmt& s) {
    const ir::BulkStore& how = *s->bulk();
    const Expr first = how.of_warp ? is_first_lane() : how.common ? is_first_thread() : Expr();
    if (!first.defined()) return builder_.box_store(s);
    const int test = if_holds(builder_.value(first));
    builder_.forget();
    builder_.box_store(s);
    builder_.at(test).target = builder_.position();
    builder_.emit(run_end_if, "EndIf");
  }

  int if_holds(Register condition) {
    const int test = builder_.position();
    builder_.emit(run_if, "If").a = condition;
    return test;
  }

  Instruction& at_ring(const ir::Stmt& s, Handler handler, const char* name) {
    const Register slot = builder_.value(s->exprs[0]);
    Instruction& i = builder_.emit(handler, name);
    i.a = slot;
    i.site = builder_.ring_index(*s->sync().ring);
    return i;
  }

  void arrival(const ir::Stmt& s) {
    const ir::SyncInfo& sync = s->sync();
    if (s->exprs.size() == 1) {
      at_ring(s, run_arrive, "Arrive").target = static_cast<int>(sync.bytes);
      return;
    }
    if (sync.ring->arrivals == 0 || sync.bytes > 0)
      refuse(code_, "an arrival at another block's ring that is not between roles, or with bytes",
             ir::to_string(sync));
    const Register rank = builder_.value(s->exprs[1], 1);
    at_ring(s, run_remote_arrive, "RemoteArrive").b = rank;
  }

  void synchronisation(const ir::Stmt& s) {
    const ir::SyncInfo& sync = s->sync();
    if (sync.fence) builder_.emit(run_fence, "Fence");
    switch (sync.kind) {
      case ir::SyncInfo::Kind::Block:
        code_.barriers.push_back({sync.reason});
        builder_.emit(run_barrier, "Barrier").site = static_cast<int>(code_.barriers.size()) - 1;
        break;
      case ir::SyncInfo::Kind::ClusterArrive:
        break;  // all is ordered where the others are waited for
      case ir::SyncInfo::Kind::ClusterWait:
      case ir::SyncInfo::Kind::Cluster:
        code_.barriers.push_back({sync.reason});
        builder_.emit(run_cluster_barrier, "ClusterBarrier").site =
            static_cast<int>(code_.barriers.size()) - 1;
        break;
      case ir::SyncInfo::Kind::Commit:
        builder_.emit(run_commit, "Commit");
        break;
      case ir::SyncInfo::Kind::Wait:
        builder_.emit(run_wait, "Wait").site = sync.pending;
        break;
      case ir::SyncInfo::Kind::Arrive:
        arrival(s);
        break;
      case ir::SyncInfo::Kind::Turn:
        builder_.emit(run_turn, "Turn").site = builder_.ring_index(*sync.ring);
        builder_.forget();
        break;
      case ir::SyncInfo::Kind::Await:
        at_ring(s, run_await, "Await");
        break;
      default:
        part_synchronisation(sync);
    }
  }

  /// Of a warp, of some warps, or of products.
  void part_synchronisation(const ir::SyncInfo& sync) {
    const auto emit = [&](Handler handler, const char* name, int site) -> Instruction& {
      Instruction& i = builder_.emit(handler, name);
      i.site = site;
      return i;
    };
    switch (sync.kind) {
      case ir::SyncInfo::Kind::Warp:
        emit(run_warp_barrier, "WarpBarrier", 0);
        break;
      case ir::SyncInfo::Kind::Some:
        emit(run_meet, "SomeBarrier", sync.number).target = sync.threads;
        break;
      case ir::SyncInfo::Kind::SomeArrive:
        emit(run_meet_arrive, "SomeArrive", sync.number).target = sync.threads;
        break;
      case ir::SyncInfo::Kind::Fence:
        emit(run_fence, "Fence", 0);
        break;
      case ir::SyncInfo::Kind::ProductFence:
        emit(run_product_fence, "ProductFence", 0);
        break;
      case ir::SyncInfo::Kind::ProductCommit:
        emit(run_product_commit, "ProductCommit", 0);
        break;
      case ir::SyncInfo::Kind::ProductWait:
        emit(run_product_wait, "ProductWait", sync.pending);
        break;
      case ir::SyncInfo::Kind::ProductRead:
        emit(run_product_read, "ProductRead", sync.pending);
        break;
      case ir::SyncInfo::Kind::BoxesCommit:
        emit(run_boxes_commit, "BoxesCommit", 0);
        break;
      case ir::SyncInfo::Kind::BoxesRead:
        emit(run_boxes_read, "BoxesRead", sync.pending);
        break;
      case ir::SyncInfo::Kind::BoxesWritten:
        emit(run_boxes_written, "BoxesWritten", sync.pending);
        break;
      case ir::SyncInfo::Kind::Registers:
        emit(run_registers, "Registers", sync.number);
        break;
      default:
        refuse(code_, "a synchronisation that it does not know", ir::to_string(sync));
    }
  }

  void branch(const ir::Stmt& s) {
    if (s->exprs[0]->type.is_vector()) refuse(code_, "a branch on a vector", ir::to_string(s->exprs[0]));
    const int test = if_holds(builder_.value(s->exprs[0]));
    body(s->stmts[0]);
    if (s->stmts.size() > 1) {
      const int otherwise = builder_.position();
      builder_.emit(run_else, "Else");
      builder_.at(test).target = otherwise;
      body(s->stmts[1]);
      builder_.at(otherwise).target = builder_.position();
    } else {
      builder_.at(test).target = builder_.position();
    }
    builder_.emit(run_end_if, "EndIf");
  }

  void loop(const ir::Stmt& s) {
    const ir::LoopInfo& info = s->loop();
    if (info.binding != ir::Binding::Serial && info.binding != ir::Binding::Unrolled)
      refuse(code_, fmt::format("the {} loop '{}' is left", ir::to_string(info.binding), info.var->name));
    const Type type = info.var->type;
    if (!type.is_int() || type.bits < 32 || type.is_vector())
      refuse(code_, fmt::format("the variable of loop '{}' is {}", info.var->name, type.str()));
    const Register min = builder_.index(s->exprs[0], 1), extent = builder_.index(s->exprs[1], 1);
    const bool uniform = min.uniform && extent.uniform;
    const Register variable = builder_.copy(min, uniform), left = builder_.copy(extent, uniform);
    builder_.bind(info.var, variable);

    const int enter = builder_.position();
    builder_.emit(run_enter_loop, "Loop").b = left;
    builder_.enter({.stage = info.func, .origin = info.origin, .loop = info.var->name, .variable = variable});
    body(s->body());
    Instruction& next = builder_.emit(run_next, "Next");
    next.result = variable;
    next.b = left;
    next.site = type.bits;
    next.target = enter + 1;
    builder_.leave();
    builder_.at(enter).target = builder_.position();
  }

  void allocate(const ir::Stmt& s) {
    const ir::BufferPtr& b = s->buffer();
    BufferUse use{b->name, b->type.element(), b->space, elements_of(*b), b->offset};
    if (use.is_private()) {
      use.slot = code_.privates++;
    } else if (use.is_shared()) {
      check_shared(use);
    } else {
      refuse(code_, fmt::format("'{}' is allocated in {} memory", b->name, ir::to_string(b->space)));
    }
    const int number = static_cast<int>(code_.buffers.size());
    builder_.declare_buffer(b, use);
    if (use.is_private()) builder_.emit(run_allocate, "Allocate").site = number;
    body(s->body());
  }

  std::int64_t elements_of(const ir::Buffer& b) const {
    std::int64_t product = 1, last = 0;
    for (std::size_t d = 0; d < b.extents.size(); ++d) {
      const std::optional<std::int64_t> extent = ir::as_int(b.extents[d]);
      if (!extent || *extent < 0 || *extent > kMostElements)
        refuse(code_, fmt::format("dimension {} of '{}' has no constant extent", d, b.name));
      const std::optional<std::int64_t> stride =
          d < b.strides.size() ? ir::as_int(b.strides[d]) : std::optional<std::int64_t>(product);
      if (!stride || *stride < 0 || *stride > kMostElements)
        refuse(code_, fmt::format("dimension {} of '{}' has no constant stride", d, b.name));
      if (*extent == 0) return 0;
      last += (*extent - 1) * *stride;  // at most 2^62
      product *= *extent;
      if (last >= kMostElements || product > kMostElements)
        refuse(code_, fmt::format("'{}' has more than 2^31 elements", b.name));
    }
    return std::max(product, last + 1);
  }

  void check_shared(const BufferUse& use) const {
    const int bytes = use.type.bytes();
    if (use.offset < 0 || use.offset % bytes != 0)
      refuse(code_, fmt::format("'{}' is at no multiple of {} bytes", use.name, bytes),
             std::to_string(use.offset));
    if (use.offset + use.elements * bytes > code_.shared_bytes)
      refuse(code_, fmt::format("'{}' ends at byte {} of {} of shared memory", use.name,
                                use.offset + use.elements * bytes, code_.shared_bytes));
  }

  void check(const ir::Stmt& s) { message(s, run_check, "Check"); }
  void print(const ir::Stmt& s) { message(s, run_print, "Print"); }

  void message(const ir::Stmt& s, Handler handler, const char* name) {
    CheckSite site{s->text(), {}, {}};
    const Register condition = builder_.value(s->exprs[0]);
    for (std::size_t k = 1; k < s->exprs.size(); ++k) {
      site.values.push_back(builder_.value(s->exprs[k]));
      site.types.push_back(s->exprs[k]->type.element());
    }
    code_.checks.push_back(std::move(site));
    Instruction& i = builder_.emit(handler, name);
    i.a = condition;
    i.site = static_cast<int>(code_.checks.size()) - 1;
  }

  const lower::Function& function_;
  std::unordered_set<std::uint64_t> in_indices_;
  Code& code_;
  Builder builder_;
};

}  // namespace

Code compile(const lower::Function& function) {
  Code code;
  Compiler(function, code).run();
  return code;
}

}  // namespace calotype::sim
