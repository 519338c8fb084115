#pragma once
// Expressions that must be refused.

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "calotype/error.h"
#include "calotype/expr.h"

namespace calotype::ir {

/// `make_it` throws Error(Algorithm) whose message and legal values have these parts.
inline void refused(const std::function<Expr()>& make_it, const std::string& message,
                    const std::string& legal) {
  try {
    make_it();
    ADD_FAILURE() << "no error: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Algorithm);
    EXPECT_NE(error.diagnostic().message.find(message), std::string::npos) << error.what();
    EXPECT_NE(error.diagnostic().legal.find(legal), std::string::npos) << error.what();
  }
}

}  // namespace calotype::ir
