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
  const auto unordered_in_cluster = [&](std::uint32_t interval) {
    return interval >= clock.block_start && interval >= clock.others;
  };
  // A reader of another cluster stays: it conflicts with any writer to come.
  const bool of_cluster = mark.read >= clock.block_start;
  const bool outdated = mark.read == 0 || (of_cluster ? mark.read < clock.others : !across_blocks_);
  const bool mine = of_cluster && same_block(mark.reader, thread);
  if (outdated || (mine && (mark.reader == id || mark.read < clock.own))) {
    mark.read = clock.now;
    mark.reader = id;
  } else if (!mine || !unordered_in_cluster(mark.other_read) || same_block(mark.other_reader, thread)) {
    mark.other_read = clock.now;
    mark.other_reader = id;
  }  // else two blocks have read, which no writer is ordered after
}

Conflict Shadow::with_updates(const Clock& clock, const Updates& u, int thread) const {
  if (unordered(clock, u.last, u.thread, thread)) return {Conflict::With::Write, u.last, kAtomic};
  if (unordered(clock, u.other, u.other_thread, thread)) return {Conflict::With::Write, u.other, kAtomic};
  return {};
}

void Shadow::note_update(const Clock& clock, Updates& u, int thread) const {
  const auto id = static_cast<std::uint16_t>(thread);
  const bool of_cluster = u.last >= clock.block_start;
  // One of another cluster stays: it conflicts with any plain access to come.
  const bool outdated = u.last == 0 || (of_cluster ? u.last < clock.others : !across_blocks_);
  if (outdated || (of_cluster && same_block(u.thread, thread))) {
    u.last = clock.now;
    u.thread = id;
  } else {
    u.other = clock.now;
    u.other_thread = id;
  }
}

Conflict Shadow::read(const Clock& clock, int thread, std::int64_t offset, int bytes) {
  Conflict found;
  for (Mark* mark = begin(offset); mark != end(offset, bytes); ++mark) {
    if (!found && conflicts(clock, mark->write, mark->writer, thread))
      found = {Conflict::With::Write, mark->write, mark->writer};
    if (const Updates* u = updates_of(mark); !found && u) found = with_updates(clock, *u, thread);
    note_reader(clock, *mark, thread);
    touch(clock, *mark, thread);
  }
  return found;
}

Conflict Shadow::write(const Clock& clock, int thread, std::int64_t offset, int bytes) {
  return overwrite(clock, thread, offset, bytes, false);
}

Conflict Shadow::write_by_copy(const Clock& clock, int thread, std::int64_t offset, int bytes) {
  return overwrite(clock, thread, offset, bytes, true);
}

Conflict Shadow::overwrite(const Clock& clock, int thread, std::int64_t offset, int bytes, bool by_copy) {
  Conflict found;
  for (Mark* mark = begin(offset); mark != end(offset, bytes); ++mark) {
    Updates* u = updates_of(mark);
    if (!found) {
      if (conflicts(clock, mark->write, mark->writer, thread)) {
        found = {Conflict::With::Write, mark->write, mark->writer};
      } else if (u && with_updates(clock, *u, thread)) {
        found = with_updates(clock, *u, thread);
      } else if (conflicts(clock, mark->read, mark->reader, thread)) {
        found = {Conflict::With::Read, mark->read, mark->reader};
      } else if (conflicts(clock, mark->other_read, mark->other_reader, thread)) {
        found = {Conflict::With::Read, mark->other_read, mark->other_reader};
      }
    }
    mark->write = clock.now;
    mark->writer = static_cast<std::uint16_t>(thread);
    if (!by_copy) touch(clock, *mark, thread);
    if (u) *u = {};  // who is ordered after the write is ordered after them
  }
  return found;
}

// The last plain write stays beside the updates: of one block it may be ordered with the first of them alone.
Conflict Shadow::update(const Clock& clock, int thread, std::int64_t offset, int bytes) {
  if (updates_.empty()) updates_.resize(marks_.size());
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
    note_update(clock, *updates_of(mark), thread);
    touch(clock, *mark, thread);
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

Conflict Shadow::unfenced(const Clock& clock, std::int64_t offset, int bytes) const {
  const Mark* const first = marks_.data() + (offset >> shift_);
  for (const Mark* mark = first; mark != first + (bytes >> shift_); ++mark)
    if (mark->touched >= clock.block_start && mark->touched >= clock.fenced)
      return {mark->touched == mark->write ? Conflict::With::Write : Conflict::With::Read, mark->touched,
              mark->toucher};
  return {};
}

bool Shadow::written(const Clock& clock, std::int64_t offset, int bytes) {
  for (const Mark* mark = begin(offset); mark != end(offset, bytes); ++mark) {
    const Updates* u = updates_of(mark);
    if (mark->write < clock.block_start && (!u || std::max(u->last, u->other) < clock.block_start))
      return false;
  }
  return true;
}

}  // namespace calotype::sim
