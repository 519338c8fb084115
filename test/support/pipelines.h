#pragma once
// Small pipelines on which schedules are tried.

#include "calotype/calotype.h"

namespace calotype::testing {

/// out <- bx <- edged, a stencil of 3 x 3 in two stages on an input of the same size.
inline Pipeline stencil() {
  Dim W("W"), H("H");
  ImageParam in(Float(32), {W, H}, "in");
  Var x("x"), y("y");
  Func edged = boundary::repeat_edge(in, "edged");
  Func bx("bx"), out("out");
  bx(x, y) = edged(x - 1, y) + edged(x, y) * 2.0f + edged(x + 1, y);
  out(x, y) = bx(x, y - 1) + bx(x, y) * 3.0f + bx(x, y + 1) - in(x, y);
  return Pipeline("stencil", {in}, {Output(out, {W, H})});
}

/// C(j, i) = acc(j, i) + 1 with acc the matrix product of A (K x M) and B (N x K).
inline Pipeline product() {
  Dim M("M"), N("N"), K("K");
  ImageParam A(Float(32), {K, M}, "A"), B(Float(32), {N, K}, "B");
  Var i("i"), j("j");
  RDom r(0, K, "r");
  Func acc("acc"), C("C");
  acc(j, i) += A(r, i) * B(j, r);
  C(j, i) = acc(j, i) + 1.0f;
  return Pipeline("product", {A, B}, {Output(C, {N, M})});
}

/// out(x, y) = in(x, y) / (|total(y)| + N) with total the sum of a row of N.
inline Pipeline row_sums() {
  Dim N("N"), R("R");
  ImageParam in(Float(32), {N, R}, "in");
  Var x("x"), y("y");
  RDom k(0, N, "k");
  Func total("total"), out("out");
  total(y) += in(k, y);
  out(x, y) = in(x, y) / (abs(total(y)) + cast<float>(N));
  return Pipeline("row_sums", {in}, {Output(out, {N, R})});
}

/// log of the sum of exp(x(i, k)) over k, by a running maximum and a sum that is scaled whenever it moves.
inline Pipeline online() {
  Dim N("N"), K("K");
  ImageParam x(Float(32), {N, K}, "x");
  Var i("i"), k("k");
  RDom r(0, K, "r");
  Func m("m"), l("l"), out("out");
  m(i, k) = -1e30f;
  m(i, r) = max(m(i, r - 1), x(i, r));
  l(i, k) = 0.0f;
  l(i, r) = l(i, r - 1) * exp(m(i, r - 1) - m(i, r)) + exp(x(i, r) - m(i, r));
  out(i) = m(i, K - 1) + log(l(i, K - 1));
  return Pipeline("online", {x}, {Output(out, {N})});
}

/// Sizes that one extent of the input holds together: W + H and 2 H.
inline Pipeline joint_sizes() {
  Dim W("W"), H("H");
  ImageParam in(Float(32), {W + H, H * 2}, "in");
  Var x("x");
  Func out("out");
  out(x) = in(x, 0) + in(x, 1);
  return Pipeline("joint_sizes", {in}, {Output(out)});
}

}  // namespace calotype::testing
