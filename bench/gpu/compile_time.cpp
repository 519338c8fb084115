// From an algorithm and a schedule to machine code of a GPU: what lowering takes beside NVRTC, and what is
// left where the disk cache has the code. Needs NVRTC and no GPU.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "driver/kernel_impl.h"
#include "gpu/figures.h"
#include "gpu/gpu.h"
#include "shipped.h"

namespace calotype::bench {
namespace {

constexpr int kRounds = 5;
constexpr const char* kArch = "sm_90a";

/// CALOTYPE_CACHE names an empty folder as long as the object lives.
class EmptyCache {
 public:
  EmptyCache()
      : folder_(std::filesystem::temp_directory_path() / ("calotype_bench." + std::to_string(getpid()))) {
    if (const char* before = std::getenv("CALOTYPE_CACHE")) before_ = before;
    setenv("CALOTYPE_CACHE", folder_.c_str(), 1);
  }
  ~EmptyCache() {
    std::filesystem::remove_all(folder_);
    if (before_)
      setenv("CALOTYPE_CACHE", before_->c_str(), 1);
    else
      unsetenv("CALOTYPE_CACHE");
  }
  EmptyCache(const EmptyCache&) = delete;
  EmptyCache& operator=(const EmptyCache&) = delete;

 private:
  std::filesystem::path folder_;
  std::optional<std::string> before_;
};

/// Milliseconds of a compilation and of its parts.
struct Times {
  double whole = 0, lowering = 0, code = 0;  ///< `code`: from CUDA C to machine code
};

Times compile(const Operator& op, const OperatorTypes& types) {
  const Pipeline pipeline = op.pipeline(types);
  const Target target = Target::cuda(kArch);
  const Schedule schedule = shipped_schedule(op, types, pipeline, target).schedule;
  const auto start = std::chrono::steady_clock::now();
  const Kernel kernel = pipeline.compile(schedule, target);
  const std::chrono::duration<double, std::milli> whole = std::chrono::steady_clock::now() - start;
  Times times{.whole = whole.count()};
  for (const driver::StepTime& step : kernel.impl().step_times()) {
    const bool code = step.step.rfind("NVRTC", 0) == 0;
    (code ? times.code : times.lowering) += step.seconds * 1e3;
  }
  return times;
}

double median_of(const std::vector<Times>& all, double Times::* member) {
  std::vector<double> values;
  for (const Times& t : all) values.push_back(t.*member);
  return median(std::move(values));
}

nlohmann::ordered_json measure(const std::string& name, const std::string& type) {
  const Operator& op = find_operator(name);
  const OperatorTypes types = OperatorTypes::parse(type);
  compile(op, types);  // opens NVRTC
  std::vector<Times> cold, cached;
  for (int i = 0; i < kRounds; ++i) {
    const EmptyCache cache;
    cold.push_back(compile(op, types));
    cached.push_back(compile(op, types));
  }
  const double nvrtc = median_of(cold, &Times::code), read = median_of(cached, &Times::code);
  const double lowering = median_of(cold, &Times::lowering);
  return {{"cold_milliseconds", median_of(cold, &Times::whole)},
          {"cached_milliseconds", median_of(cached, &Times::whole)},
          {"lowering_milliseconds", lowering},
          {"nvrtc_milliseconds", nvrtc},
          {"cache_milliseconds", read},
          {"lowering_of_nvrtc", lowering / nvrtc},
          {"cache_of_nvrtc", read / nvrtc},
          {"target", std::string("cuda-") + kArch},
          {"rounds", kRounds}};
}

}  // namespace

std::vector<GpuFigure> compile_figures() {
  std::vector<GpuFigure> figures;
  for (const Operator* op : operators()) {
    const bool has_one = std::any_of(op->schedules.begin(), op->schedules.end(),
                                     [](const NamedSchedule& s) { return s.name == "gpu"; });
    if (!has_one) continue;
    const std::string name = op->name, type = op->types.front().str();
    figures.push_back({"compile/" + name + "/" + type,
                       "from the schedule to machine code, cold and from the disk cache", nullptr,
                       [=] { return measure(name, type); }});
  }
  return figures;
}

}  // namespace calotype::bench
