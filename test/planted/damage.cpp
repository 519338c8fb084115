// Each damage is one rewriting of one statement.

#include "planted/damage.h"

#include "ir/simplify.h"

namespace calotype::test {
namespace {

using ir::MemorySpace;
using ir::Stmt;
using ir::StmtKind;
using Kind = ir::SyncInfo::Kind;

bool is_sync(const Stmt& s, Kind kind) { return s->kind == StmtKind::Barrier && s->sync().kind == kind; }

Expr moved(const Expr& index, std::int64_t by) {
  return ir::make(ir::Op::Add, index->type, {index, ir::make_const(index->type, static_cast<double>(by))});
}

bool is_shared_load(const Expr& e) {
  return (e->op == ir::Op::Load || e->op == ir::Op::LoadIf) && ir::buffer_of(e)->space == MemorySpace::Shared;
}

/// A store again with another index.
Stmt with_index(const Stmt& s, std::int64_t by) {
  std::vector<Expr> exprs = s->exprs;
  exprs[2] = moved(exprs[2], by);
  return ir::make_stmt(s->kind, std::move(exprs), s->stmts, s->attr);
}

Stmt with_sync(const Stmt& s, const std::function<void(ir::SyncInfo&)>& change) {
  ir::SyncInfo sync = s->sync();
  change(sync);
  return ir::make_stmt(s->kind, s->exprs, s->stmts, std::make_shared<const ir::SyncInfo>(std::move(sync)));
}

Stmt with_map(const Stmt& s, const std::function<void(ir::TensorMap&)>& change) {
  ir::BulkStore how = *s->bulk();
  ir::TensorMap map = *how.map;
  change(map);
  how.map = std::make_shared<const ir::TensorMap>(std::move(map));
  return ir::make_stmt(s->kind, s->exprs, s->stmts, std::make_shared<const ir::BulkStore>(std::move(how)));
}

Stmt shorter(const Stmt& s) {
  if (!s->bulk()) return nullptr;
  if (s->box())
    return s->box()->box.back() < 2 ? nullptr : with_map(s, [](ir::TensorMap& map) { --map.box.back(); });
  if (ir::is_one(s->exprs[4])) return nullptr;
  std::vector<Expr> exprs = s->exprs;
  exprs[4] = moved(exprs[4], -1);
  return ir::make_stmt(s->kind, std::move(exprs), s->stmts, s->attr);
}

/// Whether a buffer is storage of the Func: its own, or that of its partial results.
bool is_of(const ir::BufferPtr& buffer, const std::string& func) {
  return !func.empty() && (buffer->name == func || buffer->name.starts_with(func + ".") ||
                           buffer->name.starts_with(func + "_of_"));
}

Stmt shifted_loads(const Stmt& s, const std::string& spared) {
  if (s->kind != StmtKind::Store && s->kind != StmtKind::Let) return nullptr;
  bool any = false;
  std::vector<Expr> exprs = s->exprs;
  exprs[0] = ir::rewrite(exprs[0], [&](const Expr& e) {
    if (!is_shared_load(e) || is_of(ir::buffer_of(e), spared)) return e;
    any = true;
    std::vector<Expr> args = e->args;
    args.back() = moved(args.back(), 1);
    return ir::with_args(e, std::move(args));
  });
  return any ? ir::make_stmt(s->kind, std::move(exprs), s->stmts, s->attr) : nullptr;
}

const Stmt kNothing = ir::block({});

/// The damaged statement, or null where this damage is not to be done.
Stmt damaged(const Stmt& s, Damage damage, const std::string& spared) {
  const bool store = s->kind == StmtKind::Store;
  switch (damage) {
    case Damage::DropBarrier:
      return is_sync(s, Kind::Block) || is_sync(s, Kind::Cluster) || is_sync(s, Kind::ClusterWait) ? kNothing
                                                                                                   : nullptr;
    case Damage::DropWait:
      return is_sync(s, Kind::Wait) || is_sync(s, Kind::Await) ? kNothing : nullptr;
    case Damage::DropArrival:
      return is_sync(s, Kind::Arrive) ? kNothing : nullptr;
    case Damage::WaitTwice:
      return is_sync(s, Kind::Await) ? ir::block({s, s}) : nullptr;
    case Damage::WaitForLess:
      return is_sync(s, Kind::Wait) ? with_sync(s, [](ir::SyncInfo& sync) { ++sync.pending; }) : nullptr;
    case Damage::DropFence:
      return s->kind == StmtKind::Barrier && s->sync().fence
                 ? with_sync(s, [](ir::SyncInfo& sync) { sync.fence = false; })
                 : nullptr;
    case Damage::FewerBytes:
      return is_sync(s, Kind::Arrive) && s->sync().bytes > 0
                 ? with_sync(s, [](ir::SyncInfo& sync) { sync.bytes -= 4; })
                 : nullptr;
    case Damage::ShorterCopy:
      return store ? shorter(s) : nullptr;
    case Damage::OtherSwizzle:
      return store && s->box() && s->box()->swizzle != 0
                 ? with_map(s,
                            [](ir::TensorMap& map) { map.swizzle = map.swizzle == 32 ? 0 : map.swizzle / 2; })
                 : nullptr;
    case Damage::ShiftedLoads:
      return shifted_loads(s, spared);
    case Damage::ShiftedStore:
      return store && s->buffer()->space == MemorySpace::Shared && !s->bulk() ? with_index(s, 1) : nullptr;
    case Damage::FartherStore:
      return store && s->buffer()->space == MemorySpace::Argument ? with_index(s, 1 << 24) : nullptr;
  }
  return nullptr;
}

/// Does the damage at one place of a kernel.
class Planting {
 public:
  Planting(Damage damage, int site, std::string spared, Passing passing)
      : damage_(damage), site_(site), spared_(std::move(spared)), passing_(passing) {}

  void into(lower::Function& kernel) {
    kernel.body = statement(kernel.body);
    // Boxes are of maps that the kernel lists.
    if (!replaced_) return;
    for (ir::TensorMapPtr& map : kernel.tensors)
      if (map == replaced_->box()) map = made_->box();
    kernel.body = ir::rewrite(kernel.body, [&](const Stmt& s) {
      if (s->kind != StmtKind::Store || s->box() != replaced_->box()) return s;
      ir::BulkStore how = *s->bulk();
      how.map = made_->box();
      return ir::make_stmt(s->kind, s->exprs, s->stmts,
                           std::make_shared<const ir::BulkStore>(std::move(how)));
    });
  }
  bool done() const { return site_ < 0; }

 private:
  Stmt statement(const Stmt& s) {
    if (done()) return s;
    if (const Stmt other = damaged(s, damage_, spared_); other && site_-- == 0) {
      if (s->kind == StmtKind::Store && s->box() && other->box() != s->box()) {
        replaced_ = s;
        made_ = other;
      }
      if (passing_ == Passing::Silent) return other;
      return ir::block({ir::print_line(ir::make_one(Bool()), "damaged"), other});
    }
    return ir::map_children(
        s, [](const Expr& e) { return e; }, [&](const Stmt& child) { return statement(child); });
  }

  Damage damage_;
  int site_;
  std::string spared_;
  Passing passing_;
  Stmt replaced_, made_;
};

}  // namespace

const std::vector<Damage>& all_damages() {
  static const std::vector<Damage> all = {Damage::DropBarrier,  Damage::DropWait,     Damage::DropArrival,
                                          Damage::WaitTwice,    Damage::WaitForLess,  Damage::DropFence,
                                          Damage::FewerBytes,   Damage::ShorterCopy,  Damage::OtherSwizzle,
                                          Damage::ShiftedLoads, Damage::ShiftedStore, Damage::FartherStore};
  return all;
}

std::string to_string(Damage damage) {
  static const char* const names[] = {"DropBarrier",  "DropWait",     "DropArrival",  "WaitTwice",
                                      "WaitForLess",  "DropFence",    "FewerBytes",   "ShorterCopy",
                                      "OtherSwizzle", "ShiftedLoads", "ShiftedStore", "FartherStore"};
  return names[static_cast<int>(damage)];
}

bool shows_on_gpu(Damage damage) { return damage != Damage::FewerBytes && damage != Damage::WaitTwice; }

std::optional<lower::Program> damaged(const lower::Program& program, Damage damage, int site,
                                      const std::string& spared, Passing passing) {
  lower::Program other = program;
  Planting planting(damage, site, spared, passing);
  for (lower::Function& function : other.functions)
    if (function.gpu && !planting.done()) planting.into(function);
  if (!planting.done()) return std::nullopt;
  return other;
}

}  // namespace calotype::test
