#pragma once
// The spellings of a directive for people: in a message, and as a line of C++.

#include <string>

#include "schedule/directive.h"

namespace calotype::schedule {

/// "split(x, xo, xi, 8, guard)".
std::string text(const Directive& directive);
/// "#3 split(x, xo, xi, 8, guard)": with its position in the list, counted from 1.
std::string text(const Directive& directive, int index);
/// `s["blur"].split("x", "xo", "xi", 8, Tail::Guard);`
std::string cpp(const Directive& directive);
/// The lines of the directives that address a Func or one of its stages, or that make it.
std::vector<std::string> cpp_of_func(const Schedule& schedule, const std::string& func);
/// Arguments as C++ writes them: numbers and knobs bare, names quoted, choices as enumerators; lists
/// flattened.
std::vector<std::string> cpp_arguments(const DirectiveSpec& spec, const Directive& directive);
/// `s["acc"].update(0)` for the stage that the directive addresses.
std::string cpp_stage(const std::string& stage);
/// `{"a", "b"}` from the names of a list argument.
std::string cpp_list(const Value& list);

}  // namespace calotype::schedule
