// Devices by name, and the roofline.
#include "analyze/device.h"

#include <algorithm>

namespace calotype::analyze {

const std::vector<Device>& devices() {
  static const std::vector<Device> all = {
      {"h200", 4.8e12, 67e12},  {"h100", 3.35e12, 67e12},       {"a100", 2.039e12, 19.5e12},
      {"l40s", 864e9, 91.6e12}, {"rtx4090", 1.008e12, 82.6e12},
  };
  return all;
}

const Device* find_device(const std::string& name) {
  const std::vector<Device>& all = devices();
  const auto at = std::find_if(all.begin(), all.end(), [&](const Device& d) { return d.name == name; });
  return at == all.end() ? nullptr : &*at;
}

double bound_seconds(double bytes, double operations, const Device& device) {
  return std::max(bytes / device.bytes_per_second, operations / device.operations_per_second);
}

bool is_memory_bound(double bytes, double operations, const Device& device) {
  return bytes / device.bytes_per_second >= operations / device.operations_per_second;
}

}  // namespace calotype::analyze
