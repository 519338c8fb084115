// Schedule as a value: recording, knobs, spelling, diff, the reference page.
#include <fstream>
#include <sstream>

#include "helpers.h"
#include "schedule/diff.h"
#include "schedule/directive.h"
#include "schedule/file.h"
#include "schedule/reference.h"
#include "schedule/spelling.h"

namespace calotype::test {

std::string read_file(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(ScheduleValue, CopiesAreIndependent) {
  Schedule a;
  a["by"].parallel("y");
  Schedule b = a;
  EXPECT_TRUE(a == b);
  b["by"].vectorize("x", 8);
  EXPECT_FALSE(a == b);
  EXPECT_EQ(a.directives().size(), 1u);
}

TEST(ScheduleValue, KnobsArePartOfIt) {
  Schedule a, b;
  a.knob("B", 8);
  b.knob("B", 16);
  EXPECT_FALSE(a == b);
  b.set("B", 8);
  EXPECT_TRUE(a == b);
  EXPECT_THROW(a.knob("B", 1), Error);
  try {
    a.set("BM", 1);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Usage);
    EXPECT_NE(e.diagnostic().legal.find("did you mean 'B'"), std::string::npos) << e.what();
  }
}

TEST(ScheduleValue, CheckReportsEverythingAndThrowsNothing) {
  Schedule s;
  s["by"].split("x", "xo", "xi", 0).parallel("z");
  s["bq"].compute_root();
  s["by"].record("splat", {});
  const auto found = s.check(blur());
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].directive, "#1 split(x, xo, xi, 0)");
  EXPECT_EQ(found[1].directive, "#2 parallel(z)");
  EXPECT_EQ(found[2].directive, "#3 compute_root()");
  EXPECT_EQ(found[3].directive, "#4 splat()");
  EXPECT_NE(found[3].legal.find("did you mean 'split'"), std::string::npos) << found[3].legal;
}

TEST(ScheduleValue, DirectivesOfAFunc) {
  Schedule s;
  s["C"].parallel("m");
  s["acc"].compute_at("C", "n");
  s["acc"].update().split("k", "ko", "ki", 4);
  s["acc"].update().rfactor({{"ki", "lane"}}, "lanes");
  s["lanes"].vectorize("lane");
  s[s.in("A", {"lanes"})].compute_root();
  EXPECT_EQ(schedule::cpp_of_func(s, "acc"),
            (std::vector<std::string>{"s[\"acc\"].compute_at(\"C\", \"n\");",
                                      "s[\"acc\"].update(0).split(\"k\", \"ko\", \"ki\", 4);",
                                      "s[\"acc\"].update(0).rfactor({{\"ki\", \"lane\"}}, \"lanes\");"}));
  EXPECT_EQ(schedule::cpp_of_func(s, "lanes").size(), 2u);  // the one that makes it, and its own
  EXPECT_EQ(schedule::cpp_of_func(s, "A.in(lanes)"),
            (std::vector<std::string>{"s.in(\"A\", {\"lanes\"});", "s[\"A.in(lanes)\"].compute_root();"}));
  EXPECT_TRUE(schedule::cpp_of_func(s, "B").empty());
}

TEST(ScheduleValue, ArgumentsOfTheWrongFormAreRefused) {
  Schedule kind, unknown, missing, knob;
  kind["by"].record("split", {{"loop", 3}, {"by", 8}});
  expect_refused(blur(), kind, {"'loop' is of the wrong kind", "the name of a loop"});
  unknown["by"].record("split", {{"loop", "x"}, {"by", 8}, {"tial", "guard"}});
  expect_refused(blur(), unknown, {"'split' has no argument 'tial'", "did you mean 'tail'"});
  missing["by"].record("split", {{"loop", "x"}});
  expect_refused(blur(), missing, {"'split' needs the argument 'by'"});
  knob["by"].record("split", {{"loop", "x"}, {"by", schedule::KnobRef{"BX"}}});
  expect_refused(blur(), knob, {"there is no knob 'BX'", "knobs: none"});
}

TEST(ScheduleValue, AppliedSchedulesPrint) {
  Schedule s;
  s["by"].split("y", "yo", "yi", 8).parallel("yo");
  s["bx"].store_at("by", "yo").compute_at("by", "yi").vectorize("x", 8);
  EXPECT_EQ(schedule::to_string(apply(blur(), s)),
            "bx: computed at yi of by  [#4 compute_at(by, yi)]\n"
            "  stored at yo of by\n"
            "  bx\n"
            "    x = x.o*8 + x.v, tail predicate  [#5 vectorize(x, 8)]\n"
            "    for y: serial\n"
            "      for x.o: serial  [#5 vectorize(x, 8)]\n"
            "        for x.v: vector  [#5 vectorize(x, 8)]\n"
            "by: computed at root  [default]\n"
            "  by\n"
            "    y = yo*8 + yi, tail guard  [#1 split(y, yo, yi, 8)]\n"
            "    for yo: parallel  [#1 split(y, yo, yi, 8), #2 parallel(yo)]\n"
            "      for yi: serial  [#1 split(y, yo, yi, 8)]\n"
            "        for x: serial\n");
}

TEST(ScheduleDiff, ShowsLinesOfBoth) {
  Schedule a, b;
  a.knob("B", 8);
  b.knob("B", 16);
  a["by"].parallel("y").vectorize("x", 8);
  b["by"].parallel("y").unroll("x", 8);
  EXPECT_EQ(schedule::diff(a, b),
            "- Knob B = s.knob(\"B\", 8);\n"
            "+ Knob B = s.knob(\"B\", 16);\n"
            "  s[\"by\"].parallel(\"y\");\n"
            "- s[\"by\"].vectorize(\"x\", 8);\n"
            "+ s[\"by\"].unroll(\"x\", 8);\n");
  EXPECT_EQ(schedule::diff(a, a), "");
}

TEST(Reference, ThePageIsUpToDate) {
  const std::string path = std::string(CALOTYPE_SOURCE_DIR) + "/docs/directives.md";
  if (std::getenv("CALOTYPE_UPDATE")) std::ofstream(path) << schedule::reference_markdown();
  EXPECT_EQ(read_file(path), schedule::reference_markdown()) << "run the test with CALOTYPE_UPDATE=1";
}

TEST(Reference, EverySpecIsWhole) {
  for (const schedule::DirectiveSpec& spec : schedule::directives()) {
    EXPECT_NE(spec.apply, nullptr) << spec.name;
    EXPECT_FALSE(spec.doc.empty()) << spec.name;
    EXPECT_FALSE(spec.refused.empty()) << spec.name;
    for (const schedule::ArgSpec& arg : spec.args) {
      EXPECT_FALSE(arg.doc.empty()) << spec.name << " " << arg.name;
      EXPECT_EQ(arg.kind == schedule::ArgKind::Choice, !arg.choices.empty()) << spec.name << " " << arg.name;
    }
  }
}

TEST(Reference, TheVersionIsThatOfTheProject) {
  const std::string cmake = read_file(std::string(CALOTYPE_SOURCE_DIR) + "/CMakeLists.txt");
  EXPECT_NE(cmake.find(std::string("VERSION ") + schedule::library_version), std::string::npos);
}

}  // namespace calotype::test
