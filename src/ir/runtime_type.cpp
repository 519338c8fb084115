// Types as the runtime writes them.
#include "ir/runtime_type.h"

namespace calotype::ir {

calotype_type runtime_type(Type type) {
  const auto bits = static_cast<std::uint8_t>(type.bits);
  switch (type.code) {
    case TypeCode::Int:
      return {CALOTYPE_INT, bits};
    case TypeCode::UInt:
      return {CALOTYPE_UINT, bits};
    case TypeCode::Float:
      return {CALOTYPE_FLOAT, bits};
    case TypeCode::BFloat:
      return {CALOTYPE_BFLOAT, bits};
    case TypeCode::E4M3:
      return {CALOTYPE_E4M3, bits};
    case TypeCode::E5M2:
      return {CALOTYPE_E5M2, bits};
  }
  return {CALOTYPE_INT, bits};
}

}  // namespace calotype::ir
