// DeviceBuffer: memory on the GPU, and the copies between it and its mirror.

#include "calotype/device_buffer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>

#include "calotype/error.h"
#include "codegen/cuda/device.h"
#include "runtime/overlap.h"

namespace calotype {

namespace {

[[noreturn]] void usage(std::string message, std::string value, std::string legal) {
  throw Error({.kind = ErrorKind::Usage,
               .message = std::move(message),
               .value = std::move(value),
               .legal = std::move(legal)});
}

std::string strides_text(const calotype_buffer& b) {
  std::vector<std::string> dims;
  for (int d = 0; d < b.rank; ++d)
    dims.push_back(fmt::format("{} by {}", b.dims[d].extent, b.dims[d].stride));
  return fmt::format("extents and strides {}", fmt::join(dims, ", "));
}

}  // namespace

/// The GPU's side of the span from the lowest to the highest element.
class DeviceBuffer::Memory {
 public:
  Memory(const calotype_buffer& host, int gpu) : device_(cuda::Device::get(gpu)) {
    if (calotype_span(&host, &bytes_, &below_) != 0)
      usage("a Buffer that reaches beyond the address space", strides_text(host),
            "smaller extents or strides");
    together_ = calotype_lies_together(&host) != 0;
    memory_ = std::make_unique<cuda::DeviceMemory>(device_, static_cast<std::size_t>(bytes_));
  }

  /// The element at the smallest coordinates.
  void* data() const { return static_cast<std::byte*>(memory_->data()) + below_; }

  void upload(const Buffer& host) const { memory_->upload(start(host)); }
  void upload(const Buffer& host, void* stream) const {
    require_together(host);
    memory_->upload(start(host), stream);
  }
  void download(const Buffer& host) const {
    if (together_) return memory_->download(start(host));
    std::vector<std::byte> image(static_cast<std::size_t>(bytes_));
    memory_->download(image.data());
    calotype_scatter(&host.raw(), static_cast<char*>(host.data()),
                     reinterpret_cast<const char*>(image.data()) + below_);
  }
  void download(const Buffer& host, void* stream) const {
    require_together(host);
    memory_->download(start(host), stream);
  }

 private:
  std::byte* start(const Buffer& host) const { return static_cast<std::byte*>(host.data()) - below_; }
  void require_together(const Buffer& host) const {
    if (!together_)
      usage("a copy in a stream of elements that do not lie together in memory", strides_text(host.raw()),
            "a dense Buffer, or the copy without a stream");
  }

  const cuda::Device& device_;
  std::int64_t bytes_ = 0, below_ = 0;
  bool together_ = true;
  std::unique_ptr<cuda::DeviceMemory> memory_;
};

DeviceBuffer::DeviceBuffer(Buffer host, int gpu) : host_(std::move(host)) {
  if (!host_.defined()) usage("a DeviceBuffer of an undefined Buffer", "", "a Buffer with memory");
  if (host_.gpu() >= 0)
    usage("a DeviceBuffer whose mirror is not on the host", fmt::format("GPU {}", host_.gpu()),
          "a Buffer in host memory");
  auto memory = std::make_shared<Memory>(host_.raw(), gpu);
  std::vector<std::int64_t> extents, strides, mins;
  for (int d = 0; d < host_.rank(); ++d) {
    extents.push_back(host_.extent(d));
    strides.push_back(host_.stride(d));
    mins.push_back(host_.min(d));
  }
  device_ = Buffer::on_gpu(host_.type(), memory->data(), extents, strides, memory, gpu).translate(mins);
  memory_ = std::move(memory);
}

DeviceBuffer::DeviceBuffer(Type type, std::vector<std::int64_t> extents, int gpu)
    : DeviceBuffer(Buffer(type, std::move(extents)), gpu) {}

const DeviceBuffer::Memory& DeviceBuffer::memory() const {
  if (!memory_)
    usage("a copy of an undefined DeviceBuffer", "", "one that was made of a Buffer or with extents");
  return *memory_;
}

void DeviceBuffer::copy_to_device() const { memory().upload(host_); }
void DeviceBuffer::copy_to_host() const { memory().download(host_); }
void DeviceBuffer::copy_to_device(void* stream) const { memory().upload(host_, stream); }
void DeviceBuffer::copy_to_host(void* stream) const { memory().download(host_, stream); }

}  // namespace calotype
