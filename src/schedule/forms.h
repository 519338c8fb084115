#pragma once
// What is assumed of the memory of inputs and outputs.

#include <optional>
#include <string>
#include <vector>

#include "instr/instruction.h"
#include "schedule/scheduled.h"

namespace calotype::schedule {

/// A buffer among those of a call.
struct ArgumentRef {
  bool output = false;
  int index = 0;  ///< position among Graph::inputs or Graph::outputs
  bool operator==(const ArgumentRef&) const = default;
};

/// The input or output of that name: "A", or "C.0" for the first buffer of a Tuple; none has it: nothing.
std::optional<ArgumentRef> find_argument(const lang::Graph& graph, const std::string& name);
/// The names of all of them, inputs first.
std::vector<std::string> argument_names(const lang::Graph& graph);
const std::vector<Expr>& extents_of(const lang::Graph& graph, ArgumentRef argument);
Type type_of(const lang::Graph& graph, ArgumentRef argument);

/// What a well-formed `assume_buffer` says; nothing if the graph has no such argument.
std::optional<FormAssumption> form_of(const lang::Graph& graph, const Directive& directive,
                                      const std::vector<Knob>& knobs, const std::string& origin);
/// Those of one argument.
std::vector<const FormAssumption*> forms_of(const std::vector<FormAssumption>& all, ArgumentRef argument);
/// All that they say of it.
BufferForm joined_form(const std::vector<FormAssumption>& all, ArgumentRef argument);

/// Whether boxes of it are copied: the elements along dimension 0 are neighbours, all other strides multiples
/// of 16 bytes from 16 to below 2^40.
bool is_tensor(const std::vector<FormAssumption>& all, ArgumentRef argument);
/// What copies in boxes ask of the arguments that they read.
std::vector<FormAssumption> tensor_forms(const Scheduled& scheduled);
constexpr std::int64_t kTensorBytes =
    instr::kBulkBytes;  // which divide strides, and the address of the first element
constexpr std::int64_t kTensorStride = std::int64_t{1} << 40;
constexpr std::int64_t kTensorExtent = std::int64_t{1} << 31;  // coordinates have 32 bits

/// The strides of dense memory, in elements.
std::vector<Expr> dense_strides(const std::vector<Expr>& extents);
/// What divides a stride in elements if `bytes` divides it in bytes.
std::int64_t multiple_in_elements(std::int64_t bytes, Type type);

}  // namespace calotype::schedule
