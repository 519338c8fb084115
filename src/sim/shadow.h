#pragma once
// What is known about every piece of a memory: who wrote it last and who read it since, and whether a barrier
// has passed in between.
//
// Time is counted in intervals, whose numbers only grow. Each warp is in one: it begins the next when it has
// passed a barrier or told others that it has come so far. A warp knows of every warp of its cluster up to
// which interval what that one did is ordered before what it does itself (a vector clock): barriers and rings
// hand that knowledge on. Clusters (mostly of one block) run one after the other, so what is older than the
// first interval of the running one is of another cluster: of global memory never ordered, of shared memory
// gone. No clearing is needed in between.
//
// Where all threads of a block meet at each barrier two readers are enough: of two threads of a block at
// least one is not the writer that comes, and of two blocks at least one is not the writer's. Where warps
// wait for each other in part (`partly`) the last reader of each warp is kept too. Nor do atomic updates
// conflict with each other: of those, too, two are kept, of different blocks.

#include <cstdint>
#include <vector>

namespace calotype::sim {

/// Threads are numbered through the blocks of a cluster, from a multiple of this in each; so are warps.
constexpr int kBlockThreads = 1024;
constexpr int kBlockWarps = kBlockThreads / 32;
constexpr int warp_of(int thread) { return thread / 32; }

/// Intervals by the number of a warp.
using Intervals = std::vector<std::uint32_t>;

/// As the running warp sees it.
struct Clock {
  std::uint32_t now = 0;               ///< its interval, from 1
  std::uint32_t block_start = 0;       ///< the first interval of the running blocks
  const Intervals* ordered = nullptr;  ///< what a warp did before this interval is ordered
  const Intervals* fenced = nullptr;  ///< and by a fence, before what goes another way to memory than threads
};

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
  /// memory that outlives a block. `partly`: the number of warps of a block where they wait for each other in
  /// part, else 0.
  Shadow(std::int64_t bytes, int granule, bool across_blocks, int partly = 0);

  /// Notes an access at a byte offset and returns the first conflict it has.
  Conflict read(const Clock& clock, int thread, std::int64_t offset, int bytes);
  /// The same of what does not go the way of the threads.
  Conflict read_past_threads(const Clock& clock, int thread, std::int64_t offset, int bytes);
  Conflict write(const Clock& clock, int thread, std::int64_t offset, int bytes);
  /// The same of a bulk copy that begins, which is no access of the thread itself.
  Conflict write_by_copy(const Clock& clock, int thread, std::int64_t offset, int bytes);
  /// The same of an atomic update: two of them never conflict, whoever makes them.
  Conflict update(const Clock& clock, int thread, std::int64_t offset, int bytes);
  /// What a Conflict has for the thread of an atomic update.
  static constexpr int kAtomic = 0xffff;
  /// A write that has begun but not happened, and that it has.
  void start(const Clock& clock, std::int64_t offset, int bytes);
  void land(std::uint32_t interval, int thread, std::int64_t offset, int bytes);
  /// Whether such a write of this block is under way somewhere in it.
  bool under_way(const Clock& clock, std::int64_t offset, int bytes);
  /// Copies that read it from now on: so many more, or fewer.
  void lend(std::int64_t offset, int bytes, int more);
  bool lent(std::int64_t offset, int bytes) const;
  /// The latest access of the running cluster's threads to some of it that no fence stands behind; Nothing:
  /// none.
  Conflict unfenced(const Clock& clock, std::int64_t offset, int bytes) const;
  /// The same of the last write, if a thread has made it.
  Conflict unfenced_write(const Clock& clock, std::int64_t offset, int bytes) const;
  /// Whether this block has written all of it.
  bool written(const Clock& clock, std::int64_t offset, int bytes);

 private:
  struct Mark {
    std::uint32_t write = 0, read = 0, other_read = 0;  ///< intervals; 0 is never
    std::uint32_t started = 0;                          ///< a write that has not happened; 0: none
    std::uint32_t touched = 0;                          ///< the last access by a thread itself
    std::uint16_t writer = 0, reader = 0, other_reader = 0;
    std::uint16_t toucher = 0;
    std::uint16_t lent = 0;  ///< to copies, which will read it
    bool copied = false;     ///< the write was no thread's
  };

  /// Atomic updates of two blocks.
  struct Updates {
    std::uint32_t last = 0, other = 0;  ///< intervals; 0 is never
    std::uint16_t thread = 0, other_thread = 0;
  };

  static bool same_block(int a, int b) { return a / kBlockThreads == b / kBlockThreads; }
  /// Whether nothing orders an access of thread `by` in an interval before one by the running warp now.
  bool unordered(const Clock& clock, std::uint32_t interval, int by) const {
    if (interval < clock.block_start) return across_blocks_ && interval != 0;
    return !ordered(*clock.ordered, interval, by);
  }
  static bool ordered(const Intervals& before, std::uint32_t interval, int by) {
    return interval < before[static_cast<std::size_t>(warp_of(by))];
  }
  /// The same of plain accesses; those of one thread in one interval are ordered.
  bool conflicts(const Clock& clock, std::uint32_t interval, int by, int thread) const {
    return unordered(clock, interval, by) && (by != thread || interval < clock.block_start);
  }
  Conflict with_updates(const Clock& clock, const Updates& u) const;
  void note_update(const Clock& clock, Updates& u, int thread) const;
  Conflict overwrite(const Clock& clock, int thread, std::int64_t offset, int bytes, bool by_copy);
  Conflict look(const Clock& clock, int thread, std::int64_t offset, int bytes, bool by_thread);
  void note_reader(const Clock& clock, Mark& mark, int thread);
  void touch(const Clock& clock, Mark& mark, int thread) {
    mark.touched = clock.now;
    mark.toucher = static_cast<std::uint16_t>(thread);
    if (Last* last = last_of(&mark, thread)) {
      last->touched = clock.now;
      last->toucher = mark.toucher;
    }
  }
  Conflict with_readers(const Clock& clock, const Mark* mark, int thread) const;

  /// The pieces of an access.
  Mark* begin(std::int64_t offset) { return marks_.data() + (offset >> shift_); }
  Mark* end(std::int64_t offset, int bytes) { return marks_.data() + ((offset + bytes) >> shift_); }

  /// Of a piece; null where nothing of the memory was ever updated.
  Updates* updates_of(const Mark* mark) {
    return updates_.empty() ? nullptr : updates_.data() + (mark - marks_.data());
  }

  /// What a warp of the block did last; of two lanes that have read at least one is not the writer that
  /// comes.
  struct Last {
    std::uint32_t read = 0, other_read = 0, touched = 0;  ///< intervals; 0 is never
    std::uint16_t reader = 0, other_reader = 0, toucher = 0;
  };
  /// Of a piece and the warp of a thread; null where warps do not wait for each other in part.
  Last* last_of(const Mark* mark, int thread) {
    if (last_.empty()) return nullptr;
    return &last_[static_cast<std::size_t>((mark - marks_.data()) * warps_ + thread % kBlockThreads / 32)];
  }

  std::vector<Mark> marks_;
  std::vector<Updates> updates_;  ///< as many, from the first atomic update on
  std::vector<Last> last_;        ///< `warps_` for each, or none
  int warps_;
  int shift_;  ///< log2 of the granule
  bool across_blocks_;
};

}  // namespace calotype::sim
