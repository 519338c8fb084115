// The statement of a stage that a function computes: a call with the box of its values and those of what it
// reads.
#include "lower/call_function.h"

namespace calotype::lower {

ir::Stmt call_function(
    const LoopTree& tree, StageRef stage,
    const std::function<Element(const ir::CalleePtr&, const std::vector<Expr>& coordinates)>& element_of) {
  const lang::StageDef& def = tree.def(stage);
  const lang::FuncDef& func = tree.func(stage.func);
  const StageInfo& info = tree.stages.at(stage);
  const std::vector<Expr> scalars = def.scalars();
  ir::ExternCall call{
      .callee = ir::extern_of(def.value), .func = func.name, .boxes = {}, .scalars = scalars.size()};
  std::vector<Expr> operands;
  const auto pass = [&](const Expr& e) { operands.push_back(ir::simplify(e, tree.facts)); };
  const auto add = [&](const ir::CalleePtr& of, const Box& box) {
    std::vector<Expr> first;
    for (const ir::Interval& i : box) first.push_back(i.min);
    const Element element = element_of(of, first);
    call.boxes.push_back({element.buffer, of->type, of->rank});
    pass(element.index);
    for (std::size_t d = 0; d < box.size(); ++d) {
      pass(box[d].min);
      // Where nothing is read the ends may have passed each other.
      pass(max(box[d].max - box[d].min + ir::index(1), ir::index(0)));
      pass(element.buffer->strides[d]);
    }
  };
  for (const ir::CalleePtr& component : func.callees) add(component, info.need);
  for (const ReadBox& read : info.reads) add(read.of, read.box);
  for (const Expr& e : scalars) pass(e);
  Expr any = ir::make_one(Bool());
  for (const ir::Interval& i : info.need) any = any && i.min <= i.max;
  any = ir::simplify(any, tree.facts);
  const ir::Stmt s = ir::call_extern(std::move(call), std::move(operands));
  return ir::is_one(any) ? s : ir::if_then(any, s);
}

}  // namespace calotype::lower
