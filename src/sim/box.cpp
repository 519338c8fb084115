// Copies of boxes, to shared memory and out of it: element by element, as the hardware places them. Rows are
// packed one behind the other from the address on, and the pieces of swizzled ones change places by the
// address itself, not by the place in the buffer; what lies outside the tensor is zeros. They happen as rows
// do: see ring.cpp. What goes out is read when it is started, and once more as late as it may be: then it
// must be the same.

#include <fmt/format.h>

#include <optional>

#include "instr/instruction.h"
#include "layout/swizzle.h"
#include "sim/machine.h"

namespace calotype::sim {
namespace {

/// A copy that a thread starts.
class Box {
 public:
  Box(Machine& m, Warp& warp, const Instruction& i, int lane)
      : Box(m, warp, i, lane, at(warp, lane, i.a), beginning(m, warp, i, lane)) {}

  /// One that was started before.
  Box(Machine& m, Warp& warp, const Departure& d, int lane)
      : Box(m, warp, *d.instruction, lane, d.first, d.start) {}

  void run() {
    require_places();
    const std::int64_t elements = map_.elements();
    for (std::int64_t i = 0; i < elements; ++i) start(place_of(first_ + i), value_of(i));
    tell_slot(m_, warp_, *slot_);
    m_.report.stores += elements;
    if (m_.figures) count(true);
  }

  Departure leave() {
    require_places();
    Departure d{&instruction_, first_, start_, {}, 0};
    for (std::int64_t i = 0; i < map_.elements(); ++i)
      d.values.push_back(offset_of(i) ? read(place_of(first_ + i)) : Cell{.i = 0});
    if (m_.figures) count(false);
    return d;
  }

  void arrive(const Departure& d) {
    for (std::int64_t i = 0; i < map_.elements(); ++i) {
      const std::optional<std::int64_t> offset = offset_of(i);
      if (!offset) continue;  // what lies outside the tensor stays where it is
      const Cell now = read(place_of(first_ + i));
      if (!same(now, d.values[static_cast<std::size_t>(i)])) return overwritten();
      if (in_memory(*offset))
        encode(buffer_.type, now, static_cast<std::byte*>(tensor_.memory.data) + *offset);
    }
    m_.report.stores += map_.elements();
  }

 private:
  Box(Machine& m, Warp& warp, const Instruction& i, int lane, std::int64_t first,
      std::vector<std::int64_t> start)
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
        first_(first),
        start_(std::move(start)) {}

  void require_places() {
    require_multiple(start_[0] * size_, instr::kBulkBytes, "begins", "of the tensor's rows");
    require_multiple(buffer_.offset + first_ * size_, instr::box_place_bytes(0),
                     goes_out() ? "comes from" : "goes to", "of shared memory");
  }

  void count(bool from_global) {
    const std::int64_t bytes = map_.elements() * size_;
    m_.figures->bulk(instruction_, access_.buffer, bytes, from_global);
    if (from_global) m_.figures->bulk_from_global(instruction_, bytes);
  }
  static std::int64_t at(const Warp& warp, int lane, Register r) {
    return warp.read(r)[r.uniform ? 0 : lane].i;
  }
  static std::vector<std::int64_t> beginning(const Machine& m, const Warp& warp, const Instruction& i,
                                             int lane) {
    std::vector<std::int64_t> start;
    for (const Register& r : m.code.boxes[static_cast<std::size_t>(i.target)].start)
      start.push_back(at(warp, lane, r));
    return start;
  }

  void require_multiple(std::int64_t byte, std::int64_t multiple, const char* verb, const char* of) {
    if (byte % multiple == 0) return;
    report(Fault::IllegalBox, fmt::format("{} starts a box of {}, which {} byte {} {}, no multiple of {}",
                                          who(), map_.source->name, verb, byte, of, multiple));
  }

  bool goes_out() const { return instruction_.run == run_box_out; }

  std::string who() const { return m_.who(m_.thread(warp_, lane_)); }

  void report(Fault fault, const std::string& message) {
    m_.findings.add(fault, m_.place(instruction_), [&] {
      return Finding{.message = message,
                     .buffer = buffer_.name,
                     .block = m_.block,
                     .threads = {m_.coordinates(m_.thread(warp_, lane_))},
                     .index = first_,
                     .accesses = {m_.access_of(warp_, lane_, instruction_, goes_out() ? "reads" : "copies to",
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
    return decode(buffer_.type, static_cast<const std::byte*>(tensor_.memory.data) + *offset);
  }

  /// Of shared memory, as the copy engine reads it.
  Cell read(std::int64_t index) {
    std::array<std::int64_t, kWarp> indices{};
    std::array<Cell, kWarp> cells{};
    indices[static_cast<std::size_t>(lane_)] = index;
    WarpAccess access{m_, warp_, instruction_, LaneMask{1} << lane_, indices.data(), false, cells.data()};
    access.past_threads = true;
    m_.spaces[static_cast<std::size_t>(access_.buffer)]->load(access);
    return cells[static_cast<std::size_t>(lane_)];
  }

  bool same(Cell a, Cell b) const {
    std::array<std::byte, 16> bits_a{}, bits_b{};
    encode(buffer_.type, a, bits_a.data());
    encode(buffer_.type, b, bits_b.data());
    return bits_a == bits_b;
  }

  void overwritten() {
    report(Fault::RingOverwrite,
           fmt::format(
               "{} has sent a box of {} out, and its elements are overwritten before they have been read",
               who(), buffer_.name));
  }

  void start(std::int64_t index, Cell value) {
    std::array<std::int64_t, kWarp> indices{};
    std::array<Cell, kWarp> cells{};
    indices[static_cast<std::size_t>(lane_)] = index;
    cells[static_cast<std::size_t>(lane_)] = value;
    WarpAccess access{m_, warp_, instruction_, LaneMask{1} << lane_, indices.data(), false, cells.data()};
    access.slot = &m_.rings[static_cast<std::size_t>(warp_.rank)][static_cast<std::size_t>(access_.ring)].at(
        static_cast<std::size_t>(at(warp_, lane_, instruction_.b)));
    m_.spaces[static_cast<std::size_t>(access_.buffer)]->start(access);
    slot_ = access.slot;
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
  RingSlot* slot_ = nullptr;
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
    if (m.options.random_landing) Box(m, warp, d, lane).arrive(d);  // it may be as early as this
    own.waiting.push_back(std::move(d));
  });
}

void run_boxes_commit(Machine&, Warp& warp, const Instruction&) {
  for_lanes(warp.mask, [&](int lane) { ++warp.departures[static_cast<std::size_t>(lane)].groups; });
}

void Machine::depart(Warp& warp, int lane, std::int64_t groups_left) {
  Departures& own = warp.departures[static_cast<std::size_t>(lane)];
  for (; !own.waiting.empty() && own.waiting.front().group < own.groups - groups_left;
       own.waiting.pop_front())
    Box(*this, warp, own.waiting.front(), lane).arrive(own.waiting.front());
}

void run_boxes_read(Machine& m, Warp& warp, const Instruction& i) {
  for_lanes(warp.mask, [&](int lane) { m.depart(warp, lane, i.site); });
}

}  // namespace calotype::sim
