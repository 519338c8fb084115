// Diagnostics: the text of a refusal and the names that a misspelling suggests.

#include "calotype/error.h"

#include <gtest/gtest.h>

namespace calotype {
namespace {

TEST(Diagnostic, TextHasMessagePlaceValueAndWhatIsLegal) {
  const Diagnostic full{.kind = ErrorKind::Schedule,
                        .message = "the factor of a split must be positive",
                        .func = "acc",
                        .stage = "acc.update(0)",
                        .directive = "#3 split(x, xo, xi, 0)",
                        .value = "0",
                        .legal = "a factor of at least 1"};
  EXPECT_EQ(full.str(),
            "the factor of a split must be positive\n"
            "  in: Func 'acc', stage acc.update(0), directive #3 split(x, xo, xi, 0)\n"
            "  value: 0\n"
            "  legal: a factor of at least 1");
  EXPECT_EQ((Diagnostic{.subject = Subject::Size, .message = "m", .func = "N"}).str(), "m\n  in: Size 'N'");
  EXPECT_EQ((Diagnostic{.message = "only this"}).str(), "only this");
  EXPECT_EQ((Diagnostic{.message = "m", .func = "f", .stage = "f"}).str(), "m\n  in: Func 'f'");
}

TEST(Error, CarriesItsDiagnostic) {
  const Error error({.kind = ErrorKind::Argument, .message = "no buffer", .legal = "a buffer"});
  EXPECT_EQ(error.kind(), ErrorKind::Argument);
  EXPECT_EQ(error.diagnostic().legal, "a buffer");
  EXPECT_STREQ(error.what(), "no buffer\n  legal: a buffer");
  EXPECT_STREQ(to_string(error.kind()), "argument");
  EXPECT_STREQ(to_string(ErrorKind::Memory), "memory");
  EXPECT_STREQ(to_string(Subject::Pipeline), "Pipeline");
}

TEST(NearestNames, OrdersByDistanceAndDropsStrangers) {
  const std::vector<std::string> names = {"blur_y", "sharpen", "blur_x", "blurx", "output"};
  EXPECT_EQ(nearest_names("blur_x", names), (std::vector<std::string>{"blur_x", "blur_y", "blurx"}));
  EXPECT_EQ(nearest_names("blur_x", names, 1), (std::vector<std::string>{"blur_x"}));
  EXPECT_EQ(nearest_names("oputut", names), (std::vector<std::string>{"output"}));  // two swaps
  EXPECT_EQ(nearest_names("SHARPEN", names), (std::vector<std::string>{"sharpen"}));
  EXPECT_TRUE(nearest_names("zzzzzz", names).empty());
  EXPECT_EQ(nearest_names("xo", {"yo", "xi", "k"}), (std::vector<std::string>{"yo", "xi"}));
  EXPECT_TRUE(nearest_names("x", {"y"}).empty());
  EXPECT_EQ(nearest_names("ko", {"k0", "ko", "k0"}), (std::vector<std::string>{"ko", "k0"}));
}

TEST(DidYouMean, SuggestsOrLists) {
  EXPECT_EQ(did_you_mean("splt", {"split", "fuse"}), "did you mean 'split'?");
  EXPECT_EQ(did_you_mean("xo", {"yo", "xi", "k"}), "did you mean 'yo' or 'xi'?");
  EXPECT_EQ(did_you_mean("abcd", {"abcx", "abce", "abcf"}), "did you mean 'abcx', 'abce' or 'abcf'?");
  EXPECT_EQ(did_you_mean("nothing", {"a", "b"}), "one of: a, b");
  EXPECT_EQ(did_you_mean("nothing", {}), "");
}

}  // namespace
}  // namespace calotype
