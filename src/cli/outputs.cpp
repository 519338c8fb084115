// Outputs of a call, into files.
#include <fmt/format.h>

#include <algorithm>

#include "cli/convert.h"
#include "cli/files.h"
#include "cli/image_io.h"
#include "cli/inputs.h"
#include "cli/npy.h"
#include "cli/usage.h"

namespace calotype::cli {
namespace {

std::size_t find_output(const lang::Graph& graph, const std::string& name) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    names.push_back(graph.output_name(graph.outputs[i]));
    if (names.back() == name) return i;
  }
  usage_error(fmt::format("operator '{}' has no such output", graph.name), name, did_you_mean(name, names));
}

// The output without the outer dimensions that the inputs' files lacked.
Buffer squeeze(const Buffer& buffer, const Call& call) {
  int rank = buffer.rank();
  if (rank == call.full_rank)
    while (rank > call.full_rank - call.dropped_dims && buffer.extent(rank - 1) == 1) --rank;
  std::vector<std::int64_t> extents, strides;
  for (int d = 0; d < rank; ++d) {
    extents.push_back(buffer.extent(d));
    strides.push_back(buffer.stride(d));
  }
  return Buffer(buffer.type(), buffer.data(), extents, strides);
}

void write_output(const std::string& path, const Buffer& buffer, const Call& call) {
  const Buffer squeezed = squeeze(buffer, call);
  if (!is_image_path(path)) return write_npy(path, squeezed);
  // Floats of a photo are in [0, 1]; see load_inputs.
  write_image(path, squeezed.type().is_float() ? convert(squeezed, UInt(8), 255) : squeezed);
}

}  // namespace

void check_outputs(const Pairs& outputs, const lang::Graph& graph) {
  for (const auto& [name, path] : outputs) {
    find_output(graph, name);
    if (!is_image_path(path) && extension(path) != ".npy")
      usage_error("the kind of file is not known", path, ".npy, .png, .jpg or .jpeg");
  }
}

void write_outputs(const Pairs& outputs, const Call& call, const lang::Graph& graph) {
  for (const auto& [name, path] : outputs) write_output(path, call.outputs[find_output(graph, name)], call);
}

}  // namespace calotype::cli
