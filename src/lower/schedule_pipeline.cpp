// Pipeline: which engine runs each statement of a loop body, in which role and with what skew.
//
// Requires: tiles. Leaves: an instruction record at every body, in program order, with rings of one slot.
// Every body is carried out element by element by its thread; copies by other engines, roles and skews enter
// here, before memory, because rings multiply what memory lays out.

#include "lower/passes.h"

namespace calotype::lower {
namespace {

void assign_instructions(Node& node) {
  if (node.kind == NodeKind::Body) node.instruction = &instr::element();
  for (Node& child : node.children) assign_instructions(child);
}

}  // namespace

void schedule_pipeline(LoopTree& tree) { assign_instructions(tree.root); }

}  // namespace calotype::lower
