// A kernel of several schedules.
#include "driver/case_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

namespace calotype::driver {

namespace {

const schedule::FileVariant& named_variant(const ScheduleFile& file, const std::string& name) {
  return *std::find_if(file.variants().begin(), file.variants().end(),
                       [&](const schedule::FileVariant& v) { return v.name == name; });
}

}  // namespace

CaseKernel::CaseKernel(std::shared_ptr<const lang::Graph> graph, ScheduleFile file,
                       const std::string& variant, Target target)
    : graph_(std::move(graph)),
      file_(std::move(file)),
      target_(std::move(target)),
      order_(file_, named_variant(file_, variant), target_,
             schedule::tensors_of_cases(*graph_, file_, named_variant(file_, variant), target_)),
      sizes_(*graph_, order_.sizes()),
      buffers_(*graph_, order_.buffers(), target_) {
  for (const std::size_t index : order_.tried()) slots_[index];
}

const KernelImpl& CaseKernel::kernel(std::size_t case_index) const {
  Slot& slot = slots_.at(case_index);
  slot.once([&] {
    const auto start = std::chrono::steady_clock::now();
    schedule::Ways ways = schedule::ways_or_throw(*graph_, file_.schedule(case_index), target_);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    slot.kernel = std::make_unique<KernelImpl>(
        *graph_, std::move(ways), std::vector<std::pair<std::string, double>>{{"schedule", seconds}});
    const std::lock_guard lock(mutex_);
    compiled_.push_back(slot.kernel.get());
  });
  return *slot.kernel;
}

void CaseKernel::call(std::span<const Arg> args, calotype_context& context, const CallMode& mode) const {
  const bool several = order_.tried().size() > 1;
  kernel(several ? order_.choose(sizes_.read(args), buffers_.read(args)) : order_.general())
      .call(args, context, mode);
}

std::vector<std::pair<std::string, double>> CaseKernel::pass_seconds() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<std::string, double>> all;
  for (const KernelImpl* k : compiled_)
    for (const auto& [pass, seconds] : k->pass_seconds()) {
      const auto at =
          std::find_if(all.begin(), all.end(), [&, name = pass](const auto& p) { return p.first == name; });
      if (at == all.end())
        all.emplace_back(pass, seconds);
      else
        at->second += seconds;
    }
  return all;
}

std::string CaseKernel::show(const std::string& level) const {
  std::string out;
  for (const std::size_t index : order_.tried()) {
    if (order_.tried().size() > 1 || level == "cases") out += schedule::case_text(file_, index) + "\n";
    if (level != "cases") out += kernel(index).show(level);
  }
  return out;
}

std::string CaseKernel::numerics() const {
  nlohmann::ordered_json json;
  json["reassociates"] = file_.numerics().reassociates;
  json["contract"] = file_.numerics().contract;
  return json.dump();
}

std::vector<std::string> CaseKernel::warnings() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> all;
  for (const KernelImpl* k : compiled_)
    for (std::string& warning : k->warnings())
      if (std::find(all.begin(), all.end(), warning) == all.end()) all.push_back(std::move(warning));
  return all;
}

std::string CaseKernel::explain(const std::vector<Arg>& args) const {
  return order_.explain(sizes_.read(args), buffers_.read(args));
}

}  // namespace calotype::driver
