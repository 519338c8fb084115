// Compiling and calling kernels.

#include "driver/kernel_impl.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <new>
#include <nlohmann/json.hpp>

#include "calotype/error.h"
#include "codegen/cuda/nvrtc_compile.h"
#include "schedule/forms.h"

namespace calotype::driver {
namespace {

// Dimension 0 strides that get code of their own: dense, and interleaved channels.
constexpr std::int64_t kLargestUnitStride = 4;
// Arguments that span less than this many bytes are indexed in 32 bits by kernels.
constexpr std::int64_t kNarrowBytes = std::int64_t{1} << 30;

std::unique_ptr<Executable> make_executable(const lower::Program& program, const ExecutableOptions& options) {
  switch (program.target.kind) {
    case Target::Kind::Host:
      return make_host_executable(program, options);
    case Target::Kind::Cuda:
      return make_cuda_executable(program, options);
    case Target::Kind::CudaInterpreter:
      return make_interpreter_executable(program, options);
  }
  return nullptr;
}

/// The Func whose storage a buffer is: of a Tuple there is one buffer for each value, NAME.0 and on.
std::string owner_of(const lang::Graph& graph, const std::string& buffer) {
  const std::string func = buffer.substr(0, buffer.rfind('.'));
  return !graph.find_func(buffer) && graph.find_func(func) ? func : buffer;
}

[[noreturn]] void throw_error(const lang::Graph& graph, const calotype_error& error) {
  const bool storage = error.kind == CALOTYPE_OUT_OF_MEMORY;
  throw Error({.kind = cuda::kind_of(error.kind),
               .subject = graph.subject_of(error.func),
               .message = fmt::format("{}: {}", graph.name, error.message),
               .func = storage ? owner_of(graph, error.func) : error.func,
               .value = error.value,
               .legal = error.legal});
}

std::string legal_text(const lower::Argument& a) {
  if (a.is_param) return fmt::format("a number of type {}", a.type.str());
  return fmt::format("a Buffer of {} with rank {}", a.type.str(), a.rank);
}

/// Whether 32 bits index the buffer. No check has seen its extents yet.
bool is_narrow(const calotype_buffer& b) {
  const int whole_bytes = (b.type.bits + 7) / 8;
  const double bytes = whole_bytes;
  double span = bytes;
  for (int d = 0; d < b.rank; ++d) {
    const calotype_dim& dim = b.dims[d];
    span += std::abs(static_cast<double>(dim.stride)) * (static_cast<double>(dim.extent) - 1) * bytes;
    // Coordinates are computed with as well: neither a box far from 0 nor one whose elements share their
    // memory may leave 32 bits.
    if (dim.extent > kNarrowBytes || dim.min > kNarrowBytes || dim.min < -kNarrowBytes) return false;
  }
  return span < kNarrowBytes;
}

/// The arguments of a call in the form of the runtime; without an allocation where they are few.
class CallArguments {
 public:
  explicit CallArguments(std::size_t count) : count_(count), far_(count > kNear ? count : 0) {}
  calotype_argument& operator[](std::size_t i) { return count_ > kNear ? far_[i] : near_[i]; }
  std::span<const calotype_argument> all() const {
    return count_ > kNear ? std::span<const calotype_argument>(far_)
                          : std::span<const calotype_argument>(near_).first(count_);
  }

 private:
  static constexpr std::size_t kNear = 16;
  std::size_t count_;
  std::array<calotype_argument, kNear> near_;
  std::vector<calotype_argument> far_;
};

}  // namespace

std::int64_t scalar_bits(double value, Type type, const std::string& name) {
  const auto refuse = [&](const std::string& legal) {
    throw Error({.kind = ErrorKind::Argument,
                 .subject = Subject::Param,
                 .message = fmt::format("parameter '{}' of type {} cannot hold {}", name, type.str(), value),
                 .func = name,
                 .value = fmt::format("{}", value),
                 .legal = legal});
  };
  if (type.is_float()) {
    if (type == Float(64)) {
      std::int64_t bits = 0;
      std::memcpy(&bits, &value, sizeof bits);
      return bits;
    }
    const float narrow = static_cast<float>(value);
    if (type == Float(16)) return float_to_half_bits(narrow);
    if (type == BFloat(16)) return float_to_bfloat_bits(narrow);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &narrow, sizeof bits);
    return bits;
  }
  const double low = static_cast<double>(type.min_int()), high = static_cast<double>(type.max_int());
  if (!(value >= low && value <= high) || value != static_cast<double>(static_cast<std::int64_t>(value)))
    refuse(fmt::format("a whole number from {} to {}", type.min_int(), type.max_int()));
  return static_cast<std::int64_t>(value);
}

LayoutClass dense_class(const schedule::Scheduled& scheduled, const KernelOptions& options) {
  std::size_t buffers = scheduled.graph.outputs.size();
  for (const lang::FuncId id : options.stored_stages) buffers += scheduled.graph.func(id).components();
  for (const lang::Graph::ArgumentRef& a : scheduled.graph.arguments) buffers += !a.is_param;
  return {std::vector<std::int64_t>(buffers, 1), scheduled.target.is_gpu() ? 32 : 64};
}

lower::Options lower_options(const schedule::Scheduled& scheduled, const KernelOptions& options,
                             const LayoutClass& layout) {
  return {.target = scheduled.target,
          .unit_strides = layout.unit_strides,
          .index_bits = layout.index_bits,
          .stored_stages = options.stored_stages,
          .profile = options.meters != nullptr};
}

schedule::Ways one_way(schedule::Scheduled scheduled) {
  schedule::Ways ways;
  ways.ways.push_back({{}, std::move(scheduled)});
  return ways;
}

KernelImpl::KernelImpl(const lang::Graph& graph, schedule::Ways ways,
                       std::vector<std::pair<std::string, double>> seconds_before, KernelOptions options)
    : ways_(std::move(ways)),
      conditions_(graph, ways_),
      options_(std::move(options)),
      seconds_before_(std::move(seconds_before)),
      dense_arguments_(dense_arguments()) {
  LayoutClass dense = dense_class(scheduled(), options_);
  dense_ = &variant(dense);
  for (dense.way = 1; dense.way < ways_.ways.size(); ++dense.way)
    lower::lower(scheduled(dense), lower_options(scheduled(dense), options_, dense));
}

/// Of each argument of the algorithm: whether the schedule takes it for dense, or its rows.
std::vector<bool> KernelImpl::dense_arguments() const {
  const lang::Graph& graph = scheduled().graph;
  const auto is_dense = [&](schedule::ArgumentRef a) {
    return schedule::joined_form(scheduled().forms, a).dense || schedule::is_tensor(scheduled().forms, a);
  };
  std::vector<bool> dense;
  for (const lang::Graph::ArgumentRef& a : graph.arguments)
    dense.push_back(!a.is_param && is_dense({false, a.index}));
  for (std::size_t i = 0; i < graph.outputs.size(); ++i)
    dense.push_back(is_dense({true, static_cast<int>(i)}));
  return dense;
}

/// The stride of dimension 0 that the code for this buffer is made for; 0: any.
std::int64_t KernelImpl::unit_stride(std::size_t argument, const calotype_buffer& b) const {
  // There is one kind of code for what the schedule takes for dense, which refuses what is not.
  if (b.rank == 0 || b.dims[0].extent <= 1 ||
      (argument < dense_arguments_.size() && dense_arguments_[argument]))
    return 1;
  return b.dims[0].stride >= 1 && b.dims[0].stride <= kLargestUnitStride ? b.dims[0].stride : 0;
}

const Variant& KernelImpl::variant_for(std::span<const calotype_argument> arguments, std::size_t way) const {
  bool units = true, narrow = target().is_gpu();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].buffer) continue;
    units = units && unit_stride(i, *arguments[i].buffer) == 1;
    narrow = narrow && is_narrow(*arguments[i].buffer);
  }
  if (units && narrow == target().is_gpu() && way == 0) return *dense_;
  LayoutClass layout{.index_bits = narrow ? 32 : 64, .way = way};
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].buffer) layout.unit_strides.push_back(unit_stride(i, *arguments[i].buffer));
  return variant(layout);
}

const Variant& KernelImpl::variant(const LayoutClass& layout) const {
  std::lock_guard lock(mutex_);
  std::unique_ptr<Variant>& v = variants_[layout];
  if (!v) v = compile(layout);
  return *v;
}

std::unique_ptr<Variant> KernelImpl::compile(const LayoutClass& layout) const {
  auto v = std::make_unique<Variant>();
  lower::Trace trace;
  v->program = lower::lower(scheduled(layout), lower_options(scheduled(layout), options_, layout), &trace);
  v->plan = encode_plan(v->program);
  v->executable =
      make_executable(v->program, {.contract = scheduled().numerics.contract,
                                   .meters = options_.meters,
                                   .cache = v->program.kept.empty() ? nullptr : cache(layout.way)});
  for (const auto& [pass, seconds] : trace.seconds) v->times.push_back({"lowering", pass, seconds});
  for (const auto& [step, seconds] : v->executable->seconds())
    v->times.push_back({"code generation", step, seconds});
  return v;
}

std::shared_ptr<calotype_value_cache> KernelImpl::cache(std::size_t way) const {
  std::shared_ptr<calotype_value_cache>& made = caches_[way];
  if (made) return made;
  made.reset(calotype_value_cache_make(), calotype_value_cache_free);
  if (!made) throw std::bad_alloc();
  return made;
}

void KernelImpl::check_count(std::size_t arguments) const {
  const std::vector<lower::Argument>& expected = dense_->program.arguments;
  if (arguments == expected.size()) return;
  std::string names;
  for (const lower::Argument& a : expected) names += (names.empty() ? "" : ", ") + a.name;
  throw Error({.kind = ErrorKind::Argument,
               .subject = Subject::Pipeline,
               .message = fmt::format("{} takes {} arguments, not {}", scheduled().graph.name,
                                      expected.size(), arguments),
               .func = scheduled().graph.name,
               .value = std::to_string(arguments),
               .legal = names});
}

calotype_argument KernelImpl::convert(std::size_t position, const Arg& arg) const {
  const lower::Argument& expected = dense_->program.arguments[position];
  const Buffer* buffer = std::get_if<Buffer>(&arg.value());
  if (buffer && buffer->defined() && !expected.is_param) return {&buffer->raw(), 0};
  if (!buffer && expected.is_param)
    return {nullptr, scalar_bits(std::get<double>(arg.value()), expected.type, expected.name)};
  const std::string value = !buffer             ? fmt::format("{}", std::get<double>(arg.value()))
                            : buffer->defined() ? "a buffer"
                                                : "an undefined Buffer";
  throw Error({.kind = ErrorKind::Argument,
               .subject = scheduled().graph.subject_of(expected.name),
               .message = fmt::format("argument {} ('{}') is {}", position, expected.name, value),
               .func = expected.name,
               .value = value,
               .legal = legal_text(expected)});
}

void KernelImpl::call(std::span<const Arg> args) const {
  calotype_context context{};
  call(args, context);
}

void KernelImpl::call(std::span<const Arg> args, calotype_context& context, const CallMode& mode) const {
  check_count(args.size());
  CallArguments arguments(args.size());
  for (std::size_t i = 0; i < args.size(); ++i) arguments[i] = convert(i, args[i]);
  const Variant& v = variant_for(arguments.all(), way_of(args));
  if (v.executable->run(v.plan->plan(), context, arguments.all(), mode) != CALOTYPE_GOOD)
    throw_error(scheduled().graph, context.error);
}

std::vector<std::string> KernelImpl::warnings() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> all;
  for (const auto& [layout, v] : variants_) {
    if (!v) continue;
    for (std::string& warning : v->executable->warnings())
      if (std::find(all.begin(), all.end(), warning) == all.end()) all.push_back(std::move(warning));
  }
  return all;
}

std::vector<std::pair<std::string, double>> KernelImpl::pass_seconds() const {
  std::vector<std::pair<std::string, double>> all;
  for (const StepTime& t : step_times()) all.emplace_back(t.step, t.seconds);
  return all;
}

std::vector<StepTime> KernelImpl::step_times() const {
  std::vector<StepTime> all;
  for (const auto& [step, seconds] : seconds_before_) all.push_back({"schedule", step, seconds});
  all.insert(all.end(), dense_->times.begin(), dense_->times.end());
  return all;
}

std::size_t KernelImpl::way_of(std::span<const Arg> args) const {
  return ways_.ways.size() == 1 ? 0 : ways_.choose(conditions_.holds(args));
}

std::string KernelImpl::show(const std::string& level) const {
  if (ways_.ways.size() == 1) return show(level, 0);
  std::string all;
  for (std::size_t way = 0; way < ways_.ways.size(); ++way)
    all += fmt::format("where {}:\n{}", ways_.text(ways_.ways[way]), show(level, way));
  return all;
}

std::string KernelImpl::show(const std::string& level, std::size_t way) const {
  LayoutClass layout = dense_class(scheduled(), options_);
  layout.way = way;
  lower::Trace trace{.keep_text = true};
  lower::lower(scheduled(layout), lower_options(scheduled(layout), options_, layout), &trace);
  std::vector<std::string> known;
  for (const auto& [name, text] : trace.levels) {
    if (name == level) return text;
    known.push_back(name);
  }
  for (const std::string& name : dense_->executable->levels()) {
    if (name == level) return variant(layout).executable->show(level);
    known.push_back(name);
  }
  refuse_level(level, known);
}

std::string KernelImpl::explain(const std::vector<Arg>& args) const {
  std::string no_cases = "one schedule for all sizes that it fits: no cases\n";
  if (ways_.ways.size() == 1) return no_cases;
  return no_cases + fmt::format("its program where {}\n", ways_.text(ways_.ways[way_of(args)]));
}

std::string KernelImpl::numerics() const {
  nlohmann::ordered_json json;
  json["reassociates"] = scheduled().numerics.reassociates;
  json["contract"] = scheduled().numerics.contract;
  return json.dump();
}

}  // namespace calotype::driver
