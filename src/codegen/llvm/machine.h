#pragma once
// The machines that code can be made for: their LLVM names, what they can do, and their TargetMachines.

#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>

namespace calotype::llvm_backend {

struct Machine {
  std::string arch;  ///< as in Options; "" for this machine
  std::string triple, cpu, features;
  bool runs_here = false;
  bool fma = false;  ///< fused multiply-add of f32 and f64 vectors
  bool x86 = false;
  bool f16c = false;      ///< x86: conversions between f16 and f32
  bool avx2 = false;      ///< masked loads and stores of 32 and 64-bit elements
  bool avx512 = false;    ///< masked loads and stores of every element; 512-bit vectors
  int vector_bits = 128;  ///< widest registers
  int dot_bits = 0;       ///< x86: widest registers with vpdpbusd and vpdpwssd; 0: it has none
};

/// Error(Target) with the legal names for an unknown one. The reference stays valid for the life of the
/// process.
const Machine& machine_for(const std::string& arch);

/// A TargetMachine for the exclusive use of one compilation; returned to its machine's pool at the end.
class MachineLease {
 public:
  explicit MachineLease(const Machine& machine);
  ~MachineLease();
  MachineLease(const MachineLease&) = delete;
  MachineLease& operator=(const MachineLease&) = delete;
  llvm::TargetMachine& operator*() const { return *target_machine_; }
  llvm::TargetMachine* operator->() const { return target_machine_.get(); }

 private:
  const Machine& machine_;
  std::unique_ptr<llvm::TargetMachine> target_machine_;
};

}  // namespace calotype::llvm_backend
