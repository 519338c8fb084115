#pragma once
// Timing on a GPU: buffers, calls that do not wait, and two things timed in turn.

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "arguments.h"
#include "codegen/cuda/device.h"
#include "codegen/cuda/device_program.h"
#include "driver/plan_encoder.h"

namespace calotype::bench {

using Work = std::function<void(calotype_cu_handle stream)>;

/// A stream, and times between events in it.
class Clock {
 public:
  explicit Clock(const cuda::Device& device);
  ~Clock();
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;

  /// Seconds on the device of `work`, which only puts things into the stream. `filler` goes first and keeps
  /// the device busy meanwhile, so that what the host takes to launch is not counted.
  double seconds(const Work& filler, const Work& work) const;
  void wait() const;
  calotype_cu_handle stream() const { return stream_; }

 private:
  const cuda::Device& device_;
  cuda::DeviceScope scope_;
  calotype_cu_handle stream_ = nullptr, begin_ = nullptr, end_ = nullptr;
};

/// Copies of 512 MB on the device, each between memory that the one before did not touch. A copy reads and
/// writes, so its rate counts its bytes twice.
class Copies {
 public:
  explicit Copies(const cuda::Device& device);
  void enqueue(calotype_cu_handle stream);
  static double bytes();

 private:
  std::vector<std::unique_ptr<cuda::DeviceMemory>> memory_;
  std::size_t next_ = 0;
};

/// The arguments of a call in device memory; Params have the values that `host` gives them.
class DeviceArguments {
 public:
  /// Inputs are copied; outputs are filled with bytes of 0xff, which is no number in any float type.
  DeviceArguments(const cuda::Device& device, const Pipeline& pipeline, const Arguments& host);
  const std::vector<calotype_argument>& all() const { return arguments_; }
  /// Into the outputs of `host`.
  void download_outputs(const Arguments& host) const;
  double bytes() const { return bytes_; }

 private:
  void add(const cuda::Device& device, const Buffer& buffer, bool output);
  void add(const lang::ParamDef& param, const Arg& value);
  std::vector<std::unique_ptr<cuda::DeviceMemory>> memory_;
  std::vector<std::unique_ptr<calotype_buffer>> buffers_;
  std::vector<calotype_argument> arguments_;
  std::size_t first_output_ = 0;
  double bytes_ = 0;  // of all arguments, each once
};

/// A kernel with a plan of its own, to be put into a stream.
class DeviceKernel {
 public:
  DeviceKernel(const Pipeline& pipeline, const Schedule& schedule);
  void enqueue(const DeviceArguments& arguments, calotype_cu_handle stream) const;
  const cuda::Compiled& compiled() const { return program_->compiled(); }

 private:
  std::shared_ptr<const driver::EncodedPlan> plan_;
  std::unique_ptr<cuda::DeviceProgram> program_;
};

/// The name, registers and spills of each kernel.
nlohmann::ordered_json about_kernels(const cuda::Compiled& compiled);

double median(std::vector<double> values);

/// What one side does in a round: so many calls, each given its number in the round.
struct Calls {
  int count;
  std::function<void(int call, calotype_cu_handle stream)> enqueue;
};

/// Seconds of a call of each of two sides, by rounds.
struct Turns {
  std::vector<double> first, second;
  /// Calls of the first in the time of one of the second: the median of the rounds.
  double speed() const;
};

/// Rounds of both sides in turn, so that what changes with time, such as clocks and heat, is the same for
/// both; one round before them warms up. A copy goes ahead of each side (see Clock::seconds).
Turns in_turn(const Clock& clock, Copies& copies, int rounds, const Calls& first, const Calls& second);

}  // namespace calotype::bench
