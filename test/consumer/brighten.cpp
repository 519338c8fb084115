// An operator of a user's own, with a schedule.
#include <calotype/calotype.h>
#include <calotype/operator.h>

using namespace calotype;

static Pipeline brighten(const OperatorTypes& types) {
  Dim W("W"), H("H"), C("C");
  ImageParam image(types.all(), {W, H, C}, "image");
  Param by(Float(32), "by", 1.2);
  Var x("x"), y("y"), c("c");
  Func bright("bright");
  bright(x, y, c) = cast(types.all(), min(cast<float>(image(x, y, c)) * by, 255.0f));
  return Pipeline("brighten", {image, by}, {Output(bright, {W, H, C})});
}

static Schedule rows(const OperatorTypes&) {
  Schedule s;
  s["bright"].compute_root().parallel("c");
  return s;
}

CALOTYPE_OPERATOR(brighten).describe("multiplies an image").types({"u8", "f32"}).algorithm(brighten);
CALOTYPE_SCHEDULES(brighten).schedule("rows", Target::Kind::Host, "channels in parallel", rows);
