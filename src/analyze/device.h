#pragma once
// What a machine can do at most, for the roofline.

#include <string>
#include <vector>

namespace calotype::analyze {

struct Device {
  std::string name;
  double bytes_per_second = 0;       ///< of its memory, by the maker's data sheet
  double operations_per_second = 0;  ///< f32 outside tensor cores, a multiply-add as two
};

/// The devices known by name. Figures of NVIDIA's data sheets: H200 SXM, H100 SXM, A100 80GB SXM, L40S,
/// GeForce RTX 4090.
const std::vector<Device>& devices();
/// nullptr: none of that name.
const Device* find_device(const std::string& name);

/// Seconds below which no program stays: the longer of moving the bytes and doing the operations.
double bound_seconds(double bytes, double operations, const Device& device);
/// Whether that is the time of the memory.
bool is_memory_bound(double bytes, double operations, const Device& device);

}  // namespace calotype::analyze
