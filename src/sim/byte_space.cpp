// Shared and global memory: bytes on the host, bounds, and the shadow that finds races and reads of what
// nobody wrote.

#include <fmt/format.h>

#include <cstring>

#include "layout/swizzle.h"
#include "sim/compute.h"
#include "sim/machine.h"

namespace calotype::sim {
namespace {

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

class ByteSpace : public Space {
 public:
  ByteSpace(const BufferUse& buffer, Region& region, std::int64_t origin, std::int64_t low, std::int64_t high)
      : buffer_(buffer),
        region_(region),
        origin_(origin),
        size_(buffer.type.bytes()),
        first_(-floor_div(-low, size_)),
        end_(floor_div(high, size_)) {}

  void load(const WarpAccess& a) override {
    Offsets offset;
    const LaneMask lanes = locate(a, offset, "reads");
    note(a, lanes, offset, "reads");
    for_lanes(a.lanes & ~lanes, [&](int lane) { a.cells[lane] = poison(buffer_.type); });
    if (region_.shadow) for_lanes(lanes, [&](int lane) { watch_read(a, lane, offset[lane]); });
    decode_lanes(a.cells, lanes, offset);
  }

  void store(const WarpAccess& a) override {
    Offsets offset;
    const LaneMask lanes = locate(a, offset, "writes");
    note(a, lanes, offset, "writes");
    if (region_.shadow) for_lanes(lanes, [&](int lane) { watch_write(a, lane, offset); });
    for_lanes(lanes, [&](int lane) { encode(buffer_.type, a.cells[lane], region_.base + offset[lane]); });
  }

  void start(const WarpAccess& a) override {
    Offsets offset;
    const LaneMask lanes = locate(a, offset, "copies to");
    note(a, lanes, offset, "copies to");
    for_lanes(lanes, [&](int lane) {
      if (region_.shadow) watch_start(a, lane, offset);
      std::memset(region_.base + offset[lane], 0xff, static_cast<std::size_t>(size_));
      Flights& flights = a.warp.flights[static_cast<std::size_t>(lane)];
      const Flight flight{a.access().buffer, offset[lane], a.cells[lane], flights.groups,
                          a.machine.clock.now};
      if (a.slot)
        a.slot->started.push_back({a.machine.thread(a.warp, lane), flight});
      else
        (a.box ? a.box->flights : flights.waiting).push_back(flight);
    });
  }

  void land(int thread, const Flight& flight) override {
    encode(buffer_.type, flight.value, region_.base + flight.offset);
    if (region_.shadow) region_.shadow->land(flight.interval, thread, flight.offset, size_);
  }

  void appear(const Flight& flight) override {
    encode(buffer_.type, flight.value, region_.base + flight.offset);
  }

  void lend(Machine&, const Warp& warp, int, std::int64_t index) override {
    if (region_.shadow && is_legal(index)) region_.shadow->lend(place(warp.rank, index), size_, 1);
  }

  Cell give_back(Machine& m, const Warp& warp, int lane, std::int64_t index) override {
    if (region_.shadow && is_legal(index)) {
      const std::int64_t offset = place(warp.rank, index);
      region_.shadow->lend(offset, size_, -1);
      // It may have been read as late as this; who has written it since is found there.
      region_.shadow->read_past_threads(m.clock, m.thread(warp, lane), offset, size_);
    }
    return peek(warp, index);
  }

  Cell peek(const Warp& warp, std::int64_t index) const override {
    return is_legal(index) ? decode(buffer_.type, region_.base + place(warp.rank, index))
                           : poison(buffer_.type);
  }

  bool is_watched() const override { return region_.shadow != nullptr; }

  void update(const WarpAccess& a, const Operation& operation) override {
    Offsets offset;
    const LaneMask lanes = locate(a, offset, "updates");
    note(a, lanes, offset, "updates");
    for_lanes(lanes, [&](int lane) {
      if (region_.shadow) watch_update(a, lane, offset[lane]);
      Cell result;
      const Cell old = decode(buffer_.type, region_.base + offset[lane]);
      select_compute(operation)(operation, &result, &old, &a.cells[lane], nullptr, 1);
      encode(buffer_.type, result, region_.base + offset[lane]);
    });
  }

  std::int64_t address(std::int64_t index) const override {
    return (buffer_.is_shared() ? 0 : reinterpret_cast<std::intptr_t>(region_.base)) + place(0, index);
  }

  /// Every buffer of a block clears its own bytes; together they clear what is used.
  void begin_block() override {
    if (!buffer_.is_shared()) return;
    for (std::int64_t rank = 0; rank < region_.blocks; ++rank)
      std::memset(region_.base + rank * region_.per_block + origin_, 0xff,
                  static_cast<std::size_t>(end_ * size_));
  }

 private:
  using Offsets = std::array<std::int64_t, kWarp>;  ///< bytes in the region, of each lane's element

  bool is_legal(std::int64_t index) const { return index >= first_ && index < end_; }
  /// The byte in the region.
  std::int64_t place(std::int64_t rank, std::int64_t index) const {
    return rank * region_.per_block + origin_ + layout::swizzled(index, buffer_.swizzle, size_) * size_;
  }

  /// Finds the lanes' elements; returns the lanes whose element is legal.
  LaneMask locate(const WarpAccess& a, Offsets& offset, const char* verb) const {
    LaneMask legal = 0;
    for_lanes(a.lanes, [&](int lane) {
      const std::int64_t index = a.index[lane];
      if (!is_legal(index)) {
        report(a, lane, Fault::OutOfBounds, verb, [&](const std::string& who, const std::string& text) {
          return fmt::format("{} {} {}, element {} where those from {} to {} are legal", who, verb, text,
                             index, first_, end_ - 1);
        });
        return;
      }
      const std::int64_t rank = a.rank ? a.rank[lane] : a.warp.rank;
      if (rank < 0 || rank >= a.machine.code.cluster) {
        report(a, lane, Fault::OutOfBounds, verb, [&](const std::string& who, const std::string& text) {
          return fmt::format("{} {} {} of the block of rank {} in a cluster of {}", who, verb, text, rank,
                             a.machine.code.cluster);
        });
        return;
      }
      if (!a.machine.runs(a.warp, rank))
        report(a, lane, Fault::NotRunning, verb, [&](const std::string& who, const std::string& text) {
          return fmt::format("{} {} {} of the block of rank {}, which may not have begun or has ended", who,
                             verb, text, rank);
        });
      a.machine.reach(a.warp, a.instruction, rank);
      offset[lane] = place(rank, index);
      legal |= LaneMask{1} << lane;
    });
    return legal;
  }

  void decode_lanes(Cell* cells, LaneMask lanes, const Offsets& offset) const {
    const std::byte* base = region_.base;
    if (buffer_.type == Float(32)) {  // by far the most frequent
      for_lanes(lanes, [&](int lane) {
        float value;
        std::memcpy(&value, base + offset[lane], sizeof value);
        cells[lane] = of_float(value);
      });
      return;
    }
    for_lanes(lanes, [&](int lane) { cells[lane] = decode(buffer_.type, base + offset[lane]); });
  }

  void watch_copies(const WarpAccess& a, int lane, std::int64_t offset, const char* verb) {
    if (!region_.shadow->under_way(a.machine.clock, offset, size_)) return;
    report(a, lane, Fault::Unfinished, verb, [&](const std::string& who, const std::string& text) {
      return fmt::format("{} {} {}, to which a copy is under way that nobody has waited for", who, verb,
                         text);
    });
  }

  /// What is written has to wait until boxes that it is sent out in have been read.
  void watch_lent(const WarpAccess& a, int lane, std::int64_t offset, const char* verb) {
    if (!buffer_.is_shared() || !region_.shadow->lent(offset, size_)) return;
    report(a, lane, Fault::RingOverwrite, verb, [&](const std::string& who, const std::string& text) {
      return fmt::format("{} {} {}, of which a box is sent out that nobody has waited for", who, verb, text);
    });
  }

  void watch_initialised(const WarpAccess& a, int lane, std::int64_t offset) {
    if (!buffer_.is_shared() || region_.shadow->written(a.machine.clock, offset, size_)) return;
    report(a, lane, Fault::Uninitialised, "reads", [](const std::string& who, const std::string& text) {
      return fmt::format("{} reads {}, which no thread of the block has written", who, text);
    });
  }

  void watch_update(const WarpAccess& a, int lane, std::int64_t offset) {
    watch_initialised(a, lane, offset);
    watch_lent(a, lane, offset, "updates");
    Machine& m = a.machine;
    const Conflict conflict = region_.shadow->update(m.clock, m.thread(a.warp, lane), offset, size_);
    if (conflict) race(a, lane, "updates", offset, conflict);
  }

  void watch_read(const WarpAccess& a, int lane, std::int64_t offset) {
    Machine& m = a.machine;
    watch_initialised(a, lane, offset);
    watch_copies(a, lane, offset, "reads");
    const int thread = m.thread(a.warp, lane);
    const Conflict conflict = a.past_threads
                                  ? region_.shadow->read_past_threads(m.clock, thread, offset, size_)
                                  : region_.shadow->read(m.clock, thread, offset, size_);
    if (conflict) return race(a, lane, "reads", offset, conflict);
    if (!a.past_threads) return;
    const Conflict unfenced = region_.shadow->unfenced_write(m.clock, offset, size_);
    if (unfenced) missing_fence(a, lane, "reads", offset, unfenced);
  }

  void watch_write(const WarpAccess& a, int lane, const Offsets& offset) {
    Machine& m = a.machine;
    if (!buffer_.idempotent) watch_copies(a, lane, offset[lane], "writes");
    watch_lent(a, lane, offset[lane], "writes");
    const Conflict conflict = region_.shadow->write(m.clock, m.thread(a.warp, lane), offset[lane], size_);
    if (conflict && !same_store(a, lane, offset, conflict) && !same_value(a, lane, offset, conflict))
      race(a, lane, "writes", offset[lane], conflict);
  }

  /// A copy begins.
  void watch_start(const WarpAccess& a, int lane, const Offsets& offset) {
    Shadow& shadow = *region_.shadow;
    const Clock& clock = a.machine.clock;
    // Where several threads copy an element it is the same to all of them.
    const bool once_more = buffer_.idempotent && shadow.under_way(clock, offset[lane], size_);
    // What is sent to another block follows what that one has sent behind its last use of the slot.
    const bool sent = a.slot != nullptr && a.instruction.run == run_remote_store;
    if (a.box != nullptr) {
      watch_sent(a, lane, offset[lane]);
    } else if (!sent && a.slot != nullptr) {
      watch_fence(a, lane, offset[lane]);
      watch_lent(a, lane, offset[lane], "copies to");
      if (!once_more) watch_slot(a, lane, offset);
    } else if (!once_more && !sent) {
      watch_write(a, lane, offset);
    }
    shadow.start(clock, offset[lane], size_);
  }

  /// An element of a box that goes out.
  void watch_sent(const WarpAccess& a, int lane, std::int64_t offset) {
    Machine& m = a.machine;
    if (!buffer_.idempotent) watch_copies(a, lane, offset, "copies to");
    const Conflict conflict = region_.shadow->write_by_copy(m.clock, m.thread(a.warp, lane), offset, size_);
    if (conflict && !buffer_.idempotent) race(a, lane, "copies to", offset, conflict);
  }

  /// Bulk copies go by another path to memory than the threads.
  void watch_fence(const WarpAccess& a, int lane, std::int64_t offset) const {
    Machine& m = a.machine;
    const Conflict conflict = region_.shadow->unfenced(m.clock, offset, size_);
    if (conflict) missing_fence(a, lane, "copies to", offset, conflict);
  }

  void missing_fence(const WarpAccess& a, int lane, const char* verb, std::int64_t offset,
                     const Conflict& conflict) const {
    Machine& m = a.machine;
    const bool by_product = a.instruction.run == run_wide_product;
    conflicts(a, lane, Fault::MissingFence, verb, offset, conflict,
              [&](const std::string& who, const std::string& text) {
                return fmt::format("{} {} {} {}, which {} has {} with no fence of the {} in between", who,
                                   verb, text, by_product ? "by tensor cores" : "in bulk",
                                   m.who(conflict.thread, m.block_of(conflict.interval)), done(conflict),
                                   by_product ? "other way to memory" : "copies");
              });
  }

  void watch_slot(const WarpAccess& a, int lane, const Offsets& offset) const {
    Machine& m = a.machine;
    if (!buffer_.idempotent && region_.shadow->under_way(m.clock, offset[lane], size_))
      report(a, lane, Fault::RingOverwrite, "copies to", [](const std::string& who, const std::string& text) {
        return fmt::format("{} copies to {}, to which another copy is under way that nobody has waited for",
                           who, text);
      });
    const Conflict conflict =
        region_.shadow->write_by_copy(m.clock, m.thread(a.warp, lane), offset[lane], size_);
    if (!conflict || same_value(a, lane, offset, conflict)) return;
    conflicts(a, lane, Fault::RingOverwrite, "copies to", offset[lane], conflict,
              [&](const std::string& who, const std::string& text) {
                return fmt::format("{} copies to {}, which {} has {} with no barrier in between", who, text,
                                   m.who(conflict.thread, m.block_of(conflict.interval)), done(conflict));
              });
  }

  /// Whether the other write, which the program says may happen at the same time, was of the same value.
  bool same_value(const WarpAccess& a, int lane, const Offsets& offset, const Conflict& conflict) const {
    if (!buffer_.idempotent || conflict.with != Conflict::With::Write) return false;
    std::array<std::byte, 8> value;
    encode(buffer_.type, a.cells[lane], value.data());
    return std::memcmp(value.data(), region_.base + offset[lane], static_cast<std::size_t>(size_)) == 0;
  }

  /// Whether the other write is by an earlier lane of this very instruction and of the same value: harmless.
  static bool same_store(const WarpAccess& a, int lane, const Offsets& offset, const Conflict& conflict) {
    const int other = conflict.thread - a.machine.thread(a.warp, 0);
    return conflict.with == Conflict::With::Write && conflict.interval == a.machine.clock.now && other >= 0 &&
           other < lane && (a.lanes >> other & 1) != 0 && offset[other] == offset[lane] &&
           a.cells[other].i == a.cells[lane].i;
  }

  static const char* done(const Conflict& conflict) {
    return conflict.with == Conflict::With::Write ? "written" : "read";
  }

  void race(const WarpAccess& a, int lane, const char* verb, std::int64_t offset,
            const Conflict& conflict) const {
    Machine& m = a.machine;
    const bool other_block = conflict.interval < m.clock.block_start;
    conflicts(
        a, lane, Fault::Race, verb, offset, conflict, [&](const std::string& who, const std::string& text) {
          return fmt::format(
              "{} {} {}, which {} has {} {}", who, verb, text,
              conflict.thread == Shadow::kAtomic ? std::string("an atomic update")
                                                 : m.who(conflict.thread, m.block_of(conflict.interval)),
              done(conflict), other_block ? "in the same launch" : "with no barrier in between");
        });
  }

  /// A fault that has another access in it, which is looked for in a second run.
  template <class Message>
  void conflicts(const WarpAccess& a, int lane, Fault fault, const char* verb, std::int64_t offset,
                 const Conflict& conflict, Message message) const {
    Machine& m = a.machine;
    const bool is_new = report(a, lane, fault, verb, message);
    if (!is_new) return;
    const int place = m.place(a.instruction);
    if (m.watches()) return m.settle_watched(fault, place);
    if (conflict.thread == Shadow::kAtomic) return;
    Finding& finding = m.report.findings.back();
    finding.threads.push_back(m.coordinates(conflict.thread));
    m.suspects.push_back({m.report.findings.size() - 1, fault, place, region_.number, offset, conflict.thread,
                          conflict.interval});
  }

  /// `message` makes the sentence of the thread's and the access's text. Whether it is the first of its
  /// place.
  template <class Message>
  bool report(const WarpAccess& a, int lane, Fault fault, const char* verb, Message message) const {
    Machine& m = a.machine;
    const int thread = m.thread(a.warp, lane);
    return m.findings.add(fault, m.place(a.instruction), [&] {
      const std::string& text = a.text();
      return Finding{.message = message(m.who(thread), text),
                     .buffer = buffer_.name,
                     .block = m.block,
                     .threads = {m.coordinates(thread)},
                     .index = a.index[lane],
                     .accesses = {m.access_of(a.warp, lane, a.instruction, verb, text)}};
    });
  }

  /// In a second run.
  void note(const WarpAccess& a, LaneMask lanes, const Offsets& offset, const char* verb) const {
    if (!a.machine.watches()) return;
    const bool starts = verb[0] == 'c';
    for_lanes(lanes,
              [&](int lane) { a.machine.note_access(region_, offset[lane], size_, a, lane, verb, starts); });
  }

  const BufferUse& buffer_;
  Region& region_;
  std::int64_t origin_;
  std::int64_t size_;
  std::int64_t first_, end_;  ///< legal indices
};

}  // namespace

std::unique_ptr<Space> make_shared_space(const BufferUse& buffer, Region& region) {
  return std::make_unique<ByteSpace>(buffer, region, buffer.offset, 0, buffer.elements * buffer.type.bytes());
}

std::unique_ptr<Space> make_global_space(const BufferUse& buffer, Region& region, std::int64_t origin,
                                         std::int64_t low, std::int64_t high) {
  return std::make_unique<ByteSpace>(buffer, region, origin, low, high);
}

}  // namespace calotype::sim
