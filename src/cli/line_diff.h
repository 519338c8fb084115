#pragma once
// Differences of two lists of lines: the longest common subsequence stays, the rest was removed or added.

#include <string>
#include <vector>

namespace calotype::cli {

struct DiffLine {
  char mark;  ///< ' ' in both, '-' only in the first, '+' only in the second
  std::string text;
};

std::vector<DiffLine> line_diff(const std::vector<std::string>& a, const std::vector<std::string>& b);

}  // namespace calotype::cli
