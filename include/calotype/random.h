#pragma once
// Random numbers as part of an algorithm. A number is a function of the coordinates of the point that is
// computed, of the seed, and of which call in the Pipeline it is: it is the same under every schedule, on
// every target and in every run. Another call in the source is another number; one Expr used twice is one
// number.
//
// The calls are counted over the Funcs of the Pipeline (producers first) and, in a Func, over its definitions
// in order. Only the value of a Func may have random numbers: in the coordinates of a definition, in the
// bounds of an RDom or in its condition they throw Error(Algorithm).

#include "calotype/expr.h"

namespace calotype {

Expr random_uint(Expr seed = 0u);   ///< u32, all values alike
Expr random_int(Expr seed = 0u);    ///< s32, all values alike
Expr random_float(Expr seed = 0u);  ///< f32 from 0 to below 1: a multiple of 2^-24

}  // namespace calotype
