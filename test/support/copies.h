#pragma once
// Rows, and a product of matrices whose operands are copied to shared memory, for tests of copies and
// pipelines.

#include "calotype/calotype.h"

namespace calotype::testing {

/// C(j, i) = acc(j, i), the product of A (K x M) and B (N x K) of any type, summed in `sum`.
inline Pipeline typed_product(Type type, Type sum) {
  Dim M("M"), N("N"), K("K");
  ImageParam A(type, {K, M}, "A"), B(type, {N, K}, "B");
  Var i("i"), j("j");
  RDom r(0, K, "r");
  Func acc("acc"), C("C");
  acc(j, i) += cast(sum, A(r, i)) * cast(sum, B(j, r));
  C(j, i) = acc(j, i);
  return Pipeline("product", {A, B}, {Output(C, {N, M})});
}

/// Of rows less their sum (centred.h), one after the other in `blocks` blocks, each copied ahead of the
/// threads that read it. depth 1: in the iteration that reads it.
inline Schedule copied_rows(Copy how, int most, int threads, int blocks, int depth) {
  Schedule s;
  s.assume("K", Assumption::range(1, most));
  s["out"].compute_root().split("y", "turn", "place", blocks).gpu_threads("c", threads);
  s["out"].reorder("c.t", "c.o", "turn", "place").gpu_blocks("place");
  Stage row = s.in("in");
  row.compute_at("out", "turn").store_in(Memory::Shared).copy(how);
  s["total"].compute_at("out", "turn").store_in(Memory::Register);
  s["total"].update().gpu_threads("k", threads);
  if (depth > 1) s["out"].pipeline("turn", depth);
  return s;
}

/// The same of rows in parts of 64 elements, up to `blocks` of them, that each block of a cluster has one of;
/// 32 threads a block.
inline Schedule copied_rows_in_clusters(Copy how, int blocks, int depth) {
  Schedule s;
  s.assume("K", Assumption::range(1, 64 * blocks));
  s["out"].compute_root().split("y", "turn", "place", 2).split("c", "part", "own", 64);
  s["out"].gpu_threads("own", 32).reorder("own.t", "own.o", "part", "turn", "place");
  s["out"].gpu_blocks("place").cluster("part");
  Stage row = s.in("in");
  row.compute_at("out", "turn").store_in(Memory::Shared).copy(how).split("d0", "part", "own", 64);
  if (how == Copy::Tma) row.reorder("own", "d1", "part");
  row.cluster("part");
  s["total"].compute_at("out", "turn").store_in(Memory::Register);
  s["total"].update().split("k", "part", "own", 64).gpu_threads("own", 32).cluster("part");
  if (depth > 1) s["out"].pipeline("turn", depth);
  return s;
}

/// Tiles of 16 x 16, a thread a sum; 16 of r at a time of both operands in shared memory, copied in vectors
/// of `vector` elements. `outer`: so many of these steps in an iteration of a loop around.
inline Schedule copied_product(int vector, int outer = 0) {
  Schedule s;
  s["C"].tile("j", "i", "jo", "io", "ji", "ii", 16, 16).gpu_blocks("jo", "io").gpu_threads("ji", "ii");
  s["acc"].compute_at("C", "jo").store_in(Memory::Register).gpu_threads("j", "i");
  Stage update = s["acc"].update();
  if (outer == 0)
    update.split("r", "ro", "ri", 16).reorder("ri", "j", "i", "ro");
  else
    update.split("r", "rt", "ri", 16).split("rt", "rq", "ro", outer).reorder("ri", "j", "i", "ro", "rq");
  update.gpu_threads("j", "i");
  for (const char* operand : {"A", "B"}) {
    Stage copy = s.in(operand, {"acc"});
    s[copy].compute_at(s["acc"].update(), "ro").store_in(Memory::Shared);
    if (vector > 1) s[copy].vectorize("d0", vector);
  }
  return s;
}

inline Schedule async_product(int vector, int depth, int outer = 0) {
  Schedule s = copied_product(vector, outer);
  for (const char* copy : {"A.in(acc)", "B.in(acc)"}) s[copy].copy(Copy::Async);
  if (depth > 1) s["acc"].update().pipeline("ro", depth);
  return s;
}

}  // namespace calotype::testing
