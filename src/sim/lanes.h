#pragma once
// Loops over cells for the typed arithmetic: whole warps in a loop of constant length, which compilers
// vectorise, then the rest (uniform values). Results never overlap operands, so __restrict__ holds.

#include "sim/code.h"

namespace calotype::sim {

template <class Body>
inline void each_cell(int n, Body body) {
  int k = 0;
  for (; k + kWarp <= n; k += kWarp)
    for (int lane = 0; lane < kWarp; ++lane) body(k + lane);
  for (; k < n; ++k) body(k);
}

template <class F>
void map1(const Operation&, Cell* __restrict__ r, const Cell* __restrict__ a, const Cell*, const Cell*,
          int n) {
  each_cell(n, [=](int k) { r[k] = F::of(a[k]); });
}

template <class F>
void map2(const Operation&, Cell* __restrict__ r, const Cell* __restrict__ a, const Cell* __restrict__ b,
          const Cell*, int n) {
  each_cell(n, [=](int k) { r[k] = F::of(a[k], b[k]); });
}

}  // namespace calotype::sim
