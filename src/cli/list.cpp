// `calotype list`: the operators of this program.
#include <fmt/format.h>

#include <algorithm>

#include "calotype/operator.h"
#include "cli/command.h"
#include "lang/graph.h"

namespace calotype::cli {
namespace {

Json extents_json(const std::vector<Expr>& extents) {
  Json list = Json::array();
  for (const Expr& e : extents) list.push_back(e.str());
  return list;
}

Json inputs_json(const Operator& op, const lang::Graph& graph) {
  Json list = Json::array();
  for (const lang::InputDef& input : graph.inputs) {
    const int rank = static_cast<int>(input.extents.size());
    const auto least = op.least_rank.find(input.name);
    list.push_back({{"name", input.name},
                    {"type", input.type.str()},
                    {"rank", rank},
                    {"least_rank", least == op.least_rank.end() ? rank : least->second},
                    {"extents", extents_json(input.extents)}});
  }
  return list;
}

Json params_json(const lang::Graph& graph) {
  Json list = Json::array();
  for (const lang::ParamDef& param : graph.params)
    list.push_back({{"name", param.name},
                    {"type", param.type.str()},
                    {"initial", param.initial ? Json(*param.initial) : Json(nullptr)},
                    {"low", param.low ? Json(*param.low) : Json(nullptr)},
                    {"high", param.high ? Json(*param.high) : Json(nullptr)}});
  return list;
}

Json outputs_json(const lang::Graph& graph) {
  Json list = Json::array();
  for (const lang::OutputDef& output : graph.outputs) {
    list.push_back({{"name", graph.output_name(output)},
                    {"type", graph.output_type(output).str()},
                    {"rank", graph.func(output.func).rank()},
                    {"extents", extents_json(output.extents)}});
  }
  return list;
}

Json schedules_json(const Operator& op, const OperatorTypes& types) {
  Json list = Json::array();
  for (const NamedSchedule& named : op.schedules) {
    Json knobs = Json::object();
    const Schedule schedule = named.make(types);
    for (const Knob& knob : schedule.knobs()) knobs[knob.name] = knob.value;
    list.push_back({{"name", named.name},
                    {"target", named.kind == Target::Kind::Host ? "host" : "cuda"},
                    {"description", named.description},
                    {"knobs", knobs}});
  }
  return list;
}

Json variant_json(const Operator& op, const OperatorTypes& types) {
  const Pipeline pipeline = op.pipeline(types);
  const lang::Graph& graph = pipeline.graph();
  Json sizes = Json::array();
  for (const ir::SymbolPtr& dim : graph.dims) sizes.push_back(dim->name);
  return {{"types", types.str()},
          {"structure", pipeline.fingerprint()},
          {"inputs", inputs_json(op, graph)},
          {"params", params_json(graph)},
          {"outputs", outputs_json(graph)},
          {"sizes", sizes}};
}

// Knobs of all its schedules, each once.
Json knobs_json(const Operator& op) {
  Json knobs = Json::array();
  for (const NamedSchedule& named : op.schedules) {
    const Schedule schedule = named.make(op.types.front());
    for (const Knob& knob : schedule.knobs())
      if (std::find(knobs.begin(), knobs.end(), Json(knob.name)) == knobs.end()) knobs.push_back(knob.name);
  }
  return knobs;
}

// The default combination's arguments stand at the top; each combination has its own under `variants`.
Json operator_json(const Operator& op) {
  Json object = {{"name", op.name}, {"description", op.description}};
  Json types = Json::array(), variants = Json::array();
  for (const OperatorTypes& t : op.types) {
    types.push_back(t.str());
    variants.push_back(variant_json(op, t));
  }
  object["types"] = types;
  for (const char* key : {"inputs", "params", "outputs", "sizes"}) object[key] = variants.front()[key];
  object["knobs"] = knobs_json(op);
  object["schedules"] = schedules_json(op, op.types.front());
  object["variants"] = variants;
  return object;
}

std::string argument_text(const Json& argument) {
  std::string extents;
  for (const Json& e : argument["extents"]) extents += (extents.empty() ? "" : ", ") + e.get<std::string>();
  return fmt::format("{} {}({})", argument["name"].get<std::string>(), argument["type"].get<std::string>(),
                     extents);
}

std::string operator_text(const Json& op) {
  auto text = [&](const char* key) { return op[key].get<std::string>(); };
  std::string out = fmt::format("{}: {}\n  types    ", text("name"), text("description"));
  for (const Json& t : op["types"]) out += " " + t.get<std::string>();
  for (const Json& i : op["inputs"]) out += "\n  input     " + argument_text(i);
  for (const Json& p : op["params"])
    out += fmt::format(
        "\n  param     {} {} = {}{}", p["name"].get<std::string>(), p["type"].get<std::string>(),
        p["initial"].dump(),
        p["low"].is_null() ? "" : fmt::format(" from {} to {}", p["low"].dump(), p["high"].dump()));
  for (const Json& o : op["outputs"]) out += "\n  output    " + argument_text(o);
  out += "\n  sizes    ";
  for (const Json& s : op["sizes"]) out += " " + s.get<std::string>();
  for (const Json& s : op["schedules"]) {
    std::string knobs;
    for (const auto& [name, value] : s["knobs"].items()) knobs += fmt::format(" {}={}", name, value.dump());
    out += fmt::format("\n  schedule  @{} ({}): {}{}", s["name"].get<std::string>(),
                       s["target"].get<std::string>(), s["description"].get<std::string>(),
                       knobs.empty() ? "" : "; knobs" + knobs);
  }
  return out + "\n";
}

}  // namespace

Outcome list_command() {
  Outcome outcome;
  Json list = Json::array();
  for (const Operator* op : operators()) {
    list.push_back(operator_json(find_operator(op->name)));
    outcome.text += operator_text(list.back());
  }
  outcome.json = {{"operators", list}};
  return outcome;
}

}  // namespace calotype::cli
