// How the buffers of a call lie.
#include "driver/buffer_reader.h"

#include <algorithm>

namespace calotype::driver {

BufferReader::BufferReader(const lang::Graph& graph, const std::vector<std::string>& names,
                           const Target& target)
    : copies_(target.is_gpu()) {
  std::size_t argument = 0;
  const auto add = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) != names.end()) sources_.push_back({name, argument});
  };
  for (const lang::Graph::ArgumentRef& a : graph.arguments) {
    if (!a.is_param) add(graph.inputs[a.index].name);
    ++argument;
  }
  for (const lang::OutputDef& output : graph.outputs) {
    add(graph.output_name(output));
    ++argument;
  }
}

schedule::CaseBuffers BufferReader::read(std::span<const Arg> args) const {
  schedule::CaseBuffers buffers;
  for (const Source& s : sources_) {
    if (s.argument >= args.size()) continue;
    const Buffer* buffer = std::get_if<Buffer>(&args[s.argument].value());
    if (buffer && buffer->defined()) buffers[s.name] = case_buffer(*buffer, copies_);
  }
  return buffers;
}

schedule::CaseBuffer case_buffer(const Buffer& buffer, bool copied) {
  const calotype_buffer& raw = buffer.raw();
  schedule::CaseBuffer b{.element = buffer.type().bytes()};
  for (int d = 0; d < raw.rank; ++d) {
    b.extents.push_back(raw.dims[d].extent);
    b.strides.push_back(raw.dims[d].stride * b.element);
  }
  if (raw.device != 0 || !copied) b.address = reinterpret_cast<std::uintptr_t>(raw.data);
  return b;
}

}  // namespace calotype::driver
