#pragma once
// Object code of this machine brought into the process through ORC.

#include <llvm/Support/MemoryBuffer.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace calotype::llvm_backend {

/// Linked code; unmapped when destroyed.
class LinkedCode {
 public:
  virtual ~LinkedCode() = default;
  /// Addresses of the symbols given to `link`, in their order.
  virtual const std::vector<void*>& addresses() const = 0;
};

/// `data`: names that the code refers to and addresses that they stand for.
std::unique_ptr<LinkedCode> link(std::unique_ptr<llvm::MemoryBuffer> object,
                                 const std::vector<std::string>& symbols,
                                 const std::vector<std::pair<std::string, const void*>>& data);

}  // namespace calotype::llvm_backend
