#pragma once
// Target: where a kernel runs.

#include <string>

namespace calotype {

/// One grammar in C++, JSON, command line and CMake: host, host-x86_64-avx2, host-x86_64-avx512,
/// host-x86_64-avx512vnni, host-aarch64-neon, cuda (the device present), cuda-sm_90a, cuda-interpreter,
/// cuda-interpreter-sm_90a.
struct Target {
  enum class Kind { Host, Cuda, CudaInterpreter };
  Kind kind = Kind::Host;
  std::string arch;  ///< "x86_64-avx2", "sm_90a"; empty: this machine's

  bool operator==(const Target&) const = default;
  bool is_gpu() const { return kind != Kind::Host; }

  static Target host(const std::string& arch = "");
  static Target cuda(const std::string& arch = "");
  static Target interpreter(const std::string& arch = "");
  /// Error(Usage) with the legal spellings for anything else.
  static Target parse(const std::string& text);
  std::string str() const;
};

}  // namespace calotype
