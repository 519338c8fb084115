// role: warps of a block that compute some of its Funcs.
#include <fmt/format.h>

#include <algorithm>

#include "schedule/roles.h"
#include "schedule/spelling.h"

namespace calotype {

void Schedule::role(const std::string& name, const std::vector<FuncName>& funcs, const RoleSize& size) {
  schedule::Value::List list;
  for (const FuncName& f : funcs) list.emplace_back(f.name);
  schedule::Directive d{.name = "role",
                        .args = {{"name", name}, {"funcs", std::move(list)}, {"warps", size.warps}}};
  if (size.registers.number != 0 || !size.registers.knob.empty())
    d.args.emplace_back("registers", size.registers);
  append(std::move(d));
}

namespace schedule {

namespace {

constexpr std::int64_t kGroup = 4;  // warps that change their registers together
constexpr std::int64_t kLeastRegisters = 24;

void require_registers(const Application& a, const Role& role) {
  if (role.registers == 0) return;
  const std::string& arch = a.state.out.target.arch;  // empty: that of the GPU which is there
  if (!arch.empty() && arch.back() != 'a')
    a.refuse(fmt::format("the target {} has no warps with registers of their own", a.state.out.target.str()),
             std::to_string(role.registers), "targets such as cuda-sm_90a; or no registers");
  if (role.registers % kRegisterStep != 0 || role.registers < kLeastRegisters)
    a.refuse(fmt::format("{} registers a thread", role.registers), std::to_string(role.registers),
             fmt::format("multiples of {} from {} to {}", kRegisterStep, kLeastRegisters, kMostRegisters));
  if (role.warps % kGroup != 0)
    a.refuse(fmt::format("{} warps cannot have registers of their own", role.warps),
             std::to_string(role.warps),
             fmt::format("a multiple of {} warps, which change them together", kGroup));
}

FuncId find_func(const Application& a, const std::string& name) {
  if (const lang::FuncDef* found = a.state.out.graph.find_func(name)) return found->id;
  std::vector<std::string> all;
  for (const lang::FuncDef& f : a.state.out.graph.funcs) all.push_back(f.name);
  a.refuse(fmt::format("there is no Func '{}'", name), name, name_choices(name, all, "Funcs"));
}

void apply(Application& a) {
  if (!a.state.out.target.is_gpu())
    a.refuse(fmt::format("the target {} has no warps", a.state.out.target.str()), a.state.out.target.str(),
             "the targets cuda and cuda-interpreter");
  Role made{.name = a.name("name"), .warps = a.integer("warps"), .directive = a.index, .origin = a.origin()};
  if (a.has("registers")) made.registers = a.integer("registers");
  require_registers(a, made);
  for (const std::string& name : a.names("funcs")) {
    const FuncId func = find_func(a, name);
    for (const Role& other : a.state.out.roles)
      if (std::find(other.funcs.begin(), other.funcs.end(), func) != other.funcs.end())
        a.refuse(fmt::format("'{}' has the role '{}' already, by {}", name, other.name, other.origin), name,
                 "one role a Func");
    made.funcs.push_back(func);
  }
  for (const Role& other : a.state.out.roles)
    if (other.name == made.name)
      a.refuse(fmt::format("there is a role '{}' already, by {}", made.name, other.origin), made.name,
               "another name");
  a.state.out.roles.push_back(std::move(made));
}

std::string in_cpp(const Directive& d) {
  const auto number = [](const Value& value) {
    const auto* knob = std::get_if<KnobRef>(&value.data);
    return knob ? knob->name : std::to_string(std::get<std::int64_t>(value.data));
  };
  const Value* registers = find_arg(d, "registers");
  return fmt::format("s.role(\"{}\", {}, {{.warps = {}{}}});", text_of(*find_arg(d, "name")),
                     cpp_list(*find_arg(d, "funcs")), number(*find_arg(d, "warps")),
                     registers ? ", .registers = " + number(*registers) : "");
}

}  // namespace

DirectiveSpec role_spec() {
  return {
      .name = "role",
      .addresses = Addresses::Graph,
      .doc =
          "Gives some warps of each block a part of its work: they compute the Funcs named and what is "
          "computed at those and has no role of its own, while the warps of other roles compute the rest. "
          "Every role runs the loops around its Funcs by itself, as fast as it can. What one role computes "
          "and another one reads is in shared memory, in rings: the writer waits until a slot is free, the "
          "reader until it is full. With `pipeline` or `ring_buffer` there are as many slots as they say, "
          "and so far the writer may be ahead. `registers` moves registers from roles that need few to those "
          "that need many. A block has the threads of all its roles.",
      .args = {{.name = "name", .kind = ArgKind::Text, .doc = "what it is called"},
               {.name = "funcs", .kind = ArgKind::Func, .doc = "what it computes", .list = true},
               {.name = "warps", .kind = ArgKind::Integer, .doc = "how many it has", .high = 32},
               {.name = "registers",
                .kind = ArgKind::Integer,
                .doc = "of each of its threads: multiples of 8, from 24 on",
                .optional = true,
                .high = kMostRegisters}},
      .refused = {"the target is no GPU",
                  "a Func has a role already, is computed inline, or by another kernel",
                  "the Func at root, whose blocks they are, has no role, or there is no second one",
                  "the roles have more than 32 warps, or more registers than the block",
                  "warps with registers of their own are no multiple of four, or the target has none such",
                  "the block is one of a cluster, has threads along y or z, or shares loops by compute_with",
                  "two roles compute, or the one that computes has a bulk or tensor copy of its own",
                  "what goes from one role to another is not in shared memory, or is not copied there by "
                  "copy(bulk) or copy(tma)"},
      .apply = apply,
      .cpp = in_cpp};
}

}  // namespace schedule
}  // namespace calotype
