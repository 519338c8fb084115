#pragma once
// Directives that put a Func of their own between a Func or input and its consumers: `in` and `clone_in`.

#include <string>
#include <vector>

#include "schedule/state.h"

namespace calotype::schedule {

/// "A.in(acc,C)", or "A.in" for all consumers; `what` is the word between.
std::string copy_name(const std::string& of, const std::string& what,
                      const std::vector<std::string>& consumers);

/// The directive as C++ records it.
Directive copy_directive(const std::string& name, const std::string& what, const FuncName& of,
                         const std::vector<FuncName>& consumers);
/// The arguments of, for and as.
std::vector<ArgSpec> copy_arguments(const std::string& name_doc);
/// The line of C++.
std::string copy_cpp(const Directive& directive);

/// The name of the copy that a directive makes; refused if another is asked for, or there is one already.
std::string new_copy(const Application& a, const std::string& what);

/// The Funcs whose reads of `source` go to the copy: those of `for`, or all but the Func itself. Refused if
/// there are none, or one named does not read it.
std::vector<FuncId> find_consumers(const Application& a, const ir::Callee& source);

/// Reads of one callee become reads of another, component by component.
void redirect(lang::FuncDef& f, const ir::Callee& from, const std::vector<ir::CalleePtr>& to);

}  // namespace calotype::schedule
