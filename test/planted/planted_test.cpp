// Planted faults: every damage of a correct program that can change a result, or is a race, is found; nothing
// is found in the undamaged ones. What is expected was written down before: a damage is found, wherever it is
// done, but where kHarmless says why not.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cli/convert.h"
#include "driver/executable.h"
#include "driver/kernel_impl.h"
#include "driver/plan_encoder.h"
#include "lang/equality.h"
#include "operators/harness.h"
#include "planted/damage.h"
#include "support/copies.h"
#include "support/printed.h"
#include "support/run.h"
#include "support/tensors.h"

namespace calotype::test {
namespace {

struct Subject {
  std::string op, types, schedule;
  cli::Sizes sizes;
  std::vector<std::pair<std::string, std::int64_t>> knobs =
      {};  ///< for loops that run more than once at small sizes
  /// Funcs of which any number near the right one gives the same results: what is subtracted in a softmax.
  std::string any_number_does = {};
  bool is_own() const { return types.empty(); }
  std::string name() const {
    std::string text = op + "_" + types + "_" + schedule;
    std::replace_if(
        text.begin(), text.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
    return text;
  }
  friend void PrintTo(const Subject& s, std::ostream* out) { *out << s.name(); }
};

/// A pipeline of this test's own, under the name of an operator.
struct Own {
  Pipeline pipeline;
  Schedule schedule;
};

/// out(m, n) = in(n, m) + 1, by way of boxes whose rows of 128 bytes are swizzled, three in a ring.
Own swizzled_boxes() {
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
Own product_of_copies() {
  Schedule s = testing::copied_product(1);
  s["A.in(acc)"].copy(Copy::Tma);
  s["B.in(acc)"].vectorize("d0", 4).copy(Copy::Async);
  s["acc"].update().pipeline("ro", 2);
  return {testing::typed_product(Float(32), Float(32)), s};
}

Own own(const std::string& name) { return name == "swizzled_boxes" ? swizzled_boxes() : product_of_copies(); }

struct Harmless {
  std::string subject;
  Damage damage;
  int site;
  const char* reason;
};

const std::vector<Harmless> kHarmless = {
    {"sum_x_f32_out_f32_gpu", Damage::DropBarrier, 0,
     "no loop is around it: the partial results are written once, and nobody has read them before"},
    {"softmax_f32_gpu_ring", Damage::ShiftedLoads, 0,
     "goes into the maximum alone, of which any number near the right one gives the same softmax"},
};

/// A program with its arguments and what they are to give.
class Trial {
 public:
  explicit Trial(const Subject& subject)
      : Trial(subject.is_own() ? own(subject.op) : Own{pipeline_of(subject), schedule_of(subject)}, subject) {
  }

  const lower::Program& program() const { return kernel_.impl().dense().program; }

  /// The kinds of what is found, "wrong result" among them.
  std::vector<std::string> kinds(const lower::Program& program) {
    const auto executable = driver::make_interpreter_executable(program, {});
    Verification found;
    EXPECT_TRUE(
        run(program, *executable,
            {.verification = &found, .verify = {.max_findings = 3, .max_steps = std::int64_t{1} << 24}}));
    std::vector<std::string> kinds;
    for (const Finding& f : found.findings) kinds.push_back(f.kind);
    for (std::size_t i = 0; i < call_.outputs.size(); ++i)
      if (!lang::compare_with_reference(call_.outputs[i], reference_, i, false).ok)
        kinds.emplace_back("wrong result");
    return kinds;
  }

 private:
  bool run(const lower::Program& program, const driver::Executable& executable,
           const driver::CallMode& mode) {
    const auto plan = driver::encode_plan(program);
    std::vector<calotype_argument> arguments;
    const std::vector<Arg> args = call_.arguments(pipeline_.graph());
    for (std::size_t i = 0; i < args.size(); ++i) {
      const lower::Argument& expected = program.arguments[i];
      if (const Buffer* buffer = std::get_if<Buffer>(&args[i].value()))
        arguments.push_back({&buffer->raw(), 0});
      else
        arguments.push_back(
            {nullptr, driver::scalar_bits(std::get<double>(args[i].value()), expected.type, expected.name)});
    }
    for (Buffer& b : call_.outputs) b.fill(b.type().is_float() ? -12345.0 : 113);
    calotype_context context{};
    const calotype_error_kind kind = executable.run(plan->plan(), context, arguments, mode);
    if (kind != CALOTYPE_GOOD) std::printf("%s\n", context.error.message);
    return kind == CALOTYPE_GOOD;
  }

  Trial(const Own& own, const Subject& subject)
      : pipeline_(own.pipeline),
        kernel_(pipeline_.compile(own.schedule, Target::interpreter("sm_90a"))),
        call_(subject.is_own() ? own_call(subject) : random_call(subject.op, pipeline_, subject.sizes)),
        reference_(evaluated()) {}

  /// Two inputs at most, in the order of the sizes: N x M; K x M and N x K.
  cli::Call own_call(const Subject& subject) const {
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

  static Pipeline pipeline_of(const Subject& subject) {
    return find_operator(subject.op).pipeline(OperatorTypes::parse(subject.types));
  }

  static Schedule schedule_of(const Subject& subject) {
    Schedule s = make_schedule({subject.op, subject.types, subject.schedule, true});
    for (const auto& [knob, value] : subject.knobs) s.set(knob, value);
    return s;
  }

  /// Floats are positive, so that no sum is small beside its terms and what is missing in it shows.
  Evaluation evaluated() {
    for (Buffer& b : call_.inputs) {
      if (!b.type().is_float()) continue;
      for (std::int64_t i = 0; i < b.elements(); ++i) {
        const std::vector<std::int64_t> at = cli::coordinates_of(b, i);
        b.set_value(at, std::fabs(b.value(at)) + 0.25);
      }
    }
    return pipeline_.evaluate(call_.inputs, call_.params, call_.sizes);
  }

  Pipeline pipeline_;
  Kernel kernel_;
  cli::Call call_;
  Evaluation reference_;
};

class Planted : public ::testing::TestWithParam<Subject> {};

TEST_P(Planted, IsFound) {
  Trial trial(GetParam());
  EXPECT_EQ(trial.kinds(trial.program()), std::vector<std::string>()) << "undamaged";
  int planted = 0, harmless = 0, not_passed = 0;
  for (const Damage damage : all_damages())
    for (int site = 0;; ++site) {
      const std::optional<lower::Program> program =
          damaged(trial.program(), damage, site, GetParam().any_number_does);
      if (!program) break;
      testing::Printed passed;
      const std::vector<std::string> kinds = trial.kinds(*program);
      if (passed.in_order().empty()) {
        ++not_passed;  // the same program on this input
        continue;
      }
      ++planted;
      const auto known = std::find_if(kHarmless.begin(), kHarmless.end(), [&](const Harmless& h) {
        return h.subject == GetParam().name() && h.damage == damage && h.site == site;
      });
      harmless += known != kHarmless.end();
      EXPECT_EQ(kinds.empty(), known != kHarmless.end())
          << GetParam().name() << " " << to_string(damage) << " at " << site
          << (known == kHarmless.end() ? " is not found" : " is found");
    }
  std::printf("%s: %d planted, %d harmless, %d at places not passed\n", GetParam().name().c_str(), planted,
              harmless, not_passed);
}

const std::vector<std::pair<std::string, std::int64_t>> kSmallParts = {
    {"COLUMNS", 2048}, {"PART", 512}, {"THREADS", 64}};
const std::vector<std::pair<std::string, std::int64_t>> kSmallRings = {
    {"COLUMNS", 2048}, {"PART", 512}, {"THREADS", 64}, {"PLACES", 1}};

const std::vector<Subject> kSubjects = {
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

INSTANTIATE_TEST_SUITE_P(Operators, Planted, ::testing::ValuesIn(kSubjects),
                         [](const auto& info) { return info.param.name(); });

}  // namespace
}  // namespace calotype::test
