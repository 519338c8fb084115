// The optimisation pipeline. Lowering has already unrolled, vectorised and simplified, so what is left for
// LLVM is local: stack tiles into registers, common subexpressions, invariant code out of loops. Loop
// transformations of the standard pipelines would cost more time than everything here and undo what a
// schedule asked for.
#include "codegen/llvm/optimize.h"

#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/OptBisect.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/InferAlignment.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include "calotype/error.h"
#include "codegen/llvm/carried_extremes.h"
#include "codegen/llvm/dot_offsets.h"

namespace calotype::llvm_backend {
namespace {

llvm::FunctionPassManager function_passes() {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(
      llvm::InstCombinePass(llvm::InstCombineOptions().setMaxIterations(1).setVerifyFixpoint(false)));
  llvm::LoopPassManager loops;
  loops.addPass(llvm::LICMPass(llvm::LICMOptions()));
  loops.addPass(SeparateOffsets());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loops), /*UseMemorySSA=*/true,
                                                       /*UseBlockFrequencyInfo=*/false));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));  // finds what promoted memory starts from
  passes.addPass(CompareExtremes());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::InferAlignmentPass());
  return passes;
}

/// Modules with more have many accesses in a loop.
constexpr unsigned kManyInstructions = 4000;

/// Leaves out passes that take half of the time of making machine code for large modules and more: the
/// strength reduction of addresses in loops, which gives small ones, as of a convolution, some hundredths of
/// their time, and the search for integers that could live in mask registers. A gate belongs to a context,
/// where the options for them would change what other users of LLVM in the process get.
class SkippedPasses : public llvm::OptPassGate {
 public:
  bool shouldRunPass(llvm::StringRef pass, llvm::StringRef) override {
    return pass != "Loop Strength Reduction" && pass != "X86 Domain Reassignment Pass";
  }
  bool isEnabled() const override { return true; }
};

void run_codegen(llvm::legacy::PassManager& passes, llvm::Module& module) {
  static SkippedPasses skipped;  // without state; contexts refer to it
  if (module.getInstructionCount() > kManyInstructions) module.getContext().setOptPassGate(skipped);
  passes.run(module);
}

void add_codegen(llvm::legacy::PassManager& passes, llvm::TargetMachine& target_machine,
                 llvm::raw_pwrite_stream& out, llvm::CodeGenFileType type) {
  if (target_machine.addPassesToEmitFile(passes, out, nullptr, type, /*DisableVerify=*/true)) {
    throw Error({.kind = ErrorKind::Internal, .message = "this target of LLVM cannot emit code"});
  }
}

}  // namespace

void optimize(llvm::Module& module, llvm::TargetMachine& target_machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager calls;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&target_machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(calls);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, calls, modules);
  llvm::FunctionPassManager passes = function_passes();
  for (llvm::Function& function : module) {
    if (!function.isDeclaration()) passes.run(function, functions);
  }
}

std::unique_ptr<llvm::MemoryBuffer> make_object(llvm::Module& module, llvm::TargetMachine& target_machine) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  llvm::legacy::PassManager passes;
  add_codegen(passes, target_machine, out, llvm::CodeGenFileType::ObjectFile);
  run_codegen(passes, module);
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(bytes), "calotype",
                                                         /*RequiresNullTerminator=*/false);
}

std::string make_assembly(llvm::Module& module, llvm::TargetMachine& target_machine) {
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream out(text);
  llvm::legacy::PassManager passes;
  add_codegen(passes, target_machine, out, llvm::CodeGenFileType::AssemblyFile);
  run_codegen(passes, module);
  return text.str().str();
}

}  // namespace calotype::llvm_backend
