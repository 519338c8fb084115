// Known machines, made when first asked for, and a pool of TargetMachines for each: making one costs more
// than compiling a small function, and one must not be used by two threads at the same time.
#include "codegen/llvm/machine.h"

#include <llvm/ADT/StringMap.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/Triple.h>

#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "calotype/error.h"

namespace calotype::llvm_backend {
namespace {

struct Entry {
  Machine machine;
  std::vector<std::unique_ptr<llvm::TargetMachine>> idle;
};

/// One lock for the registry of targets (LLVM's is not safe against concurrent use), the machines and their
/// pools.
std::mutex& registry_mutex() {
  static std::mutex mutex;
  return mutex;
}

/// Never destroyed: modules may outlive static destruction.
std::map<std::string, Entry>& entries() {
  static auto* map = new std::map<std::string, Entry>;
  return *map;
}

void initialise_native() {
  static const bool done = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)done;
}

void initialise_all() {
  static const bool done = [] {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
    return true;
  }();
  (void)done;
}

const std::set<std::string>& host_features() {
  static const std::set<std::string> features = [] {
    std::set<std::string> names;
    for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
      if (feature.getValue()) names.insert(feature.getKey().str());
    }
    return names;
  }();
  return features;
}

bool host_is(llvm::Triple::ArchType arch) {
  return llvm::Triple(llvm::sys::getProcessTriple()).getArch() == arch;
}

bool host_has(std::initializer_list<const char*> features) {
  for (const char* feature : features) {
    if (!host_features().contains(feature)) return false;
  }
  return true;
}

Machine this_machine() {
  Machine m;
  m.triple = llvm::sys::getProcessTriple();
  m.cpu = llvm::sys::getHostCPUName().str();
  // Off as well as on: a virtual machine may hide what the CPU's name implies.
  std::map<std::string, bool> sorted;
  for (const auto& feature : llvm::sys::getHostCPUFeatures())
    sorted[feature.getKey().str()] = feature.getValue();
  // LLVM 19 folds a load into a masked comparison of halves with its operands exchanged and the predicate as
  // it was. Without these instructions halves are computed in f32, to the same results.
  if (sorted.contains("avx512fp16")) sorted["avx512fp16"] = false;
  for (const auto& [name, on] : sorted)
    m.features += (m.features.empty() ? "" : ",") + ((on ? "+" : "-") + name);
  m.runs_here = true;
  m.x86 = host_is(llvm::Triple::x86_64);
  m.fma = !m.x86 || host_has({"fma"});
  m.f16c = m.x86 && host_has({"f16c"});
  m.avx2 = m.x86 && host_has({"avx2"});
  m.avx512 = m.x86 && host_has({"avx512f", "avx512bw", "avx512dq", "avx512vl"});
  m.vector_bits = m.avx512 ? 512 : m.avx2 ? 256 : 128;
  m.dot_bits = m.avx512 && host_has({"avx512vnni"}) ? 512 : m.avx2 && host_has({"avxvnni"}) ? 256 : 0;
  return m;
}

Machine x86_avx2() {
  Machine m;
  m.triple = "x86_64-unknown-linux-gnu";
  m.cpu = "haswell";
  m.runs_here =
      host_is(llvm::Triple::x86_64) && host_has({"avx2", "fma", "f16c", "bmi", "bmi2", "lzcnt", "movbe"});
  m.x86 = m.fma = m.f16c = m.avx2 = true;
  m.vector_bits = 256;
  return m;
}

Machine x86_avx512() {
  Machine m = x86_avx2();
  m.cpu = "x86-64-v4";
  m.runs_here = m.runs_here && host_has({"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512cd"});
  m.avx512 = true;
  m.vector_bits = 512;
  return m;
}

Machine x86_avx512_vnni() {
  Machine m = x86_avx512();
  m.cpu = "cascadelake";
  m.runs_here = m.runs_here && host_has({"avx512vnni"});
  m.dot_bits = 512;
  return m;
}

Machine aarch64_neon() {
  Machine m;
  m.triple = "aarch64-unknown-linux-gnu";
  m.cpu = "generic";
  m.features = "+neon";
  m.runs_here = host_is(llvm::Triple::aarch64);
  m.fma = true;
  return m;
}

Machine describe(const std::string& arch) {
  static const std::vector<std::pair<std::string, Machine (*)()>> known = {
      {"", this_machine},
      {"x86_64-avx2", x86_avx2},
      {"x86_64-avx512", x86_avx512},
      {"x86_64-avx512vnni", x86_avx512_vnni},
      {"aarch64-neon", aarch64_neon}};
  std::vector<std::string> names;
  for (const auto& [name, make] : known) {
    if (name == arch) {
      Machine m = make();
      m.arch = arch;
      return m;
    }
    if (!name.empty()) names.push_back(name);
  }
  throw Error({.kind = ErrorKind::Target,
               .message = "the CPU backend does not know this architecture",
               .value = arch,
               .legal = did_you_mean(arch, names)});
}

std::unique_ptr<llvm::TargetMachine> make_target_machine(const Machine& machine) {
  if (machine.arch.empty()) {
    initialise_native();
  } else {
    initialise_all();
  }
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(machine.triple, error);
  if (!target) {
    throw Error({.kind = ErrorKind::Target,
                 .message = "this LLVM was built without the target: " + error,
                 .value = machine.triple});
  }
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;  // contraction is decided where expressions are emitted
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      machine.triple, machine.cpu, machine.features, options, llvm::Reloc::PIC_, llvm::CodeModel::Small,
      llvm::CodeGenOptLevel::Default, /*JIT=*/machine.arch.empty()));
}

}  // namespace

const Machine& machine_for(const std::string& arch) {
  std::lock_guard lock(registry_mutex());
  auto it = entries().find(arch);
  if (it == entries().end()) it = entries().emplace(arch, Entry{describe(arch), {}}).first;
  return it->second.machine;
}

MachineLease::MachineLease(const Machine& machine) : machine_(machine) {
  std::lock_guard lock(registry_mutex());
  auto& idle = entries().at(machine.arch).idle;
  if (idle.empty()) {
    target_machine_ = make_target_machine(machine);
  } else {
    target_machine_ = std::move(idle.back());
    idle.pop_back();
  }
}

MachineLease::~MachineLease() {
  std::lock_guard lock(registry_mutex());
  entries().at(machine_.arch).idle.push_back(std::move(target_machine_));
}

}  // namespace calotype::llvm_backend
