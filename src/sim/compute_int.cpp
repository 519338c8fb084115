// Integer arithmetic over lanes: the definitions of ir/fold.cpp as typed loops.

#include "sim/compute.h"
#include "sim/finish.h"
#include "sim/lanes.h"

namespace calotype::sim {
namespace {

using i64 = std::int64_t;
using u64 = std::uint64_t;
using ir::Op;

u64 bits(i64 value) { return static_cast<u64>(value); }
i64 number(u64 value) { return static_cast<i64>(value); }

// Results that must be wrapped to their type.
template <class Finish>
struct Add {
  static Cell of(Cell a, Cell b) { return Finish::of(number(bits(a.i) + bits(b.i))); }
};
template <class Finish>
struct Sub {
  static Cell of(Cell a, Cell b) { return Finish::of(number(bits(a.i) - bits(b.i))); }
};
template <class Finish>
struct Mul {
  static Cell of(Cell a, Cell b) { return Finish::of(number(bits(a.i) * bits(b.i))); }
};
template <class Finish>
struct Negate {
  static Cell of(Cell a) { return Finish::of(number(0 - bits(a.i))); }
};
template <class Finish>
struct Absolute {
  static Cell of(Cell a) { return Finish::of(a.i < 0 ? number(0 - bits(a.i)) : a.i); }
};
template <class Finish>
struct Complement {
  static Cell of(Cell a) { return Finish::of(~a.i); }
};

/// Signed division of any operands: by 0 gives 0, by -1 negates with a wrap.
template <class Finish, bool kFloor>
struct DivideSigned {
  static Cell of(Cell a, Cell b) {
    if (b.i == 0) return of_int(0);
    if (b.i == -1) return Finish::of(number(0 - bits(a.i)));
    const i64 quotient = a.i / b.i;
    const bool down = kFloor && a.i % b.i != 0 && (a.i < 0) != (b.i < 0);
    return of_int(down ? quotient - 1 : quotient);
  }
};
template <bool kEuclidean>
struct RemainderSigned {
  static Cell of(Cell a, Cell b) {
    if (b.i == 0 || b.i == -1) return of_int(0);
    const i64 rest = a.i % b.i;
    if (rest >= 0 || !kEuclidean) return of_int(rest);
    return of_int(number(bits(rest) + (b.i < 0 ? 0 - bits(b.i) : bits(b.i))));
  }
};
struct DivideUnsigned {
  static Cell of(Cell a, Cell b) { return of_int(b.i == 0 ? 0 : number(bits(a.i) / bits(b.i))); }
};
struct RemainderUnsigned {
  static Cell of(Cell a, Cell b) { return of_int(b.i == 0 ? 0 : number(bits(a.i) % bits(b.i))); }
};

// T is i64 or u64: how the operands compare.
template <class T>
struct Less {
  static Cell of(Cell a, Cell b) { return of_int(static_cast<T>(a.i) < static_cast<T>(b.i)); }
};
template <class T>
struct LessEqual {
  static Cell of(Cell a, Cell b) { return of_int(static_cast<T>(a.i) <= static_cast<T>(b.i)); }
};
template <class T>
struct Minimum {
  static Cell of(Cell a, Cell b) { return of_int(static_cast<T>(b.i) < static_cast<T>(a.i) ? b.i : a.i); }
};
template <class T>
struct Maximum {
  static Cell of(Cell a, Cell b) { return of_int(static_cast<T>(a.i) < static_cast<T>(b.i) ? b.i : a.i); }
};

struct Equal {
  static Cell of(Cell a, Cell b) { return of_int(a.i == b.i); }
};
struct Unequal {
  static Cell of(Cell a, Cell b) { return of_int(a.i != b.i); }
};
struct BitAnd {
  static Cell of(Cell a, Cell b) { return of_int(a.i & b.i); }
};
struct BitOr {
  static Cell of(Cell a, Cell b) { return of_int(a.i | b.i); }
};
struct BitXor {
  static Cell of(Cell a, Cell b) { return of_int(a.i ^ b.i); }
};
struct Not {
  static Cell of(Cell a) { return of_int(a.i == 0); }
};

struct ChooseWrapped {
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
      case Op::Neg:
        return map1<Negate<Finish>>;
      case Op::BitNot:
        return map1<Complement<Finish>>;
      default:
        return nullptr;
    }
  }
};

struct ChooseDivision {
  bool floor;
  template <class Finish>
  Compute with() const {
    return floor ? map2<DivideSigned<Finish, true>> : map2<DivideSigned<Finish, false>>;
  }
};

struct ChooseAbsolute {
  template <class Finish>
  Compute with() const {
    return map1<Absolute<Finish>>;
  }
};

template <class T>
Compute ordered(Op op) {
  switch (op) {
    case Op::Lt:
      return map2<Less<T>>;
    case Op::Le:
      return map2<LessEqual<T>>;
    case Op::Min:
      return map2<Minimum<T>>;
    case Op::Max:
      return map2<Maximum<T>>;
    default:
      return nullptr;
  }
}

Compute division(Op op, Type type) {
  const bool quotient = op == Op::Div || op == Op::TruncDiv;
  if (type.is_uint()) return quotient ? map2<DivideUnsigned> : map2<RemainderUnsigned>;
  if (!quotient) return op == Op::Mod ? map2<RemainderSigned<true>> : map2<RemainderSigned<false>>;
  return with_int_finish(type, ChooseDivision{op == Op::Div});
}

/// What needs no wrap and no order.
Compute bitwise(Op op) {
  switch (op) {
    case Op::Eq:
      return map2<Equal>;
    case Op::Ne:
      return map2<Unequal>;
    case Op::And:
    case Op::BitAnd:
      return map2<BitAnd>;
    case Op::Or:
    case Op::BitOr:
      return map2<BitOr>;
    case Op::BitXor:
      return map2<BitXor>;
    case Op::Not:
      return map1<Not>;
    default:
      return nullptr;
  }
}

}  // namespace

Compute select_int_compute(const Operation& operation) {
  const Type operand = operation.operands[0];
  if (Compute found = bitwise(operation.op)) return found;
  switch (operation.op) {
    case Op::Lt:
    case Op::Le:
    case Op::Min:
    case Op::Max:
      return operand.is_uint() ? ordered<u64>(operation.op) : ordered<i64>(operation.op);
    case Op::Div:
    case Op::Mod:
    case Op::TruncDiv:
    case Op::TruncMod:
      return division(operation.op, operand);
    case Op::Abs:
      return operand.is_int() ? with_int_finish(operation.type, ChooseAbsolute{}) : nullptr;
    default:
      return with_int_finish(operation.type, ChooseWrapped{operation.op});
  }
}

}  // namespace calotype::sim
