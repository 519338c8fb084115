// Evaluating a Func that a function computes.

#include "lang/run_extern.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "calotype/float16.h"
#include "ir/extern_call.h"
#include "ir/runtime_type.h"

namespace calotype::lang {

namespace {

constexpr int kPoison = 0xa5;  ///< the bytes of elements that the function has yet to write

/// What is read of one callee.
struct Read {
  ir::CalleePtr callee;
  Region box;
};

class ExternRun {
 public:
  ExternRun(const FuncDef& func, const Region& region, const Constants& constants, Stores& stores)
      : func_(func),
        stage_(func.stages.front()),
        region_(region),
        constants_(constants),
        stores_(stores),
        targets_(stores.funcs[func.id.value]) {}

  void operator()() {
    for (Storage& target : targets_)
      std::memset(target.values.data(), kPoison,
                  static_cast<std::size_t>(target.values.elements() * target.values.type().bytes()));
    if (region_.elements() == 0) return;
    find_reads();
    if (std::optional<Diagnostic> fault = what_is_spoiled()) return spoil(*fault);
    call();
    note_errors();
  }

 private:
  void find_reads() {
    for (const Expr& read : stage_.reads()) {
      const ir::CalleePtr& callee = ir::callee_of(read);
      if (std::none_of(reads_.begin(), reads_.end(), [&](const Read& r) { return r.callee == callee; }))
        reads_.push_back({callee, {}});
    }
    const StageLoops loops = stage_loops(func_, 0, region_, constants_);
    if (loops.empty()) return;
    Ranges ranges;
    for (std::size_t d = 0; d < loops.pure.size(); ++d) ranges[func_.args[d].get()] = loops.pure[d];
    for (std::size_t d = 0; d < loops.reduction.size(); ++d)
      ranges[stage_.reduction[d].symbol.get()] = loops.reduction[d];
    for (const Expr& read : stage_.reads()) {
      std::vector<Range> box;
      for (const Expr& coordinate : read->args) box.push_back(range_of(coordinate, ranges, constants_));
      const auto of = std::find_if(reads_.begin(), reads_.end(),
                                   [&](const Read& r) { return r.callee == ir::callee_of(read); });
      of->box.include(box);
    }
  }

  /// Why nothing can be computed.
  std::optional<Diagnostic> what_is_spoiled() const {
    for (const Read& read : reads_) {
      if (!read.box.needed) continue;
      const Storage& source = stores_.of(*read.callee);
      for (std::size_t d = 0; d < read.box.dims.size(); ++d)
        if (!holds(source.values, static_cast<int>(d), read.box.dims[d]))
          return outside(source, static_cast<int>(d), read.box.dims[d]);
      if (any_of(read, source.spoiled, [](std::uint8_t s) { return s != 0; })) return source.fault;
    }
    return std::nullopt;
  }

  static bool holds(const Buffer& values, int d, const Range& range) {
    return range.min >= values.min(d) && range.max < values.min(d) + values.extent(d);
  }

  Diagnostic outside(const Storage& input, int d, const Range& range) const {
    return {.kind = ErrorKind::Argument,
            .message = fmt::format("dimension {} of '{}' is read from {} to {} but holds {} to {}", d,
                                   input.name, range.min, range.max, input.values.min(d),
                                   input.values.min(d) + input.values.extent(d) - 1),
            .func = func_.name,
            .value = fmt::format("[{}, {}]", range.min, range.max),
            .legal = "larger inputs, or a boundary condition in the algorithm"};
  }

  /// Whether `f` holds of an element, in the box that is read, of an array beside the values.
  template <class T, class F>
  bool any_of(const Read& read, const std::vector<T>& array, F f) const {
    if (array.empty()) return false;
    const Buffer& values = stores_.of(*read.callee).values;
    std::vector<std::int64_t> at;
    for (const Range& r : read.box.dims) at.push_back(r.min);
    while (true) {
      std::int64_t offset = 0;
      for (std::size_t d = 0; d < at.size(); ++d)
        offset += (at[d] - values.min(static_cast<int>(d))) * values.stride(static_cast<int>(d));
      if (f(array[static_cast<std::size_t>(offset)])) return true;
      std::size_t d = 0;
      for (; d < at.size() && ++at[d] > read.box.dims[d].max; ++d) at[d] = read.box.dims[d].min;
      if (d == at.size()) return false;
    }
  }

  void spoil(const Diagnostic& fault) {
    for (Storage& target : targets_) {
      target.spoiled.assign(static_cast<std::size_t>(target.values.elements()), 1);
      target.fault = fault;
    }
  }

  void call() {
    std::vector<calotype_buffer> outputs, inputs;
    for (const Storage& target : targets_) outputs.push_back(target.values.raw());
    for (const Read& read : reads_) inputs.push_back(part(read));
    std::vector<std::int64_t> scalars;
    for (const Expr& e : stage_.scalars()) scalars.push_back(bits_of(scalar_value(e, constants_)));
    const std::optional<std::string> failed =
        ir::call_extern(*stage_.function(), func_.name, outputs, inputs, scalars);
    if (!failed) return;
    throw Error({.kind = ErrorKind::Argument,
                 .message = *failed,
                 .func = func_.name,
                 .legal = "inputs for which it does not"});
  }

  calotype_buffer part(const Read& read) const {
    if (!read.box.needed) {  // over no points of the RDom
      calotype_buffer none{};
      none.type = ir::runtime_type(read.callee->type);
      none.rank = read.callee->rank;
      for (int d = 0; d < none.rank; ++d) none.dims[d].stride = 1;
      return none;
    }
    Buffer values = stores_.of(*read.callee).values;
    for (std::size_t d = 0; d < read.box.dims.size(); ++d)
      values = values.crop(static_cast<int>(d), read.box.dims[d].min, read.box.dims[d].extent());
    return values.raw();
  }

  /// A scalar as calotype_argument holds it.
  static std::int64_t bits_of(const ir::Value& value) {
    if (!value.type.is_float()) return value.i;
    if (value.type.bits == 64) return std::bit_cast<std::int64_t>(value.f);
    const auto narrow = static_cast<float>(value.f);
    if (value.type.bits == 32) return std::bit_cast<std::uint32_t>(narrow);
    return value.type == BFloat(16) ? float_to_bfloat_bits(narrow) : float_to_half_bits(narrow);
  }

  void note_errors() {
    const bool exact = std::none_of(reads_.begin(), reads_.end(), [&](const Read& read) {
      return read.box.needed &&
             any_of(read, stores_.of(*read.callee).bound, [](double bound) { return bound != 0; });
    });
    for (Storage& target : targets_) {
      if (!target.with_error) continue;
      std::vector<std::int64_t> at;
      for (const Range& r : region_.dims) at.push_back(r.min);
      for (std::size_t i = 0; i < target.exact.size(); ++i) {
        target.exact[i] = target.values.value(at);
        target.bound[i] = exact ? 0 : kUnknownError;
        for (std::size_t d = 0; d < at.size() && ++at[d] > region_.dims[d].max; ++d)
          at[d] = region_.dims[d].min;
      }
    }
  }

  const FuncDef& func_;
  const StageDef& stage_;
  const Region& region_;
  const Constants& constants_;
  Stores& stores_;
  std::vector<Storage>& targets_;
  std::vector<Read> reads_;
};

}  // namespace

void run_extern(const FuncDef& func, const Region& region, const Constants& constants, Stores& stores) {
  ExternRun(func, region, constants, stores)();
}

}  // namespace calotype::lang
