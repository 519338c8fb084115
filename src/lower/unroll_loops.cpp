// Unrolling: loops bound Unrolled become their iterations.
//
// Requires: a constant extent, or a constant upper bound of it (then each iteration tests for the end).
// Leaves: no Unrolled loop. Stands after vectorisation, so that a body is widened once and copied afterwards.

#include <fmt/format.h>

#include "lower/passes.h"

namespace calotype::lower {
namespace {

constexpr std::int64_t kMostCopies = 1024;

ir::Stmt unrolled(const ir::Stmt& loop, const ir::Facts& facts) {
  const ir::LoopInfo& info = loop->loop();
  const Expr& min = loop->exprs[0];
  const Expr& extent = loop->exprs[1];
  const std::optional<std::int64_t> exact = ir::as_int(extent);
  const std::optional<std::int64_t> count = exact ? exact : ir::constant_upper_bound(extent, facts);
  if (!count || *count > kMostCopies)
    throw Error({.kind = ErrorKind::Schedule,
                 .message = fmt::format("loop '{}' cannot be unrolled: its extent {}", info.var->name,
                                        count ? fmt::format("is {}", *count) : "has no constant bound"),
                 .func = info.func,
                 .directive = info.origin,
                 .value = ir::to_string(extent),
                 .legal = fmt::format("a constant extent of at most {}: unroll by a factor, or split first",
                                      kMostCopies)});
  std::vector<ir::Stmt> copies;
  for (std::int64_t i = 0; i < *count; ++i) {
    ir::Stmt copy =
        fresh_copy(ir::substitute(loop->body(), {{info.var, ir::simplify(min + ir::index(i), facts)}}));
    copies.push_back(exact ? copy : ir::if_then(ir::index(i) < extent, copy));
  }
  return ir::block(std::move(copies));
}

}  // namespace

ir::Stmt unroll_loops(const ir::Stmt& s, const ir::Facts& facts) {
  return ir::rewrite(s, [&](const ir::Stmt& node) {
    return node->kind == ir::StmtKind::For && node->loop().binding == ir::Binding::Unrolled
               ? unrolled(node, facts)
               : node;
  });
}

}  // namespace calotype::lower
