// Unrolling: loops bound Unrolled become their iterations.
//
// Requires: a constant extent, or a constant upper bound of it (then each iteration tests for the end).
// Leaves: no Unrolled loop but those that the text says to unroll. Stands after vectorisation, so that a body
// is widened once and copied afterwards.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "lower/passes.h"

namespace calotype::lower {
namespace {

constexpr std::int64_t kMostCopies = 1024;  // by one loop, or by those of a nest together

class Unroller {
 public:
  explicit Unroller(const ir::Facts& facts) : facts_(facts) {}

  ir::Stmt run(const ir::Stmt& s) {
    if (s->kind == ir::StmtKind::For && s->loop().binding == ir::Binding::Unrolled && !s->loop().in_text)
      return unrolled(s);
    return ir::map_children(
        s, [](const Expr& e) { return e; }, [&](const ir::Stmt& child) { return run(child); });
  }

 private:
  ir::Stmt unrolled(const ir::Stmt& loop) {
    const ir::LoopInfo& info = loop->loop();
    const Expr &min = loop->exprs[0], &extent = loop->exprs[1];
    const std::optional<std::int64_t> exact = ir::as_int(extent);
    const std::optional<std::int64_t> count = exact ? exact : ir::constant_upper_bound(extent, facts_);
    if (!count || *count > kMostCopies) refuse_extent(loop, count);
    const std::int64_t around = copies_;
    copies_ *= std::max<std::int64_t>(*count, 1);
    around_.push_back(fmt::format("'{}' of {}", info.var->name, *count));
    if (copies_ > kMostCopies) refuse_nest(info);
    const ir::Stmt body = run(loop->body());
    around_.pop_back();
    copies_ = around;
    std::vector<ir::Stmt> copies;
    for (std::int64_t i = 0; i < *count; ++i) {
      ir::Stmt copy =
          fresh_copy(ir::substitute(body, {{info.var, ir::simplify(min + ir::index(i), facts_)}}));
      copies.push_back(exact ? copy : ir::if_then(ir::index(i) < extent, copy));
    }
    return ir::block(std::move(copies));
  }

  [[noreturn]] static void refuse_extent(const ir::Stmt& loop, std::optional<std::int64_t> count) {
    const ir::LoopInfo& info = loop->loop();
    throw Error({.kind = ErrorKind::Schedule,
                 .message = fmt::format("loop '{}' cannot be unrolled: its extent {}", info.var->name,
                                        count ? fmt::format("is {}", *count) : "has no constant bound"),
                 .func = info.func,
                 .directive = info.origin,
                 .value = ir::to_string(loop->exprs[1]),
                 .legal = fmt::format("a constant extent of at most {}: unroll by a factor, or split first",
                                      kMostCopies)});
  }

  [[noreturn]] void refuse_nest(const ir::LoopInfo& info) const {
    throw Error(
        {.kind = ErrorKind::Schedule,
         .message = fmt::format("the body would be written {} times, by the unrolled loops {}", copies_,
                                fmt::join(around_, " and ")),
         .func = info.func,
         .directive = info.origin,
         .value = std::to_string(copies_),
         .legal = fmt::format("at most {} copies: unroll by factors, or fewer of the loops", kMostCopies)});
  }

  const ir::Facts& facts_;
  std::int64_t copies_ = 1;          ///< of the statement at hand
  std::vector<std::string> around_;  ///< the unrolled loops around it
};

}  // namespace

ir::Stmt unroll_loops(const ir::Stmt& s, const ir::Facts& facts) { return Unroller(facts).run(s); }

}  // namespace calotype::lower
