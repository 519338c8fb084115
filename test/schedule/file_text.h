#pragma once
// Texts of schedule files with one thing wrong, and what their refusals must say.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "calotype/error.h"

namespace calotype::test {

/// The text with one occurrence of `from` replaced.
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from << "\nin\n" << text;
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

/// Reading `text` as file f.json fails with an Error of the kind, whose text has every part.
inline void expect_unreadable(const std::function<void(const std::string&)>& read, const std::string& text,
                              const std::vector<std::string>& parts, ErrorKind kind) {
  try {
    read(text);
    ADD_FAILURE() << "loaded\n" << text;
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind) << e.what();
    const std::string message = e.diagnostic().str();
    EXPECT_NE(message.find("f.json:"), std::string::npos) << message;
    for (const std::string& part : parts)
      EXPECT_NE(message.find(part), std::string::npos) << part << "\nin\n" << message;
  }
}

}  // namespace calotype::test
