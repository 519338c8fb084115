// One ORC session for the process; each piece of object code gets a dylib of its own, removed with its
// LinkedCode. Objects come ready made from a pooled TargetMachine, so no ORC compile layer is set up.
#include "codegen/llvm/link.h"

#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>

#include <atomic>

#include "calotype/error.h"
#include "codegen/llvm/hooks.h"

namespace calotype::llvm_backend {
namespace {

namespace orc = llvm::orc;

[[noreturn]] void fail(llvm::Error error) {
  throw Error(
      {.kind = ErrorKind::Internal, .message = "linking compiled code: " + llvm::toString(std::move(error))});
}
void check(llvm::Error error) {
  if (error) fail(std::move(error));
}
template <class T>
T check(llvm::Expected<T> value) {
  if (!value) fail(value.takeError());
  return std::move(*value);
}

/// The session with the dylib of symbols that code may refer to. Never destroyed: code may outlive static
/// destruction.
struct Session {
  orc::ExecutionSession session;
  orc::ObjectLinkingLayer layer;
  orc::JITDylib& runtime;
  std::atomic<std::uint64_t> count{0};

  Session()
      : session(check(orc::SelfExecutorProcessControl::Create())),
        layer(session, check(llvm::jitlink::InProcessMemoryManager::Create())),
        runtime(session.createBareJITDylib("runtime")) {
    orc::SymbolMap symbols;
    for (const auto& [name, address] : runtime_symbols()) {
      symbols[session.intern(name)] = {orc::ExecutorAddr::fromPtr(address), llvm::JITSymbolFlags::Exported};
    }
    check(runtime.define(orc::absoluteSymbols(std::move(symbols))));
    // What the code generator itself may call on machines without an instruction for it (conversions,
    // remainders).
    runtime.addGenerator(check(orc::DynamicLibrarySearchGenerator::GetForCurrentProcess('\0')));
  }
  static Session& get() {
    static auto* session = new Session;
    return *session;
  }
};

class OrcCode : public LinkedCode {
 public:
  OrcCode(std::unique_ptr<llvm::MemoryBuffer> object, const std::vector<std::string>& names,
          const std::vector<std::pair<std::string, const void*>>& data)
      : session_(Session::get()),
        dylib_(session_.session.createBareJITDylib("module" + std::to_string(session_.count++))) {
    dylib_.addToLinkOrder(session_.runtime);
    orc::SymbolMap symbols;
    for (const auto& [name, address] : data)
      symbols[session_.session.intern(name)] = {orc::ExecutorAddr::fromPtr(address),
                                                llvm::JITSymbolFlags::Exported};
    check(dylib_.define(orc::absoluteSymbols(std::move(symbols))));
    check(session_.layer.add(dylib_, std::move(object)));
    orc::SymbolLookupSet wanted;
    for (const auto& name : names) wanted.add(session_.session.intern(name));
    auto found = check(session_.session.lookup(
        {{&dylib_, orc::JITDylibLookupFlags::MatchExportedSymbolsOnly}}, std::move(wanted)));
    for (const auto& name : names) {
      addresses_.push_back(found.at(session_.session.intern(name)).getAddress().toPtr<void*>());
    }
  }
  ~OrcCode() override { llvm::consumeError(session_.session.removeJITDylib(dylib_)); }
  const std::vector<void*>& addresses() const override { return addresses_; }

 private:
  Session& session_;
  orc::JITDylib& dylib_;
  std::vector<void*> addresses_;
};

}  // namespace

std::unique_ptr<LinkedCode> link(std::unique_ptr<llvm::MemoryBuffer> object,
                                 const std::vector<std::string>& symbols,
                                 const std::vector<std::pair<std::string, const void*>>& data) {
  return std::make_unique<OrcCode>(std::move(object), symbols, data);
}

}  // namespace calotype::llvm_backend
