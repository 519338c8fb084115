#pragma once
// A reduction of rows and what uses its result, for tests of those who share a row.

#include "calotype/calotype.h"

namespace calotype::testing {

/// out(c, y) = in(c, y) - total(y), total(y) the sum over k of in(k, y).
inline Pipeline centred(Type type) {
  Dim K("K"), N("N");
  ImageParam in(type, {K, N}, "in");
  Var c("c"), y("y");
  RDom k(0, K, "k");
  Func total("total"), out("out");
  total(y) += in(k, y);
  out(c, y) = in(c, y) - total(y);
  return Pipeline("centred", {in}, {Output(out, {K, N})});
}

}  // namespace calotype::testing
