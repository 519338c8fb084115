#pragma once
// The arguments of a call, from files, random numbers and --param, and the outputs back into files.

#include <map>
#include <string>
#include <vector>

#include "calotype/kernel.h"
#include "calotype/operator.h"
#include "cli/options.h"
#include "cli/sizes.h"

namespace calotype::cli {

/// A file given with --input, before the element types of the operator are known.
struct InputFile {
  std::string name, path;
  Buffer buffer;
  bool image = false;  ///< samples of a photo: scaled to [0, 1] where the input is a float
};

/// Everything a call needs.
struct Call {
  Sizes sizes;
  std::map<std::string, double> params;  ///< every Param, with its initial value where none was given
  std::vector<Buffer> inputs;            ///< as Graph::inputs
  std::vector<Buffer> outputs;           ///< as Graph::outputs, owned and dense
  std::vector<Buffer> owners;            ///< of the memory that `inputs` may only view
  /// Outermost dimensions of extent 1 that the files did not have: dropped when outputs are written.
  int dropped_dims = 0;
  int full_rank = 0;  ///< outputs of this rank drop them
  std::vector<std::string> notes;

  std::vector<Arg> arguments(const lang::Graph& graph) const;
};

std::vector<InputFile> load_inputs(const Pairs& inputs, std::vector<std::string>& notes);

/// --type if given, else the first combination whose inputs have the files' types, else the first whose
/// inputs take them by conversion, else (with no files) the first. Error(Usage) if none fits.
OperatorTypes choose_types(const Operator& op, const std::string& asked, const std::vector<InputFile>& files);

Call make_call(const Operator& op, const Pipeline& pipeline, const std::vector<InputFile>& files,
               const RunOptions& options);

/// Refuses before anything runs what write_outputs could not do.
void check_outputs(const Pairs& outputs, const lang::Graph& graph);
void write_outputs(const Pairs& outputs, const Call& call, const lang::Graph& graph);

}  // namespace calotype::cli
