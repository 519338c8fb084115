#pragma once
// The GPU of this process, its memory and its streams.

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/cuda_device.h"

namespace calotype::cuda {

class Device {
 public:
  /// GPU number `ordinal`, opened when it is first asked for and kept for the life of the process.
  /// Error(Target) names what is missing.
  static const Device& get(int ordinal = 0);
  /// Why there is no GPU here, as `get` would say it; empty: there is one.
  static std::string why_absent();

  const calotype_cuda_device& raw() const { return device_; }
  /// Addresses that calls have been given.
  calotype_cuda_seen& seen() const { return seen_; }
  std::string arch() const { return device_.arch; }
  /// True if machine code for `arch` runs here; PTX of an older architecture without features of its own
  /// always does.
  bool runs_code_of(const std::string& arch) const;
  bool runs_ptx_of(const std::string& arch) const;

  /// A stream for one caller at a time.
  calotype_cu_handle take_stream() const;
  void give_stream(calotype_cu_handle stream) const;

  /// Seconds that the device takes for what `work` puts into the stream.
  double seconds(const std::function<void(calotype_cu_handle stream)>& work) const;

  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

 private:
  Device() = default;
  calotype_cuda_device device_{};
  mutable calotype_cuda_seen seen_{};
  mutable std::mutex mutex_;
  mutable std::vector<calotype_cu_handle> streams_;
};

/// A stream of the device's, as long as the object lives.
class StreamLease {
 public:
  explicit StreamLease(const Device& device) : device_(device), stream_(device.take_stream()) {}
  ~StreamLease() { device_.give_stream(stream_); }
  StreamLease(const StreamLease&) = delete;
  StreamLease& operator=(const StreamLease&) = delete;
  calotype_cu_handle get() const { return stream_; }

 private:
  const Device& device_;
  calotype_cu_handle stream_;
};

/// The calling thread is in the device's context as long as the object lives.
class DeviceScope {
 public:
  explicit DeviceScope(const Device& device);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  const Device& device_;
};

/// Memory on the device, aligned to 256 bytes. Copies without a stream begin after the work of the default
/// stream, and wait.
class DeviceMemory {
 public:
  DeviceMemory(const Device& device, std::size_t bytes);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  void upload(const void* from) const;
  void download(void* to) const;
  void upload(const void* from, calotype_cu_handle stream) const;
  void download(void* to, calotype_cu_handle stream) const;
  /// Copy from another one of the same size, in the stream.
  void copy_from(const DeviceMemory& from, calotype_cu_handle stream) const;

 private:
  const Device& device_;
  void* data_ = nullptr;
  std::size_t bytes_;
};

}  // namespace calotype::cuda
