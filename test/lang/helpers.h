#pragma once
// Random inputs and expectations on errors, shared by the tests of the front end.

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>

#include "calotype/pipeline.h"

namespace calotype::test {

using Sizes = std::vector<std::int64_t>;

/// Values in a range that never contains 0 for floats; integers over [low, high] without 0.
inline Buffer random_buffer(Type type, const Sizes& extents, unsigned seed, double low = -8,
                            double high = 8) {
  Buffer buffer(type, extents);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> real(low, high);
  std::vector<std::int64_t> at(extents.size(), 0);
  if (buffer.elements() == 0) return buffer;
  for (;;) {
    double value = real(random);
    if (type.is_bool()) value = value > 0;
    while (!type.is_bool() && std::abs(value) < 0.51) value = real(random);
    buffer.set_value(at, value);
    std::size_t d = 0;
    for (; d < at.size(); ++d) {
      if (++at[d] < extents[d]) break;
      at[d] = 0;
    }
    if (d == at.size()) return buffer;
  }
}

/// The diagnostic that `f` throws; fails the test if it throws none or one of another kind.
inline Diagnostic refused(ErrorKind kind, const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_FALSE(error.diagnostic().message.empty());
    EXPECT_FALSE(error.diagnostic().legal.empty()) << error.what();
    return error.diagnostic();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

/// As refused(Algorithm): the Func named must be `func` and the text contain `part`.
inline void expect_algorithm_error(const std::string& func, const std::string& part,
                                   const std::function<void()>& f) {
  const Diagnostic d = refused(ErrorKind::Algorithm, f);
  EXPECT_EQ(d.func, func) << d.str();
  EXPECT_NE(d.str().find(part), std::string::npos) << d.str();
}

}  // namespace calotype::test
