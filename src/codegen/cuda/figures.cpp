// The figures of ptxas beside what the lowered kernels ask for.

#include "codegen/cuda/figures.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/cuda/printer.h"

namespace calotype::cuda {
namespace {

/// The stages that a kernel stores in one kind of memory, each once.
std::vector<std::string> stored_in(const lower::Function& kernel, ir::MemorySpace space) {
  std::vector<std::string> names;
  ir::visit(kernel.body, [&](const ir::Stmt& s) {
    if (s->kind != ir::StmtKind::Allocate || s->buffer()->space != space) return;
    if (std::find(names.begin(), names.end(), s->buffer()->name) == names.end())
      names.push_back(s->buffer()->name);
  });
  return names;
}

const KernelFigures* find(const Compiled& compiled, const std::string& name) {
  const auto at = std::find_if(compiled.kernels.begin(), compiled.kernels.end(),
                               [&](const KernelFigures& k) { return k.name == name; });
  return at == compiled.kernels.end() ? nullptr : &*at;
}

std::string threads_text(const lower::Function& kernel) {
  return kernel.max_threads > 0 ? fmt::format("{} threads", kernel.max_threads)
                                : std::string("as many threads as the call says");
}

std::string kernel_text(const lower::Function& kernel, const std::string& name, const KernelFigures& k) {
  std::string text = fmt::format("kernel {}, a block of {}\n", name, threads_text(kernel));
  text += fmt::format("  registers a thread      {}\n", k.registers);
  text += fmt::format("  shared memory a block   {} bytes{}\n", k.shared_bytes + dynamic_shared_bytes(kernel),
                      dynamic_shared_bytes(kernel) > 0 ? ", asked for by the launch" : "");
  text += fmt::format("  local memory a thread   {} bytes\n", k.stack_bytes);
  text += fmt::format("  spilled                 {} bytes of stores and loads\n", k.spill_bytes);
  return text;
}

/// The arguments of printf are in local memory.
bool prints(const lower::Function& kernel) {
  bool found = false;
  ir::visit(kernel.body, [&](const ir::Stmt& s) { found |= s->kind == ir::StmtKind::Print; });
  return found;
}

std::string warning_of(const lower::Function& kernel, const std::string& name, const std::string& arch,
                       const KernelFigures& k) {
  const std::vector<std::string> registers = stored_in(kernel, ir::MemorySpace::Register);
  const std::string stages =
      registers.empty() ? "" : fmt::format(" (stored in registers: {})", fmt::join(registers, ", "));
  if (k.spill_bytes > 0)
    return fmt::format(
        "kernel '{}' for {}: {} registers do not hold the values of a thread, and {} bytes of "
        "stores and loads of local memory take their place{}",
        name, arch, k.registers, k.spill_bytes, stages);
  if (k.stack_bytes > 0 && !prints(kernel) && stored_in(kernel, ir::MemorySpace::Local).empty())
    return fmt::format(
        "kernel '{}' for {}: {} bytes a thread are in local memory and not in registers, which "
        "have to be named by constants: unroll the loops that index them{}",
        name, arch, k.stack_bytes, stages);
  return "";
}

}  // namespace

std::string figures_text(const std::vector<lower::Function>& kernels, const Compiled& compiled) {
  std::string text = fmt::format("for {}, by the compiler of CUDA {}.{}\n", compiled.arch,
                                 compiled.nvrtc / 1000, compiled.nvrtc % 1000 / 10);
  const std::vector<std::string> names = kernel_names(kernels);
  for (std::size_t i = 0; i < kernels.size(); ++i)
    if (const KernelFigures* k = kernels[i].gpu ? find(compiled, names[i]) : nullptr)
      text += kernel_text(kernels[i], names[i], *k);
  for (const std::string& warning : warnings_of(kernels, compiled)) text += "warning: " + warning + "\n";
  return text;
}

std::vector<std::string> warnings_of(const std::vector<lower::Function>& kernels, const Compiled& compiled) {
  std::vector<std::string> warnings = compiled.warnings;
  const std::vector<std::string> names = kernel_names(kernels);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const KernelFigures* k = kernels[i].gpu ? find(compiled, names[i]) : nullptr;
    if (!k) continue;
    std::string warning = warning_of(kernels[i], names[i], compiled.arch, *k);
    if (!warning.empty()) warnings.push_back(std::move(warning));
  }
  return warnings;
}

}  // namespace calotype::cuda
