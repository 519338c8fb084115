// Choice of the loop for an operation; conversions, selection, vectors, and the loop over ir::apply for the
// rest.

#include "sim/compute.h"

#include <array>

#include "calotype/error.h"
#include "sim/finish.h"
#include "sim/lanes.h"

namespace calotype::sim {
namespace {

using ir::Op;

ir::Value as_value(Type type, Cell cell) {
  ir::Value value{type, {}};
  if (type.is_float()) {
    value.f = cell.f;
  } else {
    value.i = cell.i;
  }
  return value;
}

Cell as_cell(const ir::Value& value) { return value.type.is_float() ? of_float(value.f) : of_int(value.i); }

void apply_each(const Operation& operation, Cell* r, const Cell* a, const Cell* b, const Cell* c, int n) {
  const std::array<const Cell*, 3> operands{a, b, c};
  std::array<ir::Value, 3> values;
  for (int k = 0; k < n; ++k) {
    for (int i = 0; i < operation.arity; ++i) values[i] = as_value(operation.operands[i], operands[i][k]);
    r[k] = as_cell(
        *ir::apply(operation.op, operation.type, {values.data(), static_cast<std::size_t>(operation.arity)}));
  }
}

void select_lanes(const Operation&, Cell* __restrict__ r, const Cell* __restrict__ condition,
                  const Cell* __restrict__ a, const Cell* __restrict__ b, int n) {
  each_cell(n, [=](int k) { r[k].i = condition[k].i != 0 ? a[k].i : b[k].i; });
}

void broadcast(const Operation& operation, Cell* r, const Cell* a, const Cell*, const Cell*, int n) {
  for (int k = 0; k < n; ++k) r[k] = a[k % operation.period];
}

/// base + i * stride in component i, or in group i of the base's components.
void int_ramp(const Operation& operation, Cell* r, const Cell* base, const Cell* stride, const Cell*, int n) {
  for (int k = 0; k < n; ++k) {
    const int at = k % operation.period;
    const auto step = static_cast<std::uint64_t>(k / operation.period);
    const std::uint64_t value =
        static_cast<std::uint64_t>(base[at].i) + step * static_cast<std::uint64_t>(stride[at].i);
    r[k] = of_int(ir::wrap_int(operation.type, static_cast<std::int64_t>(value)));
  }
}

// ---- Conversions

template <class Finish>
struct IntToInt {
  static Cell of(Cell a) { return Finish::of(a.i); }
};
template <class Finish>
struct FloatToFloat {
  static Cell of(Cell a) { return Finish::of(a.f); }
};
struct IntToBool {
  static Cell of(Cell a) { return of_int(a.i != 0); }
};
struct FloatToBool {
  static Cell of(Cell a) { return of_int(a.f != 0); }
};

/// Integers that a double holds exactly; the others by ir::convert.
template <class Finish>
void int_to_float(const Operation& operation, Cell* r, const Cell* a, const Cell*, const Cell*, int n) {
  constexpr std::int64_t exact = std::int64_t{1} << 53;
  const Type from = operation.operands[0];
  const std::int64_t low = from.is_int() ? -exact : 0;
  for (int k = 0; k < n; ++k) {
    r[k] = a[k].i >= low && a[k].i <= exact ? Finish::of(static_cast<double>(a[k].i))
                                            : as_cell(ir::convert(operation.type, as_value(from, a[k])));
  }
}

/// Values well inside the range; NaN and what saturates by ir::convert.
void float_to_int(const Operation& operation, Cell* r, const Cell* a, const Cell*, const Cell*, int n) {
  constexpr double large = 0x1p62;
  const Type to = operation.type;
  const double low = to.bits == 64 ? (to.is_uint() ? 0 : -large) : static_cast<double>(to.min_int());
  const double high = to.bits == 64 ? large : static_cast<double>(to.max_int());
  for (int k = 0; k < n; ++k) {
    r[k] = a[k].f >= low && a[k].f <= high ? of_int(static_cast<std::int64_t>(a[k].f))
                                           : as_cell(ir::convert(to, as_value(operation.operands[0], a[k])));
  }
}

struct ChooseIntToInt {
  template <class Finish>
  Compute with() const {
    return map1<IntToInt<Finish>>;
  }
};
struct ChooseFloatToFloat {
  template <class Finish>
  Compute with() const {
    return map1<FloatToFloat<Finish>>;
  }
};
struct ChooseIntToFloat {
  template <class Finish>
  Compute with() const {
    return int_to_float<Finish>;
  }
};

}  // namespace

Compute select_conversion(const Operation& operation) {
  const Type to = operation.type, from = operation.operands[0];
  if (to.is_bool()) return from.is_float() ? map1<FloatToBool> : map1<IntToBool>;
  if (to.is_float())
    return from.is_float() ? with_float_finish(to, ChooseFloatToFloat{})
                           : with_float_finish(to, ChooseIntToFloat{});
  return from.is_float() ? float_to_int : with_int_finish(to, ChooseIntToInt{});
}

void spread(const Operation&, Cell* r, const Cell* a, const Cell*, const Cell*, int n) {
  for (int k = 0; k < n; k += kWarp)
    for (int lane = 0; lane < kWarp; ++lane) r[k + lane] = a[k / kWarp];
}

void move(const Operation&, Cell* r, const Cell* a, const Cell*, const Cell*, int n) {
  for (int k = 0; k < n; ++k) r[k] = a[k];
}

Compute select_compute(const Operation& operation) {
  switch (operation.op) {
    case Op::Select:
      return select_lanes;
    case Op::Cast:
      return select_conversion(operation);
    case Op::Broadcast:
      return broadcast;
    case Op::Ramp:
      if (operation.type.is_float())
        throw Error({.kind = ErrorKind::Internal, .message = "the simulator was given a ramp of floats"});
      return int_ramp;
    case Op::Bitcast:
    case Op::Shl:
    case Op::Shr:
    case Op::Fma:
      return apply_each;
    default:
      break;
  }
  Compute typed =
      operation.operands[0].is_float() ? select_float_compute(operation) : select_int_compute(operation);
  return typed != nullptr ? typed : apply_each;
}

}  // namespace calotype::sim
