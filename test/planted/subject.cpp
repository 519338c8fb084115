// Operators at small sizes, with loops that nevertheless run more than once, and pipelines that have what no
// operator has.

#include "planted/subject.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "cli/convert.h"
#include "support/copies.h"
#include "support/random_buffer.h"
#include "support/tensors.h"

namespace calotype::test {
namespace {

/// out(m, n) = in(n, m) + 1, by way of boxes whose rows of 128 bytes are swizzled, three in a ring.
Scheduled swizzled_boxes() {
  Dim N("N"), M("M");
  ImageParam in(Float(32), {N, M}, "in");
  Var m("m"), n("n");
  Func out("out");
  out(m, n) = in(n, m) + 1.0f;
  Schedule s;
  s["out"].tile("m", "n", "mo", "no", "mi", "ni", 16, 32).gpu_blocks("no");
  s["out"].reorder("mi", "ni", "mo", "no").gpu_threads("mi").gpu_threads("ni", 4);
  s.in("in").compute_at("out", "mo").store_in(Memory::Shared).copy(Copy::Tma).swizzle(128);
  s["out"].pipeline("mo", 3);
  return {Pipeline("swizzled_boxes", {in}, {Output(out, {M, N})}), s};
}

/// A product whose operands come as a box and in groups of copies, in one pipeline.
Scheduled product_of_copies() {
  Schedule s = testing::copied_product(1);
  s["A.in(acc)"].copy(Copy::Tma);
  s["B.in(acc)"].vectorize("d0", 4).copy(Copy::Async);
  s["acc"].update().pipeline("ro", 2);
  return {testing::typed_product(Float(32), Float(32)), s};
}

/// Two inputs at most, in the order of the sizes: N x M; K x M and N x K.
cli::Call own_call(const Subject& subject) {
  cli::Call call;
  call.sizes = subject.sizes;
  const auto size = [&](const char* name) { return subject.sizes.at(name); };
  if (subject.op == "swizzled_boxes") {
    call.inputs = {testing::tensor_of(testing::random_buffer(Float(32), {size("N"), size("M")}, 1))};
    call.outputs = {Buffer(Float(32), {size("M"), size("N")})};
  } else {
    call.inputs = {testing::tensor_of(testing::random_buffer(Float(32), {size("K"), size("M")}, 1)),
                   testing::tensor_of(testing::random_buffer(Float(32), {size("N"), size("K")}, 2))};
    call.outputs = {Buffer(Float(32), {size("N"), size("M")})};
  }
  return call;
}

cli::Call operator_call(const Subject& subject, const Pipeline& pipeline) {
  cli::RunOptions options;
  options.select.sizes = subject.sizes;
  options.seed = 11;
  return cli::make_call(find_operator(subject.op), pipeline, {}, options);
}

/// Floats are made positive, so that no sum is small beside its terms and what is missing in it shows.
void make_positive(const Buffer& buffer) {
  if (!buffer.type().is_float()) return;
  cli::for_each_coordinate(buffer, [&](const std::vector<std::int64_t>& at) {
    buffer.set_value(at, std::fabs(buffer.value(at)) + 0.25);
  });
}

const std::vector<std::pair<std::string, std::int64_t>> kSmallParts = {
    {"COLUMNS", 2048}, {"PART", 512}, {"THREADS", 64}};
const std::vector<std::pair<std::string, std::int64_t>> kSmallRings = {
    {"COLUMNS", 2048}, {"PART", 512}, {"THREADS", 64}, {"PLACES", 1}};

}  // namespace

std::string Subject::name() const {
  std::string text = op + (types.empty() ? "" : "_" + types + "_" + schedule);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return text;
}

const std::vector<Subject>& subjects() {
  static const std::vector<Subject> all = {
      {"unsharp", "u8", "gpu", {{"W", 70}, {"H", 40}, {"C", 1}}},
      {"blur3x3", "f32", "gpu_tiles", {{"W", 70}, {"H", 40}, {"C", 1}}},
      {"harris", "f32", "gpu", {{"W", 70}, {"H", 40}}},
      {"matmul", "f32", "gpu", {{"M", 40}, {"N", 70}, {"K", 50}}},
      {"matmul", "f32", "gpu_pipelined", {{"M", 80}, {"N", 140}, {"K", 100}}},
      {"transpose", "f32", "gpu", {{"N", 70}, {"M", 50}, {"B", 1}}},
      {"transpose", "bf16", "gpu", {{"N", 140}, {"M", 150}, {"B", 1}}},
      {"sum",
       "x=f32,out=f32",
       "gpu",
       {{"N", 20000}, {"D1", 1}, {"D2", 1}, {"D3", 1}},
       {{"CHUNK", 1024}, {"THREADS", 64}, {"GROUP", 64}}},
      {"argmax", "f32", "gpu", {{"N", 3000}, {"D1", 64}, {"D2", 1}, {"D3", 1}}},
      {"cumulative_sum", "x=f32,out=f32", "gpu", {{"N", 300}, {"D1", 2}, {"D2", 1}, {"D3", 1}}},
      {"rmsnorm_silu_mul", "f32", "gpu", {{"N", 3000}, {"R", 2}}},
      {"rmsnorm_silu_mul", "f32", "gpu_cluster", {{"N", 2000}, {"R", 2}}, kSmallParts},
      {"rmsnorm_silu_mul", "bf16", "gpu_ring", {{"N", 2000}, {"R", 4}}, kSmallRings},
      {"layernorm_residual", "f32", "gpu", {{"N", 3000}, {"R", 2}}},
      {"layernorm_residual", "bf16", "gpu_ring", {{"N", 2000}, {"R", 4}}, kSmallRings},
      {"softmax", "f32", "gpu", {{"N", 3000}, {"D1", 2}, {"D2", 1}, {"D3", 1}}, {}, "peak"},
      {"softmax", "f32", "gpu_cluster", {{"N", 2000}, {"D1", 2}, {"D2", 1}, {"D3", 1}}, kSmallParts, "peak"},
      {"softmax", "f32", "gpu_ring", {{"N", 2000}, {"D1", 4}, {"D2", 1}, {"D3", 1}}, kSmallRings, "peak"},
      {"softmax_columns",
       "f32",
       "gpu_cluster",
       {{"N", 64}, {"R", 250}},
       {{"ROWS", 256}, {"PART", 64}, {"THREADS", 8}},
       "peak"},
      {"swizzled_boxes", "", "", {{"N", 64}, {"M", 160}}},
      {"product_of_copies", "", "", {{"M", 32}, {"N", 32}, {"K", 96}}},
      {"local_laplacian", "u8", "gpu", {{"W", 70}, {"H", 40}}},
  };
  return all;
}

Scheduled scheduled(const Subject& subject) {
  if (subject.op == "swizzled_boxes") return swizzled_boxes();
  if (subject.op == "product_of_copies") return product_of_copies();
  const Operator& op = find_operator(subject.op);
  const OperatorTypes types = OperatorTypes::parse(subject.types);
  Scheduled made{op.pipeline(types), op.schedule(subject.schedule).make(types)};
  for (const auto& [knob, value] : subject.knobs) made.schedule.set(knob, value);
  return made;
}

cli::Call call_of(const Subject& subject, const Pipeline& pipeline) {
  cli::Call call = subject.types.empty() ? own_call(subject) : operator_call(subject, pipeline);
  for (const Buffer& input : call.inputs) make_positive(input);
  return call;
}

}  // namespace calotype::test
