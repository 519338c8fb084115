// A program with a main() of its own that evaluates an algorithm.
#include <calotype/calotype.h>

#include <cstdio>

using namespace calotype;

int main() {
  Dim N("N");
  ImageParam a(Float(32), {N}, "a");
  Var x("x");
  Func twice("twice");
  twice(x) = a(x) * 2;
  const Pipeline pipeline("twice", {a}, {Output(twice, {N})});
  float values[3] = {1, 2, 3};
  const Evaluation result = pipeline.evaluate({Buffer(values, {3})});
  std::printf("%g\n", result.outputs[0].value({2}));
  return result.outputs[0].value({2}) == 6 ? 0 : 1;
}
