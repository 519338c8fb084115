#pragma once
// Conditions of `specialize`: expressions on what a call gives, from the text that a schedule records. Their
// values are uniform: known before anything runs.
//
//   condition   as in C++, with || && ! == != < <= > >= + - * / % ( ) and numbers, true, false
//   functions   min(a, b), max(a, b), and types as conversions: s64(p)
//   names       a named size; a Param; NAME.stride.D and NAME.extent.D of the inputs and outputs

#include <string>
#include <utility>
#include <vector>

#include "lang/graph.h"

namespace calotype::schedule {

/// Strides that conditions name, each one symbol: "A.stride.1".
using StrideSymbols = std::vector<std::pair<std::string, ir::SymbolPtr>>;

/// What is wrong with the text of a condition.
struct ConditionProblem {
  std::string message, value, legal;
};

/// The condition; throws ConditionProblem. A stride that is not in `strides` yet is added.
Expr parse_condition(const std::string& text, const lang::Graph& graph, StrideSymbols& strides);

/// The text with each name of an argument, before ".stride." or ".extent.", put through `rename`.
std::string rename_arguments(const std::string& text,
                             const std::function<std::string(const std::string&)>& rename);

}  // namespace calotype::schedule
