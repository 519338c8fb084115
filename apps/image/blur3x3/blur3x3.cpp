// blur3x3: the mean of the 3 x 3 neighbours of every sample of an image; the edge is repeated.
#include <calotype/calotype.h>
#include <calotype/operator.h>

namespace {

using namespace calotype;

Pipeline blur3x3(const OperatorTypes& types) {
  const Type type = types.all();
  // Nine 8-bit samples add up to at most 2295, so 16 bits hold every sum exactly.
  const Type wide = type.is_float() ? type : UInt(16);

  Dim W("W"), H("H"), C("C");
  ImageParam image(type, {W, H, C}, "image");
  Var x("x"), y("y"), c("c");

  Func edged = boundary::repeat_edge(image, "edged", 2);
  Func blur_x("blur_x"), blur("blur");
  auto sample = [&](Expr at) { return cast(wide, edged(at, y, c)); };
  blur_x(x, y, c) = sample(x - 1) + sample(x) + sample(x + 1);
  Expr total = blur_x(x, y - 1, c) + blur_x(x, y, c) + blur_x(x, y + 1, c);
  if (type.is_float())
    blur(x, y, c) = total / 9;
  else
    blur(x, y, c) = cast(type, (total + 4) / 9);
  return Pipeline("blur3x3", {image}, {Output(blur, {W, H, C})});
}

CALOTYPE_OPERATOR(blur3x3)
    .describe("mean of the 3 x 3 neighbours of each sample of an image, edges repeated")
    .types({"u8", "f32"})
    .algorithm(blur3x3)
    .least_rank("image", 2);

}  // namespace
