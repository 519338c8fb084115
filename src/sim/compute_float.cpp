// Float arithmetic over lanes: in double, rounded to the type after each operation, as ir/fold.cpp defines
// it.

#include <cmath>

#include "sim/compute.h"
#include "sim/finish.h"
#include "sim/lanes.h"

namespace calotype::sim {
namespace {

using ir::Op;

template <class Finish>
struct Add {
  static Cell of(Cell a, Cell b) { return Finish::of(a.f + b.f); }
};
template <class Finish>
struct Sub {
  static Cell of(Cell a, Cell b) { return Finish::of(a.f - b.f); }
};
template <class Finish>
struct Mul {
  static Cell of(Cell a, Cell b) { return Finish::of(a.f * b.f); }
};
template <class Finish>
struct Div {
  static Cell of(Cell a, Cell b) { return Finish::of(a.f / b.f); }
};
template <class Finish>
struct Pow {
  static Cell of(Cell a, Cell b) { return Finish::of(std::pow(a.f, b.f)); }
};

/// A function of double -> double, rounded afterwards.
template <class Finish, double (*kFunction)(double)>
struct Math {
  static Cell of(Cell a) { return Finish::of(kFunction(a.f)); }
};
double rsqrt(double x) { return 1 / std::sqrt(x); }
double negate(double x) { return -x; }

/// The other operand for one NaN; -0 below +0.
template <bool kSmaller>
struct Extreme {
  static Cell of(Cell a, Cell b) {
    if (a.f == b.f) return std::signbit(a.f) == kSmaller ? a : b;
    if (std::isnan(a.f)) return b;
    if (std::isnan(b.f)) return a;
    return (a.f < b.f) == kSmaller ? a : b;
  }
};

struct Equal {
  static Cell of(Cell a, Cell b) { return of_int(a.f == b.f); }
};
struct Unequal {
  static Cell of(Cell a, Cell b) { return of_int(a.f != b.f); }
};
struct Less {
  static Cell of(Cell a, Cell b) { return of_int(a.f < b.f); }
};
struct LessEqual {
  static Cell of(Cell a, Cell b) { return of_int(a.f <= b.f); }
};

struct ChooseBinary {
  Op op;
  template <class Finish>
  Compute with() const {
    switch (op) {
      case Op::Add:
        return map2<Add<Finish>>;
      case Op::Sub:
        return map2<Sub<Finish>>;
      case Op::Mul:
        return map2<Mul<Finish>>;
      case Op::Div:
      case Op::FastDivide:
        return map2<Div<Finish>>;
      case Op::Pow:
        return map2<Pow<Finish>>;
      default:
        return nullptr;
    }
  }
};

struct ChooseMath {
  Op op;
  template <class Finish>
  Compute with() const {
    switch (op) {
      case Op::Exp:
      case Op::FastExp:
        return map1<Math<Finish, std::exp>>;
      case Op::Log:
        return map1<Math<Finish, std::log>>;
      case Op::Sqrt:
        return map1<Math<Finish, std::sqrt>>;
      case Op::Rsqrt:
        return map1<Math<Finish, rsqrt>>;
      case Op::Tanh:
      case Op::FastTanh:
        return map1<Math<Finish, std::tanh>>;
      case Op::Erf:
        return map1<Math<Finish, std::erf>>;
      case Op::Sin:
      case Op::FastSin:
        return map1<Math<Finish, std::sin>>;
      case Op::Cos:
      case Op::FastCos:
        return map1<Math<Finish, std::cos>>;
      default:
        return nullptr;
    }
  }
};

/// Operations whose result the type can represent as it is.
Compute exact(Op op) {
  switch (op) {
    case Op::Min:
      return map2<Extreme<true>>;
    case Op::Max:
      return map2<Extreme<false>>;
    case Op::Eq:
      return map2<Equal>;
    case Op::Ne:
      return map2<Unequal>;
    case Op::Lt:
      return map2<Less>;
    case Op::Le:
      return map2<LessEqual>;
    case Op::Neg:
      return map1<Math<RoundF64, negate>>;
    case Op::Abs:
      return map1<Math<RoundF64, std::fabs>>;
    case Op::Floor:
      return map1<Math<RoundF64, std::floor>>;
    case Op::Ceil:
      return map1<Math<RoundF64, std::ceil>>;
    case Op::Trunc:
      return map1<Math<RoundF64, std::trunc>>;
    case Op::Round:
      return map1<Math<RoundF64, std::nearbyint>>;
    default:
      return nullptr;
  }
}

}  // namespace

Compute select_float_compute(const Operation& operation) {
  if (Compute found = exact(operation.op)) return found;
  if (Compute found = with_float_finish(operation.type, ChooseBinary{operation.op})) return found;
  return with_float_finish(operation.type, ChooseMath{operation.op});
}

}  // namespace calotype::sim
