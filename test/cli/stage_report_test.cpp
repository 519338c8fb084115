// What is said of stages that differ.
#include "cli/stage_report.h"

#include <gtest/gtest.h>

#include "cli/trial.h"

namespace calotype::cli {
namespace {

StageFinding agreeing(const std::string& name) {
  StageFinding f;
  f.name = name;
  f.elements = f.box = 12;
  return f;
}

StageFinding differing(const std::string& name) {
  StageFinding f = agreeing(name);
  f.ok = false;
  f.box = 20;
  f.different = 2;
  f.first = {.at = {3, -1}, .got = 1, .expected = 2, .exact = 2};
  f.worst = {.at = {4, 0}, .got = 9, .expected = 2, .exact = 2};
  f.directives = {"s[\"acc\"].compute_root();", "s[\"acc\"].vectorize(\"n\", 8);"};
  return f;
}

TEST(StageReport, TheFirstThatDiffersIsNamedWithItsDirectives) {
  StageFindings findings;
  findings.compared = {agreeing("taps"), differing("acc"), differing("C")};
  findings.inlined = {"edged"};
  EXPECT_FALSE(findings.passed());
  const std::string text = stages_text(findings);
  for (const char* part :
       {"taps: passed", "acc: FAILED, 2 of 12 elements differ", "computes 12 of the 20", "first at (3, -1)",
        "worst at (4, 0): got 9, expected 2\n", "under s[\"acc\"].vectorize(\"n\", 8);", "edged: no values",
        "FAILED: 'acc' is the first"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\nin\n" << text;
  EXPECT_EQ(stages_json(findings)["first_different"], "acc");
  EXPECT_EQ(stages_json(findings)["comparisons"][1]["first"]["at"], Json({3, -1}));
  const Json error = stage_error(*findings.first_different());
  EXPECT_EQ(error["stage"], "acc");
  EXPECT_EQ(error["directive"], "s[\"acc\"].compute_root(); s[\"acc\"].vectorize(\"n\", 8);");
}

TEST(StageReport, AStageOfWhichNothingWasComputedDoesNotPass) {
  StageFindings findings;
  findings.compared = {agreeing("acc")};
  findings.compared[0].elements = 0;
  EXPECT_FALSE(findings.passed());
  EXPECT_NE(stages_text(findings).find("none of the 12 elements"), std::string::npos)
      << stages_text(findings);
  findings.compared[0].box = 0;
  EXPECT_TRUE(findings.passed());
  EXPECT_NE(stages_text(findings).find("no output needs it"), std::string::npos) << stages_text(findings);
}

TEST(StageReport, TheTrialFails) {
  Trial trial;
  EXPECT_TRUE(trial.passed());
  trial.stages.compared = {differing("acc")};
  EXPECT_FALSE(trial.passed());
}

}  // namespace
}  // namespace calotype::cli
