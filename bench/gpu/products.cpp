// Matrix products beside cuBLAS, in turn: back to back, where power sets the clock, and one at a time with
// pauses between, which shows the kernel. Factors are rotated, so that none is still in a cache.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <memory>
#include <optional>
#include <thread>

#include "gpu/cublas.h"
#include "gpu/figures.h"
#include "gpu/gpu.h"
#include "shipped.h"

namespace calotype::bench {
namespace {

constexpr int kRounds = 7, kBursts = 15, kLeastSets = 3, kSamples = 500;
constexpr double kSecondsOfARound = 0.02, kExpectedRate = 700e12;
constexpr double kCachedBytes = 150e6;  // three times the second-level cache of the largest GPU there is
constexpr unsigned kPauseMicroseconds = 60000;

struct Product {
  std::string op, type, form;  ///< form: which factor is given transposed, "nt"
  VendorProduct vendor;
  bool gelu = false;  ///< with bias and GELU, which cuBLAS is not asked for

  std::string name() const {
    const VendorProduct& v = vendor;
    return (gelu ? "product_bias_gelu_" : "product_") + type + "_" + form + "_" + std::to_string(v.m) + "x" +
           std::to_string(v.n) + "x" + std::to_string(v.k);
  }
  OperatorTypes types() const { return OperatorTypes::parse(type == "s8" ? "A=s8,B=s8,C=s32" : type); }
  cli::Sizes sizes() const { return {{"M", vendor.m}, {"N", vendor.n}, {"K", vendor.k}}; }
  /// Of factors, so many that one is in no cache when its turn comes.
  int sets() const {
    const auto elements = static_cast<double>(vendor.m * vendor.k + vendor.k * vendor.n);
    return std::max(kLeastSets, static_cast<int>(std::ceil(kCachedBytes / (elements * vendor.type.bytes()))));
  }
  double operations() const {
    return 2.0 * static_cast<double>(vendor.m) * static_cast<double>(vendor.n) *
           static_cast<double>(vendor.k);
  }
};

/// A number of either sign from 1/16 to below 1, of which no sum is exact; of s8 any but the least.
std::uint16_t bits_of(Type type, std::uint64_t random) {
  const auto low = static_cast<std::uint32_t>(random >> 40);
  if (type == Int(8)) return static_cast<std::uint16_t>((low % 255 + 129) & 0xff);
  const std::uint32_t exponent = low >> 16 & 3, sign = low & 0x8000;
  if (type == BFloat(16)) return static_cast<std::uint16_t>(sign | (126 - exponent) << 7 | (low & 0x7f));
  return static_cast<std::uint16_t>(sign | (14 - exponent) << 10 | (low & 0x3ff));
}

std::uint64_t next(std::uint64_t& state) {
  return state = state * 6364136223846793005u + 1442695040888963407u;
}

/// `work(first, last)` for parts of the numbers below `count`, as many as there are processors, at one time.
template <class Work>
void in_parts(std::int64_t count, Work work) {
  const std::int64_t parts = std::clamp<std::int64_t>(std::thread::hardware_concurrency(), 1, count);
  std::vector<std::future<void>> running;
  for (std::int64_t i = 0; i < parts; ++i)
    running.push_back(std::async(std::launch::async, work, count * i / parts, count * (i + 1) / parts));
  for (std::future<void>& part : running) part.get();
}

void fill(const Buffer& buffer, std::uint64_t seed) {
  constexpr std::int64_t row = 1 << 16;  // whose numbers follow from its own
  const Type type = buffer.type();
  in_parts((buffer.elements() + row - 1) / row, [&](std::int64_t first, std::int64_t last) {
    for (; first < last; ++first) {
      std::uint64_t state = seed ^ static_cast<std::uint64_t>(first) << 32;
      next(state);
      for (std::int64_t i = first * row; i < std::min((first + 1) * row, buffer.elements()); ++i) {
        const std::uint16_t bits = bits_of(type, next(state));
        if (type.bytes() == 1)
          static_cast<std::uint8_t*>(buffer.data())[i] = static_cast<std::uint8_t>(bits);
        else
          static_cast<std::uint16_t*>(buffer.data())[i] = bits;
      }
    }
  });
}

/// The element at a place in memory.
double element(const Buffer& buffer, std::int64_t at) {
  const void* data = buffer.data();
  if (buffer.type() == Int(8)) return static_cast<const std::int8_t*>(data)[at];
  if (buffer.type() == Int(32)) return static_cast<const std::int32_t*>(data)[at];
  if (buffer.type() == Float(32)) return static_cast<const float*>(data)[at];
  if (buffer.type() == Float(16)) return static_cast<const float16_t*>(data)[at];
  return static_cast<const bfloat16_t*>(data)[at];
}

/// The sum of products by its definition, in double.
double sum_by_definition(const Product& p, const Arguments& host, std::int64_t n, std::int64_t m) {
  const VendorProduct& v = p.vendor;
  double sum = 0;
  for (std::int64_t k = 0; k < v.k; ++k)
    sum += element(host.inputs[0], v.a_transposed ? k * v.m + m : m * v.k + k) *
           element(host.inputs[1], v.b_transposed ? n * v.k + k : k * v.n + n);
  return sum;
}

/// What the operator makes of a sum of products in column n.
double result_of(const Product& p, const Arguments& host, double sum, std::int64_t n) {
  if (!p.gelu) return sum;
  const double z = sum + element(host.inputs[2], n);
  return z / 2 * (1 + std::tanh(z * (0.7978845608028654 + 0.03567740813636141 * z * z)));
}

/// Half a unit in the last place of the result's type, what sums in f32 of K products of numbers below 1
/// have lost by then, several times over, and the error of fast::tanh, times half the sum with a bias of up
/// to 1.
double allowed(const Product& p, double sum, double expected) {
  if (!p.vendor.type.is_float()) return 0;
  const int bits = p.vendor.result == BFloat(16) ? 8 : 11;
  return std::ldexp(std::abs(expected), -bits) + 3e-4 * std::sqrt(static_cast<double>(p.vendor.k)) +
         (p.gelu ? std::ldexp(std::abs(sum) + 1, -12) : 0);
}

/// Throws where a result is wrong: all elements against the vendor's sums, which are rounded to no narrow
/// type, some against the definition.
void check(const Product& p, const Arguments& host, const Buffer& vendors) {
  const std::int64_t columns = p.vendor.n;
  const auto require = [&](std::int64_t n, std::int64_t m, double sum) {
    const double value = element(host.outputs[0], m * columns + n), expected = result_of(p, host, sum, n);
    if (std::abs(value - expected) <= allowed(p, sum, expected)) return;
    throw std::runtime_error(p.name() + ": C(" + std::to_string(n) + ", " + std::to_string(m) + ") is " +
                             std::to_string(value) + " where it is " + std::to_string(expected));
  };
  in_parts(p.vendor.m, [&](std::int64_t m, std::int64_t last) {
    for (; m < last; ++m)
      for (std::int64_t n = 0; n < columns; ++n) require(n, m, element(vendors, m * columns + n));
  });
  std::uint64_t state = 1;
  for (int i = 0; i < kSamples; ++i) {
    next(state);
    const std::int64_t n = static_cast<std::int64_t>(state >> 33) % columns,
                       m = static_cast<std::int64_t>(state >> 13 & 0xfffff) % p.vendor.m;
    require(n, m, sum_by_definition(p, host, n, m));
  }
}

/// Both sides on the same factors, each with results of its own.
class Sides {
 public:
  Sides(const Product& p, const std::string& schedule, const cli::Knobs& knobs, const cuda::Device& device)
      : product_(p), clock_(device), vendor_(device, clock_.stream()) {
    const Operator& op = find_operator(p.op);
    const Pipeline pipeline = op.pipeline(p.types());
    const cli::ChosenSchedule chosen =
        schedule_named(schedule, op, p.types(), pipeline, Target::cuda(device.arch()), p.sizes());
    source = chosen.source;
    kernel_.emplace(pipeline, cli::with_knobs(chosen.schedule, knobs));
    const Arguments host = make_arguments(pipeline, p.sizes());
    const int sets = p.sets();
    for (int set = 0; set < sets; ++set) {
      for (std::size_t i = 0; i < host.inputs.size(); ++i)
        fill(host.inputs[i], static_cast<std::uint64_t>(3 * set) + i + 1);
      sets_.emplace_back(device, pipeline, host);
      results_.push_back(std::make_unique<cuda::DeviceMemory>(device, bytes_of(host.outputs[0])));
    }
    ours(sets - 1, clock_.stream());
    const Buffer sums = their_sums(device, sets - 1);
    sets_.back().download_outputs(host);
    check(p, host, sums);
  }

  void ours(int set, calotype_cu_handle stream) const { kernel_->enqueue(sets_[index(set)], stream); }
  void theirs(int set, calotype_cu_handle) const {
    enqueue_theirs(product_.vendor, set, results_[index(set)]->data());
  }
  const Clock& clock() const { return clock_; }
  const cuda::Compiled& compiled() const { return kernel_->compiled(); }
  std::string source;

 private:
  std::size_t index(int set) const { return static_cast<std::size_t>(set) % sets_.size(); }

  void enqueue_theirs(const VendorProduct& product, int set, void* result) const {
    const std::vector<calotype_argument>& all = sets_[index(set)].all();
    vendor_.enqueue(product, all[0].buffer->data, all[1].buffer->data, result);
  }

  /// In f32 or s32, when all that is in the stream is done.
  Buffer their_sums(const cuda::Device& device, int set) const {
    VendorProduct product = product_.vendor;
    product.result = product.type.is_float() ? Float(32) : Int(32);
    const Buffer sums(product.result, {product.n, product.m});
    const cuda::DeviceMemory memory(device, bytes_of(sums));
    enqueue_theirs(product, set, memory.data());
    clock_.wait();
    memory.download(sums.data());
    return sums;
  }

  const Product& product_;
  Clock clock_;
  Cublas vendor_;
  std::optional<DeviceKernel> kernel_;
  std::vector<DeviceArguments> sets_;
  std::vector<std::unique_ptr<cuda::DeviceMemory>> results_;
};

/// One call of each side at a time, on a GPU that has been idle.
Turns in_bursts(const Sides& sides, Copies& copies) {
  const auto filler = [&](calotype_cu_handle stream) { copies.enqueue(stream); };
  Turns turns;
  for (int burst = 0; burst <= kBursts; ++burst) {
    usleep(kPauseMicroseconds);
    const double one = sides.clock().seconds(filler, [&](auto stream) { sides.ours(burst, stream); });
    usleep(kPauseMicroseconds);
    const double other = sides.clock().seconds(filler, [&](auto stream) { sides.theirs(burst, stream); });
    if (burst == 0) continue;  // warms up
    turns.first.push_back(one);
    turns.second.push_back(other);
  }
  return turns;
}

nlohmann::ordered_json measure(const Product& p, const std::string& schedule, const cli::Knobs& knobs,
                               const cuda::Device& device) {
  const Sides sides(p, schedule, knobs, device);
  Copies copies(device);
  const int calls = std::max(3, static_cast<int>(kSecondsOfARound * kExpectedRate / p.operations()));
  const Turns sustained =
      in_turn(sides.clock(), copies, kRounds,
              {calls, [&](int call, calotype_cu_handle stream) { sides.ours(call, stream); }},
              {calls, [&](int call, calotype_cu_handle stream) { sides.theirs(call, stream); }});
  const Turns burst = in_bursts(sides, copies);
  const auto rate = [&](const std::vector<double>& seconds) {
    return p.operations() / median(seconds) * 1e-12;
  };
  nlohmann::ordered_json result{{"of_cublas_sustained", sustained.speed()},
                                {"of_cublas_burst", burst.speed()},
                                {"teraflops_sustained", rate(sustained.first)},
                                {"cublas_sustained", rate(sustained.second)},
                                {"teraflops_burst", rate(burst.first)},
                                {"cublas_burst", rate(burst.second)},
                                {"schedule", sides.source},
                                {"sets", p.sets()},
                                {"rounds", kRounds},
                                {"bursts", kBursts}};
  result["kernels"] = about_kernels(sides.compiled());
  return result;
}

struct Size {
  std::int64_t m, n, k;
};

Product product_of(const std::string& type, const std::string& form, Size s, bool gelu = false) {
  const Type of = type == "bf16" ? BFloat(16) : type == "f16" ? Float(16) : Int(8);
  const std::string op = (form == "nn" ? "matmul" : "matmul_" + form) + (gelu ? "_bias_gelu" : "");
  const Type result = of.is_float() ? of : Int(32);
  return {op, type, form, {of, result, s.m, s.n, s.k, form[0] == 't', form[1] == 't'}, gelu};
}

std::vector<Product> all_products() {
  constexpr Size squares[] = {{8192, 8192, 8192}, {4096, 4096, 4096}, {2048, 2048, 2048}, {1024, 1024, 1024}};
  constexpr Size others[] = {{4000, 4160, 4096}, {4000, 4160, 4104}, {8192, 4096, 4096}};
  std::vector<Product> all;
  for (const char* type : {"bf16", "f16"})
    for (const char* form : {"nn", "nt", "tn", "tt"}) {
      for (const Size& s : squares) all.push_back(product_of(type, form, s));
      for (const Size& s : others) all.push_back(product_of(type, form, s));
    }
  for (const Size& s : squares) all.push_back(product_of("s8", "nt", s));
  for (const char* type : {"bf16", "f16"})
    for (const char* form : {"nn", "nt"})
      for (const Size& s : {Size{8192, 4096, 4096}, {8192, 8192, 8192}})
        all.push_back(product_of(type, form, s, true));
  return all;
}

}  // namespace

std::vector<GpuFigure> product_figures(const Schedules& schedules) {
  std::vector<GpuFigure> figures;
  for (const Product& product : all_products())
    add_for_knobs(figures, schedules, product.name(),
                  "rate over cuBLAS's, both in turn, back to back and in bursts",
                  [=](const std::string& schedule, const cli::Knobs& knobs, const cuda::Device& device) {
                    return measure(product, schedule, knobs, device);
                  });
  return figures;
}

}  // namespace calotype::bench
