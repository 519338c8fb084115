// Targets: their one spelling.

#include "calotype/target.h"

#include <fmt/format.h>

#include "calotype/error.h"

namespace calotype {
namespace {

const std::vector<std::string> kHostArchs = {"x86_64-avx2", "x86_64-avx512", "x86_64-avx512vnni",
                                             "aarch64-neon"};
const std::vector<std::string> kCudaArchs = {"sm_80",  "sm_86",   "sm_89",  "sm_90",
                                             "sm_90a", "sm_100a", "sm_120a"};

std::vector<std::string> spellings() {
  std::vector<std::string> all = {"host", "cuda", "cuda-interpreter"};
  for (const std::string& a : kHostArchs) all.push_back("host-" + a);
  for (const std::string& a : kCudaArchs) all.push_back("cuda-" + a);
  for (const std::string& a : kCudaArchs) all.push_back("cuda-interpreter-" + a);
  return all;
}

}  // namespace

Target Target::host(const std::string& arch) { return {Kind::Host, arch}; }
Target Target::cuda(const std::string& arch) { return {Kind::Cuda, arch}; }
Target Target::interpreter(const std::string& arch) { return {Kind::CudaInterpreter, arch}; }

std::string Target::str() const {
  const char* base = kind == Kind::Host ? "host" : kind == Kind::Cuda ? "cuda" : "cuda-interpreter";
  return arch.empty() ? base : fmt::format("{}-{}", base, arch);
}

Target Target::parse(const std::string& text) {
  for (const std::string& legal : spellings()) {
    if (legal != text) continue;
    const std::string interpreter = "cuda-interpreter";
    for (const auto& [prefix, kind] : {std::pair<std::string, Kind>{interpreter, Kind::CudaInterpreter},
                                       {"cuda", Kind::Cuda},
                                       {"host", Kind::Host}})
      if (text.rfind(prefix, 0) == 0)
        return {kind, text.size() > prefix.size() ? text.substr(prefix.size() + 1) : ""};
  }
  throw Error({.kind = ErrorKind::Usage,
               .message = fmt::format("'{}' is not a target", text),
               .value = text,
               .legal = did_you_mean(text, spellings())});
}

}  // namespace calotype
