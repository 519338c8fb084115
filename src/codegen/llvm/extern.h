#pragma once
// What compiled code refers to where it calls functions that compute boxes.

#include <string>
#include <utility>
#include <vector>

#include "lower/program.h"

namespace calotype::llvm_backend {

/// A name in the object code, and the record of the call that it stands for once linked: the code itself
/// holds no address, and is the same in every process.
using ExternRecord = std::pair<std::string, const ir::ExternCall*>;

/// Those of the functions, each once, in their order.
std::vector<ExternRecord> extern_records(const std::vector<lower::Function>& functions);

}  // namespace calotype::llvm_backend
