// Running a stage's bytecode over its loops.

#include "lang/run_stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>

#include "runtime/print.h"

namespace calotype::lang {

namespace {

using Kind = Instruction::Kind;

class Runner {
 public:
  Runner(const FuncDef& func, int stage, const StageLoops& loops, const Bytecode& code, Stores& stores)
      : func_(func),
        stage_(stage),
        loops_(loops),
        code_(code),
        stores_(stores),
        targets_(stores.funcs[func.id.value]),
        with_error_(
            std::any_of(targets_.begin(), targets_.end(), [](const Storage& t) { return t.with_error; })),
        registers_(std::make_unique_for_overwrite<Lanes[]>(code.registers)),
        coordinates_(loops.pure.size() + loops.reduction.size()) {
    for (const auto& [slot, value] : code.constants) set_constant(registers_[slot], value);
    for (const int slot : code.lhs) left_side_.push_back(&registers_[slot]);
    choose_lane_dim();
    find_steps();
  }

  void operator()() { pure_loops(0); }

 private:
  static void set_constant(Lanes& lanes, const ir::Value& value) {
    if (!value.type.is_float()) return std::fill_n(lanes.i, kLanes, value.i), void();
    std::fill_n(lanes.f, kLanes, value.f);
    std::fill_n(lanes.exact, kLanes, value.f);
    std::fill_n(lanes.bound, kLanes, 0.0);
  }

  /// The longest pure dimension, if any, is computed in batches.
  void choose_lane_dim() {
    for (std::size_t d = 0; d < loops_.pure.size(); ++d) {
      if (!loops_.is_pure[d]) continue;
      if (lane_dim_ < 0 || loops_.pure[d].extent() > loops_.pure[lane_dim_].extent())
        lane_dim_ = static_cast<int>(d);
    }
  }

  /// Which loads have coordinates that are the same in all lanes or grow by a constant from lane to lane.
  /// Registers are used again, so what they hold is followed through the program.
  void find_steps() {
    std::vector<Steps> held(code_.registers, Steps::Any);
    for (const auto& [slot, value] : code_.constants) held[slot] = Steps::None;
    for (const Instruction& in : code_.instructions) {
      bool steps = true;
      for (const int slot : in.coordinates) steps = steps && held[slot] != Steps::Any;
      load_steps_.push_back(in.kind == Kind::Load && steps);
      held[in.out] = steps_of(in, held);
    }
  }

  enum class Steps { None, Constant, Any };

  Steps steps_of(const Instruction& in, const std::vector<Steps>& held) const {
    if (in.kind == Kind::Coordinate) return in.loop == lane_dim_ ? Steps::Constant : Steps::None;
    if (in.kind != Kind::Apply || in.type != Int(64)) return Steps::Any;
    Steps most = Steps::None;
    for (const int slot : in.in) most = slot < 0 ? most : std::max(most, held[slot]);
    const bool keeps = in.op == ir::Op::Add || in.op == ir::Op::Sub;
    return most == Steps::Constant && !keeps ? Steps::Any : most;
  }

  /// Dimension 0 innermost: this is the loop over the outermost pure dimension that is left.
  void pure_loops(std::size_t done) {
    if (done == loops_.pure.size()) return batches();
    const std::size_t d = loops_.pure.size() - 1 - done;
    if (!loops_.is_pure[d] || static_cast<int>(d) == lane_dim_) return pure_loops(done + 1);
    for (std::int64_t i = loops_.pure[d].min; i <= loops_.pure[d].max; ++i) {
      coordinates_[d] = i;
      pure_loops(done + 1);
    }
  }

  void batches() {
    lanes_ = 1;
    if (lane_dim_ < 0) return reduction_loops(loops_.reduction.size());
    const Range& range = loops_.pure[lane_dim_];
    for (std::int64_t i = range.min; i <= range.max; i += kLanes) {
      coordinates_[lane_dim_] = i;
      lanes_ = static_cast<int>(std::min<std::int64_t>(kLanes, range.max - i + 1));
      reduction_loops(loops_.reduction.size());
    }
  }

  void reduction_loops(std::size_t left) {
    if (left == 0) return batch();
    const Range& range = loops_.reduction[left - 1];
    for (std::int64_t i = range.min; i <= range.max; ++i) {
      coordinates_[loops_.pure.size() + left - 1] = i;
      reduction_loops(left - 1);
    }
  }

  void batch() {
    std::fill_n(active_, lanes_, 1);
    any_spoiled_ = false;
    for (std::size_t i = 0; i < code_.head; ++i) execute(i);
    // What is written outside the box is needed by no one.
    targets_[0].locate(left_side_, lanes_, target_offsets_, active_);
    if (code_.predicate >= 0) {
      const std::int64_t* holds = registers_[code_.predicate].i;
      for (int l = 0; l < lanes_; ++l) active_[l] &= holds[l] != 0 ? 1 : 0;
    }
    if (std::none_of(active_, active_ + lanes_, [](std::uint8_t a) { return a != 0; })) return;
    for (std::size_t i = code_.head; i < code_.instructions.size(); ++i) execute(i);
    store();
  }

  void execute(std::size_t index) {
    const Instruction& instruction = code_.instructions[index];
    Lanes& out = registers_[instruction.out];
    switch (instruction.kind) {
      case Kind::Coordinate:
        return coordinate(instruction.loop, out);
      case Kind::Load:
        return load(instruction, load_steps_[index], out);
      case Kind::Apply:
        return apply(instruction, out);
      case Kind::Require:
        return require(instruction, out);
      case Kind::Print:
        return print(instruction, out);
      case Kind::Accumulate:
        return accumulate(instruction, out);
    }
  }

  void coordinate(int loop, Lanes& out) const {
    const std::int64_t first = coordinates_[loop], step = loop == lane_dim_ ? 1 : 0;
    for (int l = 0; l < lanes_; ++l) out.i[l] = first + l * step;
  }

  const Lanes* operand(const Instruction& instruction, int i) const {
    return instruction.in[i] < 0 ? nullptr : &registers_[instruction.in[i]];
  }

  void apply(const Instruction& in, Lanes& out) const {
    apply_lanes(in.op, in.type, in.operand, operand(in, 0), operand(in, 1), operand(in, 2), out, lanes_,
                with_error_);
  }

  void require(const Instruction& in, Lanes& out) const {
    for (int l = 0; l < lanes_; ++l) {
      if (active_[l] == 0 || is_spoiled(l) || operand(in, 0)->i[l] != 0) continue;
      throw Error({.kind = ErrorKind::Argument,
                   .message = in.text,
                   .func = func_.name,
                   .stage = stage_name(func_, stage_),
                   .value = point(left_side_, l),
                   .legal = "inputs for which this holds"});
    }
    apply_lanes(ir::Op::Select, in.type, in.operand, operand(in, 0), operand(in, 1), operand(in, 1), out,
                lanes_, with_error_);
  }

  void print(const Instruction& in, Lanes& out) const {
    std::vector<std::int64_t> values(in.printed.size());
    for (int l = 0; l < lanes_; ++l) {
      if (active_[l] == 0 || is_spoiled(l) || operand(in, 1)->i[l] == 0) continue;
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = printed_bits(in, i, l);
      calotype_print(nullptr, in.text.c_str(), values.data(), in.kinds.c_str());
    }
    apply_lanes(ir::Op::Select, in.type, in.operand, operand(in, 1), operand(in, 0), operand(in, 0), out,
                lanes_, with_error_);
  }

  std::int64_t printed_bits(const Instruction& in, std::size_t i, int lane) const {
    const Lanes& lanes = registers_[in.printed[i]];
    if (in.kinds[i] == 'd') return std::bit_cast<std::int64_t>(lanes.f[lane]);
    if (in.kinds[i] == 's') return std::bit_cast<std::uint32_t>(static_cast<float>(lanes.f[lane]));
    return lanes.i[lane];
  }

  /// old + term, where any order of the terms is to be covered: rounding errors follow the sum of |terms|
  /// rather than the partial sums of one order.
  void accumulate(const Instruction& instruction, Lanes& out) {
    apply(instruction, out);
    if (!with_error_) return;
    const Lanes& old = *operand(instruction, 0);
    const Lanes& term = *operand(instruction, 1);
    for (int l = 0; l < lanes_; ++l)
      magnitude_[l] = targets_[0].magnitude[target_offsets_[l]] + std::fabs(term.f[l]);
    sum_bounds(instruction.type, old, term, magnitude_, out, lanes_);
  }

  void load(const Instruction& instruction, bool steps, Lanes& out) {
    const Storage& source = stores_.of(*code_.sources[instruction.source]);
    std::vector<const Lanes*>& at = load_coordinates_;
    at.clear();
    for (const int slot : instruction.coordinates) at.push_back(&registers_[slot]);
    const bool all_inside = steps ? source.locate_steps(at, lanes_, offsets_, inside_)
                                  : source.locate(at, lanes_, offsets_, inside_);
    if (!all_inside) spoil_outside(source, at);
    if (!source.spoiled.empty()) spoil_dependent(source);
    source.load(offsets_, all_inside ? nullptr : inside_, lanes_, with_error_, out);
  }

  bool is_spoiled(int lane) const { return any_spoiled_ && spoiled_[lane] != 0; }

  void spoil(int lane) {
    if (!any_spoiled_) std::fill_n(spoiled_, lanes_, 0);
    any_spoiled_ = true;
    spoiled_[lane] = 1;
  }

  void spoil_outside(const Storage& source, const std::vector<const Lanes*>& at) {
    for (int l = 0; l < lanes_; ++l) {
      if (inside_[l] != 0 || active_[l] == 0 || is_spoiled(l)) continue;
      if (!source.is_input) {
        throw Error({.kind = ErrorKind::Internal,
                     .message = fmt::format("'{}' is read outside the box it was computed on", source.name),
                     .func = func_.name,
                     .value = point(at, l)});
      }
      spoil(l);
      for (Storage& target : targets_)
        if (!target.fault) target.fault = outside(source, at, l);
    }
  }

  void spoil_dependent(const Storage& source) {
    for (int l = 0; l < lanes_; ++l) {
      if (inside_[l] == 0 || active_[l] == 0 || source.spoiled[offsets_[l]] == 0) continue;
      spoil(l);
      for (Storage& target : targets_)
        if (!target.fault) target.fault = source.fault;
    }
  }

  static std::string point(const std::vector<const Lanes*>& at, int lane) {
    std::vector<std::int64_t> coordinates;
    for (const Lanes* c : at) coordinates.push_back(c->i[lane]);
    return fmt::format("({})", fmt::join(coordinates, ", "));
  }

  Diagnostic outside(const Storage& input, const std::vector<const Lanes*>& at, int lane) const {
    std::vector<std::int64_t> extents;
    for (int d = 0; d < input.values.rank(); ++d) extents.push_back(input.values.extent(d));
    return {
        .kind = ErrorKind::Argument,
        .message = fmt::format("input '{}' is read at {}, outside its extents ({})", input.name,
                               point(at, lane), fmt::join(extents, ", ")),
        .func = func_.name,
        .stage = stage_name(func_, stage_),
        .value = point(at, lane),
        .legal = "coordinates from 0 to extent - 1, larger inputs, or a boundary condition in the algorithm"};
  }

  void store() {
    for (std::size_t c = 0; c < targets_.size(); ++c) store(registers_[code_.values[c]], targets_[c]);
  }

  void store(const Lanes& value, Storage& target) {
    target.store(target_offsets_, active_, lanes_, value);
    if (!target.magnitude.empty()) store_magnitude(value, target);
    if (any_spoiled_ && target.spoiled.empty()) {
      target.spoiled.resize(static_cast<std::size_t>(target.values.elements()));
    }
    if (target.spoiled.empty()) return;
    for (int l = 0; l < lanes_; ++l) {
      if (active_[l] != 0) target.spoiled[target_offsets_[l]] = is_spoiled(l) ? 1 : 0;
    }
  }

  void store_magnitude(const Lanes& value, Storage& target) {
    const bool sums = std::any_of(code_.instructions.begin(), code_.instructions.end(),
                                  [](const Instruction& i) { return i.kind == Kind::Accumulate; });
    for (int l = 0; l < lanes_; ++l) {
      if (active_[l] != 0)
        target.magnitude[target_offsets_[l]] = sums ? magnitude_[l] : std::fabs(value.f[l]);
    }
  }

  const FuncDef& func_;
  const int stage_;
  const StageLoops& loops_;
  const Bytecode& code_;
  Stores& stores_;
  std::vector<Storage>& targets_;  ///< of the Func, by component: all over one box
  const bool with_error_;
  std::unique_ptr<Lanes[]> registers_;
  std::vector<const Lanes*> left_side_, load_coordinates_;
  std::vector<std::int64_t> coordinates_;  ///< of the loops: Func args, then reduction dimensions
  std::vector<bool> load_steps_;           ///< by instruction
  int lane_dim_ = -1, lanes_ = 1;
  bool any_spoiled_ = false;
  std::int64_t offsets_[kLanes], target_offsets_[kLanes];
  std::uint8_t inside_[kLanes], active_[kLanes], spoiled_[kLanes];
  double magnitude_[kLanes];
};

}  // namespace

void run_stage(const FuncDef& func, int stage, const StageLoops& loops, const Bytecode& code,
               Stores& stores) {
  Runner(func, stage, loops, code, stores)();
}

}  // namespace calotype::lang
