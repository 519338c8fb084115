#pragma once
// Element types and constants as CUDA C spells them.

#include <string>

#include "calotype/type.h"

namespace calotype::cuda {

/// "float", "unsigned char", "bf16": the type in memory and in variables.
std::string c_type(Type type);
/// A constant of the type. f16 and bf16 are made from a float by the prelude's functions.
std::string c_int(Type type, std::int64_t value);
std::string c_float(Type type, double value);
/// f16 or bf16: held as bits, computed with as f32.
inline bool is_half(Type type) { return type.is_float() && type.bits == 16; }

}  // namespace calotype::cuda
