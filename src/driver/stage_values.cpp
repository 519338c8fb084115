// Running a kernel with its stages stored, and comparing them.

#include "driver/stage_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "driver/kernel_impl.h"
#include "lang/evaluate_regions.h"

namespace calotype::driver {
namespace {

using lang::FuncId;
using lang::Range;

const lang::OutputDef* output_of(const lang::Graph& graph, FuncId id, int component) {
  const auto at = std::find_if(graph.outputs.begin(), graph.outputs.end(), [&](const lang::OutputDef& o) {
    return o.func == id && o.component == component;
  });
  return at == graph.outputs.end() ? nullptr : &*at;
}

/// Whether a Func is the algorithm's own, whose definition no schedule has touched.
bool is_own(const lang::Graph& algorithm, FuncId id) {
  return id.value < static_cast<int>(algorithm.funcs.size());
}

Buffer over_box(Type type, const std::vector<Range>& box) {
  std::vector<std::int64_t> extents, mins;
  for (const Range& r : box) {
    extents.push_back(r.extent());
    mins.push_back(r.min);
  }
  return Buffer(type, extents).translate(mins);
}

std::size_t bytes_of(const Buffer& dense) {
  return static_cast<std::size_t>(dense.elements()) * dense.type().bytes();
}

void fill_bytes(const Buffer& dense, int byte) {
  if (dense.elements() > 0) std::memset(dense.data(), byte, bytes_of(dense));
}

double param_value(const lang::ParamDef& p, const StageArguments& arguments) {
  const auto given = arguments.params.find(p.name);
  return given != arguments.params.end() ? given->second : p.initial.value_or(0);
}

/// One kernel with its buffers.
class Run {
 public:
  Run(const lang::Graph& algorithm, const schedule::Scheduled& scheduled, const std::vector<FuncId>& stages,
      const StageArguments& arguments)
      : scheduled_(scheduled), arguments_(arguments), constants_(bind(algorithm, arguments)) {
    make_outputs();
    const std::vector<lang::Region> own = lang::required_regions(algorithm, constants_),
                                    all = lang::required_regions(scheduled.graph, constants_);
    for (const FuncId id : stages) add(id, (is_own(algorithm, id) ? own : all)[id.value]);
  }

  std::vector<StageValues> operator()() {
    const KernelImpl kernel(scheduled_.graph, one_way(scheduled_), {}, {.stored_stages = stored_});
    constexpr int kFirst = 0x00, kSecond = 0xff;  // the second is a NaN in every float type
    call(kernel, kFirst);
    std::vector<Buffer> first;
    for (const StageValues& s : stages_) first.push_back(s.computed.defined() ? s.values.copy() : Buffer());
    call(kernel, kSecond);
    for (std::size_t i = 0; i < stages_.size(); ++i)
      if (stages_[i].computed.defined()) mark_computed(stages_[i], first[i], kFirst, kSecond);
    return std::move(stages_);
  }

 private:
  static lang::Constants bind(const lang::Graph& algorithm, const StageArguments& arguments) {
    return lang::bind_arguments(algorithm, arguments.inputs, arguments.params, arguments.sizes);
  }

  void make_outputs() {
    for (const lang::OutputDef& output : scheduled_.graph.outputs) {
      std::vector<std::int64_t> extents;
      for (const Expr& e : output.extents) extents.push_back(lang::size_value(e, constants_));
      outputs_.emplace_back(scheduled_.graph.output_type(output), extents);
    }
  }

  void add(FuncId id, const lang::Region& region) {
    const lang::FuncDef& func = scheduled_.graph.func(id);
    const bool is_output = output_of(scheduled_.graph, id, 0) != nullptr;
    if (!is_output && region.needed) stored_.push_back(id);
    for (int c = 0; c < func.components(); ++c) {
      StageValues stage{.func = id,
                        .name = func.is_tuple() ? fmt::format("{}.{}", func.name, c) : func.name,
                        .values = {},
                        .computed = {}};
      if (is_output) {
        stage.values = outputs_[output_of(scheduled_.graph, id, c) - scheduled_.graph.outputs.data()];
      } else if (region.needed) {
        stage.values = over_box(func.types[c], region.dims);
        stage.computed = over_box(UInt(8), region.dims);
      }
      stages_.push_back(std::move(stage));
    }
  }

  void call(const KernelImpl& kernel, int byte) const {
    std::vector<Arg> args;
    for (const lang::Graph::ArgumentRef& ref : scheduled_.graph.arguments) {
      if (ref.is_param)
        args.emplace_back(param_value(scheduled_.graph.params[ref.index], arguments_));
      else
        args.emplace_back(arguments_.inputs[ref.index]);
    }
    for (const Buffer& output : outputs_) args.emplace_back(output);
    for (const StageValues& s : stages_)
      if (s.computed.defined()) args.emplace_back(s.values);
    for (const Buffer& output : outputs_) fill_bytes(output, byte);
    for (const StageValues& s : stages_)
      if (s.computed.defined()) fill_bytes(s.values, byte);
    kernel.call(args);
  }

  /// Finds the elements that held the bytes they were filled with after both calls.
  static void mark_computed(StageValues& stage, const Buffer& first, int first_byte, int second_byte) {
    const std::size_t size = stage.values.type().bytes();
    auto* then = static_cast<const unsigned char*>(first.data());
    auto* now = static_cast<unsigned char*>(stage.values.data());
    auto* computed = static_cast<unsigned char*>(stage.computed.data());
    for (std::int64_t i = 0; i < stage.values.elements(); ++i, then += size, now += size) {
      const bool kept = std::all_of(then, then + size, [&](int b) { return b == first_byte; }) &&
                        std::all_of(now, now + size, [&](int b) { return b == second_byte; });
      computed[i] = !kept;
      if (kept && !stage.values.type().is_float()) std::memset(now, 0, size);
    }
  }

  const schedule::Scheduled& scheduled_;
  const StageArguments& arguments_;
  lang::Constants constants_;
  std::vector<Buffer> outputs_;
  std::vector<StageValues> stages_;
  std::vector<FuncId> stored_;
};

/// The part of a buffer over the box of another; a buffer that is undefined stays so.
Buffer part(Buffer whole, const Buffer& box) {
  if (!whole.defined()) return whole;
  for (int d = 0; d < box.rank(); ++d) whole = whole.crop(d, box.min(d), box.extent(d));
  return whole;
}

/// u8: 1 where an element was computed and the reference has a value for it.
Buffer counted(const StageValues& stage, const lang::FuncValues& reference) {
  if (!reference.spoiled.defined()) return stage.computed;
  const Buffer spoiled = part(reference.spoiled, stage.values).copy();
  Buffer result = stage.computed.defined() ? stage.computed.copy() : spoiled.copy();
  if (!stage.computed.defined()) fill_bytes(result, 1);
  auto* counts = static_cast<std::uint8_t*>(result.data());
  const auto* bad = static_cast<const std::uint8_t*>(spoiled.data());
  for (std::int64_t i = 0; i < result.elements(); ++i) counts[i] = counts[i] && !bad[i];
  return result;
}

}  // namespace

schedule::Scheduled schedule_for(const lang::Graph& algorithm, const Schedule& schedule, const Target& target,
                                 const StageArguments& arguments) {
  schedule::Ways ways = schedule::ways_or_throw(algorithm, schedule, target);
  if (ways.ways.size() == 1) return std::move(ways.ways.front().scheduled);
  const lang::Constants constants =
      lang::bind_arguments(algorithm, arguments.inputs, arguments.params, arguments.sizes);
  std::vector<Arg> args;
  for (const lang::Graph::ArgumentRef& ref : algorithm.arguments) {
    if (ref.is_param)
      args.emplace_back(param_value(algorithm.params[ref.index], arguments));
    else
      args.emplace_back(arguments.inputs[ref.index]);
  }
  for (const lang::OutputDef& output : algorithm.outputs) {
    std::vector<std::int64_t> extents;
    for (const Expr& e : output.extents) extents.push_back(lang::size_value(e, constants));
    args.emplace_back(Buffer(algorithm.output_type(output), extents));
  }
  return std::move(ways.ways[ways.choose(ConditionReader(algorithm, ways).holds(args))].scheduled);
}

std::vector<FuncId> realised_stages(const schedule::Scheduled& scheduled) {
  std::vector<FuncId> stages;
  for (const FuncId id : scheduled.order)
    if (scheduled.of(id).compute.kind != schedule::Place::Kind::Inline) stages.push_back(id);
  return stages;
}

std::vector<StageValues> run_stages(const lang::Graph& algorithm, const schedule::Scheduled& scheduled,
                                    const std::vector<FuncId>& stages, const StageArguments& arguments) {
  return Run(algorithm, scheduled, stages, arguments)();
}

std::vector<lang::FuncValues> reference_stages(const lang::Graph& algorithm,
                                               const schedule::Scheduled& scheduled,
                                               const std::vector<FuncId>& stages,
                                               const StageArguments& arguments) {
  std::vector<std::vector<lang::FuncValues>> all(stages.size());
  for (const bool own : {true, false}) {
    std::vector<FuncId> ids;
    for (const FuncId id : stages)
      if (is_own(algorithm, id) == own) ids.push_back(id);
    if (ids.empty()) continue;
    std::vector<std::vector<lang::FuncValues>> found = lang::evaluate_funcs(
        own ? algorithm : scheduled.graph, ids, arguments.inputs, arguments.params, arguments.sizes);
    for (std::size_t i = 0; i < ids.size(); ++i)
      all[std::find(stages.begin(), stages.end(), ids[i]) - stages.begin()] = std::move(found[i]);
  }
  std::vector<lang::FuncValues> flat;
  for (std::vector<lang::FuncValues>& components : all)
    for (lang::FuncValues& values : components) flat.push_back(std::move(values));
  return flat;
}

std::vector<StageComparison> compare_stages(const std::vector<StageValues>& values,
                                            const std::vector<lang::FuncValues>& reference) {
  std::vector<StageComparison> results;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const StageValues& stage = values[i];
    StageComparison result;
    if (stage.values.defined() && stage.values.elements() > 0) {
      const lang::Expected expected{.values = part(reference[i].values, stage.values),
                                    .exact = part(reference[i].exact, stage.values),
                                    .bound = part(reference[i].bound, stage.values),
                                    .counted = counted(stage, reference[i])};
      static_cast<lang::EqualityReport&>(result) = lang::compare(stage.values, expected, false);
      result.box = stage.values.elements();
    }
    result.func = stage.func;
    result.name = stage.name;
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace calotype::driver
