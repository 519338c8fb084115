// The arguments of a call: files fitted to the operator's inputs, random values for the rest.
#include "cli/inputs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <set>

#include "cli/convert.h"
#include "cli/files.h"
#include "cli/image_io.h"
#include "cli/npy.h"
#include "cli/random.h"
#include "cli/usage.h"
#include "ir/value.h"

namespace calotype::cli {
namespace {

[[noreturn]] void input_error(const std::string& name, std::string message, std::string value,
                              std::string legal) {
  Diagnostic d;
  d.kind = ErrorKind::Usage;
  d.func = name;
  d.subject = Subject::Input;
  d.message = std::move(message);
  d.value = std::move(value);
  d.legal = std::move(legal);
  throw Error(std::move(d));
}

// Whether a file's elements become the input's without losing meaning: f32 and f64 round to narrower floats,
// samples of photos scale to floats.
bool converts(const InputFile& file, Type to) {
  const Type from = file.buffer.type();
  if (from == to) return true;
  if (file.image) return to.is_float();
  return from == Float(32) && to.is_float() && to.bytes() < 4;
}

const lang::InputDef& find_input(const lang::Graph& graph, const std::string& name) {
  std::vector<std::string> names;
  for (const lang::InputDef& input : graph.inputs) {
    if (input.name == name) return input;
    names.push_back(input.name);
  }
  usage_error(fmt::format("operator '{}' has no such input", graph.name), name, did_you_mean(name, names));
}

bool fits(const Operator& op, const OperatorTypes& types, const std::vector<InputFile>& files, bool exactly) {
  const Pipeline pipeline = op.make(types);
  for (const InputFile& file : files) {
    const Type type = find_input(pipeline.graph(), file.name).type;
    if (exactly ? file.buffer.type() != type : !converts(file, type)) return false;
  }
  return true;
}

std::string types_text(const Operator& op) {
  std::string text;
  for (const OperatorTypes& types : op.types) text += (text.empty() ? "" : " | ") + types.str();
  return text;
}

Buffer convert_elements(const InputFile& file, const lang::InputDef& input, std::vector<std::string>& notes) {
  const Type from = file.buffer.type();
  if (from == input.type) return file.buffer;
  if (!converts(file, input.type))
    input_error(input.name, fmt::format("{} holds {}", file.path, from.str()), from.str(), input.type.str());
  if (!file.image) return convert(file.buffer, input.type);
  notes.push_back(fmt::format("{}: samples are divided by {}", file.path, from.max_int()));
  return convert(file.buffer, input.type, 1.0 / static_cast<double>(from.max_int()));
}

// Adds outermost dimensions of extent 1 up to the input's rank, where the operator allows it; a photo of one
// channel also fits an input of rank 2.
Buffer fit_rank(const Buffer& buffer, const InputFile& file, const lang::InputDef& input, int least) {
  const int rank = static_cast<int>(input.extents.size());
  const bool grey = file.image && rank == 2 && buffer.extent(2) == 1;
  if (!grey && (buffer.rank() > rank || buffer.rank() < least)) {
    const std::string legal =
        least < rank ? fmt::format("rank {} to {}", least, rank) : fmt::format("rank {}", rank);
    input_error(input.name, fmt::format("{} has {} dimensions", file.path, buffer.rank()),
                std::to_string(buffer.rank()), legal);
  }
  std::vector<std::int64_t> extents, strides;
  for (int d = 0; d < rank; ++d) {
    extents.push_back(d < buffer.rank() ? buffer.extent(d) : 1);
    strides.push_back(d < buffer.rank() ? buffer.stride(d) : extents[d - 1] * strides[d - 1]);
  }
  return Buffer(buffer.type(), buffer.data(), extents, strides);
}

// Sizes that only the optional outer dimensions of inputs have.
std::set<std::string> optional_sizes(const Operator& op, const lang::Graph& graph) {
  std::set<std::string> optional, needed;
  for (const lang::InputDef& input : graph.inputs) {
    const auto least = op.least_rank.find(input.name);
    for (int d = 0; d < static_cast<int>(input.extents.size()); ++d) {
      const bool outer = least != op.least_rank.end() && d >= least->second;
      for (const ir::SymbolPtr& symbol : ir::free_symbols(input.extents[d]))
        (outer ? optional : needed).insert(symbol->name);
    }
  }
  for (const std::string& name : needed) optional.erase(name);
  return optional;
}

std::map<std::string, double> bind_params(const lang::Graph& graph,
                                          const std::map<std::string, double>& asked) {
  std::map<std::string, double> params;
  std::vector<std::string> names;
  for (const lang::ParamDef& param : graph.params) {
    names.push_back(param.name);
    if (const auto given = asked.find(param.name); given != asked.end())
      params[param.name] = given->second;
    else if (param.initial)
      params[param.name] = *param.initial;
    else
      usage_error("no value is given for a Param", param.name, fmt::format("--param {}=V", param.name));
    const double given = params.at(param.name);
    const double value = param.type.is_float() ? ir::round_float(param.type, given) : given;
    if (param.low && !(value >= *param.low && value <= *param.high))
      usage_error(fmt::format("the value of Param '{}' lies outside its range", param.name),
                  fmt::format("{}", given), fmt::format("a value{}", param.range_text()));
  }
  for (const auto& [name, value] : asked)
    if (!params.contains(name))
      usage_error(fmt::format("operator '{}' has no such Param", graph.name), name,
                  did_you_mean(name, names));
  return params;
}

// The buffers that files give, by input; undefined where none was given.
std::vector<Buffer> fit_files(const Operator& op, const lang::Graph& graph,
                              const std::vector<InputFile>& files, const RunOptions& options, Call& call,
                              std::vector<Buffer>& owners) {
  std::vector<Buffer> given(graph.inputs.size());
  for (const InputFile& file : files) {
    const lang::InputDef& input = find_input(graph, file.name);
    if (given[input.id.value].defined())
      input_error(input.name, "the input is given twice", file.path, "one file");
    const int rank = static_cast<int>(input.extents.size());
    const auto least = op.least_rank.find(input.name);
    owners.push_back(convert_elements(file, input, call.notes));
    if (options.dense) owners.back() = dense(owners.back());
    given[input.id.value] =
        fit_rank(owners.back(), file, input, least == op.least_rank.end() ? rank : least->second);
    if (file.buffer.rank() < rank) {
      call.dropped_dims = rank - file.buffer.rank();
      call.full_rank = rank;
    }
  }
  return given;
}

// Bytes of a dense buffer, as a double, which does not overflow.
double bytes_of(Type type, const std::vector<std::int64_t>& extents) {
  double bytes = type.bytes();
  for (std::int64_t extent : extents) bytes *= static_cast<double>(extent);
  return bytes;
}

// Refuses sizes that this machine cannot hold before anything is allocated: memory that is only promised
// would be found missing much later, by a killed process.
void require_memory(const lang::Graph& graph, const Call& call) {
  double bytes = 0;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i)
    if (!call.inputs[i].defined())
      bytes += bytes_of(graph.inputs[i].type,
                        extents_of(graph.inputs[i].extents, graph.inputs[i].name, graph, call.sizes));
  for (const lang::OutputDef& output : graph.outputs) {
    bytes += bytes_of(graph.output_type(output),
                      extents_of(output.extents, graph.output_name(output), graph, call.sizes));
  }
  const double machine =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (bytes > machine)
    usage_error(fmt::format("arguments of these sizes take {:.1f} GB", bytes / 1e9), to_string(call.sizes),
                fmt::format("at most the {:.1f} GB of this machine", machine / 1e9));
}

}  // namespace

std::vector<Arg> Call::arguments(const lang::Graph& graph) const {
  std::vector<Arg> args;
  for (const lang::Graph::ArgumentRef& ref : graph.arguments) {
    if (ref.is_param)
      args.emplace_back(params.at(graph.params[ref.index].name));
    else
      args.emplace_back(inputs[ref.index]);
  }
  for (const Buffer& output : outputs) args.emplace_back(output);
  return args;
}

std::vector<InputFile> load_inputs(const Pairs& inputs, std::vector<std::string>& notes) {
  std::vector<InputFile> files;
  for (const auto& [name, path] : inputs) {
    InputFile file{name, path, {}, is_image_path(path)};
    if (file.image) {
      Image image = read_image(path);
      notes.insert(notes.end(), image.notes.begin(), image.notes.end());
      file.buffer = image.pixels;
    } else if (extension(path) == ".npy") {
      file.buffer = read_npy(path);
    } else {
      input_error(name, "the kind of file is not known", path, ".npy, .png, .jpg or .jpeg");
    }
    files.push_back(std::move(file));
  }
  return files;
}

OperatorTypes choose_types(const Operator& op, const std::string& asked,
                           const std::vector<InputFile>& files) {
  if (!asked.empty()) return op.combination(OperatorTypes::parse(asked));
  for (const bool exactly : {true, false})
    for (const OperatorTypes& types : op.types)
      if (fits(op, types, files, exactly)) return types;
  std::string given;
  for (const InputFile& file : files)
    given += (given.empty() ? "" : ",") + file.name + "=" + file.buffer.type().str();
  usage_error(fmt::format("operator '{}' takes no inputs of these element types", op.name), given,
              types_text(op));
}

Call make_call(const Operator& op, const Pipeline& pipeline, const std::vector<InputFile>& files,
               const RunOptions& options) {
  const lang::Graph& graph = pipeline.graph();
  Call call;
  call.params = bind_params(graph, options.params);
  call.inputs = fit_files(op, graph, files, options, call, call.owners);
  call.sizes = bind_sizes(graph, call.inputs, options.select.sizes, optional_sizes(op, graph));
  require_memory(graph, call);
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const lang::InputDef& input = graph.inputs[i];
    if (call.inputs[i].defined()) continue;
    call.inputs[i] =
        random_buffer(input.type, extents_of(input.extents, input.name, graph, call.sizes), options.seed, i);
  }
  for (const lang::OutputDef& output : graph.outputs) {
    call.outputs.emplace_back(graph.output_type(output),
                              extents_of(output.extents, graph.output_name(output), graph, call.sizes));
  }
  return call;
}

}  // namespace calotype::cli
