// Bookkeeping of who touched what.

#include "sim/shadow.h"

#include <algorithm>
#include <bit>

namespace calotype::sim {

Shadow::Shadow(std::int64_t bytes, int granule, bool across_blocks, int partly)
    : marks_(static_cast<std::size_t>(bytes / granule)),
      last_(marks_.size() * static_cast<std::size_t>(partly)),
      warps_(partly),
      shift_(std::countr_zero(static_cast<unsigned>(granule))),
      across_blocks_(across_blocks) {}

void Shadow::note_reader(const Clock& clock, Mark& mark, int thread) {
  const auto id = static_cast<std::uint16_t>(thread);
  if (Last* last = last_of(&mark, thread)) {
    if (last->reader != id) {
      last->other_read = last->read;
      last->other_reader = last->reader;
    }
    last->read = clock.now;
    last->reader = id;
  }
  // A reader that this one is ordered after need not stay, but for one of another cluster: it conflicts with
  // any writer to come.
  const auto of_cluster = [&](std::uint32_t interval) { return interval >= clock.block_start; };
  const bool outdated =
      mark.read == 0 ||
      (of_cluster(mark.read) ? ordered(*clock.ordered, mark.read, mark.reader) : !across_blocks_);
  const bool mine = of_cluster(mark.read) && same_block(mark.reader, thread);
  if (outdated || (mine && mark.reader == id)) {
    mark.read = clock.now;
    mark.reader = id;
  } else if (!mine || !of_cluster(mark.other_read) ||
             ordered(*clock.ordered, mark.other_read, mark.other_reader) ||
             same_block(mark.other_reader, thread)) {
    mark.other_read = clock.now;
    mark.other_reader = id;
  }  // else two blocks have read, which no writer is ordered after
}

Conflict Shadow::with_updates(const Clock& clock, const Updates& u) const {
  if (unordered(clock, u.last, u.thread)) return {Conflict::With::Write, u.last, kAtomic};
  if (unordered(clock, u.other, u.other_thread)) return {Conflict::With::Write, u.other, kAtomic};
  return {};
}

void Shadow::note_update(const Clock& clock, Updates& u, int thread) const {
  const auto id = static_cast<std::uint16_t>(thread);
  const bool of_cluster = u.last >= clock.block_start;
  // One of another cluster stays: it conflicts with any plain access to come.
  const bool outdated =
      u.last == 0 || (of_cluster ? ordered(*clock.ordered, u.last, u.thread) : !across_blocks_);
  if (outdated || (of_cluster && same_block(u.thread, thread))) {
    u.last = clock.now;
    u.thread = id;
  } else {
    u.other = clock.now;
    u.other_thread = id;
  }
}

Conflict Shadow::read(const Clock& clock, int thread, std::int64_t offset, int bytes) {
  return look(clock, thread, offset, bytes, true);
}

Conflict Shadow::read_past_threads(const Clock& clock, int thread, std::int64_t offset, int bytes) {
  return look(clock, thread, offset, bytes, false);
}

Conflict Shadow::look(const Clock& clock, int thread, std::int64_t offset, int bytes, bool by_thread) {
  Conflict found;
  for (Mark* mark = begin(offset); mark != end(offset, bytes); ++mark) {
    if (!found && conflicts(clock, mark->write, mark->writer, thread))
      found = {Conflict::With::Write, mark->write, mark->writer};
    if (const Updates* u = updates_of(mark); !found && u) found = with_updates(clock, *u);
    note_reader(clock, *mark, thread);
    if (by_thread) touch(clock, *mark, thread);
  }
  return found;
}

/// Of the last readers of each warp of the block.
Conflict Shadow::with_readers(const Clock& clock, const Mark* mark, int thread) const {
  if (last_.empty()) return {};
  const Last* first = last_.data() + (mark - marks_.data()) * warps_;
  for (const Last* last = first; last != first + warps_; ++last) {
    if (conflicts(clock, last->read, last->reader, thread))
      return {Conflict::With::Read, last->read, last->reader};
    if (conflicts(clock, last->other_read, last->other_reader, thread))
      return {Conflict::With::Read, last->other_read, last->other_reader};
  }
  return {};
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
      } else if (u && with_updates(clock, *u)) {
        found = with_updates(clock, *u);
      } else if (conflicts(clock, mark->read, mark->reader, thread)) {
        found = {Conflict::With::Read, mark->read, mark->reader};
      } else if (conflicts(clock, mark->other_read, mark->other_reader, thread)) {
        found = {Conflict::With::Read, mark->other_read, mark->other_reader};
      } else {
        found = with_readers(clock, mark, thread);
      }
    }
    mark->write = clock.now;
    mark->writer = static_cast<std::uint16_t>(thread);
    mark->copied = by_copy;
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
      if (unordered(clock, mark->write, mark->writer)) {
        found = {Conflict::With::Write, mark->write, mark->writer};
      } else if (unordered(clock, mark->read, mark->reader)) {
        found = {Conflict::With::Read, mark->read, mark->reader};
      } else if (unordered(clock, mark->other_read, mark->other_reader)) {
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

void Shadow::land(std::uint32_t interval, int thread, std::int64_t offset, int bytes) {
  for (Mark* mark = begin(offset); mark != end(offset, bytes); ++mark) {
    mark->started = 0;
    mark->copied = true;
    mark->write = interval;
    mark->writer = static_cast<std::uint16_t>(thread);
  }
}

bool Shadow::under_way(const Clock& clock, std::int64_t offset, int bytes) {
  for (const Mark* mark = begin(offset); mark != end(offset, bytes); ++mark)
    if (mark->started >= clock.block_start) return true;
  return false;
}

void Shadow::lend(std::int64_t offset, int bytes, int more) {
  for (Mark* mark = begin(offset); mark != end(offset, bytes); ++mark)
    mark->lent = static_cast<std::uint16_t>(mark->lent + more);
}

bool Shadow::lent(std::int64_t offset, int bytes) const {
  const Mark* const first = marks_.data() + (offset >> shift_);
  return std::any_of(first, first + (bytes >> shift_), [](const Mark& mark) { return mark.lent > 0; });
}

Conflict Shadow::unfenced(const Clock& clock, std::int64_t offset, int bytes) const {
  const auto open = [&](std::uint32_t touched, int by) {
    return touched >= clock.block_start && !ordered(*clock.fenced, touched, by);
  };
  const Mark* const first = marks_.data() + (offset >> shift_);
  for (const Mark* mark = first; mark != first + (bytes >> shift_); ++mark) {
    if (open(mark->touched, mark->toucher))
      return {mark->touched == mark->write ? Conflict::With::Write : Conflict::With::Read, mark->touched,
              mark->toucher};
    for (int w = 0; w < warps_; ++w)
      if (const Last& last = last_[static_cast<std::size_t>((mark - marks_.data()) * warps_ + w)];
          open(last.touched, last.toucher))
        return {Conflict::With::Read, last.touched, last.toucher};
  }
  return {};
}

Conflict Shadow::unfenced_write(const Clock& clock, std::int64_t offset, int bytes) const {
  const Mark* const first = marks_.data() + (offset >> shift_);
  for (const Mark* mark = first; mark != first + (bytes >> shift_); ++mark)
    if (!mark->copied && mark->write >= clock.block_start &&
        !ordered(*clock.fenced, mark->write, mark->writer))
      return {Conflict::With::Write, mark->write, mark->writer};
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
