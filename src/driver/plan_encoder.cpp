// The plan as arrays. Texts and arrays are filled first and pointed at when all of them stand still.

#include "driver/plan_encoder.h"

#include <fmt/format.h>

#include <deque>

#include "calotype/error.h"
#include "driver/size_encoder.h"
#include "ir/runtime_type.h"

namespace calotype::driver {
namespace {

char format_of(Type type) {
  if (type.is_bool()) return 'b';
  if (type == Float(32)) return 'f';
  if (type == Float(64)) return 'd';
  return type.is_int() ? 'i' : 'u';
}

int scalar_kind(lower::ScalarSource::Kind kind) {
  switch (kind) {
    case lower::ScalarSource::Kind::Extent:
      return CALOTYPE_SCALAR_EXTENT;
    case lower::ScalarSource::Kind::Stride:
      return CALOTYPE_SCALAR_STRIDE;
    case lower::ScalarSource::Kind::Min:
      return CALOTYPE_SCALAR_MIN;
    case lower::ScalarSource::Kind::Param:
      return CALOTYPE_SCALAR_PARAM;
    case lower::ScalarSource::Kind::Value:
      return CALOTYPE_SCALAR_VALUE;
    case lower::ScalarSource::Kind::Present:
      return CALOTYPE_SCALAR_PRESENT;
  }
  return CALOTYPE_SCALAR_VALUE;
}

class PlanData final : public EncodedPlan {
 public:
  explicit PlanData(const lower::Program& program) {
    plan_.name = text(program.name);
    for (const lower::Argument& a : program.arguments) {
      arguments_.push_back({text(a.name), ir::runtime_type(a.type), a.rank, a.is_param, a.is_output, a.keeps,
                            static_cast<uint32_t>(a.shared_with + 1),
                            static_cast<uint32_t>(a.base_align == 1 ? 0 : a.base_align), text(a.base_origin),
                            a.low.has_value(), a.low.value_or(0), a.high.value_or(0)});
    }
    for (const lower::Scalar& s : program.scalars) add_scalar(s);
    for (const lower::PlanCheck& c : program.checks) add_check(c);
    for (const lower::Workspace& w : program.workspace) {
      workspace_.push_back({text(w.buffer->name), encoder_.encode(w.bytes)});
    }
    for (const lower::KeptValues& k : program.kept) add_kept(k);
    for (const lower::Function& f : program.functions) add_function(program, f);
    for (const lower::PlanStep& s : program.steps) steps_.push_back(static_cast<std::uint32_t>(s.function));
    point_at_arrays(program);
  }

  const calotype_plan& plan() const override { return plan_; }

 private:
  const char* text(const std::string& s) { return texts_.emplace_back(s).c_str(); }

  void add_scalar(const lower::Scalar& s) {
    calotype_plan_scalar scalar{
        text(s.symbol->name), scalar_kind(s.source.kind), s.source.argument, s.source.dim, {}};
    if (s.source.kind == lower::ScalarSource::Kind::Value) scalar.value = encoder_.encode(s.source.value);
    encoder_.bind(s.symbol, static_cast<std::uint32_t>(scalars_.size()));
    scalars_.push_back(scalar);
  }

  void add_check(const lower::PlanCheck& c) {
    const auto first = static_cast<std::uint32_t>(values_.size());
    for (const Expr& value : c.values) values_.push_back({encoder_.encode(value), format_of(value->type)});
    checks_.push_back({encoder_.encode(c.condition), text(c.message), text(c.func), first,
                       static_cast<std::uint32_t>(c.values.size()), text(c.legal)});
  }

  void add_kept(const lower::KeptValues& k) {
    kept_.push_back({text(k.func), encoder_.slot_of(k.present, k.func), static_cast<std::uint32_t>(k.first),
                     static_cast<std::uint32_t>(k.components), static_cast<std::uint32_t>(keys_.size()),
                     static_cast<std::uint32_t>(k.key.size())});
    for (const Expr& e : k.key) keys_.push_back(encoder_.encode(e));
  }

  void add_function(const lower::Program& program, const lower::Function& f) {
    calotype_plan_function function{};
    function.name = text(f.name);
    function.gpu = f.gpu;
    function.first_scalar = static_cast<std::uint32_t>(slot_refs_.size());
    function.scalar_count = static_cast<std::uint32_t>(f.scalars.size());
    for (const ir::SymbolPtr& s : f.scalars) slot_refs_.push_back(encoder_.slot_of(s, f.name));
    function.first_buffer = static_cast<std::uint32_t>(buffer_refs_.size());
    function.buffer_count = static_cast<std::uint32_t>(f.buffers.size());
    for (const ir::BufferPtr& b : f.buffers) buffer_refs_.push_back(buffer_ref(program, f, b));
    function.first_tensor = static_cast<std::uint32_t>(tensors_.size());
    function.tensor_count = static_cast<std::uint32_t>(f.tensors.size());
    for (const ir::TensorMapPtr& map : f.tensors) add_tensor(program, f, *map);
    function.max_threads = f.max_threads;
    function.persistent = f.resident_blocks != nullptr;
    for (int axis = 0; f.gpu && axis < 3; ++axis) {
      function.grid[axis] = encoder_.encode(f.grid[axis]);
      function.block[axis] = encoder_.encode(f.block[axis]);
    }
    functions_.push_back(function);
  }

  void add_tensor(const lower::Program& program, const lower::Function& f, const ir::TensorMap& map) {
    const ir::Buffer& source = *map.source;
    calotype_plan_tensor tensor{};
    tensor.name = text(source.name);
    tensor.buffer = buffer_ref(program, f, map.source);
    tensor.rank = static_cast<std::int32_t>(map.box.size());
    tensor.element_bytes = static_cast<std::uint32_t>(source.type.bytes());
    tensor.swizzle = static_cast<std::uint32_t>(map.swizzle);
    for (std::size_t d = 0; d < map.box.size(); ++d) {
      tensor.box[d] = static_cast<std::uint32_t>(map.box[d]);
      tensor.extents[d] = encoder_.encode(source.extents[d]);
      tensor.strides[d] = encoder_.encode(source.strides[d]);
    }
    tensors_.push_back(tensor);
  }

  static std::int32_t buffer_ref(const lower::Program& program, const lower::Function& f,
                                 const ir::BufferPtr& b) {
    if (b->space == ir::MemorySpace::Argument) return b->argument;
    for (std::size_t i = 0; i < program.workspace.size(); ++i) {
      if (program.workspace[i].buffer == b) return -1 - static_cast<std::int32_t>(i);
    }
    throw Error({.kind = ErrorKind::Internal,
                 .message = fmt::format("'{}' uses storage that the plan does not allocate", f.name),
                 .value = b->name});
  }

  void point_at_arrays(const lower::Program& program) {
    ops_ = encoder_.ops();
    plan_.ops = ops_.data();
    plan_.arguments = arguments_.data();
    plan_.scalars = scalars_.data();
    plan_.checks = checks_.data();
    plan_.values = values_.data();
    plan_.workspace = workspace_.data();
    plan_.functions = functions_.data();
    plan_.tensors = tensors_.data();
    plan_.slot_refs = slot_refs_.data();
    plan_.buffer_refs = buffer_refs_.data();
    plan_.steps = steps_.data();
    plan_.kept = kept_.data();
    plan_.keys = keys_.data();
    plan_.argument_count = static_cast<std::uint32_t>(arguments_.size());
    plan_.scalar_count = static_cast<std::uint32_t>(scalars_.size());
    plan_.shape_check_count = static_cast<std::uint32_t>(program.shape_checks);
    plan_.check_count = static_cast<std::uint32_t>(checks_.size());
    plan_.workspace_count = static_cast<std::uint32_t>(workspace_.size());
    plan_.function_count = static_cast<std::uint32_t>(functions_.size());
    plan_.kept_count = static_cast<std::uint32_t>(kept_.size());
    plan_.step_count = static_cast<std::uint32_t>(steps_.size());
    plan_.stack_size = encoder_.stack_size();
    plan_.temp_count = encoder_.temp_count();
  }

  SizeEncoder encoder_;
  std::deque<std::string> texts_;  // texts stay where they are
  std::vector<calotype_op> ops_;
  std::vector<calotype_plan_argument> arguments_;
  std::vector<calotype_plan_scalar> scalars_;
  std::vector<calotype_plan_check> checks_;
  std::vector<calotype_plan_value> values_;
  std::vector<calotype_plan_workspace> workspace_;
  std::vector<calotype_plan_function> functions_;
  std::vector<calotype_plan_tensor> tensors_;
  std::vector<std::uint32_t> slot_refs_;
  std::vector<std::int32_t> buffer_refs_;
  std::vector<std::uint32_t> steps_;
  std::vector<calotype_plan_kept> kept_;
  std::vector<calotype_code> keys_;
  calotype_plan plan_{};
};

}  // namespace

std::shared_ptr<const EncodedPlan> encode_plan(const lower::Program& program) {
  return std::make_shared<const PlanData>(program);
}

}  // namespace calotype::driver
