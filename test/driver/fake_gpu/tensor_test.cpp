// Tensor maps of calls: what the driver is asked to encode of their buffers, and what is said where it fails.

#include "driver/fake_gpu/fake_gpu.h"

namespace calotype::testing {
namespace {

class FakeTensors : public FakeGpu {
 protected:
  /// out(x, y) = in(x, y) + 1 by tiles of 32 by 8, which are boxes.
  static Kernel kernel(Type type = Float(32), int swizzle = 0) {
    Dim W("W"), H("H");
    ImageParam in(type, {W, H}, "in");
    Var x("x"), y("y");
    Func out("out");
    out(x, y) = in(x, y) + cast(type, 1);
    Schedule s;
    s["out"].tile("x", "y", "xo", "yo", "xi", "yi", 32, 8).gpu_blocks("xo", "yo").gpu_threads("xi", "yi");
    Stage tile = s.in("in");
    tile.compute_at("out", "xo").store_in(Memory::Shared).copy(Copy::Tma);
    if (swizzle != 0) tile.swizzle(swizzle);
    return Pipeline("tiles", {in}, {Output(out, {W, H})}).compile(s, Target::cuda("sm_90a"));
  }
};

TEST_F(FakeTensors, AreEncodedOfTheBuffersOfACall) {
  const Kernel of_floats = kernel(Float(32), 128);
  const DeviceBuffer in(Float(32), {100, 30}), out(Float(32), {100, 30});
  fake().fake_cuda_reset();
  of_floats(in.device(), out.device());
  ASSERT_EQ(fake().fake_cuda_tensors(), 1);
  const fake_cuda_tensor t = fake().fake_cuda_last_tensor();
  EXPECT_EQ(t.type, CALOTYPE_CU_TENSOR_UINT32);
  EXPECT_EQ(t.rank, 2u);
  EXPECT_EQ(t.address, in.device().data());
  EXPECT_EQ(t.extents[0], 100u);
  EXPECT_EQ(t.extents[1], 30u);
  EXPECT_EQ(t.strides[0], 400u);
  EXPECT_EQ(t.box[0], 32u);
  EXPECT_EQ(t.box[1], 8u);
  EXPECT_EQ(t.element_strides[0], 1u);
  EXPECT_EQ(t.element_strides[1], 1u);
  EXPECT_EQ(t.swizzle, CALOTYPE_CU_TENSOR_SWIZZLE_128);
  EXPECT_EQ(t.fill, CALOTYPE_CU_TENSOR_FILL_ZEROS);
  EXPECT_EQ(t.interleave, CALOTYPE_CU_TENSOR_INTERLEAVE_NONE);
  const fake_cuda_launch launch = fake().fake_cuda_launch_at(0);
  EXPECT_EQ(launch.grid[0], 4u);
  EXPECT_EQ(launch.buffers[0], out.device().data());  // the input has no pointer beside its map
  of_floats(in.device(), out.device());
  EXPECT_EQ(fake().fake_cuda_tensors(), 1);
  const DeviceBuffer other(Float(32), {100, 30});
  of_floats(other.device(), out.device());
  EXPECT_EQ(fake().fake_cuda_tensors(), 2);
  EXPECT_EQ(fake().fake_cuda_last_tensor().address, other.device().data());
}

TEST_F(FakeTensors, HaveTheWidthOfTheirElements) {
  const std::vector<std::pair<Type, int>> types = {{UInt(8), CALOTYPE_CU_TENSOR_UINT8},
                                                   {BFloat(16), CALOTYPE_CU_TENSOR_UINT16},
                                                   {Float(64), CALOTYPE_CU_TENSOR_UINT64}};
  for (const auto& [type, number] : types) {
    const DeviceBuffer in(type, {64, 3}), out(type, {64, 3});
    kernel(type)(in.device(), out.device());
    EXPECT_EQ(fake().fake_cuda_last_tensor().type, number);
    EXPECT_EQ(fake().fake_cuda_last_tensor().strides[0], static_cast<uint64_t>(64 * type.bytes()));
  }
}

TEST_F(FakeTensors, FailuresNameTheBuffer) {
  const Kernel of_floats = kernel();
  const DeviceBuffer in(Float(32), {64, 8}), out(Float(32), {64, 8});
  fake().fake_cuda_fail("cuTensorMapEncodeTiled", 0, -1, CALOTYPE_CU_INVALID_VALUE);
  const std::optional<Diagnostic> error = said([&] { of_floats(in.device(), out.device()); });
  ASSERT_TRUE(error);
  EXPECT_NE(error->message.find("making the tensor map of 'in' for kernel 'tiles_out'"), std::string::npos)
      << error->message;
  EXPECT_EQ(fake().fake_cuda_launches(), 0);
}

TEST_F(FakeTensors, MisalignedBuffersAreRefusedBeforeAnythingIsAsked) {
  const Kernel of_floats = kernel();
  const DeviceBuffer in(Float(32), {66, 8}), out(Float(32), {66, 8});
  fake().fake_cuda_reset();
  const std::optional<Diagnostic> error = said([&] { of_floats(in.device(), out.device()); });
  ASSERT_TRUE(error);
  EXPECT_NE(error->message.find("the stride of dimension 1 is 264 bytes"), std::string::npos)
      << error->message;
  EXPECT_EQ(error->legal, "a pitch that is a multiple of 16 bytes");
  EXPECT_EQ(fake().fake_cuda_tensors() + fake().fake_cuda_launches(), 0);
}

}  // namespace
}  // namespace calotype::testing
