#pragma once
// What a directive is, as data. Each file of directives/ holds one DirectiveSpec; the C++ methods, the JSON
// reader and writer, the printer, the validator and the reference page all read it from here.
//
// A new directive: its file in directives/, its line in directives/table.cpp, its method in
// calotype/schedule.h.

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "calotype/schedule.h"

namespace calotype::schedule {

class Application;

/// What the `stage` of a recorded directive names.
enum class Addresses { Func, Stage, Graph };

enum class ArgKind {
  Loop,       ///< a loop of the stage addressed
  NewLoop,    ///< a loop that the directive makes
  Dim,        ///< an argument of the Func addressed
  Source,     ///< a Func or an input
  Func,       ///< a Func
  NewFunc,    ///< a Func that the directive makes
  Stage,      ///< a stage, or a Func where one of its stages has the loop that goes with it
  FarLoop,    ///< a loop of that stage: found after the whole list has been applied
  NewDim,     ///< a coordinate that the directive makes
  Part,       ///< a part of a coordinate: see parts.h
  Size,       ///< a named size of the algorithm
  Argument,   ///< the buffer of an input or output
  Integer,    ///< a number or a knob
  Condition,  ///< a condition on what a call gives: see condition.h
  Text,       ///< words for people
  Choice,     ///< one of `choices`
};

/// A value of a Choice: as files and as C++ spell it. Its place in the list is the value of the enumeration.
struct Option {
  std::string text;
  std::string cpp;
};

struct ArgSpec {
  std::string name;
  ArgKind kind;
  std::string doc;
  bool optional = false;
  bool list = false;
  std::size_t least = 1;  ///< lists: shortest and longest
  std::size_t most = 16;
  std::int64_t low = 1;  ///< numbers: smallest and largest
  std::int64_t high = std::numeric_limits<std::int32_t>::max();
  std::vector<Option> choices = {};
};

struct DirectiveSpec {
  std::string name;
  Addresses addresses;
  std::string doc;
  std::vector<ArgSpec> args;
  std::string reorders = {};              ///< how it reorders float operations; empty: it never does
  bool inert = false;                     ///< changes no code: fits Funcs without loops and storage too
  bool keeps_defaults = false;            ///< on a stage: its default loops stay, if no other directive comes
  std::vector<std::string> refused = {};  ///< when it is refused, one condition a line
  void (*apply)(Application&) = nullptr;
  /// What can only be checked once every directive has been applied.
  void (*check)(Application&) = nullptr;
  /// Whether this one is for calls whose buffers lie as no key of a case says: FormAssumptions of its own.
  bool (*asks_of_calls)(const Directive&) = nullptr;
  /// The call in C++ where it is not simply the arguments in order.
  std::string (*cpp)(const Directive&) = nullptr;

  const ArgSpec* argument(const std::string& arg) const;
};

/// Every directive, in the order of the reference page.
const std::vector<DirectiveSpec>& directives();
/// nullptr if there is none of that name.
const DirectiveSpec* find_directive(const std::string& name);
std::vector<std::string> directive_names();

/// The argument of a recorded directive; nullptr if it was left out.
const Value* find_arg(const Directive& directive, const std::string& name);

/// What is wrong with the form of a directive: before any algorithm is looked at.
struct FormProblem {
  std::string argument;  ///< empty: the directive as a whole
  int element = -1;      ///< of a list
  std::string message, value, legal;
};
/// Unknown, missing and repeated arguments, kinds, list lengths, number ranges, unknown knobs, repeated
/// names.
std::optional<FormProblem> check_form(const DirectiveSpec& spec, const Directive& directive,
                                      const std::vector<Knob>& knobs);
/// The message for a name that is no directive.
FormProblem unknown_directive(const std::string& name);

/// "did you mean 'a'? WHAT: a, b, c", or "WHAT: none".
std::string name_choices(const std::string& name, const std::vector<std::string>& candidates,
                         const std::string& what);

/// The number of an Integer argument; knobs are looked up.
std::int64_t number_of(const Value& value, const std::vector<Knob>& knobs);

/// The argument that several directives share.
ArgSpec tail_argument();
/// What a directive is recorded with: its arguments, and the tail unless it is Auto.
std::vector<std::pair<std::string, Value>> with_tail(std::vector<std::pair<std::string, Value>> args,
                                                     Tail tail);
/// The recorded form of a C++ argument list of loops.
Value names_of(const std::vector<LoopName>& loops);
const std::string& text_of(const Value& value);
const std::string& text_of(Tail tail);
const std::string& text_of(Memory memory);
const std::string& text_of(Copy copy);
const std::vector<Option>& tail_options();
const std::vector<Option>& memory_options();
const std::vector<Option>& partition_options();
const std::vector<Option>& copy_options();

}  // namespace calotype::schedule
