#pragma once
// What the host schedules of filters that are separable in x and y have in common.
#include <calotype/operator.h>

#include <string>

namespace calotype::apps {

/// `out` in strips of STRIP rows, in parallel; in a strip ROWS rows of VECTOR samples at a time, with what
/// the stage `across` makes of those rows and of their neighbours beside them on the stack. Where samples are
/// interleaved, as in most photos of 8 bits, the rows of `edged` are taken apart once, with their edges, not
/// at every read.
inline void blocks_of_rows(Schedule& s, const std::string& out, const std::string& across, bool interleaved,
                           const Knob& strip, const Knob& rows, const Knob& vector) {
  s[out]
      .compute_root()
      .split("y", "yo", "yi", strip)
      .split("yi", "yb", "row", rows)
      .split("x", "xo", "lane", vector)
      .reorder("lane", "row", "xo", "yb", "yo", "c")
      .vectorize("lane")
      .unroll("row")
      .parallel("c")
      .parallel("yo");
  s[across].compute_at(out, "xo").store_in(Memory::Stack).vectorize("x", vector).unroll("y");
  if (interleaved)
    s["edged"].store_at(out, "yo").compute_at(out, "yb").vectorize("x", vector);
  else
    s["edged"].compute_inline();
}

}  // namespace calotype::apps
