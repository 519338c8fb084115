// Whether a point of an output lies in a tail. Walks the transforms of the Func's last stage, carrying the
// position and extent of every loop.
#include "cli/tail.h"

#include <map>

namespace calotype::cli {
namespace {

struct Position {
  std::int64_t at = 0, extent = 0;
};
using Positions = std::map<schedule::LoopId, Position>;

// Moves a position from the split loop to its parts; true if it is in the partial last tile.
bool pass_split(Positions& positions, const schedule::Transform& t) {
  const Position old = positions.at(t.old);
  const std::int64_t tiles = (old.extent + t.factor - 1) / t.factor;
  positions[t.outer] = {old.at / t.factor, tiles};
  positions[t.inner] = {old.at % t.factor, t.factor};
  return old.extent % t.factor != 0 && old.at / t.factor == tiles - 1;
}

void pass_fuse(Positions& positions, const schedule::Transform& t) {
  const Position outer = positions.at(t.outer), inner = positions.at(t.inner);
  positions[t.fused] = {outer.at * inner.extent + inner.at, outer.extent * inner.extent};
}

}  // namespace

std::string tail_at(const schedule::Scheduled& scheduled, lang::FuncId func,
                    const std::vector<std::int64_t>& at, const std::vector<std::int64_t>& extents) {
  const schedule::StageSchedule& stage = scheduled.of(func).stages.back();
  Positions positions;
  for (std::size_t d = 0; d < at.size() && d < stage.dims.size(); ++d)
    if (stage.dims[d].valid()) positions[stage.dims[d]] = {at[d], extents[d]};
  std::string text;
  for (const schedule::Transform& t : stage.transforms) {
    const bool split = t.kind == schedule::Transform::Kind::Split;
    // Loops of reduction dimensions have no position here.
    if (split ? !positions.contains(t.old) : !positions.contains(t.outer) || !positions.contains(t.inner))
      continue;
    if (!split)
      pass_fuse(positions, t);
    else if (pass_split(positions, t))
      text += (text.empty() ? "" : "; ") + t.origin;
  }
  return text;
}

}  // namespace calotype::cli
