// The source of a program: the prelude's parts that its kernels need, then the kernels.

#include "codegen/cuda/printer.h"

#include "codegen/cuda/kernel_printer.h"

namespace calotype::cuda {

std::vector<std::string> kernel_names(const std::vector<lower::Function>& kernels) {
  Names names;
  std::vector<std::string> all;
  for (const lower::Function& f : kernels) all.push_back(names.fresh(f.name));
  return all;
}

std::string print(const std::vector<lower::Function>& kernels, const PrintOptions& options) {
  Prelude prelude;
  std::string text;
  const std::vector<std::string> names = kernel_names(kernels);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (kernels[i].gpu) text += "\n" + KernelPrinter(kernels[i], options, prelude).print(names[i]);
  }
  return prelude.str() + text;
}

}  // namespace calotype::cuda
