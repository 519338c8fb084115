// Local and Register memory: an array a thread, with a mask of the lanes that have written each element.

#include <fmt/format.h>

#include "calotype/error.h"
#include "sim/machine.h"

namespace calotype::sim {
namespace {

class PrivateSpace : public Space {
 public:
  explicit PrivateSpace(const BufferUse& buffer) : buffer_(buffer), poison_(poison(buffer.type)) {}

  void update(const WarpAccess&, const Operation&) override {
    throw Error({.kind = ErrorKind::Internal,
                 .message = "an atomic update of memory that a thread has for itself",
                 .value = buffer_.name});
  }

  void load(const WarpAccess& a) override {
    PrivateArray& array = array_of(a.warp);
    if (array.has_products()) watch_products(a, array.results, "reads");
    if (!a.past_threads) array.touched = a.warp.steps;
    if (a.uniform_index && inside(a.index[0])) {
      const std::int64_t e = a.index[0];
      const LaneMask unwritten = a.lanes & ~array.written[e];
      const Cell* from = &array.cells[e * kWarp];
      for_each_of(a.lanes & ~unwritten, [&](int lane) { a.cells[lane] = from[lane]; });
      for_lanes(unwritten, [&](int lane) { read_poison(a, lane, e); });
      return;
    }
    for_lanes(a.lanes, [&](int lane) {
      const std::int64_t e = a.index[lane];
      if (!inside(e)) {
        a.cells[lane] = poison_;
        out_of_bounds(a, lane, e, "reads");
      } else if ((array.written[e] >> lane & 1) == 0) {
        read_poison(a, lane, e);
      } else {
        a.cells[lane] = array.cells[e * kWarp + lane];
      }
    });
  }

  void store(const WarpAccess& a) override {
    PrivateArray& array = array_of(a.warp);
    if (array.has_products()) {
      watch_products(a, array.results, "writes");
      watch_products(a, array.operands, "writes");
    }
    if (!a.past_threads) array.touched = a.warp.steps;
    if (a.uniform_index && inside(a.index[0])) {
      const std::int64_t e = a.index[0];
      Cell* to = &array.cells[e * kWarp];
      for_each_of(a.lanes, [&](int lane) { to[lane] = a.cells[lane]; });
      array.written[e] |= a.lanes;
      return;
    }
    for_lanes(a.lanes, [&](int lane) {
      const std::int64_t e = a.index[lane];
      if (!inside(e)) {
        out_of_bounds(a, lane, e, "writes");
        return;
      }
      array.cells[e * kWarp + lane] = a.cells[lane];
      array.written[e] |= LaneMask{1} << lane;
    });
  }

  std::int64_t address(std::int64_t index) const override { return index * buffer_.type.bytes(); }

  void allocate(Warp& warp, LaneMask lanes) override {
    for (LaneMask& written : array_of(warp).written) written &= ~lanes;
  }

 private:
  bool inside(std::int64_t e) const { return e >= 0 && e < buffer_.elements; }

  /// As for_lanes, with a plain loop for whole warps.
  template <class F>
  static void for_each_of(LaneMask lanes, F f) {
    if (lanes != ~LaneMask{0}) return for_lanes(lanes, f);
    for (int lane = 0; lane < kWarp; ++lane) f(lane);
  }

  PrivateArray& array_of(Warp& warp) const {
    PrivateArray& array = warp.privates[buffer_.slot];
    if (array.written.empty()) {
      array.written.resize(buffer_.elements);
      array.cells.resize(buffer_.elements * kWarp);
      array.results.resize(buffer_.elements);
      array.operands.resize(buffer_.elements);
    }
    return array;
  }

  /// Tensor cores themselves use them in the order of the products.
  void watch_products(const WarpAccess& a, const std::vector<std::uint16_t>& products,
                      const char* verb) const {
    if (a.past_threads) return;
    for_lanes(a.lanes, [&](int lane) {
      const std::int64_t e = a.index[lane];
      if (inside(e) && products[static_cast<std::size_t>(e)] > 0)
        report(a, lane, e, Fault::UnfinishedProduct, verb,
               "of a product that is under way and that nobody has waited for");
    });
  }

  void read_poison(const WarpAccess& a, int lane, std::int64_t e) const {
    a.cells[lane] = poison_;
    report(a, lane, e, Fault::Uninitialised, "reads", "which it has not written");
  }

  void out_of_bounds(const WarpAccess& a, int lane, std::int64_t e, const char* verb) const {
    report(a, lane, e, Fault::OutOfBounds, verb, fmt::format("element {} of {}", e, buffer_.elements));
  }

  void report(const WarpAccess& a, int lane, std::int64_t e, Fault fault, const char* verb,
              const std::string& detail) const {
    Machine& m = a.machine;
    const int thread = m.thread(a.warp, lane);
    m.findings.add(fault, m.place(a.instruction), [&] {
      const std::string& text = a.text();
      return Finding{.message = fmt::format("{} {} {}, {}", m.who(thread), verb, text, detail),
                     .buffer = buffer_.name,
                     .block = m.block,
                     .threads = {m.coordinates(thread)},
                     .index = e,
                     .accesses = {m.access_of(a.warp, lane, a.instruction, verb, text)}};
    });
  }

  const BufferUse& buffer_;
  Cell poison_;
};

}  // namespace

std::unique_ptr<Space> make_private_space(const BufferUse& buffer) {
  return std::make_unique<PrivateSpace>(buffer);
}

}  // namespace calotype::sim
