// Bookkeeping of who touched what.

#include "sim/shadow.h"

#include <algorithm>
#include <bit>

namespace calotype::sim {

Shadow::Shadow(std::int64_t bytes, int granule, bool across_blocks)
    : marks_(static_cast<std::size_t>(bytes / granule)),
      shift_(std::countr_zero(static_cast<unsigned>(granule))),
      across_blocks_(across_blocks) {}

void Shadow::note_reader(const Clock& clock, Mark& mark, int thread) const {
  const auto id = static_cast<std::uint16_t>(thread);
  const bool of_cluster = mark.read >= clock.block_start;
  const std::uint32_t unordered_since = std::min(clock.own, clock.others);
  // A reader of another cluster stays: it conflicts with any writer to come.
  const bool outdated = mark.read == 0 || (of_cluster ? mark.read < unordered_since : !across_blocks_);
  if (outdated || (of_cluster && mark.reader == id)) {
    mark.read = clock.now;
    mark.reader = id;
  } else {
    mark.other_read = clock.now;
    mark.other_reader = id;
  }
}

Conflict Shadow::read(const Clock& clock, int thread, std::int64_t offset, int bytes) {
  Conflict found;
  for (Mark* mark = begin(offset); mark != end(offset, bytes); ++mark) {
    if (!found && unordered(clock, mark->write, mark->writer, thread))
      found = {Conflict::With::Write, mark->write, mark->writer};
    note_reader(clock, *mark, thread);
  }
  return found;
}

Conflict Shadow::write(const Clock& clock, int thread, std::int64_t offset, int bytes) {
  Conflict found;
  for (Mark* mark = begin(offset); mark != end(offset, bytes); ++mark) {
    if (!found) {
      if (unordered(clock, mark->write, mark->writer, thread)) {
        found = {Conflict::With::Write, mark->write, mark->writer};
      } else if (unordered(clock, mark->read, mark->reader, thread)) {
        found = {Conflict::With::Read, mark->read, mark->reader};
      } else if (unordered(clock, mark->other_read, mark->other_reader, thread)) {
        found = {Conflict::With::Read, mark->other_read, mark->other_reader};
      }
    }
    mark->write = clock.now;
    mark->writer = static_cast<std::uint16_t>(thread);
  }
  return found;
}

void Shadow::start(const Clock& clock, std::int64_t offset, int bytes) {
  for (Mark* mark = begin(offset); mark != end(offset, bytes); ++mark) mark->started = clock.now;
}

void Shadow::land(const Clock& clock, int thread, std::int64_t offset, int bytes) {
  for (Mark* mark = begin(offset); mark != end(offset, bytes); ++mark) {
    mark->started = 0;
    mark->write = clock.now;
    mark->writer = static_cast<std::uint16_t>(thread);
  }
}

bool Shadow::under_way(const Clock& clock, std::int64_t offset, int bytes) {
  for (const Mark* mark = begin(offset); mark != end(offset, bytes); ++mark)
    if (mark->started >= clock.block_start) return true;
  return false;
}

bool Shadow::written(const Clock& clock, std::int64_t offset, int bytes) {
  for (const Mark* mark = begin(offset); mark != end(offset, bytes); ++mark)
    if (mark->write < clock.block_start) return false;
  return true;
}

}  // namespace calotype::sim
