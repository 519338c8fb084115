// The workloads and their inputs.
#include "workloads.h"

#include <algorithm>
#include <cstring>

#include "cli/random.h"
#include "shipped.h"

namespace calotype::bench {

const std::vector<Workload>& workloads() {
  const cli::Sizes photo{{"W", 3000}, {"H", 2000}, {"C", 3}}, stamp{{"W", 128}, {"H", 96}, {"C", 3}};
  const cli::Sizes rows{{"N", 4096}, {"R", 1024}}, few_rows{{"N", 512}, {"R", 16}};
  static const std::vector<Workload> all = {
      {"blur3x3", "u8", photo, stamp},
      {"blur3x3", "f32", photo, stamp},
      {"unsharp", "u8", photo, stamp},
      {"unsharp", "f32", photo, stamp},
      {"matmul", "f32", {{"M", 1024}, {"N", 1024}, {"K", 1024}}, {{"M", 64}, {"N", 64}, {"K", 64}}, true},
      {"rmsnorm_silu_mul", "f32", rows, few_rows},
      {"rmsnorm_silu_mul", "bf16", rows, few_rows},
      {"local_laplacian", "u8", {{"W", 2560}, {"H", 1536}}, {{"W", 128}, {"H", 96}}},
      {"bilateral_grid", "f32", photo, stamp},
      {"stencil_chain", "u16", photo, stamp},
      {"softmax",
       "f32",
       {{"N", 4096}, {"D1", 1024}, {"D2", 1}, {"D3", 1}},
       {{"N", 512}, {"D1", 16}, {"D2", 1}, {"D3", 1}}},
  };
  return all;
}

const std::vector<Workload>& memory_bound_workloads() {
  const cli::Sizes rows{{"N", 4096}, {"R", 16384}}, few_rows{{"N", 517}, {"R", 9}};
  const cli::Sizes many{{"N", 4096}, {"D1", 32768}, {"D2", 1}, {"D3", 1}},
      few{{"N", 517}, {"D1", 9}, {"D2", 1}, {"D3", 1}};
  const cli::Sizes columns{{"N", 65536}, {"R", 1024}}, few_columns{{"N", 517}, {"R", 19}};
  const cli::Sizes square{{"N", 12000}, {"M", 12000}, {"B", 1}},
      small_square{{"N", 131}, {"M", 77}, {"B", 2}};
  static const std::vector<Workload> all = {
      {"transpose", "f32", square, small_square},
      {"transpose", "bf16", {{"N", 16000}, {"M", 16000}, {"B", 1}}, small_square},
      {"transpose", "u8", {{"N", 20032}, {"M", 20032}, {"B", 1}}, small_square},
      {"sum", "x=f32,out=f32", many, few},
      {"sum_rows", "x=f32,out=f32", many, few},
      {"sum_rows", "x=bf16,out=f32", many, few},
      {"argmax", "f32", many, few},
      {"cumulative_sum", "x=f32,out=f32", {{"N", 4096}, {"D1", 16384}, {"D2", 1}, {"D3", 1}}, few},
      {"layernorm_residual", "f32", rows, few_rows},
      {"layernorm_residual", "bf16", rows, few_rows},
      {"rmsnorm_silu_mul", "f32", rows, few_rows},
      {"rmsnorm_silu_mul", "bf16", {{"N", 4096}, {"R", 32768}}, few_rows},
      {"softmax", "f32", many, few},
      {"softmax", "bf16", {{"N", 4096}, {"D1", 65536}, {"D2", 1}, {"D3", 1}}, few},
      {"bias_gelu_dropout", "f32", rows, few_rows},
      {"bias_gelu_dropout", "bf16", {{"N", 4096}, {"R", 32768}}, few_rows},
      {"softmax_columns", "f32", columns, few_columns},
      {"softmax_columns", "bf16", {{"N", 131072}, {"R", 1024}}, few_columns},
  };
  return all;
}

Prepared::Prepared(const Workload& work, const Target& target)
    : pipeline(find_operator(work.op).pipeline(OperatorTypes::parse(work.type))) {
  schedule =
      shipped_schedule(find_operator(work.op), OperatorTypes::parse(work.type), pipeline, target).schedule;
}

void fill_inputs(const Arguments& arguments, std::uint64_t seed) {
  for (std::size_t i = 0; i < arguments.inputs.size(); ++i) {
    const Buffer& input = arguments.inputs[i];
    auto* bytes = static_cast<unsigned char*>(input.data());
    const std::size_t size = static_cast<std::size_t>(input.type().bytes());
    // A block of random values, repeated: what a random number costs is no part of a benchmark.
    const std::int64_t block = std::min<std::int64_t>(input.elements(), 65521);
    const Buffer random = cli::random_buffer(input.type(), {block}, seed, i);
    for (std::int64_t at = 0; at < input.elements(); at += block) {
      const std::int64_t count = std::min(block, input.elements() - at);
      std::memcpy(bytes + at * size, random.data(), count * size);
    }
  }
}

}  // namespace calotype::bench
