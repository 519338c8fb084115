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

// z * (1 + erf(z / sqrt(2))) / 2 with a relative error of 5e-6 above z = -5 and about 1e-5 from there down to
// -13, a two-hundredth of what rounding to bf16 takes: for z >= 0 it is z less z * tail(z), for z < 0 it is
// z * tail(-z), where tail(z) = erfc(z / sqrt(2)) / 2 is a polynomial of 1 / (1 + 0.31 z) times
// exp(-z^2 / 2). The form is that of Abramowitz and Stegun, 7.1.26, with coefficients fitted to the relative
// error from 0 to 12.
Expr rough_gelu(const Expr& z) {
  const Expr size = abs(z), t = fast::inverse(1.0f + 0.31f * size);
  Expr tail = Expr(-0.073924165f);
  for (const float c : {0.18043287f, 0.015768536f, 0.13341414f, 0.12044617f, 0.12386012f})
    tail = tail * t + c;
  return max(z, 0.0f) - size * (tail * t * fast::exp(z * z * -0.5f));
}

Pipeline bias_gelu_dropout(const OperatorTypes& types) {
  const Type type = types.all();
  Dim N("N"), R("R");
  ImageParam x(type, {N, R}, "x"), bias(type, {N}, "bias");
  Param probability(Float(32), "probability", 0.1), seed(UInt(32), "seed", 0);
  Var c("c"), r("r"), four("four");

  Func gelu("gelu"), key("key"), words("words"), threshold("threshold"), kept("kept"), scale("scale"),
      out("out");
  const Expr z = cast<float>(x(c, r)) + cast<float>(bias(c));
  gelu(c, r) = type == BFloat(16) ? rough_gelu(z) : 0.5f * z * (1.0f + erf(z * 0.70710678f));
  // A function of the seed and the coordinates alone: the same mask under every schedule, on every target.
  // The key of a row costs nothing for each of its elements; four neighbours have 16 bits each of one hash
  // and of what another multiplication makes of it.
  key(r) = mixed(mixed(seed, cast<std::uint32_t>(r)), 1u);
  const Expr hash = mixed(key(r), cast<std::uint32_t>(four)), second = hash * Expr(0xcc9e2d51u);
  words(four, r) = Tuple(hash, second ^ (second >> 15));
  const Expr place = c % 4;
  const Expr word = select(place < 2, words(c / 4, r)[0], words(c / 4, r)[1]);
  // The 16 bits are the upper ones of what is compared: what lies below them decides nothing.
  const Expr half = select(place % 2 == 0, word << 16, word);
  threshold() = cast<std::uint32_t>(clamp(probability * 65536.0f + 0.5f, 0.0f, 65535.0f)) << 16;
  kept(c, r) = half >= threshold() && probability < 1.0f;
  scale() = select(probability < 1.0f, 1.0f / (1.0f - probability), 0.0f);
  out(c, r) = cast(type, select(kept(c, r), gelu(c, r) * scale(), 0.0f));
  return Pipeline("bias_gelu_dropout", {x, bias, probability, seed}, {Output(out, {N, R})});
}

CALOTYPE_OPERATOR(bias_gelu_dropout)
    .describe(
        "gelu(x + bias), each element dropped with a probability, the others divided by 1 - that; in f32")
    .types({"f32", "bf16"})
    .algorithm(bias_gelu_dropout);

}  // namespace
