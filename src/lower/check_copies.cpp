// Copies that would not be what they are called: refuses asynchronous copies of which none is of 4 bytes or
// more, bulk copies of rows that begin at no multiple of 16 bytes in any call, and boxes that begin elsewhere
// than the hardware takes them.
//
// Requires: expanded statements, where each access shows how many elements it takes. Leaves them as they are.
// Stands behind the passes that expand loops: only there is it known what lies side by side. Single elements
// at the ends of rows, and calls whose buffers have no dense rows, are no reason to refuse: code generators
// let the threads carry what is too small.

#include <fmt/format.h>

#include <set>

#include "lower/passes.h"

namespace calotype::lower {
namespace {

constexpr int kLeastBytes = 4;

bool is_dense(const Expr& index) {
  return ir::is(index, ir::Op::Ramp) && ir::is_one(index->args[1]) && index->args[0]->type.is_scalar();
}

/// Whether the elements may be had in pieces that are large enough.
bool is_large_enough(const ir::Stmt& s) {
  const Expr& value = s->exprs[0];
  const std::int64_t element = s->buffer()->type.bytes();
  if (element >= kLeastBytes) return true;
  if (!ir::is(value, ir::Op::Load) && !ir::is(value, ir::Op::LoadIf)) return false;
  const ir::Buffer& from = *ir::buffer_of(value);
  const bool callers = from.space == ir::MemorySpace::Argument && !from.strides.empty();
  if (callers && !ir::is_one(from.strides[0])) return true;  // what is compiled for such a call
  return is_dense(s->exprs[2]) && is_dense(value->args.back()) &&
         value->type.lanes * element % kLeastBytes == 0;
}

using instr::kBulkBytes;

/// Looks at every bulk copy, with what names on the way to it stand for.
class BulkCopies {
 public:
  explicit BulkCopies(const LoopTree& tree) : tree_(tree), facts_(tree.facts) {}

  void check(const ir::Stmt& s) {
    if (s->kind == ir::StmtKind::Let) facts_.set_value(s->symbol(), s->exprs[0]);
    if (s->kind == ir::StmtKind::Store && s->bulk()) s->box() ? check_box(s) : check_row(s);
    for (const ir::Stmt& child : s->stmts) check(child);
  }

 private:
  void check_row(const ir::Stmt& s) {
    const Expr& load = s->exprs[0];
    const ir::BufferPtr &to = s->buffer(), &from = ir::buffer_of(load);
    if (from->space == ir::MemorySpace::Argument && !ir::is_one(from->strides[0]))
      return;  // what is compiled for calls whose elements lie apart
    const std::int64_t elements = kBulkBytes / to->type.bytes();
    // There are calls whose rows lie multiples of that apart.
    for (std::size_t d = 1; from->space == ir::MemorySpace::Argument && d < from->strides.size(); ++d)
      if (ir::is(from->strides[d], ir::Op::Variable))
        facts_.set_multiple(ir::symbol_of(from->strides[d]), elements);
    for (const auto& [index, buffer] : {std::pair(s->exprs[2], to), {load->args.back(), from}})
      if (multiple_of(index) % elements != 0) refuse(to, *buffer, index);
  }

  [[noreturn]] void refuse(const ir::BufferPtr& to, const ir::Buffer& of, const Expr& index) const {
    refuse(to, index,
           fmt::format("rows of '{}' begin in '{}' at places that are not known to be multiples of "
                       "{} bytes, and a bulk copy takes no others",
                       to->name, of.name, kBulkBytes),
           fmt::format("tiles and parts of {} elements or multiples of it; align_storage by that on "
                       "what is computed; or copy(async)",
                       kBulkBytes / to->type.bytes()));
  }

  void check_box(const ir::Stmt& s) {
    const ir::TensorMap& map = *s->box();
    const ir::BufferPtr& to = s->buffer();
    const Expr &first = s->exprs[4], &index = s->exprs[2];
    const std::int64_t start = kBulkBytes / to->type.bytes();
    const std::int64_t bytes = instr::box_place_bytes(map.swizzle), place = bytes / to->type.bytes();
    if (multiple_of(first) % start != 0)
      refuse(to, first,
             fmt::format("boxes of '{}' begin along the first dimension of '{}' at elements that are not "
                         "known to be multiples of {}, which is {} bytes",
                         to->name, map.source->name, start, kBulkBytes),
             fmt::format("tiles and parts of {} elements or multiples of it along that dimension; or "
                         "copy(async)",
                         start));
    if (multiple_of(index) % place != 0)
      refuse(to, index,
             fmt::format("boxes of '{}' go to places in shared memory that are not known to be multiples of "
                         "{} bytes",
                         to->name, bytes),
             fmt::format("boxes of {} elements or multiples of it, or one for all that is stored; or "
                         "copy(async)",
                         place));
  }

  std::int64_t multiple_of(const Expr& e) const {
    return ir::known_multiple(ir::simplify(e, facts_), facts_);
  }

  [[noreturn]] void refuse(const ir::BufferPtr& to, const Expr& value, std::string message,
                           std::string legal) const {
    for (const auto& [func, storage] : tree_.storage)
      if (storage.buffers.front() == to)
        throw Error({.kind = ErrorKind::Schedule,
                     .message = std::move(message),
                     .func = tree_.func(func).name,
                     .directive = tree_.scheduled.of(func).copy_origin,
                     .value = ir::to_string(value),
                     .legal = std::move(legal)});
    throw Error({.kind = ErrorKind::Internal, .message = "a copy of no Func", .value = to->name});
  }

  const LoopTree& tree_;
  ir::Facts facts_;
};

}  // namespace

void check_copies(const LoopTree& tree, const std::vector<Unit>& units) {
  for (const Unit& unit : units) BulkCopies(tree).check(unit.stmt);
  std::set<ir::BufferPtr> all, good;
  for (const Unit& unit : units)
    ir::visit(unit.stmt, [&](const ir::Stmt& s) {
      if (s->kind != ir::StmtKind::Store || !s->is_async()) return;
      all.insert(s->buffer());
      if (is_large_enough(s)) good.insert(s->buffer());
    });
  for (const auto& [func, storage] : tree.storage) {
    const ir::BufferPtr& buffer = storage.buffers.front();
    if (!all.count(buffer) || good.count(buffer)) continue;
    const int bytes = buffer->type.bytes();
    throw Error(
        {.kind = ErrorKind::Schedule,
         .message = fmt::format("'{}' is copied in single elements of {} byte{}, and an asynchronous copy "
                                "is of 4, 8 or 16",
                                tree.func(func).name, bytes, bytes == 1 ? "" : "s"),
         .func = tree.func(func).name,
         .directive = tree.scheduled.of(func).copy_origin,
         .value = std::to_string(bytes),
         .legal = fmt::format("vectorize by a multiple of {} along the coordinate that has neighbours in "
                              "both memories; or copy(threads)",
                              kLeastBytes / bytes)});
  }
}

}  // namespace calotype::lower
