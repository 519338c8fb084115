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
