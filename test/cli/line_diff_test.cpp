// Differences of lists of lines.
#include "cli/line_diff.h"

#include <gtest/gtest.h>

namespace calotype::cli {
namespace {

std::string text(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::string out;
  for (const DiffLine& line : line_diff(a, b)) out += line.mark + line.text + ";";
  return out;
}

TEST(LineDiff, KeepsWhatIsCommon) {
  EXPECT_EQ(text({"a", "b", "c"}, {"a", "b", "c"}), " a; b; c;");
  EXPECT_EQ(text({"a", "b", "c"}, {"a", "x", "c"}), " a;-b;+x; c;");
  EXPECT_EQ(text({}, {"x"}), "+x;");
  EXPECT_EQ(text({"x"}, {}), "-x;");
  EXPECT_EQ(text({"a", "b"}, {"b", "a"}), "-a; b;+a;");
}

}  // namespace
}  // namespace calotype::cli
