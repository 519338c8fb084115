// Tensors of other libraries, by the DLPack protocol. Its structures, as published:
// https://dmlc.github.io/dlpack

#include "calotype/dlpack.h"

#include <fmt/format.h>

#include <memory>

#include "calotype/error.h"

namespace {

struct Device {
  std::int32_t type, id;
};
struct DataType {
  std::uint8_t code, bits;
  std::uint16_t lanes;
};
struct Tensor {
  void* data;
  Device device;
  std::int32_t ndim;
  DataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  ///< in elements; null: dense, the last dimension innermost
  std::uint64_t byte_offset;
};

enum DeviceType : std::int32_t { kCpu = 1, kCuda = 2, kCudaHost = 3, kCudaManaged = 13 };
enum Code : std::uint8_t {
  kInt = 0,
  kUInt = 1,
  kFloat = 2,
  kBfloat = 4,
  kBool = 6,
  kE4M3fn = 10,
  kE5M2 = 12
};

}  // namespace

struct DLManagedTensor {
  Tensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor*);
};

struct DLManagedTensorVersioned {
  std::uint32_t major, minor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned*);
  std::uint64_t flags;
  Tensor dl_tensor;
};

namespace calotype {

namespace {

constexpr std::uint32_t kMajor = 1, kMinor = 0;

[[noreturn]] void usage(std::string message, std::string value, std::string legal) {
  throw Error({.kind = ErrorKind::Usage,
               .message = std::move(message),
               .value = std::move(value),
               .legal = std::move(legal)});
}

Type element_type(const DataType& t) {
  const bool whole = t.bits == 8 || t.bits == 16 || t.bits == 32 || t.bits == 64;
  if (t.lanes == 1) {
    if (t.code == kInt && whole) return Int(t.bits);
    if (t.code == kUInt && whole) return UInt(t.bits);
    if (t.code == kFloat && whole && t.bits >= 16) return Float(t.bits);
    if (t.code == kBfloat && t.bits == 16) return BFloat(16);
    if (t.code == kBool && t.bits == 8) return Bool();
    if (t.code == kE4M3fn && t.bits == 8) return E4M3();
    if (t.code == kE5M2 && t.bits == 8) return E5M2();
  }
  usage("a DLPack tensor of elements that a Buffer cannot have",
        fmt::format("type code {}, {} bits, {} lanes", t.code, t.bits, t.lanes),
        "one lane of an integer of 8 to 64 bits, a float of 16 to 64, bfloat16, float8_e4m3fn, float8_e5m2 "
        "or bool");
}

DataType data_type(Type type) {
  if (type.is_bool()) return {kBool, 8, 1};
  const Code code = type.is_int()                   ? kInt
                    : type.is_uint()                ? kUInt
                    : type.code == TypeCode::BFloat ? kBfloat
                    : type.code == TypeCode::E4M3   ? kE4M3fn
                    : type.code == TypeCode::E5M2   ? kE5M2
                                                    : kFloat;
  return {code, static_cast<std::uint8_t>(type.bits), 1};
}

Buffer buffer_over(const Tensor& tensor, std::shared_ptr<void> owner) {
  const bool on_gpu = tensor.device.type == kCuda || tensor.device.type == kCudaManaged;
  if (!on_gpu && tensor.device.type != kCpu && tensor.device.type != kCudaHost)
    usage("a DLPack tensor that is in the memory neither of the host nor of an NVIDIA GPU",
          fmt::format("device type {}", tensor.device.type),
          "device type 1 (CPU), 2 (CUDA), 3 (pinned host memory) or 13 (managed memory)");
  if (tensor.ndim < 0 || tensor.ndim > CALOTYPE_MAX_RANK)
    usage("a DLPack tensor of too many dimensions", std::to_string(tensor.ndim),
          fmt::format("at most {}", static_cast<int>(CALOTYPE_MAX_RANK)));
  std::vector<std::int64_t> extents, strides;
  for (int d = tensor.ndim - 1; d >= 0; --d) {
    extents.push_back(tensor.shape[d]);
    if (tensor.strides) strides.push_back(tensor.strides[d]);
  }
  auto* data = static_cast<std::byte*>(tensor.data);
  if (data) data += tensor.byte_offset;
  const Type type = element_type(tensor.dtype);
  if (on_gpu)
    return Buffer::on_gpu(type, data, std::move(extents), std::move(strides), std::move(owner),
                          tensor.device.id);
  return {type, data, std::move(extents), std::move(strides), std::move(owner)};
}

template <class Managed>
Buffer adopt(Managed* tensor) {
  if (!tensor) usage("a null DLPack tensor", "", "a tensor");
  // Checked before the tensor is owned: a refusal leaves it to the caller.
  (void)buffer_over(tensor->dl_tensor, nullptr);
  const std::shared_ptr<void> owner(tensor, [](void* p) {
    auto* own = static_cast<Managed*>(p);
    if (own->deleter) own->deleter(own);
  });
  return buffer_over(tensor->dl_tensor, owner);
}

/// What an exported tensor points to.
template <class Managed>
struct Exported {
  Managed tensor{};
  Buffer buffer;
  std::vector<std::int64_t> shape, strides;
};

template <class Managed>
Managed* export_tensor(const Buffer& buffer) {
  if (!buffer.defined()) usage("an undefined Buffer as a DLPack tensor", "", "a Buffer with memory");
  auto exported = std::make_unique<Exported<Managed>>();
  exported->buffer = buffer;
  for (int d = buffer.rank() - 1; d >= 0; --d) {
    exported->shape.push_back(buffer.extent(d));
    exported->strides.push_back(buffer.stride(d));
  }
  exported->tensor.dl_tensor = {buffer.data(),
                                buffer.gpu() < 0 ? Device{kCpu, 0} : Device{kCuda, buffer.gpu()},
                                buffer.rank(),
                                data_type(buffer.type()),
                                exported->shape.data(),
                                exported->strides.data(),
                                0};
  exported->tensor.manager_ctx = exported.get();
  exported->tensor.deleter = [](Managed* own) { delete static_cast<Exported<Managed>*>(own->manager_ctx); };
  return &exported.release()->tensor;
}

}  // namespace

Buffer from_dlpack(DLManagedTensor* tensor) { return adopt(tensor); }

Buffer from_dlpack(DLManagedTensorVersioned* tensor) {
  if (tensor && tensor->major != kMajor)
    usage("a DLPack tensor of another version", fmt::format("{}.{}", tensor->major, tensor->minor),
          fmt::format("{}.x", kMajor));
  return adopt(tensor);
}

DLManagedTensor* to_dlpack(const Buffer& buffer) { return export_tensor<DLManagedTensor>(buffer); }

DLManagedTensorVersioned* to_dlpack_versioned(const Buffer& buffer) {
  auto* tensor = export_tensor<DLManagedTensorVersioned>(buffer);
  tensor->major = kMajor;
  tensor->minor = kMinor;
  return tensor;
}

}  // namespace calotype
