// Copies of boxes: element by element, as the hardware places them. Rows are packed one behind the other from
// the address on, and the pieces of swizzled ones change places by the address itself, not by the place in
// the buffer; what lies outside the tensor is zeros. They happen as rows do: see ring.cpp.

#include <fmt/format.h>

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
    require_multiple(start_[0] * size_, instr::kBulkBytes, "begins", "of the tensor's rows");
    require_multiple(buffer_.offset + first_ * size_, instr::box_place_bytes(0), "goes to",
                     "of shared memory");
    const std::int64_t elements = map_.elements();
    for (std::int64_t i = 0; i < elements; ++i) start(place_of(first_ + i), value_of(i));
    tell_slot(m_, warp_, *slot_);
    m_.report.stores += elements;
    if (m_.figures) count();
  }

 private:
  void count() {
    const std::int64_t bytes = map_.elements() * size_;
    m_.figures->bulk(instruction_, access_.buffer, bytes, true);
    m_.figures->bulk_from_global(instruction_, bytes);
  }
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
                     .accesses = {m_.access_of(warp_, lane_, instruction_, "copies to", access_.text)}};
    });
  }

  /// The element that the buffer's readers find where the hardware puts the one with this number.
  std::int64_t place_of(std::int64_t number) const {
    const std::int64_t byte = buffer_.offset + number * size_, row = map_.swizzle;
    const std::int64_t there = row == 0 ? byte : layout::swizzled(byte, row, 1);
    return layout::swizzled((there - buffer_.offset) / size_, buffer_.swizzle, size_);
  }

  /// Of an element of the box, by its number.
  Cell value_of(std::int64_t number) {
    std::int64_t offset = 0;
    bool inside = true;
    for (std::size_t d = 0; d < map_.box.size(); ++d) {
      const std::int64_t c = start_[d] + number % map_.box[d];
      number /= map_.box[d];
      inside &= c >= 0 && c < tensor_.extents[d];
      offset += c * (d == 0 ? size_ : tensor_.strides[d]);
    }
    if (!inside) return {.i = 0};  // also the float 0
    if (offset >= tensor_.memory.low && offset + size_ <= tensor_.memory.high)
      return decode(buffer_.type, static_cast<const std::byte*>(tensor_.memory.data) + offset);
    report(Fault::OutOfBounds, fmt::format("{} copies a box of {}, of which byte {} lies outside its memory",
                                           who(), map_.source->name, offset));
    return poison(buffer_.type);
  }

  void start(std::int64_t index, Cell value) {
    std::array<std::int64_t, kWarp> indices{};
    std::array<Cell, kWarp> cells{};
    indices[static_cast<std::size_t>(lane_)] = index;
    cells[static_cast<std::size_t>(lane_)] = value;
    WarpAccess access{m_, warp_, instruction_, LaneMask{1} << lane_, indices.data(), false, cells.data()};
    access.slot = &m_.rings[static_cast<std::size_t>(warp_.rank)][static_cast<std::size_t>(access_.ring)].at(
        static_cast<std::size_t>(at(instruction_.b)));
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

}  // namespace calotype::sim
