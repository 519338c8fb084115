// The program: functions and kernels with their arguments, and the plan that calls them.
//
// Requires: finished statements. Leaves: a Program. Block loops become the grid, thread loops the block's
// threads with a test where a loop is shorter than the block; every free symbol becomes a scalar argument
// that the plan finds from the call's buffers.

#include <fmt/format.h>

#include <algorithm>

#include "lower/call_values.h"
#include "lower/passes.h"
#include "lower/tensor_maps.h"
#include "lower/tile_order.h"
#include "schedule/forms.h"
#include "schedule/gpu.h"

namespace calotype::lower {
namespace {

// ---- GPU loops to grid and block

class KernelBinder {
 public:
  KernelBinder(Function& f, const KernelInfo& info) : f_(f), info_(info) {
    for (int axis = 0; axis < 3; ++axis) {
      f_.grid[axis] = ir::index(1);
      f_.block[axis] = ir::index(info.threads[axis]);
    }
    f_.cluster = info.cluster;
    if (f_.cluster > 1) {  // the ranks are the fastest part of x
      f_.grid[0] = ir::index(f_.cluster);
      f_.block_vars[0] = ir::make_symbol(ir::SymbolKind::Thread, "block_x");
    }
    f_.max_threads = info.all_threads();
    if (!info.roles.empty()) f_.block[0] = ir::index(info.all_threads());
    f_.shared_bytes = info.shared_bytes;
    f_.rings = info.rings;
  }

  ir::Stmt run(const ir::Stmt& s) {
    if (s->kind == ir::StmtKind::For && s->loop().binding == ir::Binding::GpuBlock) return bind_block(s);
    if (s->kind == ir::StmtKind::For && s->loop().binding == ir::Binding::GpuThread) return bind_thread(s);
    if (s->kind == ir::StmtKind::For && s->loop().binding == ir::Binding::GpuCluster) return bind_rank(s);
    return ir::map_children(
        s, [](const Expr& e) { return e; }, [&](const ir::Stmt& child) { return run(child); });
  }

 private:
  ir::Stmt bind_block(const ir::Stmt& s) {
    const ir::LoopInfo& loop = s->loop();
    if (loop.axis == 0 && f_.cluster > 1) {
      const Expr blocks = ir::index(f_.cluster);
      f_.grid[0] = ir::simplify(s->exprs[1] * blocks);
      return run(
          ir::substitute(s->body(), {{loop.var, s->exprs[0] + ir::make_var(f_.block_vars[0]) / blocks}}));
    }
    f_.grid[loop.axis] = s->exprs[1];
    f_.block_vars[loop.axis] = ir::make_symbol(ir::SymbolKind::Thread, loop.var->name);
    return run(ir::substitute(s->body(), {{loop.var, s->exprs[0] + ir::make_var(f_.block_vars[loop.axis])}}));
  }

  ir::Stmt bind_rank(const ir::Stmt& s) {
    const Expr rank = f_.cluster > 1 ? ir::make_var(f_.block_vars[0]) % ir::index(f_.cluster) : ir::index(0);
    const ir::Stmt body = run(ir::substitute(s->body(), {{s->loop().var, s->exprs[0] + rank}}));
    return ir::is_int(s->exprs[1], f_.cluster) ? body : ir::if_then(rank < s->exprs[1], body);
  }

  ir::Stmt bind_thread(const ir::Stmt& s) {
    const ir::LoopInfo& loop = s->loop();
    ir::SymbolPtr& var = f_.thread_vars[loop.axis];
    if (!var) var = ir::make_symbol(ir::SymbolKind::Thread, fmt::format("thread_{}", "xyz"[loop.axis]));
    const Expr lanes = ir::index(schedule::warp_lanes);
    const std::int64_t x = info_.threads[0];
    Expr thread = ir::make_var(var);
    std::int64_t all = info_.threads[loop.axis];
    if (loop.part == ir::ThreadPart::Lane && x > schedule::warp_lanes) {
      thread = thread % lanes;
      all = schedule::warp_lanes;
    } else if (loop.part == ir::ThreadPart::Warp) {
      thread = thread / lanes;
      all = (x + schedule::warp_lanes - 1) / schedule::warp_lanes;
    }
    ir::Stmt body = run(ir::substitute(s->body(), {{loop.var, s->exprs[0] + thread}}));
    const bool whole = ir::is_int(s->exprs[1], all) ||
                       (loop.part == ir::ThreadPart::Whole && ir::equal(s->exprs[1], f_.block[loop.axis]));
    if (whole) return body;
    return ir::if_then(thread < s->exprs[1], body);
  }

  Function& f_;
  const KernelInfo& info_;
};

// ---- Free symbols and buffers

struct Uses {
  std::vector<ir::SymbolPtr> symbols;  // free, in order of first use
  std::vector<ir::BufferPtr> buffers;  // not allocated inside
};

class UseCollector {
 public:
  Uses uses;

  void statement(const ir::Stmt& s) {
    if (s->kind == ir::StmtKind::Let || s->kind == ir::StmtKind::For)
      bound_.push_back(s->kind == ir::StmtKind::Let ? s->symbol() : s->loop().var);
    if (s->kind == ir::StmtKind::Allocate) {
      allocated_.push_back(s->buffer());
      for (const Expr& e : s->buffer()->extents) expression(e);
    }
    if (s->kind == ir::StmtKind::Store || s->kind == ir::StmtKind::Prefetch) buffer(s->buffer());
    // The pointer of a box's source is in the tensor map.
    const std::size_t first = s->kind == ir::StmtKind::Store && s->box() ? 1 : 0;
    if (s->kind == ir::StmtKind::Extern)
      for (const ir::ExternCall::Box& box : s->extern_call().boxes) buffer(box.buffer);
    for (std::size_t i = first; i < s->exprs.size(); ++i)
      if (s->exprs[i].defined()) expression(s->exprs[i]);
    for (const ir::Stmt& child : s->stmts) statement(child);
  }

  void expression(const Expr& e) {
    ir::visit(e, [&](const Expr& n) {
      if (ir::is(n, ir::Op::Let)) bound_.push_back(ir::symbol_of(n));
      if (ir::is(n, ir::Op::Load) || ir::is(n, ir::Op::LoadIf)) buffer(ir::buffer_of(n));
    });
    for (const ir::SymbolPtr& s : ir::free_symbols(e))
      if (!contains(bound_, s) && !contains(uses.symbols, s)) uses.symbols.push_back(s);
  }

 private:
  template <class T>
  static bool contains(const std::vector<T>& list, const T& item) {
    return std::find(list.begin(), list.end(), item) != list.end();
  }
  void buffer(const ir::BufferPtr& b) {
    if (!contains(allocated_, b) && !contains(uses.buffers, b)) uses.buffers.push_back(b);
  }

  std::vector<ir::SymbolPtr> bound_;
  std::vector<ir::BufferPtr> allocated_;
};

// ---- The plan

class ProgramMaker {
 public:
  ProgramMaker(const LoopTree& tree, const Options& options) : tree_(tree), options_(options) {}

  Program run(const std::vector<Unit>& units) {
    program_.name = graph().name;
    program_.target = options_.target;
    declare_arguments();
    program_.shape_checks = program_.checks.size();
    for (const Binding& let : tree_.root_lets)
      program_.scalars.push_back({let.symbol, {.kind = ScalarSource::Kind::Value, .value = let.value}});
    for (const LoopTree::Check& c : tree_.checks)
      program_.checks.push_back({c.condition, c.message, c.subject, c.values, c.legal});
    declare_workspace();
    for (const Unit& unit : units) add_function(unit);
    drop_unused_scalars();
    return std::move(program_);
  }

 private:
  const lang::Graph& graph() const { return tree_.scheduled.graph; }

  // Sizes come from the first dimension that names them alone (or affinely); all other dimensions are
  // checked.
  void declare_arguments() {
    std::vector<ir::BufferPtr> buffers;
    for (const lang::Graph::ArgumentRef& a : graph().arguments) {
      if (a.is_param) {
        const lang::ParamDef& p = graph().params[a.index];
        program_.scalars.push_back({p.symbol, {.kind = ScalarSource::Kind::Param, .argument = count()}});
        program_.arguments.push_back(
            {.name = p.name, .is_param = true, .type = p.type, .low = p.low, .high = p.high});
      } else {
        const lang::InputDef& input = graph().inputs[a.index];
        program_.arguments.push_back(
            {input.name, false, false, input.type, static_cast<int>(input.extents.size())});
        buffers.push_back(tree_.inputs[a.index]);
        add_base(*buffers.back());
      }
    }
    for (std::size_t i = 0; i < tree_.outputs.size(); ++i) {
      const ir::BufferPtr& b = tree_.outputs[i];
      // A first definition under a condition leaves elements undefined.
      const bool keeps = graph().func(graph().outputs[i].func).stages[0].predicate.defined();
      program_.arguments.push_back({b->name, false, true, graph().output_type(graph().outputs[i]),
                                    static_cast<int>(b->extents.size()), keeps, b->shared_with});
      buffers.push_back(b);
      add_base(*b);
    }
    for (const auto& [func, component] : stored_components()) {
      const ir::BufferPtr& b = tree_.stored_of.at(func)[component];
      program_.arguments.push_back({b->name, false, true, graph().func(func).types[component],
                                    static_cast<int>(b->extents.size()), true});
      buffers.push_back(b);
    }
    find_sizes(buffers);
    declare_promises();
    for (const ir::BufferPtr& b : buffers)
      for (std::size_t d = 0; d < b->extents.size(); ++d) describe_dimension(*b, static_cast<int>(d));
  }

  /// What a schedule assumes of the argument's first element, and which directive does.
  void add_base(const ir::Buffer& b) {
    Argument& argument = program_.arguments.back();
    argument.base_align = b.alignment;
    for (const schedule::FormAssumption* f : forms_of(b))
      if (f->form.base_align == b.alignment && b.alignment > 1) argument.base_origin = f->origin;
  }

  /// What is assumed of an argument that the graph has.
  std::vector<const schedule::FormAssumption*> forms_of(const ir::Buffer& b) const {
    const int inputs = static_cast<int>(graph().arguments.size());
    if (b.argument >= inputs + static_cast<int>(graph().outputs.size())) return {};
    const bool output = b.argument >= inputs;
    const int index = output ? b.argument - inputs : graph().arguments[b.argument].index;
    return schedule::forms_of(tree_.scheduled.forms, {output, index});
  }

  /// The stored stages in the order of their arguments, which `tree_.stored` has.
  std::vector<std::pair<FuncId, int>> stored_components() const {
    std::vector<std::pair<FuncId, int>> all;
    for (const FuncId func : options_.stored_stages)
      for (int c = 0; c < graph().func(func).components(); ++c) all.emplace_back(func, c);
    return all;
  }

  /// An extent tells one size, given those that are known already.
  void find_sizes(const std::vector<ir::BufferPtr>& buffers) {
    std::size_t before = 0;
    do {
      before = program_.scalars.size();
      for (const ir::BufferPtr& b : buffers)
        for (std::size_t d = 0; d < b->extents.size(); ++d) find_size(b->extents[d], *b, static_cast<int>(d));
      for (const schedule::AssumedExtent& e : tree_.scheduled.assumed_extents)
        find_size(e.extent, *(e.output ? tree_.outputs : tree_.inputs)[e.argument], e.dim);
    } while (program_.scalars.size() > before);
  }

  void declare_promises() {
    for (const LoopTree::PromisedSize& p : tree_.promised_sizes) {
      if (known(p.symbol)) continue;
      const auto kind = p.is_min ? ScalarSource::Kind::Min : ScalarSource::Kind::Extent;
      program_.scalars.push_back(
          {p.symbol,
           {.kind = kind, .argument = tree_.output_of.at(p.output).front()->argument, .dim = p.dim}});
    }
    for (const LoopTree::Check& c : tree_.promises) {
      for (const ir::SymbolPtr& s : ir::free_symbols(c.condition))
        if (!known(s) && s->kind == ir::SymbolKind::Dim) refuse_unknown(s);
      program_.checks.push_back({c.condition, c.message, c.subject, c.values, c.legal});
    }
  }

  int count() const { return static_cast<int>(program_.arguments.size()); }

  bool known(const ir::SymbolPtr& s) const {
    return std::any_of(program_.scalars.begin(), program_.scalars.end(),
                       [&](const Scalar& k) { return k.symbol == s; });
  }

  /// The one size in `extent` that is not known yet follows from dimension `d`.
  void find_size(const Expr& extent, const ir::Buffer& b, int d) {
    std::vector<ir::SymbolPtr> unknown;
    for (const ir::SymbolPtr& s : ir::free_symbols(extent))
      if (!known(s)) unknown.push_back(s);
    if (unknown.size() != 1) return;
    if (ir::is(extent, ir::Op::Variable)) {
      program_.scalars.push_back(
          {unknown[0], {.kind = ScalarSource::Kind::Extent, .argument = b.argument, .dim = d}});
      return;
    }
    const std::optional<ir::LinearIn> line = ir::linear_in(ir::simplify(extent), unknown[0]);
    if (!line || line->coefficient == 0) return;
    const Expr solved = (actual_extent(b, d) - line->rest) / ir::index(line->coefficient);
    program_.scalars.push_back(
        {unknown[0], {.kind = ScalarSource::Kind::Value, .value = ir::simplify(solved)}});
  }

  Expr actual_extent(const ir::Buffer& b, int d) {
    return new_scalar(fmt::format("{}.extent.{}", b.name, d), ScalarSource::Kind::Extent, b, d);
  }

  Expr new_scalar(const std::string& name, ScalarSource::Kind kind, const ir::Buffer& b, int d) {
    const ir::SymbolPtr s = ir::make_symbol(ir::SymbolKind::Let, name);
    program_.scalars.push_back({s, {.kind = kind, .argument = b.argument, .dim = d}});
    return ir::make_var(s);
  }

  bool is_source(const Expr& extent, const ir::Buffer& b, int d) const {
    return std::any_of(program_.scalars.begin(), program_.scalars.end(), [&](const Scalar& s) {
      return s.source.kind == ScalarSource::Kind::Extent && s.source.argument == b.argument &&
             s.source.dim == d && ir::is(extent, ir::Op::Variable) && ir::symbol_of(extent) == s.symbol;
    });
  }

  void describe_dimension(const ir::Buffer& b, int d) {
    if (!is_source(b.extents[d], b, d)) {
      const Expr actual = actual_extent(b, d);
      program_.checks.push_back({ir::simplify(actual == b.extents[d]),
                                 fmt::format("dimension {} has extent {{}} but must have {{}}", d),
                                 b.name,
                                 {actual, b.extents[d], b.extents[d]},
                                 "{}"});
    }
    // The components of a Tuple start at the same coordinates: the first tells them, the others are checked.
    if (ir::is(b.mins[d], ir::Op::Variable) && !known(ir::symbol_of(b.mins[d]))) {
      program_.scalars.push_back(
          {ir::symbol_of(b.mins[d]), {.kind = ScalarSource::Kind::Min, .argument = b.argument, .dim = d}});
    } else {
      const Expr actual = new_scalar(fmt::format("{}.min.{}", b.name, d), ScalarSource::Kind::Min, b, d);
      program_.checks.push_back({ir::simplify(actual == b.mins[d]),
                                 fmt::format("dimension {} starts at {{}} but must start at {{}}", d),
                                 b.name,
                                 {actual, b.mins[d], b.mins[d]},
                                 "{}; translate the Buffer"});
    }
    describe_stride(b, d);
  }

  // One element has no neighbour, so its stride does not matter.
  void describe_stride(const ir::Buffer& b, int d) {
    const Expr& stride = b.strides[d];
    const Expr alone = b.extents[d] <= ir::index(1);
    Expr actual = stride;
    if (ir::is(stride, ir::Op::Variable) && ir::symbol_of(stride)->kind == ir::SymbolKind::Stride) {
      program_.scalars.push_back(
          {ir::symbol_of(stride), {.kind = ScalarSource::Kind::Stride, .argument = b.argument, .dim = d}});
    } else {
      actual = new_scalar(fmt::format("{}.stride.{}", b.name, d), ScalarSource::Kind::Stride, b, d);
      program_.checks.push_back({ir::simplify(actual == stride || alone),
                                 stride_message(b, d),
                                 b.name,
                                 {actual, stride, stride},
                                 "{}"});
    }
    for (const schedule::FormAssumption* f : forms_of(b)) {
      if (d == 0 || f->form.pitch_multiple == 1 || is_dense(b)) continue;
      const LoopTree::Check c = pitch_check(*f, d, actual, b.type);
      program_.checks.push_back(
          {ir::simplify(c.condition || alone), c.message, c.subject, c.values, c.legal});
    }
  }

  bool is_dense(const ir::Buffer& b) const {
    const auto forms = forms_of(b);
    return std::any_of(forms.begin(), forms.end(), [](const auto* f) { return f->form.dense; });
  }

  std::string stride_message(const ir::Buffer& b, int d) const {
    for (const schedule::FormAssumption* f : forms_of(b))
      if (f->form.dense || f->tensor)
        return fmt::format("dimension {} has stride {{}}, and the schedule's {} is for {{}}", d, f->origin);
    return fmt::format("dimension {} has stride {{}} but this kernel was compiled for {{}}", d);
  }

  void declare_workspace() {
    for (const auto& [func, storage] : tree_.storage) {
      const std::size_t first = program_.workspace.size();
      for (const ir::BufferPtr& buffer : storage.buffers)
        if (buffer->space == ir::MemorySpace::Global) add_workspace(buffer);
      const Kept* kept = tree_.find_kept(func);
      if (!kept) continue;
      program_.scalars.push_back({kept->present, {.kind = ScalarSource::Kind::Present}});
      program_.kept.push_back(
          {tree_.func(func).name, kept->present, first, program_.workspace.size() - first, kept->key});
    }
  }

  void add_workspace(const ir::BufferPtr& buffer) {
    Expr bytes = ir::index(buffer->type.bytes());
    for (const Expr& e : buffer->extents) bytes = bytes * e;
    bytes = ir::simplify(bytes, tree_.facts);
    require_computed(bytes, fmt::format("the memory of '{}'", buffer->name), buffer->name);
    program_.workspace.push_back({buffer, bytes});
    // The caller chose the width by the arguments; what lies between kernels can be larger.
    const Expr fits = ir::simplify(bytes <= ir::index(INT32_MAX), tree_.facts);
    if (options_.index_bits == 32 && !ir::is_one(fits))
      program_.checks.push_back(
          {fits,
           "its values between kernels take {} bytes where at most 2147483647 can be indexed",
           buffer->name,
           {bytes},
           "smaller images, or compute_at a loop inside a block"});
  }

  void add_function(const Unit& unit) {
    Function f;
    f.name = unit.name;
    f.gpu = unit.kernel.has_value();
    ir::Facts facts = tree_.facts;
    if (f.gpu) {
      f.body = KernelBinder(f, tree_.kernels.at(*unit.kernel)).run(unit.stmt);
      order_tiles(f, tree_, *unit.kernel, facts);
      learn_variables(f, facts);
      f.body = drop_own_shuffles(f, facts);
      f.body = simplify_stmt(f.body, facts);
    } else {
      f.body = unit.stmt;
    }
    if (f.gpu) add_tensors(f);
    UseCollector collector;
    collector.statement(f.body);
    for (const Expr& e : f.grid)
      if (e.defined()) collector.expression(e);
    for (const Scalar& s : program_.scalars)
      if (std::find(collector.uses.symbols.begin(), collector.uses.symbols.end(), s.symbol) !=
          collector.uses.symbols.end()) {
        const ir::Facts::Known* known = tree_.facts.find(s.symbol);
        f.scalars.push_back(s.symbol);
        f.multiples.push_back(known ? known->multiple : 1);
      }
    f.buffers = collector.uses.buffers;
    require_known(collector.uses.symbols, f);
    if (f.gpu) {
      require_grid(f);
      f.body = plain_division(share_values(f.body), facts);
      std::vector<ir::BufferPtr> arguments = tree_.inputs;
      for (const auto* more : {&tree_.outputs, &tree_.stored})
        arguments.insert(arguments.end(), more->begin(), more->end());
      narrow_indices(f, options_.index_bits, arguments, tree_.root_lets);
    }
    program_.steps.push_back({static_cast<int>(program_.functions.size())});
    program_.functions.push_back(std::move(f));
  }

  void add_tensors(Function& f) {
    f.body = find_tensors(f.body, f.tensors);
    require_few_tensors(f);
    for (const ir::TensorMapPtr& map : f.tensors)
      for (PlanCheck& check : tensor_checks(*map, tree_.facts)) program_.checks.push_back(std::move(check));
  }

  void learn_variables(const Function& f, ir::Facts& facts) const {
    for (int axis = 0; axis < 3; ++axis) {
      if (f.block_vars[axis])
        facts.set_range(f.block_vars[axis], ir::index(0),
                        ir::simplify(f.grid[axis] - ir::index(1), tree_.facts));
      if (f.thread_vars[axis])
        facts.set_range(f.thread_vars[axis], ir::index(0), f.block[axis] - ir::index(1));
    }
  }

  /// The Func whose definition uses a size.
  std::string user_of(const ir::SymbolPtr& size) const {
    const auto used = [&](const Expr& e) { return e.defined() && ir::uses(e, size); };
    for (const lang::FuncDef& func : graph().funcs)
      for (const lang::StageDef& stage : func.stages) {
        bool found = used(stage.value) || used(stage.predicate) ||
                     std::any_of(stage.lhs.begin(), stage.lhs.end(), used);
        for (const lang::ReductionDim& r : stage.reduction) found |= used(r.min) || used(r.extent);
        if (found) return func.name;
      }
    return "";
  }

  [[noreturn]] void refuse_unknown(const ir::SymbolPtr& size) const {
    throw Error({.kind = ErrorKind::Algorithm,
                 .message = fmt::format("the size '{}' does not follow from any argument", size->name),
                 .func = user_of(size),
                 .value = size->name,
                 .legal = "an input or output with a dimension of that extent"});
  }

  void require_known(const std::vector<ir::SymbolPtr>& used, const Function& f) const {
    for (const ir::SymbolPtr& s : used) {
      if (known(s)) continue;
      const bool thread = std::find(f.block_vars.begin(), f.block_vars.end(), s) != f.block_vars.end() ||
                          std::find(f.thread_vars.begin(), f.thread_vars.end(), s) != f.thread_vars.end() ||
                          s == f.resident_blocks ||
                          std::any_of(f.rings.begin(), f.rings.end(),
                                      [&](const ir::RingPtr& ring) { return ring->turn == s; });
      if (thread) continue;
      if (s->kind == ir::SymbolKind::Dim) refuse_unknown(s);
      throw Error(
          {.kind = ErrorKind::Internal, .message = fmt::format("'{}' is used but never defined", s->name)});
    }
  }

  static void require_computed(const Expr& size, const std::string& what, const std::string& func) {
    if (computed_by_calls(size)) return;
    throw Error(
        {.kind = ErrorKind::Schedule,
         .message = what + " is computed with floats, or by functions, and a call does so with integers",
         .func = func,
         .value = ir::to_string(size),
         .legal = "sizes that follow from integers; clamp() of indices; bound, bound_storage"});
  }

  // Limits of the launch: 2^31 - 1 blocks along x, 65535 along y and z.
  void require_grid(const Function& f) {
    for (int axis = 0; axis < 3; ++axis) {
      require_computed(f.grid[axis], fmt::format("the number of blocks of '{}'", f.name), f.name);
      const std::int64_t most = axis == 0 ? INT32_MAX : 65535;
      const std::optional<std::int64_t> bound = ir::constant_upper_bound(f.grid[axis], tree_.facts);
      if (bound && *bound <= most) continue;
      program_.checks.push_back({ir::simplify(f.grid[axis] <= ir::index(most), tree_.facts),
                                 fmt::format("{{}} blocks along {} where at most {} fit", "xyz"[axis], most),
                                 f.name,
                                 {f.grid[axis]},
                                 fmt::format("at most {}; larger tiles make fewer blocks", most)});
    }
  }

  // A scalar stays if a function, a check, the workspace or another scalar needs it.
  void drop_unused_scalars() {
    std::vector<ir::SymbolPtr> needed;
    auto need = [&](const Expr& e) {
      if (!e.defined()) return;
      for (const ir::SymbolPtr& s : ir::free_symbols(e)) needed.push_back(s);
    };
    for (const Function& f : program_.functions) {
      needed.insert(needed.end(), f.scalars.begin(), f.scalars.end());
      for (const Expr& e : f.grid) need(e);
      for (const ir::TensorMapPtr& map : f.tensors)
        for (const auto* operands : {&map->source->extents, &map->source->strides})
          for (const Expr& e : *operands) need(e);
    }
    for (const PlanCheck& c : program_.checks) {
      need(c.condition);
      for (const Expr& v : c.values) need(v);
    }
    for (const Workspace& w : program_.workspace) need(w.bytes);
    for (const KeptValues& k : program_.kept) {
      needed.push_back(k.present);
      for (const Expr& e : k.key) need(e);
    }
    std::vector<Scalar> kept;
    for (auto it = program_.scalars.rbegin(); it != program_.scalars.rend(); ++it) {
      if (std::find(needed.begin(), needed.end(), it->symbol) == needed.end()) continue;
      need(it->source.value);
      kept.push_back(*it);
    }
    program_.scalars.assign(kept.rbegin(), kept.rend());
  }

  const LoopTree& tree_;
  const Options& options_;
  Program program_;
};

}  // namespace

Program make_program(const LoopTree& tree, const std::vector<Unit>& units, const Options& options) {
  return ProgramMaker(tree, options).run(units);
}

}  // namespace calotype::lower
