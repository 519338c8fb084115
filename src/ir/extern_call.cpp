// Calling the function of an extern stage.
#include "ir/extern_call.h"

#include <fmt/format.h>

#include <exception>

namespace calotype::ir {

std::optional<std::string> call_extern(const Extern& callee, const std::string& func,
                                       const std::vector<calotype_buffer>& outputs,
                                       const std::vector<calotype_buffer>& inputs,
                                       const std::vector<std::int64_t>& scalars) {
  std::vector<calotype_argument> passed;
  for (const std::int64_t value : scalars) passed.push_back({.buffer = nullptr, .scalar = value});
  const calotype_extern_call call{.user = callee.function.user,
                                  .outputs = outputs.data(),
                                  .inputs = inputs.data(),
                                  .scalars = passed.data(),
                                  .output_count = static_cast<std::uint32_t>(outputs.size()),
                                  .input_count = static_cast<std::uint32_t>(inputs.size()),
                                  .scalar_count = static_cast<std::uint32_t>(passed.size())};
  const std::string& name = callee.function.name;
  try {
    const int status = callee.function.function(&call);
    if (status == 0) return std::nullopt;
    return fmt::format("'{}': the function '{}' failed with {}", func, name, status);
  } catch (const std::exception& e) {
    return fmt::format("'{}': the function '{}' threw an exception: {}", func, name, e.what());
  } catch (...) {
    return fmt::format("'{}': the function '{}' threw an exception", func, name);
  }
}

}  // namespace calotype::ir
