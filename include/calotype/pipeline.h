#pragma once
// Pipeline: a closed algorithm with its inputs and outputs. Immutable; any number of schedules may be
// compiled from it at the same time.

#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "calotype/buffer.h"
#include "calotype/func.h"
#include "calotype/image_param.h"
#include "calotype/kernel.h"
#include "calotype/target.h"

namespace calotype {

class Schedule;
class ScheduleFile;
namespace lang {
struct Graph;
}

/// An argument that a Pipeline takes: an image or a scalar.
using Input = std::variant<ImageParam, Param>;

/// An output: a Func, with the extents of its box [0, extent) if the algorithm fixes them. Without extents
/// the box is whatever buffer the caller passes, and its sizes are the Dims NAME.extent.0 and on.
struct Output {
  Output(const Func& func) : func(func) {}
  Output(const Func& func, std::vector<Expr> extents) : func(func), extents(std::move(extents)) {}
  Func func;
  std::vector<Expr> extents;
};

/// What `evaluate` returns beside the values themselves.
struct Evaluation {
  /// In the outputs' own types, computed in the definitions' own types and order.
  std::vector<Buffer> outputs;
  /// Float outputs: the value in float64 arithmetic.
  std::vector<Buffer> exact;
  /// Float outputs: running first-order error bound B of the definition's types. Sums count the sum of
  /// |terms|, so that B covers any order.
  std::vector<Buffer> bound;
};

/// The part of an input that is read: from mins[d] to mins[d] + extents[d] - 1 in each dimension. All extents
/// 0 where nothing is.
struct InputRegion {
  std::string name;
  std::vector<std::int64_t> mins, extents;
};

class Pipeline {
 public:
  /// Closes the algorithm over everything reachable from `outputs`, whose Funcs can no longer be changed.
  /// Errors (Algorithm): undefined Func, duplicate names, an ImageParam or Param that is used and not listed,
  /// or listed and not used, wrong ranks. (Cycles and wrong types are refused where the Func is defined.)
  Pipeline(const std::string& name, std::vector<Input> inputs, std::vector<Output> outputs);

  /// The same algorithm, with leave for a call to pass one memory for both the output `out` and the input
  /// `in`: the same first element and the same strides, or else no byte in common. The call then works in
  /// place.
  ///
  /// Where a kernel is compiled it is proved that each element is read only for the element that takes its
  /// place, before that one is written; a schedule by which it is not so is refused (Error(Schedule)): a Func
  /// other than `out` that is not computed inline and reads `in`, a tail that computes an element twice
  /// (Tail::ShiftInwards), an update of `out` that reads `in`, a read at other coordinates. Errors
  /// (Algorithm): names that are no output of one value or no input, another element type or rank, an output
  /// without extents, an input or output that is declared already.
  Pipeline alias(const std::string& out, const std::string& in) const;

  const std::string& name() const;
  /// Algorithm, schedule and target give a kernel. Errors: Schedule, Target.
  Kernel compile(const Schedule& schedule, const Target& target) const;
  /// A kernel that takes, at each call, the case of the file that fits its sizes: of the cases whose needs
  /// the target meets and whose `when` holds, the one whose intervals are narrowest, of equals the first.
  /// Each is compiled when a call first needs it. Errors: as ScheduleFile::check; Target if the file is for
  /// another kind of target.
  Kernel compile(const ScheduleFile& file, const Target& target) const;

  /// The reference: run the definitions with no schedule. `inputs` in the order of the Pipeline's images;
  /// `sizes` gives Dims that no input fixes, among them those of outputs without extents; `params` by name.
  /// Outputs are dense with coordinates from 0. Error(Argument) for what does not fit, and for a read outside
  /// an input on which an output depends.
  Evaluation evaluate(const std::vector<Buffer>& inputs, const std::map<std::string, double>& params = {},
                      const std::map<std::string, std::int64_t>& sizes = {}) const;

  /// Whether the program that algorithm and schedule give for a GPU of `arch` ("sm_90a") is right, without a
  /// GPU: it runs on the simulator on these arguments, as `evaluate` takes them, and its results are compared
  /// with those of `evaluate`, by the rule of equality for floats; outputs are poisoned first. Elements that
  /// differ are a finding of kind "wrong result". Errors: those of `compile`, `evaluate` and calls.
  Verification verify(const Schedule& schedule, const std::string& arch, const std::vector<Buffer>& inputs,
                      const std::map<std::string, double>& params = {},
                      const std::map<std::string, std::int64_t>& sizes = {},
                      const VerifyOptions& options = {}) const;

  /// What outputs of these extents read of each input, in the order of the Pipeline's images: the smallest
  /// box found by intervals, which may be larger than what is read. `outputs` has the extents of each output
  /// buffer, coordinates from 0; `sizes` gives Dims that follow from no output. A region may begin below 0 or
  /// end beyond the input's extents: then the algorithm lacks a boundary condition for these sizes, and
  /// evaluate() and kernels refuse the call.
  ///
  /// Errors (Argument): extents of another number or rank than the outputs have; a size that two outputs give
  /// differently; a size that what is read depends on and that neither an output nor `sizes` gives.
  std::vector<InputRegion> required_inputs(const std::vector<std::vector<std::int64_t>>& outputs,
                                           const std::map<std::string, double>& params = {},
                                           const std::map<std::string, std::int64_t>& sizes = {}) const;
  /// Buffers, uninitialised, of the extents with which a call for these outputs takes the inputs: those that
  /// the sizes give, or, where an input has a size of its own, the least that covers what is read. Errors
  /// beside those of `required_inputs` (Argument): a region that is outside of the extents the algorithm
  /// gives, or begins below 0.
  std::vector<Buffer> infer_inputs(const std::vector<std::vector<std::int64_t>>& outputs,
                                   const std::map<std::string, double>& params = {},
                                   const std::map<std::string, std::int64_t>& sizes = {}) const;

  /// A hash of the typed definitions with names left out, as "h1:0123456789abcdef".
  std::string fingerprint() const;
  /// The definitions as text.
  std::string str() const;

  const lang::Graph& graph() const { return *graph_; }
  const std::shared_ptr<const lang::Graph>& graph_ptr() const { return graph_; }

 private:
  std::shared_ptr<const lang::Graph> graph_;
};

}  // namespace calotype
