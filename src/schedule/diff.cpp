// What differs between two schedules: the longest common subsequence of their lines.
#include "schedule/diff.h"

#include <algorithm>
#include <sstream>
#include <vector>

namespace calotype::schedule {

namespace {

std::vector<std::string> lines_of(const Schedule& s) {
  std::istringstream in(s.str());
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

std::string diff(const Schedule& a, const Schedule& b) {
  const std::vector<std::string> x = lines_of(a), y = lines_of(b);
  if (x == y) return "";
  // common[i][j]: length of the longest common subsequence of x from i and y from j.
  std::vector<std::vector<std::size_t>> common(x.size() + 1, std::vector<std::size_t>(y.size() + 1, 0));
  for (std::size_t i = x.size(); i-- > 0;)
    for (std::size_t j = y.size(); j-- > 0;)
      common[i][j] = x[i] == y[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
  std::string out;
  std::size_t i = 0, j = 0;
  while (i < x.size() || j < y.size()) {
    if (i < x.size() && j < y.size() && x[i] == y[j]) {
      out += "  " + x[i++] + "\n";
      j++;
    } else if (j == y.size() || (i < x.size() && common[i + 1][j] >= common[i][j + 1])) {
      out += "- " + x[i++] + "\n";
    } else {
      out += "+ " + y[j++] + "\n";
    }
  }
  return out;
}

}  // namespace calotype::schedule
