// The process's GPU. It is never closed: kernels may be in use until the process ends, and the driver cleans
// up.

#include "codegen/cuda/device.h"

#include <fmt/format.h>

#include <cstdlib>
#include <map>

#include "calotype/error.h"
#include "codegen/cuda/nvrtc_compile.h"

namespace calotype::cuda {
namespace {

void require(const calotype_cuda_device& device, calotype_cu_result result, const char* action) {
  calotype_context context{};
  if (calotype_cuda_result(&context, device.driver, result, action) != CALOTYPE_GOOD)
    throw_error(context.error);
}

struct Arch {
  int number = 0;  ///< 90 of "sm_90a"
  bool own_features = false;
};

Arch read_arch(const std::string& arch) {
  const std::string digits = arch.rfind("sm_", 0) == 0 ? arch.substr(3) : arch;
  return {std::atoi(digits.c_str()), !digits.empty() && (digits.back() == 'a' || digits.back() == 'f')};
}

}  // namespace

const Device& Device::get(int ordinal) {
  static std::mutex mutex;
  static auto& devices = *new std::map<int, std::unique_ptr<Device>>;
  const std::lock_guard lock(mutex);
  std::unique_ptr<Device>& device = devices[ordinal];
  if (!device) {
    std::unique_ptr<Device> opened(new Device);
    calotype_context context{};
    if (calotype_cuda_device_open(&context, ordinal, &opened->device_) != CALOTYPE_GOOD)
      throw_error(context.error);
    device = std::move(opened);
  }
  return *device;
}

std::string Device::why_absent() {
  try {
    get();
    return "";
  } catch (const Error& e) {
    return e.diagnostic().message;
  }
}

bool Device::runs_code_of(const std::string& arch) const {
  const Arch a = read_arch(arch);
  const int here = device_.major * 10 + device_.minor;
  return a.own_features ? a.number == here : a.number / 10 == device_.major && a.number <= here;
}

bool Device::runs_ptx_of(const std::string& arch) const {
  const Arch a = read_arch(arch);
  const int here = device_.major * 10 + device_.minor;
  return a.own_features ? a.number == here : a.number <= here;
}

calotype_cu_handle Device::take_stream() const {
  {
    const std::lock_guard lock(mutex_);
    if (!streams_.empty()) {
      calotype_cu_handle stream = streams_.back();
      streams_.pop_back();
      return stream;
    }
  }
  calotype_context context{};
  calotype_cu_handle stream = nullptr;
  if (calotype_cuda_stream_create(&context, &device_, &stream) != CALOTYPE_GOOD) throw_error(context.error);
  return stream;
}

void Device::give_stream(calotype_cu_handle stream) const {
  const std::lock_guard lock(mutex_);
  streams_.push_back(stream);
}

double Device::seconds(const std::function<void(calotype_cu_handle stream)>& work) const {
  const DeviceScope scope(*this);
  const calotype_cuda& cuda = *device_.driver;
  struct Events {
    const calotype_cuda& cuda;
    calotype_cu_handle begin = nullptr, end = nullptr;
    ~Events() {
      if (begin) cuda.event_destroy(begin);
      if (end) cuda.event_destroy(end);
    }
  } events{cuda};
  require(device_, cuda.event_create(&events.begin, 0), "making an event");
  require(device_, cuda.event_create(&events.end, 0), "making an event");
  const StreamLease lease(*this);
  calotype_cu_handle stream = lease.get();
  require(device_, cuda.event_record(events.begin, stream), "recording an event");
  work(stream);
  require(device_, cuda.event_record(events.end, stream), "recording an event");
  require(device_, cuda.event_synchronize(events.end), "running the kernels");
  float milliseconds = 0;
  require(device_, cuda.event_elapsed(&milliseconds, events.begin, events.end), "reading the time");
  return milliseconds * 1e-3;
}

DeviceScope::DeviceScope(const Device& device) : device_(device) {
  calotype_context context{};
  if (calotype_cuda_enter(&context, &device.raw()) != CALOTYPE_GOOD) throw_error(context.error);
}

DeviceScope::~DeviceScope() { calotype_cuda_leave(&device_.raw()); }

DeviceMemory::DeviceMemory(const Device& device, std::size_t bytes) : device_(device), bytes_(bytes) {
  const DeviceScope scope(device);
  calotype_cu_pointer pointer = 0;
  const calotype_cu_result result = device.raw().driver->allocate(&pointer, calotype_cuda_allocation(bytes));
  if (result == CALOTYPE_CU_OUT_OF_MEMORY)
    throw Error({.kind = ErrorKind::Memory,
                 .message = fmt::format("{} has no room for {} bytes", device.raw().name, bytes),
                 .value = fmt::format("{} bytes", bytes),
                 .legal = "a smaller Buffer, or memory given back first"});
  require(device.raw(), result, "allocating device memory");
  data_ = reinterpret_cast<void*>(static_cast<std::uintptr_t>(pointer));
}

DeviceMemory::~DeviceMemory() {
  calotype_cuda_forget(&device_.seen(), data_, bytes_);
  calotype_context context{};
  if (calotype_cuda_enter(&context, &device_.raw()) != CALOTYPE_GOOD) return;
  device_.raw().driver->release(reinterpret_cast<std::uintptr_t>(data_));
  calotype_cuda_leave(&device_.raw());
}

void DeviceMemory::upload(const void* from) const {
  const DeviceScope scope(device_);
  const StreamLease lease(device_);
  upload(from, lease.get());
  require(device_.raw(), device_.raw().driver->stream_synchronize(lease.get()), "copying to the device");
}

void DeviceMemory::download(void* to) const {
  const DeviceScope scope(device_);
  const StreamLease lease(device_);
  download(to, lease.get());
  require(device_.raw(), device_.raw().driver->stream_synchronize(lease.get()), "copying from the device");
}

void DeviceMemory::upload(const void* from, calotype_cu_handle stream) const {
  const DeviceScope scope(device_);
  if (bytes_ == 0) return;
  require(device_.raw(),
          device_.raw().driver->upload(reinterpret_cast<std::uintptr_t>(data_), from, bytes_, stream),
          "copying to the device");
}

void DeviceMemory::download(void* to, calotype_cu_handle stream) const {
  const DeviceScope scope(device_);
  if (bytes_ == 0) return;
  require(device_.raw(),
          device_.raw().driver->download(to, reinterpret_cast<std::uintptr_t>(data_), bytes_, stream),
          "copying from the device");
}

void DeviceMemory::copy_from(const DeviceMemory& from, calotype_cu_handle stream) const {
  const DeviceScope scope(device_);
  require(device_.raw(),
          device_.raw().driver->copy(reinterpret_cast<std::uintptr_t>(data_),
                                     reinterpret_cast<std::uintptr_t>(from.data_), bytes_, stream),
          "copying on the device");
}

}  // namespace calotype::cuda
