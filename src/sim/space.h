#pragma once
// Memory as the accesses of a warp see it: one object a buffer of the program. A new kind of memory is a new
// Space.

#include <memory>
#include <vector>

#include "sim/code.h"
#include "sim/shadow.h"

namespace calotype::sim {

struct Departure;
struct Flight;
struct RingSlot;

/// One component of an access by a warp: at most one element a lane.
struct WarpAccess {
  Machine& machine;
  Warp& warp;
  const Instruction& instruction;
  LaneMask lanes;             ///< that take part
  const std::int64_t* index;  ///< of 32 lanes, in elements
  bool uniform_index;
  Cell* cells;                         ///< of 32 lanes: the values read, or to be written
  const std::int64_t* rank = nullptr;  ///< of 32 lanes: of the block in whose memory they are; null: the own
  RingSlot* slot = nullptr;            ///< that counts a bulk copy; null: no part of one
  Departure* box = nullptr;            ///< that it is an element of, on its way to global memory
  int site = -1;                       ///< into Code::accesses; -1: the instruction's
  bool past_threads = false;           ///< of a load: goes another way to memory than threads
  const AccessSite& access() const;
  const std::string& text() const { return access().text; }
};

class Space {
 public:
  virtual ~Space() = default;
  virtual void load(const WarpAccess& access) = 0;
  virtual void store(const WarpAccess& access) = 0;
  /// Asynchronous stores begin: until they land the elements are neither the old nor the new ones. Not in
  /// private memory.
  virtual void start(const WarpAccess& access) { store(access); }
  virtual void land(int /*thread*/, const Flight&) {}
  /// The value is there already, though nobody may count on it.
  virtual void appear(const Flight&) {}
  /// An element of shared memory that a lane's copy reads from now on, as late as it may; and its value when
  /// the copy has read it, or as it is in between.
  virtual void lend(Machine&, const Warp&, int /*lane*/, std::int64_t /*index*/) {}
  virtual Cell give_back(Machine&, const Warp&, int /*lane*/, std::int64_t /*index*/) { return {}; }
  virtual Cell peek(const Warp&, std::int64_t /*index*/) const { return {}; }
  /// Whether it is known who touched what.
  virtual bool is_watched() const { return false; }
  /// element = element op cell, atomically, lane after lane; in memory that threads share.
  virtual void update(const WarpAccess& access, const Operation& operation) = 0;
  /// The address of an element, in bytes: on the device, or in the shared memory of a block.
  virtual std::int64_t address(std::int64_t index) const = 0;
  /// An Allocate of the buffer is entered by these lanes: what it held is gone.
  virtual void allocate(Warp&, LaneMask) {}
  /// A block begins.
  virtual void begin_block() {}
};

/// Bytes on the host that stand for a region of device memory, with its shadow; several buffers may lie in
/// it.
struct Region {
  int number = 0;  ///< among those of the machine
  std::byte* base = nullptr;
  std::int64_t bytes = 0;
  std::int64_t per_block = 0;  ///< Shared: bytes from one block of a cluster to the next
  std::int64_t blocks = 1;     ///< Shared: of a cluster
  int granule = 1;
  std::unique_ptr<Shadow> shadow;  ///< null: not watched
};

/// Local and Register memory: private to a thread.
std::unique_ptr<Space> make_private_space(const BufferUse& buffer);
/// Shared memory of the block, cleared to the poison pattern as a block begins; `region` is that of the whole
/// block.
std::unique_ptr<Space> make_shared_space(const BufferUse& buffer, Region& region);
/// Global memory: `origin` is the byte in the region that the pointer argument points at, and bytes from
/// `low` to `high` around it are legal.
std::unique_ptr<Space> make_global_space(const BufferUse& buffer, Region& region, std::int64_t origin,
                                         std::int64_t low, std::int64_t high);

}  // namespace calotype::sim
