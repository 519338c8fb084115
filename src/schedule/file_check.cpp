// A schedule file against an algorithm: the variant that is for it, and whether what its cases do is legal
// and is what the file says of it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "calotype/pipeline.h"
#include "schedule/directive.h"
#include "schedule/file.h"

namespace calotype {

namespace schedule {

namespace {

void bind_func(const lang::Graph& graph, FuncId id, std::vector<bool>& seen, FileVariant& binding) {
  if (seen[id.value]) return;
  seen[id.value] = true;
  const lang::FuncDef& f = graph.func(id);
  std::vector<std::string> loops;
  for (const ir::SymbolPtr& arg : f.args) loops.push_back(arg->name);
  for (const lang::StageDef& s : f.stages) {
    for (const lang::ReductionDim& r : s.reduction)
      if (std::find(loops.begin(), loops.end(), r.name) == loops.end()) loops.push_back(r.name);
    for (const ir::CalleePtr& c : lang::callees(s)) {
      if (c->kind == ir::CalleeKind::Func) {
        bind_func(graph, FuncId{c->index}, seen, binding);
      } else if (std::find(binding.inputs.begin(), binding.inputs.end(), c->name) == binding.inputs.end()) {
        binding.inputs.push_back(c->name);
      }
    }
  }
  binding.funcs.emplace_back(f.name, std::move(loops));
}

/// The key of `when` behind the n-th directive that stands for a condition.
std::string condition_key(const FileCase& c, std::size_t n) {
  return n < c.when.size() ? c.when[n].size : json_members(c.buffers[n - c.when.size()]).front().first;
}

/// Checks the cases of one algorithm's variant.
class Checker {
 public:
  Checker(const ScheduleFile& file, const FileSource* source, const lang::Graph& graph)
      : file_(file), source_(source), graph_(graph) {}

  void run(const FileVariant& variant) {
    for (const std::size_t index : file_.cases_of(variant)) {
      const Ways applied = legal(index);
      needs(file_.cases()[index], applied);
      reassociates(index, applied.ways.front().scheduled);
    }
    if (file_.variants().size() == 1) nothing_more();
  }

 private:
  [[noreturn]] void fail(const std::vector<std::string>& path, Diagnostic d) const {
    if (source_) d.message = source_->source.at(source_->node(path), d.message);
    throw Error(d);
  }

  Ways legal(std::size_t index) const {
    std::vector<Refusal> refusals;
    Ways applied = apply_ways(graph_, file_.schedule(index), file_.target(), refusals);
    if (refusals.empty()) return applied;
    const FileCase& c = file_.cases()[index];
    const std::size_t own = static_cast<std::size_t>(std::max(refusals.front().directive, 0));
    std::vector<std::string> path = {"templates", c.template_name, "do"};
    const std::size_t directives =
        file_.schedule(index).directives().size() - condition_count(c.when, c.buffers);
    if (refusals.front().directive >= 0) path.push_back(std::to_string(own));
    if (refusals.front().directive >= 0 && own >= directives)
      path = {"cases", std::to_string(index), "when", condition_key(c, own - directives)};
    fail(path, refusals.front().diagnostic);
  }

  void needs(const FileCase& c, const Ways& applied) const {
    const FileTemplate& t =
        *std::find_if(file_.templates().begin(), file_.templates().end(),
                      [&](const FileTemplate& one) { return one.name == c.template_name; });
    for (const auto& [need, most] : needs_of(applied)) {
      std::int64_t stated = 0;
      for (const auto& [name, value] : t.needs)
        if (name == need) stated = value;
      if (stated < most)
        fail({"templates", t.name, "needs", need},
             {.kind = ErrorKind::Usage,
              .message = fmt::format("the template '{}' needs {} {}, and the file says {}", t.name, most,
                                     need, stated),
              .value = std::to_string(stated),
              .legal = std::to_string(most)});
    }
  }

  void reassociates(std::size_t index, const Scheduled& applied) {
    const FileNumerics& listed = file_.numerics();
    for (const std::string& entry : applied.numerics.reassociates) {
      found_.push_back(entry);
      if (std::find(listed.reassociates.begin(), listed.reassociates.end(), entry) ==
          listed.reassociates.end())
        fail({"numerics", "reassociates"},
             {.kind = ErrorKind::Usage,
              .message = fmt::format("case {} changes the order of '{}', which 'numerics' does not list",
                                     index, entry),
              .value = entry,
              .legal = "a 'reassociates' that has it, or a schedule that keeps the order"});
    }
    if (listed.contract != applied.numerics.contract)
      fail({"numerics", "contract"},
           {.kind = ErrorKind::Usage,
            .message = fmt::format("case {} and 'numerics' do not agree on 'contract'", index),
            .value = fmt::format("{}", listed.contract),
            .legal = fmt::format("{}", applied.numerics.contract)});
  }

  /// What no case does is not listed, where all cases are known.
  void nothing_more() const {
    const std::vector<std::string>& listed = file_.numerics().reassociates;
    for (std::size_t i = 0; i < listed.size(); i++)
      if (std::find(found_.begin(), found_.end(), listed[i]) == found_.end())
        fail({"numerics", "reassociates", std::to_string(i)},
             {.kind = ErrorKind::Usage,
              .message = fmt::format("no case changes the order of '{}'", listed[i]),
              .value = listed[i],
              .legal = name_choices(listed[i], found_, "reassociates")});
  }

  const ScheduleFile& file_;
  const FileSource* source_;
  const lang::Graph& graph_;
  std::vector<std::string> found_;
};

/// Names of a list against those of the algorithm, in the one order that both have.
void compare(const std::vector<std::string>& file, const std::vector<std::string>& own,
             const std::string& prefix, std::vector<std::string>& renamed) {
  for (std::size_t i = 0; i < std::min(file.size(), own.size()); i++)
    if (file[i] != own[i]) renamed.push_back(fmt::format("{}{} -> {}", prefix, file[i], own[i]));
}

std::vector<std::string> func_names(const FileVariant& v) {
  std::vector<std::string> names;
  for (const auto& [name, loops] : v.funcs) names.push_back(name);
  return names;
}

/// The lists of one structure have one length.
void require_lengths(const FileVariant& v, const FileVariant& own, const FileSource* source) {
  const auto check = [&](std::size_t file, std::size_t algorithm, const std::vector<std::string>& at) {
    if (file == algorithm) return;
    Diagnostic d{.kind = ErrorKind::Usage,
                 .message = fmt::format("{} names, and the algorithm has {}", file, algorithm),
                 .value = std::to_string(file),
                 .legal = std::to_string(algorithm)};
    std::vector<std::string> path = {"variants", v.name};
    path.insert(path.end(), at.begin(), at.end());
    if (source) d.message = source->source.at(source->node(path), d.message);
    throw Error(d);
  };
  check(v.inputs.size(), own.inputs.size(), {"inputs"});
  check(v.funcs.size(), own.funcs.size(), {"funcs"});
  for (std::size_t i = 0; i < v.funcs.size(); i++)
    check(v.funcs[i].second.size(), own.funcs[i].second.size(), {"funcs", v.funcs[i].first});
}

}  // namespace

FileVariant bind_names(const lang::Graph& graph, const std::string& name) {
  FileVariant binding{.name = name, .structure = graph.fingerprint};
  std::vector<bool> seen(graph.funcs.size(), false);
  for (const lang::OutputDef& o : graph.outputs) bind_func(graph, o.func, seen, binding);
  return binding;
}

std::vector<std::string> renaming(const FileVariant& variant, const FileVariant& algorithm) {
  std::vector<std::string> renamed;
  compare(variant.inputs, algorithm.inputs, "", renamed);
  compare(func_names(variant), func_names(algorithm), "", renamed);
  for (std::size_t i = 0; i < std::min(variant.funcs.size(), algorithm.funcs.size()); i++)
    compare(variant.funcs[i].second, algorithm.funcs[i].second, variant.funcs[i].first + ".", renamed);
  return renamed;
}

}  // namespace schedule

using namespace schedule;

const FileVariant* ScheduleFile::find_variant(const Pipeline& pipeline) const {
  for (const FileVariant& v : variants_)
    if (v.structure == pipeline.graph().fingerprint) return &v;
  return nullptr;
}

const FileVariant& ScheduleFile::variant(const Pipeline& pipeline) const {
  const lang::Graph& graph = pipeline.graph();
  const auto fail = [&](const std::vector<std::string>& path, Diagnostic d) {
    d.kind = ErrorKind::Usage;
    if (source_) d.message = source_->source.at(source_->node(path), d.message);
    throw Error(d);
  };
  if (operator_name_ != graph.name)
    fail({"operator"}, {.message = fmt::format("the file is for the operator '{}', not for '{}'",
                                               operator_name_, graph.name),
                        .value = operator_name_,
                        .legal = graph.name});
  const FileVariant* found = find_variant(pipeline);
  if (!found) {
    std::vector<std::string> have, structures;
    for (const FileVariant& v : variants_) {
      have.push_back(fmt::format("{} of '{}'", v.structure, v.name));
      structures.push_back(v.structure);
    }
    std::vector<std::string> path = {"variants"};
    if (variants_.size() == 1) path.insert(path.end(), {variants_[0].name, "structure"});
    fail(path, {.message = fmt::format("the file is for another algorithm: its structure is {}, that of '{}' "
                                       "is {}",
                                       fmt::join(variants_.size() == 1 ? structures : have, ", "), graph.name,
                                       graph.fingerprint),
                .value = fmt::format("{}", fmt::join(structures, ", ")),
                .legal = graph.fingerprint});
  }
  const FileVariant own = bind_names(graph);
  require_lengths(*found, own, source_.get());
  if (const std::vector<std::string> renamed = renaming(*found, own); !renamed.empty())
    fail({"variants", found->name}, {.message = "the algorithm is the same, but its names differ",
                                     .legal = fmt::format("rename in the file: {}; `schedule rebind` does it",
                                                          fmt::join(renamed, ", "))});
  return *found;
}

void ScheduleFile::check(const Pipeline& pipeline) const {
  Checker(*this, source_.get(), pipeline.graph()).run(variant(pipeline));
}

}  // namespace calotype
