#pragma once
// What the Halide programs share: an operator is built anew for each compilation, and compiled once for the
// calls.

#include <Halide.h>
#include <sys/mman.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "../serve.h"

namespace peers {

/// An algorithm with its schedule.
struct HalideOperator {
  Halide::Pipeline pipeline;
  std::vector<Halide::ImageParam> inputs;
  std::vector<std::vector<int>> input_extents;
  Halide::Type output_type;
  std::vector<int> output_extents;
};

inline Halide::Type halide_type(const std::string& name) {
  if (name == "u8") return Halide::UInt(8);
  if (name == "u16") return Halide::UInt(16);
  if (name == "f32") return Halide::Float(32);
  throw std::runtime_error("no element type " + name);
}

[[noreturn]] inline void no_schedule(const Job& job, const std::string& legal) {
  throw std::runtime_error("no schedule " + job.schedule + "; there are: " + legal);
}

/// The machine that calls and compilations are for: this one, with all that it has.
inline Halide::Target machine() { return Halide::get_jit_target_from_environment(); }

/// A Buffer on large pages where the system has them, as our side's Buffers are: what is compared is code.
inline Halide::Buffer<> make_buffer(Halide::Type type, const std::vector<int>& extents) {
  constexpr std::uintptr_t kPage = 4096;
  Halide::Buffer<> buffer(type, extents);
  const auto begin = reinterpret_cast<std::uintptr_t>(buffer.data());
  const std::uintptr_t from = (begin + kPage - 1) / kPage * kPage;
  const std::uintptr_t to = (begin + buffer.size_in_bytes()) / kPage * kPage;
  if (to > from) madvise(reinterpret_cast<void*>(from), to - from, MADV_HUGEPAGE);
  return buffer;
}

inline Halide::Buffer<> read_input(const Halide::ImageParam& input, const std::vector<int>& extents,
                                   const std::string& path) {
  Halide::Buffer<> buffer = make_buffer(input.type(), extents);
  read_bytes(path, buffer.data(), buffer.size_in_bytes());
  return buffer;
}

/// Writes PATH.a and PATH.h, a function NAME for CUDA with Halide's runtime in it: it needs neither Halide
/// nor CUDA where it runs, but the driver.
inline int emit(HalideOperator op, const std::string& path, const std::string& name) {
  Halide::Target target = Halide::get_host_target();
  for (const auto feature : {Halide::Target::CUDA, Halide::Target::CUDACapability80})
    target.set_feature(feature);
  target.set_feature(Halide::Target::AVX512, false);  // it may be carried to another machine
  const std::vector<Halide::Argument> arguments(op.inputs.begin(), op.inputs.end());
  op.pipeline.compile_to_static_library(path, arguments, name, target);
  return 0;
}

inline Side halide_side(const std::function<HalideOperator()>& make, const Job& job) {
  auto op = std::make_shared<HalideOperator>(make());
  if (job.files.size() != op->inputs.size()) throw std::runtime_error("one file an input is needed");
  for (std::size_t i = 0; i < op->inputs.size(); ++i)
    op->inputs[i].set(read_input(op->inputs[i], op->input_extents[i], job.files[i]));
  op->pipeline.compile_jit(machine());
  Halide::Buffer<> output = make_buffer(op->output_type, op->output_extents);

  Side side;
  side.about = "Halide " + std::to_string(HALIDE_VERSION_MAJOR) + "." + std::to_string(HALIDE_VERSION_MINOR) +
               "." + std::to_string(HALIDE_VERSION_PATCH) + " " + machine().to_string();
  side.run = [op, output]() mutable { op->pipeline.realize(output); };
  side.compile = [make] { make().pipeline.compile_jit(machine()); };
  side.write = [output](const std::string& path) {
    write_bytes(path, output.data(), output.size_in_bytes());
  };
  return side;
}

}  // namespace peers
