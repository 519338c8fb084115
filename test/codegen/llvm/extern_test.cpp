// Calls of functions that compute boxes: what they are given, what a failure does, and that the code holds no
// address.

#include "harness.h"
#include "support/externs.h"

namespace calotype::llvm_backend {
namespace {

using ir::Op;
using testing::Box;

/// What a function was given last.
struct Given {
  std::vector<calotype_buffer> outputs, inputs;
  std::vector<std::int64_t> scalars;
  int status = 0;
};

int note(const calotype_extern_call* call) {
  auto& given = *static_cast<Given*>(call->user);
  given.outputs.assign(call->outputs, call->outputs + call->output_count);
  given.inputs.assign(call->inputs, call->inputs + call->input_count);
  given.scalars.clear();
  for (std::uint32_t i = 0; i < call->scalar_count; ++i) given.scalars.push_back(call->scalars[i].scalar);
  return given.status;
}

/// note(out [n, +5) x [-1, +2), strides 1 and n; in [7, +n), stride -3; scalars s8 -2, f32 1.5, true), then
/// out[0] = 9.
lower::Function call_note(Given& given, const ir::BufferPtr& out, const ir::BufferPtr& in) {
  const auto n = ir::make_symbol(ir::SymbolKind::Dim, "n");
  const Expr size = ir::make_var(n);
  auto callee = std::make_shared<ir::Extern>();
  callee->function = {"note", note, &given};
  callee->types = {E4M3()};
  ir::ExternCall call{
      .callee = callee, .func = "f", .boxes = {{out, E4M3(), 2}, {in, Int(32), 1}}, .scalars = 3};
  lower::Function f;
  f.name = "f";
  f.scalars = {n};
  f.buffers = {out, in};
  f.body = ir::block(
      {ir::call_extern(std::move(call),
                       {ir::index(4), size, ir::index(5), ir::index(1), ir::index(-1), ir::index(2), size,
                        size * ir::index(2), ir::index(7), size, ir::index(-3), ir::make_int(Int(8), -2),
                        ir::make_float(Float(32), 1.5), ir::make_int(Bool(), 1)}),
       ir::store(out, ir::make_int(UInt(8), 9), {ir::index(0)})});
  return f;
}

TEST(Extern, IsGivenBoxesAndScalars) {
  Given given;
  const auto out = argument("out", UInt(8)), in = argument("in", Int(32), true);
  const auto module = compile({call_note(given, out, in)}, {});
  std::vector<std::uint8_t> o(64);
  std::vector<std::int32_t> i(64);
  ASSERT_EQ(call(*module, "f", {6}, {o.data(), i.data()}), kGood);
  ASSERT_EQ(given.outputs.size(), 1u);
  EXPECT_EQ(given.outputs[0].data, o.data() + 4);
  EXPECT_EQ(given.outputs[0].type.code, CALOTYPE_E4M3);
  EXPECT_EQ(given.outputs[0].type.bits, 8);
  EXPECT_EQ(given.outputs[0].rank, 2);
  EXPECT_EQ(testing::box_of(given.outputs[0]), (Box{{6, 5}, {-1, 2}}));
  EXPECT_EQ(given.outputs[0].dims[0].stride, 1);
  EXPECT_EQ(given.outputs[0].dims[1].stride, 6);
  ASSERT_EQ(given.inputs.size(), 1u);
  EXPECT_EQ(given.inputs[0].data, i.data() + 12);
  EXPECT_EQ(given.inputs[0].type.code, CALOTYPE_INT);
  EXPECT_EQ(given.inputs[0].type.bits, 32);
  EXPECT_EQ(testing::box_of(given.inputs[0]), (Box{{7, 6}}));
  EXPECT_EQ(given.inputs[0].dims[0].stride, -3);
  EXPECT_EQ(given.scalars, (std::vector<std::int64_t>{-2, 0x3fc00000, 1}));
  EXPECT_EQ(o[0], 9);
}

TEST(Extern, AFailureEndsTheCall) {
  Given given{.outputs = {}, .inputs = {}, .scalars = {}, .status = -7};
  const auto out = argument("out", UInt(8)), in = argument("in", Int(32), true);
  const auto module = compile({call_note(given, out, in)}, {});
  FailureRecord hooks;
  std::vector<std::uint8_t> o(64);
  std::vector<std::int32_t> i(64);
  EXPECT_EQ(call(*module, "f", {6}, {o.data(), i.data()}, &hooks), kCheckFailed);
  EXPECT_EQ(hooks.message(), "'f': the function 'note' failed with -7");
  EXPECT_EQ(o[0], 0);
}

TEST(Extern, TheCodeHoldsNoAddress) {
  Given one, other;
  const auto out = argument("out", UInt(8)), in = argument("in", Int(32), true);
  const auto a = compile({call_note(one, out, in)}, {}), b = compile({call_note(other, out, in)}, {});
  EXPECT_EQ(a->llvm_text(), b->llvm_text());
  EXPECT_EQ(a->asm_text(), b->asm_text());
  EXPECT_NE(a->llvm_text().find("calotype_extern.0.note"), std::string::npos) << a->llvm_text();
  std::vector<std::uint8_t> o(64);
  std::vector<std::int32_t> i(64);
  ASSERT_EQ(call(*b, "f", {3}, {o.data(), i.data()}), kGood);  // each calls its own
  EXPECT_TRUE(one.outputs.empty());
  EXPECT_EQ(other.outputs.size(), 1u);
}

TEST(Extern, TextsOfOtherMachines) {
  Given given;
  const auto out = argument("out", UInt(8)), in = argument("in", Int(32), true);
  Options options;
  options.arch = "aarch64-neon";
  EXPECT_NE(compile({call_note(given, out, in)}, options)->asm_text().find("calotype_host_extern"),
            std::string::npos);
}

}  // namespace
}  // namespace calotype::llvm_backend
