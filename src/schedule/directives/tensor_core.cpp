// tensor_core: a tile of a sum of products by instructions of tensor cores.
#include <fmt/format.h>

#include <algorithm>

#include "schedule/loops.h"
#include "schedule/spelling.h"

namespace calotype {

Stage& Stage::tensor_core(const std::vector<LoopName>& m, const std::vector<LoopName>& n,
                          const std::vector<LoopName>& k, const std::string& instruction) {
  std::vector<std::pair<std::string, schedule::Value>> args{
      {"m", schedule::names_of(m)}, {"n", schedule::names_of(n)}, {"k", schedule::names_of(k)}};
  if (!instruction.empty()) args.emplace_back("instruction", instruction);
  return record("tensor_core", std::move(args));
}

namespace schedule {

namespace {

const std::vector<Option>& instruction_options() {
  static const std::vector<Option> all = {{"wgmma", "\"wgmma\""}};
  return all;
}

void require_gpu(const Application& a) {
  if (a.state.out.target.is_gpu()) return;
  a.refuse(fmt::format("the target {} has no tensor cores", a.state.out.target.str()),
           a.state.out.target.str(), "the targets cuda and cuda-interpreter");
}

/// Each kind of loop moves what it is called after: k what is summed, m and n where it goes.
void require_kind(const Application& a, const std::vector<LoopId>& loops, const char* list, bool summed) {
  for (const LoopId id : loops) {
    const Loop& loop = a.state.loop(id);
    if (loop.reduction != summed)
      a.refuse(summed ? fmt::format("'{}' is no loop over what is summed", loop.name)
                      : fmt::format("'{}' is a loop over what is summed", loop.name),
               loop.name,
               fmt::format("in '{}': {}", list, summed ? "reduction loops" : "loops that are no reductions"));
    if (loop.binding != ir::Binding::Serial)
      a.refuse(fmt::format("'{}' is {} already, by {}", loop.name, ir::to_string(loop.binding), loop.origin),
               loop.name, "serial loops: the instruction says what threads do");
  }
}

void apply(Application& a) {
  require_gpu(a);
  StageSchedule& stage = a.loops();
  if (stage.tensor_core)
    a.refuse(fmt::format("{} says so already", stage.tensor_core->origin),
             a.state.stage_name(a.func, a.stage), "one tensor_core a stage");
  const lang::StageDef& def = a.stage_def();
  if (!def.reduce_op || *def.reduce_op != ir::Op::Add)
    a.refuse(fmt::format("{} is no sum: f(...) += a * b", a.state.stage_name(a.func, a.stage)),
             a.state.stage_name(a.func, a.stage), "an update by +=");
  TensorCore made{a.loop_list("m"), a.loop_list("n"), a.loop_list("k")};
  require_kind(a, made.m, "m", false);
  require_kind(a, made.n, "n", false);
  require_kind(a, made.k, "k", true);
  if (a.has("instruction"))
    made.instruction = instruction_options()[static_cast<std::size_t>(a.choice("instruction"))].text;
  made.origin = a.origin();
  for (const LoopId id : made.k) note_reassociation(a.state, a.func, a.stage, id);
  stage.tensor_core = std::move(made);
}

std::string in_cpp(const Directive& d) {
  std::string lists;
  for (const char* list : {"m", "n", "k"})
    lists += fmt::format("{}{}", lists.empty() ? "" : ", ", cpp_list(*find_arg(d, list)));
  if (find_arg(d, "instruction")) lists += ", " + cpp_arguments(*find_directive("tensor_core"), d).back();
  return fmt::format("{}.tensor_core({});", cpp_stage(d.stage), lists);
}

/// The tile is what is innermost when all directives have been applied.
void check(Application& a) {
  const StageSchedule& stage = a.loops();
  if (!stage.tensor_core || stage.tensor_core->origin != a.origin()) throw Skipped{};
  std::vector<LoopId> tile;
  for (const auto* loops : {&stage.tensor_core->m, &stage.tensor_core->n, &stage.tensor_core->k})
    tile.insert(tile.end(), loops->begin(), loops->end());
  for (const LoopId id : tile) {
    const Loop& loop = a.state.loop(id);
    if (!loop.replaced_by.empty())
      a.refuse(fmt::format("the loop '{}' is gone: {} stands in its place", loop.name, loop.replaced_by),
               loop.name, a.state.loops_text(a.func, a.stage));
    if (loop.binding != ir::Binding::Serial)
      a.refuse(fmt::format("the loop '{}' is {}", loop.name, ir::to_string(loop.binding)), loop.name,
               "serial loops: the instruction says what threads do");
  }
  for (std::size_t i = 0; i < tile.size() && i < stage.loops.size(); ++i)
    if (std::find(tile.begin(), tile.end(), stage.loops[i]) == tile.end())
      a.refuse(fmt::format("the loop '{}' stands inside the tile", a.state.loop(stage.loops[i]).name),
               a.state.loop(stage.loops[i]).name,
               "the loops of the tile innermost, by reorder, or that loop in one of the lists");
}

}  // namespace

DirectiveSpec tensor_core_spec() {
  const auto list = [](const char* name, const char* doc) {
    return ArgSpec{.name = name, .kind = ArgKind::Loop, .doc = doc, .list = true};
  };
  return {
      .name = "tensor_core",
      .addresses = Addresses::Stage,
      .doc =
          "The update adds products of two operands, f(m, n) += a(m, k) * b(k, n) in whatever order of "
          "coordinates, and its innermost loops, those named here, are a tile that instructions of tensor "
          "cores carry out. The Func is in registers of the block, dealt out as the instruction has its "
          "result; what is computed of it element by element is dealt out alike. The operands are Funcs in "
          "shared memory, as in() makes them.",
      .args = {list("m", "loops along the rows of the result, outermost first"),
               list("n", "loops along its columns"),
               list("k", "loops over what is summed"),
               {.name = "instruction",
                .kind = ArgKind::Choice,
                .doc = "`wgmma`, of four warps; the default is whichever fits",
                .optional = true,
                .choices = instruction_options()}},
      .reorders = "sums are taken in parts, and cut where the hardware cuts them",
      .refused =
          {"the target has no tensor cores, or not that instruction",
           "the stage is no sum of products of two operands of one type that tensor cores have",
           "a loop in `k` is no reduction loop, or one in `m` or `n` is; one is bound, unrolled or "
           "vectorised",
           "another loop stands inside those of the tile",
           "the tile is no multiple of the instruction's, or the Func is not in registers of a block",
           "the Func has more than one tile at a time, begins from what is read, or is summed where a "
           "condition holds",
           "what reads it reduces along the tile, is in registers of its own, or has loops that are "
           "bound, unrolled or vectorised",
           "trace asks for lines of it or of an operand; partition or prefetch is said of a loop of the "
           "tile",
           "an operand is not in shared memory, or lies there as the instruction cannot read it"},
      .apply = apply,
      .check = check,
      .cpp = in_cpp};
}

}  // namespace schedule
}  // namespace calotype
