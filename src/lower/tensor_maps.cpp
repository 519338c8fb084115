// Tensors of a kernel, and the checks of their extents and strides.
#include "lower/tensor_maps.h"

#include <fmt/format.h>

#include <algorithm>

#include "calotype/error.h"
#include "runtime/plan.h"
#include "schedule/forms.h"

namespace calotype::lower {
namespace {

using schedule::kTensorBytes;
using schedule::kTensorExtent;
using schedule::kTensorStride;

bool alike(const ir::TensorMap& a, const ir::TensorMap& b) {
  return a.source == b.source && a.box == b.box && a.swizzle == b.swizzle;
}

class Checks {
 public:
  Checks(const ir::TensorMap& map, const ir::Facts& facts) : map_(map), source_(*map.source), facts_(facts) {}

  std::vector<PlanCheck> run() {
    const auto rank = source_.extents.size();
    for (std::size_t d = 0; d < rank; ++d) check_extent(d);
    for (std::size_t d = 1; d < rank; ++d) check_stride(d);
    return std::move(checks_);
  }

 private:
  /// `is` is what a call has, and `legal` what the directive is for.
  void add(const Expr& condition, const std::string& is, const Expr& value, const std::string& is_for,
           std::string legal) {
    const Expr holds = ir::simplify(condition, facts_);
    if (!ir::is_one(holds))
      checks_.push_back({holds,
                         fmt::format("{}, and the schedule's {} is for {}", is, map_.origin, is_for),
                         source_.name,
                         {value},
                         std::move(legal)});
  }

  void check_extent(std::size_t d) {
    const Expr& extent = source_.extents[d];
    add(extent <= ir::index(kTensorExtent), fmt::format("dimension {} has extent {{}}", d), extent,
        fmt::format("extents of up to {}", kTensorExtent), fmt::format("at most {}", kTensorExtent));
  }

  /// One element has no neighbour, so its stride does not matter.
  void check_stride(std::size_t d) {
    const std::int64_t size = source_.type.bytes();
    const Expr &extent = source_.extents[d], &stride = source_.strides[d];
    const Expr alone = extent <= ir::index(1), bytes = ir::simplify(stride * ir::index(size), facts_);
    const std::string is = fmt::format("the stride of dimension {} is {{}} bytes", d);
    if (source_.space != ir::MemorySpace::Argument)
      add(bytes % ir::index(kTensorBytes) == ir::index(0) || alone, is, bytes,
          fmt::format("multiples of {}", kTensorBytes),
          fmt::format("sizes that are multiples of {0} elements, or align_storage by {0} along what is "
                      "innermost in '{1}'",
                      kTensorBytes / size, source_.name));
    add((stride > ir::index(0) && stride < ir::index(kTensorStride / size)) || alone, is, bytes,
        fmt::format("positive ones below {}", kTensorStride),
        "positive strides, in smaller buffers; or another copy in a case for such calls");
  }

  const ir::TensorMap& map_;
  const ir::Buffer& source_;
  const ir::Facts& facts_;
  std::vector<PlanCheck> checks_;
};

}  // namespace

ir::Stmt find_tensors(const ir::Stmt& body, std::vector<ir::TensorMapPtr>& tensors) {
  return ir::rewrite(body, [&](const ir::Stmt& s) {
    const ir::TensorMapPtr map = s->kind == ir::StmtKind::Store ? s->box() : nullptr;
    if (!map) return s;
    auto known = std::find_if(tensors.begin(), tensors.end(),
                              [&](const ir::TensorMapPtr& other) { return alike(*other, *map); });
    if (known == tensors.end()) known = tensors.insert(tensors.end(), map);
    ir::BulkStore how = *s->bulk();
    how.map = *known;
    return ir::make_stmt(s->kind, s->exprs, {}, std::make_shared<const ir::BulkStore>(std::move(how)));
  });
}

void require_few_tensors(const Function& kernel) {
  if (kernel.tensors.size() <= CALOTYPE_MOST_TENSORS) return;
  throw Error(
      {.kind = ErrorKind::Schedule,
       .message = fmt::format("the kernel '{}' copies boxes of {} kinds, and a launch has room for {}",
                              kernel.name, kernel.tensors.size(), int{CALOTYPE_MOST_TENSORS}),
       .func = kernel.name,
       .value = std::to_string(kernel.tensors.size()),
       .legal = "copy(bulk) or copy(async) for the others"});
}

std::vector<PlanCheck> tensor_checks(const ir::TensorMap& map, const ir::Facts& facts) {
  return Checks(map, facts).run();
}

}  // namespace calotype::lower
