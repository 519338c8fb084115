#pragma once
// What is known about every piece of a memory: who wrote it last and who read it since, and whether a barrier
// has passed in between.
//
// Time is counted in intervals: one starts with each cluster of blocks and after each barrier that a block or
// cluster completes. Clusters (mostly of one block) run one after the other, so the intervals of one are
// consecutive and one number tells all: an access since the last barrier of its block (or, of another block,
// since the last one of the cluster), one before it (ordered, no conflict), one of another cluster (for
// global memory: never ordered). No clearing is needed in between. Two readers are enough: of two different
// ones at least one is not the writer that comes.

#include <cstdint>
#include <vector>

namespace calotype::sim {

struct Clock {
  std::uint32_t now = 0;          ///< the running interval, from 1
  std::uint32_t block_start = 0;  ///< the first interval of the running blocks
  std::uint32_t own = 0;          ///< what threads of the block did before this interval is ordered
  std::uint32_t others = 0;       ///< and what threads of other blocks of the cluster did before this one
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
  /// The thread of an atomic update, for `write`: two of them never conflict, whoever makes them.
  static constexpr int kAtomic = 0xffff;
  /// A write that has begun but not happened, and that it has.
  void start(const Clock& clock, std::int64_t offset, int bytes);
  void land(const Clock& clock, int thread, std::int64_t offset, int bytes);
  /// Whether such a write of this block is under way somewhere in it.
  bool under_way(const Clock& clock, std::int64_t offset, int bytes);
  /// Whether this block has written all of it.
  bool written(const Clock& clock, std::int64_t offset, int bytes);

 private:
  struct Mark {
    std::uint32_t write = 0, read = 0, other_read = 0;  ///< intervals; 0 is never
    std::uint32_t started = 0;                          ///< a write that has not happened; 0: none
    std::uint16_t writer = 0, reader = 0, other_reader = 0;
  };

  bool unordered(const Clock& clock, std::uint32_t interval, int by, int thread) const {
    if (by == kAtomic && thread == kAtomic) return false;
    const bool same_block =
        by == kAtomic || thread == kAtomic || by / kBlockThreads == thread / kBlockThreads;
    if (interval >= (same_block ? clock.own : clock.others)) return by != thread;
    return across_blocks_ && interval != 0 && interval < clock.block_start;
  }
  void note_reader(const Clock& clock, Mark& mark, int thread) const;

  /// The pieces of an access.
  Mark* begin(std::int64_t offset) { return marks_.data() + (offset >> shift_); }
  Mark* end(std::int64_t offset, int bytes) { return marks_.data() + ((offset + bytes) >> shift_); }

  std::vector<Mark> marks_;
  int shift_;  ///< log2 of the granule
  bool across_blocks_;
};

}  // namespace calotype::sim
