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

class Pipeline {
 public:
  /// Closes the algorithm over everything reachable from `outputs`, whose Funcs can no longer be changed.
  /// Errors (Algorithm): undefined Func, duplicate names, an ImageParam or Param that is used and not listed,
  /// or listed and not used, wrong ranks. (Cycles and wrong types are refused where the Func is defined.)
  Pipeline(const std::string& name, std::vector<Input> inputs, std::vector<Output> outputs);

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
