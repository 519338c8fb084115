#pragma once
// The figures that a GPU run can give.

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/options.h"
#include "codegen/cuda/device.h"

namespace calotype::bench {

struct GpuFigure {
  std::string name, description;
  /// What was measured, as keys and values; throws where a result is wrong.
  std::function<nlohmann::ordered_json(const cuda::Device& device)> measure;
  /// The same for what needs no GPU.
  std::function<nlohmann::ordered_json()> measure_here = nullptr;
};

/// What operators are measured under: a schedule by name (see shipped.h), with each combination of the knobs'
/// values.
struct Schedules {
  std::string name = "shipped";
  cli::KnobValues knobs;
  std::string photo;   ///< a file with the bytes of an image of 6000 x 4000 in 3 planes; empty: random bytes
  std::string result;  ///< where operators on images write their result's bytes; empty: nowhere
};

/// A figure for each combination of the knobs' values.
void add_for_knobs(std::vector<GpuFigure>& figures, const Schedules& schedules, const std::string& name,
                   const std::string& description,
                   const std::function<nlohmann::ordered_json(const std::string& schedule, const cli::Knobs&,
                                                              const cuda::Device&)>& measure);

/// "@gpu" with THREADS=128 is ":@gpu,THREADS=128" behind the name of the operator.
std::string suffix(const std::string& schedule, const cli::Knobs& knobs);

/// In the order in which they are measured. A new kind of figure adds its list in figures.cpp.
std::vector<GpuFigure> gpu_figures(const Schedules& schedules);

/// The bandwidth of copies on the device.
std::vector<GpuFigure> copy_figures();
/// What a call costs the host, and in a graph.
std::vector<GpuFigure> launch_figures();
/// From an algorithm and a schedule to machine code, cold and from the disk cache.
std::vector<GpuFigure> compile_figures();
/// Operators whose floor is the bytes of their arguments over that bandwidth.
std::vector<GpuFigure> memory_bound_figures(const Schedules& schedules);
/// Operators on an image of 24 megapixels.
std::vector<GpuFigure> image_figures(const Schedules& schedules);
/// Matrix products beside cuBLAS.
std::vector<GpuFigure> product_figures(const Schedules& schedules);
/// A long reduction, whose floor is the bandwidth of reading.
std::vector<GpuFigure> sum_figures(const Schedules& schedules);

}  // namespace calotype::bench
