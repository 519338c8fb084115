// Copies of boxes, to shared memory and out of it: element by element, as the hardware places them. Rows are
// packed one behind the other from the address on, and the pieces of swizzled ones change places by the
// address itself, not by the place in the buffer; what lies outside the tensor is zeros. They happen as rows
// do: see ring.cpp. What goes out is read as late as it may be, and written as late as that.

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "instr/instruction.h"
#include "layout/swizzle.h"
#include "sim/machine.h"

namespace calotype::sim {
namespace {

/// A copy that a thread starts.
class Box {
 public:
  Box(Machine& m, Warp& warp, const Instruction& i, int lane)
      : m_(m),
        warp_(warp),
        instruction_(i),
        lane_(lane),
        site_(m.code.boxes[static_cast<std::size_t>(i.target)]),
        access_(m.code.accesses[static_cast<std::size_t>(site_.access)]),
        buffer_(m.code.buffers[static_cast<std::size_t>(access_.buffer)]),
        map_(*m.code.tensors[static_cast<std::size_t>(site_.tensor)]),
        tensor_(m.launch.tensors[static_cast<std::size_t>(site_.tensor)]),
        size_(buffer_.type.bytes()),
        first_(at(i.a)) {
    for (const Register& r : site_.start) start_.push_back(at(r));
  }

  void run() {
    require_places();
    std::vector<Cell> values;
    for (std::int64_t i = 0; i < map_.elements(); ++i) values.push_back(value_of(i));
    if (m_.figures) m_.figures->bulk_from_global(instruction_, map_.elements() * size_);
    if (!site_.receivers) return go_to(warp_.rank, values);
    for_lanes(static_cast<std::uint32_t>(at(*site_.receivers)), [&](int rank) {
      if (!has_block(rank)) return;
      go_to(rank, values);
      count_sent(*m_.code.rings[static_cast<std::size_t>(access_.ring)], slot_of(rank),
                 map_.elements() * size_);
    });
  }

  Departure leave() {
    require_places();
    Departure d{.instruction = &instruction_};
    for (std::int64_t i = 0; i < map_.elements(); ++i) {
      const std::optional<std::int64_t> offset = offset_of(i);
      if (!offset || !in_memory(*offset)) continue;  // what lies outside the tensor stays where it is
      d.from.push_back(place_of(first_ + i));
      lend(d.from.back());
      send(*offset / size_, d);
    }
    m_.report.stores += map_.elements();
    if (m_.figures) count(false);
    return d;
  }

 private:
  void require_places() {
    require_multiple(start_[0] * size_, instr::kBulkBytes, "begins", "of the tensor's rows");
    require_multiple(buffer_.offset + first_ * size_, instr::box_place_bytes(0),
                     sends() ? "comes from" : "goes to", "of shared memory");
  }

  void count(bool stores) { m_.figures->bulk(instruction_, access_.buffer, map_.elements() * size_, stores); }
  bool sends() const { return instruction_.run == run_box_out; }
  std::int64_t at(Register r) const { return warp_.read(r)[r.uniform ? 0 : lane_].i; }

  void require_multiple(std::int64_t byte, std::int64_t multiple, const char* verb, const char* of) {
    if (byte % multiple == 0) return;
    report(Fault::IllegalBox, fmt::format("{} starts a box of {}, which {} byte {} {}, no multiple of {}",
                                          who(), map_.source->name, verb, byte, of, multiple));
  }

  std::string who() const { return m_.who(m_.thread(warp_, lane_)); }

  void report(Fault fault, const std::string& message) {
    m_.findings.add(fault, m_.place(instruction_), [&] {
      return Finding{.message = message,
                     .buffer = buffer_.name,
                     .block = m_.block,
                     .threads = {m_.coordinates(m_.thread(warp_, lane_))},
                     .index = first_,
                     .accesses = {m_.access_of(warp_, lane_, instruction_, sends() ? "sends" : "copies to",
                                               access_.text)}};
    });
  }

  /// The element that the buffer's readers find where the hardware puts the one with this number.
  std::int64_t place_of(std::int64_t number) const {
    const std::int64_t byte = buffer_.offset + number * size_, row = map_.swizzle;
    const std::int64_t there = row == 0 ? byte : layout::swizzled(byte, row, 1);
    return layout::swizzled((there - buffer_.offset) / size_, buffer_.swizzle, size_);
  }

  /// Where an element of the box, by its number, lies in the tensor, in bytes; none: outside.
  std::optional<std::int64_t> offset_of(std::int64_t number) const {
    std::int64_t offset = 0;
    bool inside = true;
    for (std::size_t d = 0; d < map_.box.size(); ++d) {
      const std::int64_t c = start_[d] + number % map_.box[d];
      number /= map_.box[d];
      inside &= c >= 0 && c < tensor_.extents[d];
      offset += c * (d == 0 ? size_ : tensor_.strides[d]);
    }
    return inside ? std::optional(offset) : std::nullopt;
  }

  bool in_memory(std::int64_t offset) {
    if (offset >= tensor_.memory.low && offset + size_ <= tensor_.memory.high) return true;
    report(Fault::OutOfBounds, fmt::format("{} copies a box of {}, of which byte {} lies outside its memory",
                                           who(), map_.source->name, offset));
    return false;
  }

  Cell value_of(std::int64_t number) {
    const std::optional<std::int64_t> offset = offset_of(number);
    if (!offset) return {.i = 0};  // also the float 0
    if (!in_memory(*offset)) return poison(buffer_.type);
    if (!memory().is_watched())
      return decode(buffer_.type, static_cast<const std::byte*>(tensor_.memory.data) + *offset);
    Element element(*this, *offset / size_, site_.memory);
    element.access.past_threads = true;
    memory().load(element.access);
    return element.cell();
  }

  /// An access to one element.
  struct Element {
    std::array<std::int64_t, kWarp> indices{};
    std::array<Cell, kWarp> cells{};
    const int lane;
    WarpAccess access;
    Element(Box& box, std::int64_t index, int site)
        : lane(box.lane_), access{box.m_,         box.warp_, box.instruction_, LaneMask{1} << box.lane_,
                                  indices.data(), false,     cells.data()} {
      indices[static_cast<std::size_t>(lane)] = index;
      access.site = site;
    }
    Cell& cell() { return cells[static_cast<std::size_t>(lane)]; }
  };

  Space& shared() { return *m_.spaces[static_cast<std::size_t>(access_.buffer)]; }
  /// The tensor's.
  Space& memory() {
    const AccessSite& access = m_.code.accesses[static_cast<std::size_t>(site_.memory)];
    return *m_.spaces[static_cast<std::size_t>(access.buffer)];
  }

  RingSlot& slot_of(std::int64_t rank) {
    return m_.rings[static_cast<std::size_t>(rank)][static_cast<std::size_t>(access_.ring)].at(
        static_cast<std::size_t>(at(instruction_.b)));
  }

  /// To the memory of a block, whose ring counts it.
  void go_to(std::int64_t rank, const std::vector<Cell>& values) {
    std::array<std::int64_t, kWarp> ranks{};
    ranks.fill(rank);
    for (std::size_t i = 0; i < values.size(); ++i) {
      Element element(*this, place_of(first_ + static_cast<std::int64_t>(i)), site_.access);
      element.cell() = values[i];
      element.access.rank = ranks.data();
      element.access.slot = &slot_of(rank);
      shared().start(element.access);
    }
    tell_slot(m_, warp_, slot_of(rank));
    m_.report.stores += map_.elements();
    if (m_.figures) count(true);
  }

  bool has_block(int rank) {
    if (rank < m_.code.cluster) return true;
    report(Fault::OutOfBounds,
           fmt::format("{} starts a box of {} for the block of rank {} in a cluster of {}", who(),
                       map_.source->name, rank, m_.code.cluster));
    return false;
  }

  /// The copy reads an element of shared memory from now on.
  void lend(std::int64_t index) {
    Element element(*this, index, site_.access);
    element.access.past_threads = true;
    shared().load(element.access);
    shared().lend(m_, warp_, lane_, index);
  }

  /// And will write one of the tensor.
  void send(std::int64_t index, Departure& d) {
    Element element(*this, index, site_.memory);
    element.access.box = &d;
    memory().start(element.access);
  }

  Machine& m_;
  Warp& warp_;
  const Instruction& instruction_;
  const int lane_;
  const BoxSite& site_;
  const AccessSite& access_;
  const BufferUse& buffer_;
  const ir::TensorMap& map_;
  const Tensor& tensor_;
  const std::int64_t size_, first_;
  std::vector<std::int64_t> start_;
};

}  // namespace

void run_box_store(Machine& m, Warp& warp, const Instruction& i) {
  for_lanes(warp.mask, [&](int lane) { Box(m, warp, i, lane).run(); });
}

void run_box_out(Machine& m, Warp& warp, const Instruction& i) {
  for_lanes(warp.mask, [&](int lane) {
    Departures& own = warp.departures[static_cast<std::size_t>(lane)];
    Departure d = Box(m, warp, i, lane).leave();
    d.group = own.groups;
    own.waiting.push_back(std::move(d));
  });
}

void run_boxes_commit(Machine&, Warp& warp, const Instruction&) {
  for_lanes(warp.mask, [&](int lane) { ++warp.departures[static_cast<std::size_t>(lane)].groups; });
}

void run_boxes_read(Machine& m, Warp& warp, const Instruction& i) {
  for_lanes(warp.mask, [&](int lane) { m.depart(warp, lane, i.site, false); });
}

void run_boxes_written(Machine& m, Warp& warp, const Instruction& i) {
  for_lanes(warp.mask, [&](int lane) { m.depart(warp, lane, i.site, true); });
}

namespace {

const AccessSite& source_of(const Machine& m, const Departure& d) {
  return m.code.accesses[static_cast<std::size_t>(d.instruction->site)];
}

void read(Machine& m, const Warp& warp, int lane, Departure& d) {
  if (std::exchange(d.read, true)) return;
  Space& space = *m.spaces[static_cast<std::size_t>(source_of(m, d).buffer)];
  for (std::size_t i = 0; i < d.from.size(); ++i)
    d.flights[i].value = space.give_back(m, warp, lane, d.from[i]);
}

void write(Machine& m, const Warp& warp, int lane, Departure& d) {
  for (Flight& flight : d.flights) {
    flight.interval = m.clock.now;
    m.spaces[static_cast<std::size_t>(flight.buffer)]->land(m.thread(warp, lane), flight);
  }
}

/// Nobody waits for it, not even the end of the kernel.
void in_no_group(Machine& m, const Warp& warp, int lane, const Departure& d) {
  const int thread = m.thread(warp, lane);
  m.findings.add(Fault::Unfinished, m.place(*d.instruction), [&] {
    const std::string& text = source_of(m, d).text;
    return Finding{.message = fmt::format("{} has sent {} out, which is in no group when the kernel ends",
                                          m.who(thread), text),
                   .block = m.block,
                   .threads = {m.coordinates(thread)},
                   .accesses = {m.access_of(warp, lane, *d.instruction, "sends", text)}};
  });
}

}  // namespace

void Machine::depart(Warp& warp, int lane, std::int64_t groups_left, bool written) {
  Departures& own = warp.departures[static_cast<std::size_t>(lane)];
  for (Departure& d : own.waiting) {
    if (d.group >= own.groups - groups_left) break;
    read(*this, warp, lane, d);
    if (written) write(*this, warp, lane, d);
  }
  while (written && !own.waiting.empty() && own.waiting.front().group < own.groups - groups_left)
    own.waiting.pop_front();
}

void Machine::end_departures(Warp& warp) {
  for_lanes(warp.live, [&](int lane) {
    for (const Departure& d : warp.departures[static_cast<std::size_t>(lane)].waiting)
      if (d.group == warp.departures[static_cast<std::size_t>(lane)].groups)
        in_no_group(*this, warp, lane, d);
    constexpr int none = -1;  // nor those
    depart(warp, lane, none, true);
  });
}

}  // namespace calotype::sim
