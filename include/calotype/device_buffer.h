#pragma once
// DeviceBuffer: memory on a GPU with a mirror on the host.

#include <memory>
#include <vector>

#include "calotype/buffer.h"

namespace calotype {

/// A box of elements twice: on the host, where they are read and written, and on a GPU, where kernels take
/// them without a copy. Nothing is copied but by copy_to_device and copy_to_host: neither side knows what was
/// written to the other.
///
///   DeviceBuffer x(Float(32), {4096, 8}), out(Float(32), {4096, 8});
///   Buffer(x.host()).fill(1);
///   x.copy_to_device();
///   fast.on(stream)(x.device(), out.device());
///   out.copy_to_host(stream);
///
/// Copies share both memories. The GPU's is given back once no copy of this or of device() is left; work on
/// it has to be over then.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  /// Memory on GPU number `gpu` for the elements of a host Buffer, with its extents, strides and smallest
  /// coordinates, uninitialised. Error(Target) where there is no such GPU, Error(Memory) where its memory
  /// does not suffice, Error(Usage) for a Buffer that is undefined or on a GPU.
  explicit DeviceBuffer(Buffer host, int gpu = 0);
  /// The same with host memory of its own, dense.
  DeviceBuffer(Type type, std::vector<std::int64_t> extents, int gpu = 0);

  const Buffer& host() const { return host_; }
  const Buffer& device() const { return device_; }

  /// Copy the elements to the other side; what lies between them stays as it was on the host. Begins after
  /// the work in the default stream, and waits until it is done. Error(Usage) without memory.
  void copy_to_device() const;
  void copy_to_host() const;
  /// The same in a stream, in its order. Pinned host memory is not waited for: it must not change, or is not
  /// there, before the stream has come to it. Error(Usage) for elements that do not lie together in memory.
  void copy_to_device(void* stream) const;
  void copy_to_host(void* stream) const;

 private:
  class Memory;
  const Memory& memory() const;  // Error(Usage) of one that was made without
  std::shared_ptr<const Memory> memory_;
  Buffer host_, device_;
};

}  // namespace calotype
