// Matrix products beside cuBLAS, in turn: back to back, where power sets the clock, and one at a time with
// pauses between, which shows the kernel. Factors are rotated, so that none is still in a cache.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <optional>

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

  std::string name() const {
    const VendorProduct& v = vendor;
    return "product_" + type + "_" + form + "_" + std::to_string(v.m) + "x" + std::to_string(v.n) + "x" +
           std::to_string(v.k);
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

void fill(const Buffer& buffer, std::uint64_t seed) {
  std::uint64_t state = seed;
  const auto next = [&] { return state = state * 6364136223846793005u + 1442695040888963407u; };
  const Type type = buffer.type();
  for (std::int64_t i = 0; i < buffer.elements(); ++i) {
    const std::uint16_t bits = bits_of(type, next());
    if (type.bytes() == 1)
      static_cast<std::uint8_t*>(buffer.data())[i] = static_cast<std::uint8_t>(bits);
    else
      static_cast<std::uint16_t*>(buffer.data())[i] = bits;
  }
}

/// The element at a place in memory.
double element(const Buffer& buffer, std::int64_t at) {
  const void* data = buffer.data();
  if (buffer.type() == Int(8)) return static_cast<const std::int8_t*>(data)[at];
  if (buffer.type() == Int(32)) return static_cast<const std::int32_t*>(data)[at];
  if (buffer.type() == Float(16)) return static_cast<const float16_t*>(data)[at];
  return static_cast<const bfloat16_t*>(data)[at];
}

/// The element of C by its definition, in double.
double by_definition(const Product& p, const Arguments& host, std::int64_t n, std::int64_t m) {
  const VendorProduct& v = p.vendor;
  double sum = 0;
  for (std::int64_t k = 0; k < v.k; ++k)
    sum += element(host.inputs[0], v.a_transposed ? k * v.m + m : m * v.k + k) *
           element(host.inputs[1], v.b_transposed ? n * v.k + k : k * v.n + n);
  return sum;
}

/// Sums of K products of numbers below 1, rounded to a type of `bits`: each within these of what it should
/// be.
double allowed(const Product& p, double expected, int bits) {
  if (!p.vendor.type.is_float()) return 0;
  return std::ldexp(std::abs(expected), -bits) + 1e-3 * std::sqrt(static_cast<double>(p.vendor.k));
}

/// Throws where a result is wrong: all elements against the vendor's, some against the definition.
void check(const Product& p, const Arguments& ours, const Arguments& theirs) {
  const int bits = p.vendor.result == BFloat(16) ? 7 : p.vendor.result == Float(16) ? 9 : 20;
  const Buffer &got = ours.outputs[0], &other = theirs.outputs[0];
  const auto require = [&](std::int64_t n, std::int64_t m, double expected) {
    const double value = element(got, m * p.vendor.n + n);
    if (std::abs(value - expected) <= allowed(p, expected, bits)) return;
    throw std::runtime_error(p.name() + ": C(" + std::to_string(n) + ", " + std::to_string(m) + ") is " +
                             std::to_string(value) + " where it is " + std::to_string(expected));
  };
  for (std::int64_t m = 0; m < p.vendor.m; ++m)
    for (std::int64_t n = 0; n < p.vendor.n; ++n) require(n, m, element(other, m * p.vendor.n + n));
  std::uint64_t state = 1;
  for (int i = 0; i < kSamples; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const std::int64_t n = static_cast<std::int64_t>(state >> 33) % p.vendor.n,
                       m = static_cast<std::int64_t>(state >> 13 & 0xfffff) % p.vendor.m;
    require(n, m, by_definition(p, ours, n, m));
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
    const Arguments host = make_arguments(pipeline, p.sizes()), other = make_arguments(pipeline, p.sizes());
    for (int set = p.sets(); set-- > 0;) {
      for (std::size_t i = 0; i < host.inputs.size(); ++i)
        fill(host.inputs[i], static_cast<std::uint64_t>(2 * set) + i + 1);
      sets_.emplace_back(device, pipeline, host);
      results_.emplace_back(device, pipeline, other);
    }
    ours(p.sets() - 1, clock_.stream());
    theirs(p.sets() - 1, clock_.stream());
    clock_.wait();
    sets_.back().download_outputs(host);
    results_.back().download_outputs(other);
    check(p, host, other);
  }

  void ours(int set, calotype_cu_handle stream) const { kernel_->enqueue(sets_[index(set)], stream); }
  void theirs(int set, calotype_cu_handle) const {
    const std::vector<calotype_argument>& all = sets_[index(set)].all();
    vendor_.enqueue(product_.vendor, all[0].buffer->data, all[1].buffer->data,
                    results_[index(set)].all()[2].buffer->data);
  }
  const Clock& clock() const { return clock_; }
  const cuda::Compiled& compiled() const { return kernel_->compiled(); }
  std::string source;

 private:
  std::size_t index(int set) const { return static_cast<std::size_t>(set) % sets_.size(); }
  const Product& product_;
  Clock clock_;
  Cublas vendor_;
  std::optional<DeviceKernel> kernel_;
  std::vector<DeviceArguments> sets_, results_;
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

std::vector<Product> all_products() {
  struct Size {
    std::int64_t m, n, k;
  };
  constexpr Size squares[] = {{8192, 8192, 8192}, {4096, 4096, 4096}, {2048, 2048, 2048}, {1024, 1024, 1024}};
  constexpr Size others[] = {{4000, 4160, 4096}, {4000, 4160, 4104}, {8192, 4096, 4096}};
  std::vector<Product> all;
  const auto add = [&](const char* type, const std::string& form, Size s) {
    const Type of = std::string(type) == "bf16"  ? BFloat(16)
                    : std::string(type) == "f16" ? Float(16)
                                                 : Int(8);
    const std::string op = form == "nn" ? "matmul" : "matmul_" + form;
    all.push_back(
        {op, type, form, {of, of.is_float() ? of : Int(32), s.m, s.n, s.k, form[0] == 't', form[1] == 't'}});
  };
  for (const char* type : {"bf16", "f16"})
    for (const char* form : {"nn", "nt", "tn", "tt"}) {
      for (const Size& s : squares) add(type, form, s);
      for (const Size& s : others) add(type, form, s);
    }
  for (const Size& s : squares) add("s8", "nt", s);
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
