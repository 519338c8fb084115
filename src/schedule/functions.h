#pragma once
// What directives refuse for the sake of Funcs that a function computes: such a function needs its result and
// what it reads in memory, by strides.

#include "schedule/state.h"

namespace calotype::schedule {

/// Refuses a Func that a function computes.
void refuse_function(const Application& a, FuncId func, const std::string& legal);
/// Refuses a Func that a function is given to read.
void refuse_function_reading(const Application& a, FuncId func, const std::string& legal);
/// The target is none that can call functions.
void check_functions(State& state);

}  // namespace calotype::schedule
