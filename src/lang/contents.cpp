// What the handles of the front end share: Callees, and the checks of coordinates and sizes.

#include "lang/contents.h"

#include <fmt/format.h>

#include <mutex>

#include "ir/typing.h"
#include "lang/errors.h"
#include "lang/random.h"

namespace calotype::lang {

namespace {

std::mutex callee_mutex;

/// Looks up or makes the one Callee of a definition; the mutex is held.
ir::CalleePtr shared_callee(std::weak_ptr<const ir::Callee>& slot, ir::Callee description) {
  ir::CalleePtr callee = slot.lock();
  if (callee) return callee;
  callee = std::make_shared<const ir::Callee>(std::move(description));
  slot = callee;
  return callee;
}

}  // namespace

std::shared_ptr<FuncContents> make_func(const std::string& name, bool numbered) {
  static std::atomic<std::uint64_t> counter{0};
  require_name("Func", name);
  auto func = std::make_shared<FuncContents>();
  func->name = name;
  func->numbered = numbered;
  func->serial = ++counter;
  return func;
}

ir::CalleePtr callee_of(const std::shared_ptr<FuncContents>& func, int component) {
  const std::lock_guard lock(callee_mutex);
  if (func->callees.empty()) func->callees.resize(func->state.types.size());
  return shared_callee(func->callees[component], {.kind = ir::CalleeKind::Func,
                                                  .name = func->name,
                                                  .component = component,
                                                  .rank = *func->state.rank,
                                                  .type = func->state.types[component],
                                                  .definition = func});
}

ir::CalleePtr callee_of(const std::shared_ptr<ImageContents>& image) {
  const std::lock_guard lock(callee_mutex);
  return shared_callee(image->callee, {.kind = ir::CalleeKind::Input,
                                       .name = image->name,
                                       .rank = static_cast<int>(image->extents.size()),
                                       .type = image->type,
                                       .definition = image});
}

std::shared_ptr<FuncContents> func_of(const ir::CalleePtr& callee) {
  if (callee->kind != ir::CalleeKind::Func) return nullptr;
  return std::static_pointer_cast<FuncContents>(callee->definition);
}

std::vector<Expr> coordinates(const char* what, const std::string& name, int rank, std::vector<Expr> args) {
  if (static_cast<int>(args.size()) != rank) {
    refuse(fmt::format("{} '{}' has {} dimensions and is used with {} coordinates", what, name, rank,
                       args.size()),
           name, std::to_string(args.size()), fmt::format("{} coordinates", rank));
  }
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string place = fmt::format("coordinate {} of '{}'", i, name);
    if (!args[i].defined()) refuse(place + " is undefined", name, "", "an integer expression");
    const Type type = args[i].type();
    if (!type.is_integral() || type.is_bool()) {
      refuse(fmt::format("{} is of type {}", place, type.str()), name, args[i].str(),
             "an integer; floats by an explicit cast, as cast<int>(floor(e))");
    }
    args[i] = ir::convert(Int(64), args[i]);
  }
  return args;
}

Expr size_expr(const std::string& what, const std::string& owner, const Expr& e, bool params_allowed) {
  const std::string legal = params_allowed ? "an integer expression of constants, Dims and Params"
                                           : "an integer expression of constants and Dims";
  if (!e.defined()) refuse(what + " is undefined", owner, "", legal);
  if (!e.type().is_integral() || e.type().is_bool()) {
    refuse(fmt::format("{} is of type {}", what, e.type().str()), owner, e.str(), legal);
  }
  const bool has_other = ir::any_of(e, [&](const Expr& node) {
    if (ir::is(node, ir::Op::Call)) return true;
    if (!ir::is(node, ir::Op::Variable)) return false;
    const ir::SymbolKind kind = ir::symbol_of(node)->kind;
    return kind != ir::SymbolKind::Dim && !(params_allowed && kind == ir::SymbolKind::Param);
  });
  require_determined(what, owner, e);
  if (has_other) refuse(fmt::format("{} depends on more than sizes", what), owner, e.str(), legal);
  return ir::convert(Int(64), e);
}

}  // namespace calotype::lang
