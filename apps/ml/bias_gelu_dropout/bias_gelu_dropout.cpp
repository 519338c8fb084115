// bias_gelu_dropout: out = keep(n, r) ? gelu(x + bias) / (1 - p) : 0, where gelu(z) = z / 2 * (1 + erf(z /
// sqrt(2))) and an element is kept with probability 1 - p.
#include <calotype/calotype.h>
#include <calotype/operator.h>

namespace {

using namespace calotype;

// 32 bits of a counter and a key: every bit of either changes about half of the result's. The finish is that
// of MurmurHash3.
Expr mixed(Expr key, const Expr& counter) {
  Expr h = key ^ counter * Expr(0x9e3779b1u);
  h = (h ^ (h >> 16)) * Expr(0x85ebca6bu);
  h = (h ^ (h >> 13)) * Expr(0xc2b2ae35u);
  return h ^ (h >> 16);
}

Pipeline bias_gelu_dropout(const OperatorTypes& types) {
  const Type type = types.all();
  Dim N("N"), R("R");
  ImageParam x(type, {N, R}, "x"), bias(type, {N}, "bias");
  Param probability(Float(32), "probability", 0.1), seed(UInt(32), "seed", 0);
  Var c("c"), r("r");

  Func gelu("gelu"), key("key"), kept("kept"), out("out");
  const Expr z = cast<float>(x(c, r)) + cast<float>(bias(c));
  gelu(c, r) = 0.5f * z * (1.0f + erf(z * 0.70710678f));
  // A function of the seed and the coordinates alone: the same mask under every schedule, on every target.
  // The key of a row costs nothing for each of its elements.
  key(r) = mixed(mixed(seed, cast<std::uint32_t>(r)), 1u);
  kept(c, r) = cast<float>(mixed(key(r), cast<std::uint32_t>(c)) >> 8) * 0x1p-24f >= probability;
  const Expr scale = select(probability < 1.0f, 1.0f / (1.0f - probability), 0.0f);
  out(c, r) = cast(type, select(kept(c, r), gelu(c, r) * scale, 0.0f));
  return Pipeline("bias_gelu_dropout", {x, bias, probability, seed}, {Output(out, {N, R})});
}

CALOTYPE_OPERATOR(bias_gelu_dropout)
    .describe(
        "gelu(x + bias), each element dropped with a probability, the others divided by 1 - that; in f32")
    .types({"f32", "bf16"})
    .algorithm(bias_gelu_dropout);

}  // namespace
