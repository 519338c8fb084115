// Registers, constants and the instructions of expressions.

#include "sim/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "calotype/error.h"
#include "ir/value.h"
#include "sim/compute.h"

namespace calotype::sim {

using ir::Op;

void refuse(const Code& code, std::string message, std::string value) {
  throw Error({.kind = ErrorKind::Internal,
               .message = fmt::format("kernel '{}' cannot be simulated: {}", code.name, message),
               .value = std::move(value)});
}

// ---- Names, registers, constants

void Builder::declare_buffer(const ir::BufferPtr& buffer, BufferUse use) {
  use.idempotent = buffer->idempotent;
  use.swizzle = buffer->swizzle;
  buffers_[buffer.get()] = static_cast<int>(code_.buffers.size());
  code_.buffers.push_back(std::move(use));
}

int Builder::buffer_index(const ir::BufferPtr& buffer) const {
  const auto found = buffers_.find(buffer.get());
  if (found == buffers_.end())
    refuse(code_, fmt::format("the buffer '{}' is neither an argument nor allocated", buffer->name));
  return found->second;
}

Register Builder::reserve(int components, bool uniform) {
  const Register r{top_, components, uniform};
  top_ += r.cells();
  code_.registers = std::max(code_.registers, top_);
  return r;
}

void Builder::release(int mark) {
  top_ = mark;
  forget();
}

void Builder::forget() {
  known_.clear();
  spreads_.clear();
}

Register Builder::constant(Cell value) {
  const auto [entry, is_new] =
      constants_.try_emplace({value.i, false}, static_cast<int>(code_.constants.size()));
  if (is_new) code_.constants.push_back(value);
  return {~entry->second, 1, true};
}

/// A constant in all lanes: a constant too.
Register Builder::spread_constant(Register r) {
  const Cell value = code_.constants[static_cast<std::size_t>(~r.at)];
  const auto [entry, is_new] =
      constants_.try_emplace({value.i, true}, static_cast<int>(code_.constants.size()));
  if (is_new) code_.constants.insert(code_.constants.end(), kWarp, value);
  return {~entry->second, 1, false};
}

// ---- Shapes

Register Builder::operation(Operation operation, Register a, Register b, Register c, int components,
                            bool uniform) {
  const Register result = reserve(components, uniform);
  const bool watched = watching_ && operation.type.is_int() && operation.type.bits >= 32 &&
                       (operation.op == Op::Add || operation.op == Op::Sub || operation.op == Op::Mul);
  Instruction& i = emit(watched ? run_index : run_compute, ir::info(operation.op).name);
  i.compute = select_compute(operation);
  i.site = static_cast<int>(code_.operations.size());
  i.result = result;
  i.a = a;
  i.b = b;
  i.c = c;
  code_.operations.push_back(operation);
  return result;
}

/// An instruction of one operand that is no operation of the program.
Register Builder::repeat(Compute compute, const char* name, Register r, Register result, Type element) {
  Instruction& i = emit(run_compute, name);
  i.compute = compute;
  i.result = result;
  i.a = r;
  i.site = static_cast<int>(code_.operations.size());
  code_.operations.push_back({Op::Broadcast, element, {element}, 1});
  return result;
}

Register Builder::spread_over_lanes(Register r, Type element) {
  if (r.at < 0) return spread_constant(r);
  const auto found = spreads_.find(r.at);
  if (found != spreads_.end() && found->second.components == r.components) return found->second;
  return spreads_[r.at] = repeat(spread, "Spread", r, reserve(r.components, false), element);
}

Register Builder::shaped(Register r, Type element, int components, bool uniform) {
  if (r.uniform && !uniform) r = spread_over_lanes(r, element);
  if (r.components == components) return r;
  if (components % r.components != 0)
    refuse(code_, fmt::format("an operand of {} lanes where {} are wanted", r.components, components));
  return operation({Op::Broadcast, element, {element}, 1, r.cells()}, r, {}, {}, components, r.uniform);
}

Register Builder::copy(Register r, bool uniform) {
  r = shaped(r, Int(64), r.components, uniform);
  return repeat(move, "Move", r, reserve(r.components, r.uniform), Int(64));
}

// ---- Expressions

Register Builder::value(const Expr& e) {
  const auto found = known_.find(e.node().get());
  if (found != known_.end() && (found->second.watched || !watching_)) return found->second.at;
  const Register r = make_value(e);
  known_.insert_or_assign(e.node().get(), Known{r, watching_});
  return r;
}

Register Builder::index(const Expr& e, int components) {
  const bool before = std::exchange(watching_, true);
  const Register r = value(e, components);
  watching_ = before;
  return r;
}

Register Builder::value(const Expr& e, int components) {
  const Register r = value(e);
  return shaped(r, e->type.element(), components, r.uniform);
}

Register Builder::make_value(const Expr& e) {
  switch (e->op) {
    case Op::Const: {
      const ir::Value v = ir::value_of(e);
      return constant(v.type.is_float() ? of_float(v.f) : of_int(v.i));
    }
    case Op::Variable: {
      const auto found = symbols_.find(ir::symbol_of(e)->unique);
      if (found == symbols_.end())
        refuse(code_, fmt::format("'{}' is neither an argument nor bound", ir::symbol_of(e)->name));
      return found->second;
    }
    case Op::Let:
      bind(ir::symbol_of(e), value(e->args[0]));
      return value(e->args[1]);
    case Op::Likely:
    case Op::Strict:
      return value(e->args[0]);
    case Op::Load:
    case Op::LoadIf:
      return load(e);
    case Op::Shuffle:
    case Op::ShuffleXor:
      return shuffle(e);
    case Op::Call:
      refuse(code_, "a call is left", ir::to_string(e));
    case Op::Ramp:
    case Op::Broadcast:
      return vector_of(e);
    case Op::Lane:
      return lane(e);
    case Op::ReduceAdd:
    case Op::ReduceMin:
    case Op::ReduceMax:
    case Op::ReduceMul:
      return reduce(e);
    default:
      return arithmetic(e);
  }
}

Register Builder::arithmetic(const Expr& e) {
  Operation op{e->op, e->type.element(), {}, static_cast<int>(e->args.size())};
  std::array<Register, 3> operands;
  bool uniform = true;
  for (std::size_t k = 0; k < e->args.size(); ++k) {
    operands[k] = value(e->args[k]);
    op.operands[k] = e->args[k]->type.element();
    uniform &= operands[k].uniform;
  }
  if (op.op == Op::Cast && op.type == op.operands[0]) return operands[0];
  for (std::size_t k = 0; k < e->args.size(); ++k)
    operands[k] = shaped(operands[k], op.operands[k], e->type.lanes, uniform);
  return operation(op, operands[0], operands[1], operands[2], e->type.lanes, uniform);
}

/// Ramp and Broadcast: operands repeated to the lanes of the result.
Register Builder::vector_of(const Expr& e) {
  const bool ramp = e->op == Op::Ramp;
  Register base = value(e->args[0]);
  const Type element = e->type.element();
  if (!ramp) return shaped(base, element, e->type.lanes, base.uniform);
  Register stride = value(e->args[1]);
  const bool uniform = base.uniform && stride.uniform;
  base = shaped(base, element, base.components, uniform);
  stride = shaped(stride, element, base.components, uniform);
  return operation({Op::Ramp, element, {element, element}, 2, base.cells()}, base, stride, {}, e->type.lanes,
                   uniform);
}

Register Builder::lane(const Expr& e) {
  const Register vector = value(e->args[0]);
  const std::optional<std::int64_t> number = ir::as_int(e->args[1]);
  if (!number || *number < 0 || *number >= e->args[0]->type.lanes)
    refuse(code_, "a lane that is no constant of the vector", ir::to_string(e));
  return vector.components == 1 ? vector : vector.component(static_cast<int>(*number));
}

/// Neighbours are combined until one is left; an odd last one waits.
Register Builder::reduce(const Expr& e) {
  if (e->type.is_vector()) refuse(code_, "a reduction to several lanes", ir::to_string(e));
  const Type element = e->type.element();
  const Op op = e->op == Op::ReduceAdd   ? Op::Add
                : e->op == Op::ReduceMul ? Op::Mul
                : e->op == Op::ReduceMin ? Op::Min
                                         : Op::Max;
  const Register vector = value(e->args[0], e->args[0]->type.lanes);
  std::vector<Register> parts;
  for (int k = 0; k < vector.components; ++k) parts.push_back(vector.component(k));
  while (parts.size() > 1) {
    std::vector<Register> combined;
    for (std::size_t k = 0; k + 1 < parts.size(); k += 2)
      combined.push_back(
          operation({op, element, {element, element}, 2}, parts[k], parts[k + 1], {}, 1, vector.uniform));
    if (parts.size() % 2 == 1) combined.push_back(parts.back());
    parts = std::move(combined);
  }
  return parts.front();
}

/// Lanes of the warp read each other's values. What a lane has in memory of its own is loaded there for those
/// that ask for it.
Register Builder::shuffle(const Expr& e) {
  const int lanes = e->type.lanes;
  const bool by_xor = e->op == Op::ShuffleXor;
  const std::optional<std::int64_t> bits = by_xor ? ir::as_int(e->args[1]) : 0;
  if (!bits) refuse(code_, "a shuffle by bits that are no constant", ir::to_string(e));
  const Expr& of = e->args[0];
  const bool loads =
      !by_xor && ir::is(of, Op::Load) && code_.buffers[buffer_index(ir::buffer_of(of))].is_private();
  const Expr& content_of = loads ? of->args[0] : of;
  const Register content = shaped(value(content_of), content_of->type.element(), lanes, false);
  Register lane;
  if (!by_xor) lane = shaped(value(e->args[1]), e->args[1]->type.element(), lanes, false);
  const Register result = reserve(lanes, false);
  const int site = loads ? access(ir::buffer_of(of), of->args[0], false) : static_cast<int>(*bits);
  Instruction& i = by_xor  ? emit(run_shuffle_xor, "ShuffleXor")
                   : loads ? emit(run_shuffle_load, "ShuffleLoad")
                           : emit(run_shuffle, "Shuffle");
  i.result = result;
  i.a = content;
  i.b = lane;
  i.site = site;
  return result;
}

// ---- Memory

int Builder::access(const ir::BufferPtr& buffer, const Expr& index, bool predicated) {
  if (index->type.is_float()) refuse(code_, "an index that is no integer", ir::to_string(index));
  const int number = buffer_index(buffer);
  code_.accesses.push_back({number, fmt::format("{}[{}]", buffer->name, ir::to_string(index)), predicated});
  return static_cast<int>(code_.accesses.size()) - 1;
}

Register Builder::load(const Expr& e) {
  const bool guarded = e->op == Op::LoadIf;
  if (e->args.size() != (guarded ? 2u : 1u)) refuse(code_, "an access is not flat", ir::to_string(e));
  const ir::BufferPtr& buffer = ir::buffer_of(e);
  const Expr& index = e->args.back();
  const bool predicated = guarded && !ir::is_one(e->args[0]);
  if (buffer->type.element() != e->type.element()) refuse(code_, "a load of another type", ir::to_string(e));
  const int lanes = e->type.lanes;
  Register predicate;
  if (predicated) predicate = value(e->args[0], lanes);
  // Where the predicate is false there may be no such element.
  const Register at = predicated ? value(index, lanes) : this->index(index, lanes);
  const Register result = reserve(lanes, false);
  const int site = access(buffer, index, predicated);
  code_.accesses.back().in_bulk = in_bulk_;
  Instruction& i = emit(run_load, guarded ? "LoadIf" : "Load");
  i.result = result;
  i.a = at;
  i.b = predicate;
  i.site = site;
  return result;
}

int Builder::ring_index(const ir::Ring& ring) const {
  for (std::size_t i = 0; i < code_.rings.size(); ++i)
    if (code_.rings[i].get() == &ring) return static_cast<int>(i);
  refuse(code_, "a ring that the kernel does not have", ring.name);
}

void Builder::note_written(int buffer) {
  BufferUse& use = code_.buffers[static_cast<std::size_t>(buffer)];
  use.written = true;
  if (use.stage.empty()) use.stage = code_.stage_of(scope_);
}

/// "out at (x*64, y)".
int Builder::tensor_access(const ir::Stmt& s, int tensor) {
  const ir::TensorMap& map = *s->box();
  std::string start;
  for (std::size_t d = 0; d < map.box.size(); ++d)
    start += (d > 0 ? ", " : "") + ir::to_string(s->exprs[4 + d]);
  const int buffer = code_.arguments + tensor;
  if (s->bulk()->out) note_written(buffer);
  code_.accesses.push_back({buffer, fmt::format("{} at ({})", map.source->name, start)});
  return static_cast<int>(code_.accesses.size()) - 1;
}

void Builder::box_store(const ir::Stmt& s) {
  const ir::BulkStore& how = *s->bulk();
  if (how.buffer->space != ir::MemorySpace::Shared)
    refuse(code_, fmt::format("a box is copied to '{}', which is in {} memory", how.buffer->name,
                              ir::to_string(how.buffer->space)));
  BoxSite box;
  for (std::size_t d = 0; d < how.map->box.size(); ++d) box.start.push_back(index(s->exprs[4 + d], 1));
  if (const Expr receivers = s->receivers(); receivers.defined()) box.receivers = value(receivers, 1);
  const Register at = index(s->exprs[2], 1), slot = value(s->exprs[3], 1);
  box.access = access(how.buffer, s->exprs[2], false);
  if (!how.out) {
    code_.accesses.back().ring = ring_index(*how.ring);
    note_written(code_.accesses.back().buffer);
  }
  const auto tensor = std::find(code_.tensors.begin(), code_.tensors.end(), how.map);
  if (tensor == code_.tensors.end()) refuse(code_, "a tensor that the kernel does not have", how.map->name);
  box.tensor = static_cast<int>(tensor - code_.tensors.begin());
  box.memory = tensor_access(s, box.tensor);
  Instruction& i = how.out ? emit(run_box_out, "BoxOut") : emit(run_box_store, "BoxStore");
  i.a = at;
  i.b = slot;
  i.site = box.access;
  i.target = static_cast<int>(code_.boxes.size());
  code_.boxes.push_back(std::move(box));
}

void Builder::store(const ir::Stmt& s) {
  const ir::BufferPtr& buffer = s->buffer();
  const Expr &stored = s->exprs[0], &predicate = s->exprs[1], &index = s->exprs[2];
  const Type type = buffer->type.element();
  if (type != stored->type.element())
    refuse(code_,
           fmt::format("a store of {} to '{}' of {}", stored->type.str(), buffer->name, buffer->type.str()));
  const int lanes = std::max(stored->type.lanes, index->type.lanes);
  const bool predicated = predicate.defined() && !ir::is_one(predicate);
  if (s->remote() && (predicated || lanes > 1)) refuse(code_, "a store of vectors to another block");
  in_bulk_ = s->bulk() != nullptr;
  const Register content = value(stored, lanes);
  in_bulk_ = false;
  Register condition;
  if (predicated) condition = value(predicate, lanes);
  const Register at = predicated ? value(index, lanes) : this->index(index, lanes);
  const int site = access(buffer, index, predicated);
  note_written(code_.accesses.back().buffer);
  if (const ir::Atomic* update = s->atomic()) {
    code_.accesses.back().operation = static_cast<int>(code_.operations.size());
    code_.operations.push_back({update->op, type, {type, type}, 2});
  }
  if ((s->is_async() || s->bulk()) && buffer->space != ir::MemorySpace::Shared)
    refuse(code_, fmt::format("an asynchronous store to '{}', which is in {} memory", buffer->name,
                              ir::to_string(buffer->space)));
  if (s->remote()) condition = value(s->exprs[3], 1);
  if (s->remote() && s->remote()->ring) code_.accesses.back().ring = ring_index(*s->remote()->ring);
  if (s->bulk()) {
    code_.accesses.back().ring = ring_index(*s->bulk()->ring);
    condition = value(s->exprs[3], 1);
  }
  Instruction& i = s->bulk()       ? emit(run_ring_store, "BulkStore")
                   : s->atomic()   ? emit(run_atomic, "Atomic")
                   : s->is_async() ? emit(run_async_store, "AsyncStore")
                   : s->remote()   ? emit(run_remote_store, "RemoteStore")
                                   : emit(run_store, "Store");
  i.a = at;
  i.b = condition;
  i.c = content;
  i.site = site;
}

}  // namespace calotype::sim
