#pragma once
// What is known about every piece of a memory: who wrote it last and who read it since, and whether a barrier
// has passed in between.
//
// Time is counted in intervals: one starts with each cluster of blocks and after each barrier that a block or
// cluster completes. Clusters (mostly of one block) run one after the other, so the intervals of one are
// consecutive and one number tells all: an access since the last barrier of its block (or, of another block,
// since the last one of the cluster), one before it (ordered, no conflict), one of another cluster (for
// global memory: never ordered). No clearing is needed in between.
//
// Two readers are enough: of two threads of a block at least one is not the writer that comes, and of two
// blocks at least one is not the writer's. Nor do atomic updates conflict with each other: of those, too, two
// are kept, of different blocks.

#include <cstdint>
#include <vector>

namespace calotype::sim {

struct Clock {
  std::uint32_t now = 0;          ///< the running interval, from 1
  std::uint32_t block_start = 0;  ///< the first interval of the running blocks
  std::uint32_t own = 0;          ///< what threads of the block did before this interval is ordered
  std::uint32_t others = 0;       ///< and what threads of other blocks of the cluster did before this one
  std::uint32_t fenced = 0;       ///< bulk copies come after what threads of the block did before this one
};

/// Threads are numbered through the blocks of a cluster, from a multiple of this in each.
constexpr int kBlockThreads = 1024;

/// Another access that an access is not ordered with.
struct Conflict {
  enum class With { Nothing, Write, Read } with = With::Nothing;
  std::uint32_t interval = 0;
  int thread = 0;
  explicit operator bool() const { return with != With::Nothing; }
};

class Shadow {
 public:
  /// `granule`: bytes a piece, a power of two; every access begins and ends with a piece. `across_blocks`:
  /// memory that outlives a block.
  Shadow(std::int64_t bytes, int granule, bool across_blocks);

  /// Notes an access at a byte offset and returns the first conflict it has.
  Conflict read(const Clock& clock, int thread, std::int64_t offset, int bytes);
  Conflict write(const Clock& clock, int thread, std::int64_t offset, int bytes);
  /// The same of a bulk copy that begins, which is no access of the thread itself.
  Conflict write_by_copy(const Clock& clock, int thread, std::int64_t offset, int bytes);
  /// The same of an atomic update: two of them never conflict, whoever makes them.
  Conflict update(const Clock& clock, int thread, std::int64_t offset, int bytes);
  /// What a Conflict has for the thread of an atomic update.
  static constexpr int kAtomic = 0xffff;
  /// A write that has begun but not happened, and that it has.
  void start(const Clock& clock, std::int64_t offset, int bytes);
  void land(const Clock& clock, int thread, std::int64_t offset, int bytes);
  /// Whether such a write of this block is under way somewhere in it.
  bool under_way(const Clock& clock, std::int64_t offset, int bytes);
  /// The latest access of the running cluster's threads to some of it that no fence stands behind; Nothing:
  /// none.
  Conflict unfenced(const Clock& clock, std::int64_t offset, int bytes) const;
  /// Whether this block has written all of it.
  bool written(const Clock& clock, std::int64_t offset, int bytes);

 private:
  struct Mark {
    std::uint32_t write = 0, read = 0, other_read = 0;  ///< intervals; 0 is never
    std::uint32_t started = 0;                          ///< a write that has not happened; 0: none
    std::uint32_t touched = 0;                          ///< the last access by a thread itself
    std::uint16_t writer = 0, reader = 0, other_reader = 0;
    std::uint16_t toucher = 0;
  };

  /// Atomic updates of two blocks.
  struct Updates {
    std::uint32_t last = 0, other = 0;  ///< intervals; 0 is never
    std::uint16_t thread = 0, other_thread = 0;
  };

  static bool same_block(int a, int b) { return a / kBlockThreads == b / kBlockThreads; }
  /// Whether no barrier orders an access of thread `by` in an interval before one of `thread` now.
  bool unordered(const Clock& clock, std::uint32_t interval, int by, int thread) const {
    if (interval >= (same_block(by, thread) ? clock.own : clock.others)) return true;
    return across_blocks_ && interval != 0 && interval < clock.block_start;
  }
  /// The same of plain accesses; those of one thread in one interval are ordered.
  bool conflicts(const Clock& clock, std::uint32_t interval, int by, int thread) const {
    return unordered(clock, interval, by, thread) && (by != thread || interval < clock.block_start);
  }
  Conflict with_updates(const Clock& clock, const Updates& u, int thread) const;
  void note_update(const Clock& clock, Updates& u, int thread) const;
  Conflict overwrite(const Clock& clock, int thread, std::int64_t offset, int bytes, bool by_copy);
  void note_reader(const Clock& clock, Mark& mark, int thread) const;
  static void touch(const Clock& clock, Mark& mark, int thread) {
    mark.touched = clock.now;
    mark.toucher = static_cast<std::uint16_t>(thread);
  }

  /// The pieces of an access.
  Mark* begin(std::int64_t offset) { return marks_.data() + (offset >> shift_); }
  Mark* end(std::int64_t offset, int bytes) { return marks_.data() + ((offset + bytes) >> shift_); }

  /// Of a piece; null where nothing of the memory was ever updated.
  Updates* updates_of(const Mark* mark) {
    return updates_.empty() ? nullptr : updates_.data() + (mark - marks_.data());
  }

  std::vector<Mark> marks_;
  std::vector<Updates> updates_;  ///< as many, from the first atomic update on
  int shift_;                     ///< log2 of the granule
  bool across_blocks_;
};

}  // namespace calotype::sim
