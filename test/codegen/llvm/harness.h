#pragma once
// Building, compiling and calling small host functions by hand, with typed memory to compare against
// ir::apply.

#include <gtest/gtest.h>

#include <cstring>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "codegen/llvm/backend.h"
#include "codegen/llvm/hooks.h"
#include "ir/stmt.h"
#include "ir/value.h"

namespace calotype::llvm_backend {

/// Hooks that keep the message of the first failure.
class FailureRecord : public Hooks {
 public:
  FailureRecord() {
    failed = [](Hooks* self, const char* text) {
      auto* record = static_cast<FailureRecord*>(self);
      const std::lock_guard lock(record->mutex_);
      if (record->message_.empty()) record->message_ = text;
    };
  }
  std::string message() const {
    const std::lock_guard lock(mutex_);
    return message_;
  }

 private:
  mutable std::mutex mutex_;
  std::string message_;
};

inline Expr ramp(Expr base, std::int64_t stride, int lanes) {
  if (lanes == 1) return base;
  return ir::make(ir::Op::Ramp, Int(64, lanes), {std::move(base), ir::index(stride)});
}
inline Expr broadcast(Expr e, int lanes) {
  if (lanes == 1) return e;
  Type type = e->type.with_lanes(lanes);
  return ir::make(ir::Op::Broadcast, type, {std::move(e)});
}
inline Expr load(const ir::BufferPtr& buffer, Expr index) {
  Type type = buffer->type.with_lanes(index->type.lanes);
  return ir::make(ir::Op::Load, type, {std::move(index)}, buffer);
}
inline Expr load_if(const ir::BufferPtr& buffer, Expr predicate, Expr index) {
  Type type = buffer->type.with_lanes(index->type.lanes);
  return ir::make(ir::Op::LoadIf, type, {std::move(predicate), std::move(index)}, buffer);
}
inline Expr binary(ir::Op op, Expr a, Expr b) {
  bool truth = ir::info(op).group == ir::OpGroup::compare;
  Type type = truth ? Bool(a->type.lanes) : a->type;
  return ir::make(op, type, {std::move(a), std::move(b)});
}
inline ir::BufferPtr argument(const std::string& name, Type type, bool read_only = false) {
  ir::Buffer b;
  b.name = name;
  b.type = type;
  b.space = ir::MemorySpace::Argument;
  b.read_only = read_only;
  return ir::make_buffer(b);
}
inline ir::BufferPtr local(const std::string& name, Type type, ir::MemorySpace space, Expr extent) {
  ir::Buffer b;
  b.name = name;
  b.type = type;
  b.space = space;
  b.mins = {ir::index(0)};
  b.extents = {std::move(extent)};
  b.strides = {ir::index(1)};
  return ir::make_buffer(b);
}
inline ir::SymbolPtr loop_var(const std::string& name) { return ir::make_symbol(ir::SymbolKind::Loop, name); }
inline ir::Stmt loop(const ir::SymbolPtr& var, Expr min, Expr extent, ir::Stmt body,
                     ir::Binding binding = ir::Binding::Serial) {
  return ir::for_loop({.var = var, .binding = binding}, std::move(min), std::move(extent), std::move(body));
}

/// Typed elements in memory.
class Array {
 public:
  Array(Type type, std::size_t size)
      : type_(type), bytes_(size * static_cast<std::size_t>(type.bytes()), 0xA5) {}
  void* data() { return bytes_.data(); }
  std::size_t size() const { return bytes_.size() / static_cast<std::size_t>(type_.bytes()); }
  ir::Value get(std::size_t i) const {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &bytes_[i * width()], width());
    const std::vector<ir::Value> raw{
        ir::Value::of_int(UInt(type_.is_bool() ? 8 : type_.bits), static_cast<std::int64_t>(bits))};
    return type_.is_float() ? *ir::apply(ir::Op::Bitcast, type_, raw)
                            : ir::Value::of_int(type_, static_cast<std::int64_t>(bits));
  }
  void set(std::size_t i, const ir::Value& value) {
    const std::vector<ir::Value> v{value};
    ir::Value raw = type_.is_float() ? *ir::apply(ir::Op::Bitcast, UInt(type_.bits), v) : value;
    std::memcpy(&bytes_[i * width()], &raw.i, width());
  }
  bool operator==(const Array&) const = default;

 private:
  std::size_t width() const { return static_cast<std::size_t>(type_.bytes()); }
  Type type_;
  std::vector<std::uint8_t> bytes_;
};

/// Values of a type: the awkward ones first, then random ones.
class Values {
 public:
  explicit Values(unsigned seed) : random_(seed) {}
  ir::Value integer(Type type) {
    static constexpr std::int64_t awkward[] = {0,  1,  -1, 2,   3,   -3,        7,
                                               31, 32, 64, -64, 100, INT64_MAX, INT64_MIN};
    std::uint64_t bits = random_();
    std::int64_t value = static_cast<std::int64_t>(bits);
    switch (bits % 8) {
      case 0:
        value = type.min_int();
        break;
      case 1:
        value = type.max_int();
        break;
      case 2:
      case 3:
        value = awkward[(bits >> 8) % std::size(awkward)];
        break;
      case 4:
        value >>= 56;
        break;
      default:
        break;
    }
    return ir::Value::of_int(type, value);
  }
  ir::Value real(Type type) {
    static constexpr double awkward[] = {0.0,  -0.0,  1.0,      -1.0,      0.5, 1.5,   2.5,    -2.5,
                                         1e30, 1e-30, INFINITY, -INFINITY, NAN, 255.5, -128.5, 65504};
    std::uint64_t bits = random_();
    double small = std::ldexp(static_cast<double>(static_cast<std::int64_t>(bits)), -61);
    switch (bits % 8) {
      case 0:
        return ir::Value::of_float(type, awkward[(bits >> 8) % std::size(awkward)]);
      case 1:
        return ir::Value::of_float(type, std::ldexp(small, static_cast<int>((bits >> 8) % 40) - 20));
      case 2:
        return ir::Value::of_float(type, std::ldexp(small, static_cast<int>((bits >> 8) % 300) - 150));
      default:
        return ir::Value::of_float(type, small);
    }
  }
  ir::Value any(Type type) { return type.is_float() ? real(type) : integer(type); }

 private:
  std::mt19937_64 random_;
};

inline std::string describe(const ir::Value& v) {
  return v.type.str() + ":" + (v.type.is_float() ? std::to_string(v.f) : std::to_string(v.i));
}

/// Same value bit for bit; any two NaNs are the same.
inline bool same(const ir::Value& a, const ir::Value& b) {
  if (!a.type.is_float()) return a.i == b.i;
  if (std::isnan(a.f) || std::isnan(b.f)) return std::isnan(a.f) && std::isnan(b.f);
  return a.f == b.f && std::signbit(a.f) == std::signbit(b.f);
}

inline int call(const Module& module, const std::string& name, const std::vector<std::int64_t>& scalars,
                const std::vector<void*>& buffers, void* context = nullptr) {
  return module.function(name)(context, scalars.data(), buffers.data());
}

}  // namespace calotype::llvm_backend
