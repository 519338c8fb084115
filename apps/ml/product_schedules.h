#pragma once
// Schedules of matrix products that all of them share: blocks for a host, tiles for a GPU without tensor
// cores, and those on tensor cores.

#include <calotype/operator.h>

#include <string>

#include "matrix_product.h"

namespace calotype::apps {

/// Blocked in all three dimensions, so that whatever the size its parts stay in the caches: a block of sums
/// in memory, DEPTH of k at a time with its panel of B copied together, n innermost however B is given,
/// register tiles within.
inline Schedule blocks_on_host(Transposed t) {
  Schedule s;
  const Knob height = s.knob("TM", 8), width = s.knob("TN", 32), vector = s.knob("VECTOR", 16);
  const Knob rows = s.knob("ROWS", 256), columns = s.knob("COLUMNS", 128), depth = s.knob("DEPTH", 256);
  s["C"]
      .compute_root()
      .tile("n", "m", "no", "mo", "ni", "mi", columns, rows)
      .vectorize("ni", vector)
      .parallel("mo")
      .parallel("no");
  s["acc"].compute_at("C", "no").vectorize("n", vector);
  s["acc"]
      .update()
      .split("k", "ko", "ki", depth)
      .tile("n", "m", "nt", "mt", "nr", "mr", width, height)
      .reorder("nr", "mr", "ki", "nt", "mt", "ko")
      .vectorize("nr", vector)
      .unroll("nr.o")
      .unroll("mr");
  Stage panel = s.in("B", {"acc"});
  s[panel].compute_at(s["acc"].update(), "ko");
  if (t.b)
    s[panel].layout({"d1", "d0"}).reorder("d1", "d0").vectorize("d1", vector);
  else
    s[panel].vectorize("d0", vector);
  return s;
}

/// A thread a sum, operands straight from memory.
inline Schedule thread_a_sum() {
  Schedule s;
  s["C"]
      .compute_root()
      .tile("n", "m", "no", "mo", "ni", "mi", 32, 8)
      .gpu_blocks("no", "mo")
      .gpu_threads("ni", "mi");
  s["acc"].compute_at("C", "ni").store_in(Memory::Register);
  return s;
}

/// A tile of 64 x 64 a block, 4 x 4 sums a thread in registers, tiles of A and B in shared memory 16 of k at
/// a time: for any size.
inline Schedule tiles_of_threads() {
  Schedule s;
  s["C"]
      .compute_root()
      .tile("n", "m", "no", "mo", "ni", "mi", 64, 64)
      .tile("ni", "mi", "nt", "mt", "nr", "mr", 4, 4)
      .gpu_blocks("no", "mo")
      .gpu_threads("nt", "mt")
      .unroll("nr")
      .unroll("mr");
  s["acc"].compute_at("C", "no").store_in(Memory::Register);
  s["acc"].tile("n", "m", "nt", "mt", "nr", "mr", 4, 4).gpu_threads("nt", "mt").unroll("nr").unroll("mr");
  s["acc"]
      .update()
      .split("k", "ko", "ki", 16)
      .tile("n", "m", "nt", "mt", "nr", "mr", 4, 4)
      .reorder("nr", "mr", "ki", "nt", "mt", "ko")
      .gpu_threads("nt", "mt")
      .unroll("nr")
      .unroll("mr");
  Stage a = s.in("A", {"acc"}), b = s.in("B", {"acc"});
  s[a].compute_at(s["acc"].update(), "ko").store_in(Memory::Shared);
  s[b].compute_at(s["acc"].update(), "ko").store_in(Memory::Shared);
  return s;
}

/// What every product has: a schedule for a host, tiles for a GPU, and the schedules on tensor cores, a step
/// further each. `biased`: the operator has a bias along n. Tensor cores multiply no f32, which has a thread
/// for each sum there.
inline void add_product_schedules(const std::string& name, Transposed t, bool biased = false) {
  OperatorRegistration schedules = register_schedules(name);
  schedules.schedule("host", Target::Kind::Host,
                     "register tiles in blocks of all three dimensions, in parallel",
                     [=](const OperatorTypes&) { return blocks_on_host(t); });
  schedules.schedule("gpu", Target::Kind::Cuda, "tiles of A and B in shared memory, 4 x 4 sums a thread",
                     [](const OperatorTypes&) { return tiles_of_threads(); });
  const auto add = [&](const char* step_name, const char* description, ProductStep step) {
    schedules.schedule(step_name, Target::Kind::Cuda, description, [=](const OperatorTypes& types) {
      return types.of("A") == Float(32) ? thread_a_sum() : TensorProduct(types, t, biased).schedule(step);
    });
  };
  add("tensor_cores", "tiles by tensor cores from boxes of A and B", ProductStep::TensorCores);
  add("tensor_pipelined", "the same, boxes copied ahead of their use", ProductStep::Pipelined);
  add("tensor_roles", "the same, by warps of their own", ProductStep::Roles);
  add("tensor_staged", "the same, tiles of C sent as boxes", ProductStep::Staged);
  add("tensor", "the same, one tile after the other in each block", ProductStep::Persistent);
  add("tensor_above", "the same, pairs of blocks with the same columns of B", ProductStep::Above);
}

}  // namespace calotype::apps
