// The command line as values, and command lines that cannot be right.
#include "cli/options.h"

#include <gtest/gtest.h>

#include "calotype/error.h"

namespace calotype::cli {
namespace {

Options parse(std::vector<const char*> argv) {
  argv.insert(argv.begin(), "calotype");
  return parse_options(static_cast<int>(argv.size()), argv.data());
}

TEST(Options, RunTakesEverythingTheManualNames) {
  const Options o = parse({"run",       "matmul",    "--size",      "M=4,N=5",
                           "--size",    "K=6",       "--input",     "A=a.npy",
                           "--input",   "B=b=.npy",  "--output",    "C=c.npy",
                           "--seed",    "7",         "--check",     "--json",
                           "--param",   "p=1.5",     "--set",       "BM=64,128",
                           "--set",     "BN=2",      "--save-best", "f.json",
                           "--threads", "2",         "--repeat",    "9",
                           "--dump",    "acc=d.npy", "--target",    "cuda-interpreter",
                           "--type",    "A=s8,B=s8", "--schedule",  "best"});
  EXPECT_EQ(o.command, "run");
  EXPECT_TRUE(o.json);
  EXPECT_EQ(o.run.select.op, "matmul");
  EXPECT_EQ(o.run.select.sizes, (std::map<std::string, std::int64_t>{{"K", 6}, {"M", 4}, {"N", 5}}));
  EXPECT_EQ(o.run.inputs, (Pairs{{"A", "a.npy"}, {"B", "b=.npy"}}));
  EXPECT_EQ(o.run.outputs, (Pairs{{"C", "c.npy"}}));
  EXPECT_EQ(o.run.dumps, (Pairs{{"acc", "d.npy"}}));
  EXPECT_EQ(o.run.seed, 7u);
  EXPECT_EQ(o.run.check, CheckMode::Values);
  EXPECT_EQ(o.run.params.at("p"), 1.5);
  ASSERT_EQ(o.run.select.knobs.size(), 2u);
  EXPECT_EQ(o.run.select.knobs[0].second, (std::vector<std::int64_t>{64, 128}));
  EXPECT_EQ(o.run.save_best, "f.json");
  EXPECT_EQ(o.run.threads, 2);
  EXPECT_EQ(o.run.repeat, 9);
  EXPECT_EQ(o.run.select.target, "cuda-interpreter");
  EXPECT_EQ(o.run.select.type, "A=s8,B=s8");
  EXPECT_EQ(o.run.select.schedule, "best");
}

TEST(Options, CheckNeverSwallowsTheOperator) {
  EXPECT_EQ(parse({"run", "--check", "matmul"}).run.select.op, "matmul");
  EXPECT_EQ(parse({"run", "--check=stages", "matmul"}).run.check, CheckMode::Stages);
  EXPECT_EQ(parse({"run", "matmul"}).run.check, CheckMode::None);
  EXPECT_EQ(parse({"run", "--size", "M=1", "matmul"}).run.select.op, "matmul");
}

TEST(Options, ShowPrintsOneThing) {
  EXPECT_TRUE(parse({"show", "matmul", "--timings"}).show.timings);
  const Options page = parse({"show", "matmul", "--html", "-o", "f.html"});
  EXPECT_TRUE(page.show.html);
  EXPECT_EQ(page.show.output, "f.html");
  EXPECT_THROW(parse({"show", "matmul"}), Error);
  EXPECT_THROW(parse({"show", "matmul", "--timings", "--level", "loops"}), Error);
  EXPECT_THROW(parse({"show", "matmul", "--html"}), Error);
}

TEST(Options, OtherCommands) {
  const Options show = parse({"show", "matmul", "--level", "loops", "-o", "f.txt"});
  EXPECT_EQ(show.show.level, "loops");
  EXPECT_EQ(show.show.output, "f.txt");
  const Options check = parse({"schedule", "check", "matmul", "f.json", "--target", "cuda-interpreter"});
  EXPECT_EQ(check.command, "schedule");
  EXPECT_EQ(check.schedule.action, "check");
  EXPECT_EQ(check.schedule.select.schedule, "f.json");
  const Options diff = parse({"schedule", "diff", "a.json", "b.json"});
  EXPECT_EQ(diff.schedule.action, "diff");
  EXPECT_EQ(diff.schedule.other, "b.json");
  EXPECT_NE(parse({"run", "--help"}).help.find("--check"), std::string::npos);
}

TEST(Options, WrongOnesAreUsageErrors) {
  const std::vector<std::vector<const char*>> wrong = {
      {},
      {"frobnicate"},
      {"run"},
      {"run", "matmul", "--size"},
      {"run", "matmul", "--size", "M"},
      {"run", "matmul", "--size", "M=x"},
      {"run", "matmul", "--size", "M=-1"},
      {"run", "matmul", "--size", "M=1,M=2"},
      {"run", "matmul", "--size", "M=99999999999999999999"},
      {"run", "matmul", "--set", "BM="},
      {"run", "matmul", "--set", "BM=1,x"},
      {"run", "matmul", "--set", "BM=1", "--set", "BM=2"},
      {"run", "matmul", "--param", "p=1,5"},
      {"run", "matmul", "--input", "A"},
      {"run", "matmul", "--check=everything"},
      {"run", "matmul", "--repeat", "-1"},
      {"run", "matmul", "--repeat", "0"},
      {"run", "matmul", "--threads", "two"},
      {"run", "matmul", "--threads", "0"},
      {"run", "matmul", "--threads", "-2"},
      {"run", "matmul", "--seed", "-3"},
      {"run", "matmul", "--no-such-option"},
      {"show", "matmul"},
      {"schedule"},
      {"schedule", "check", "matmul"},
      {"schedule", "diff", "a"},
  };
  for (const auto& argv : wrong) {
    try {
      parse(argv);
      ADD_FAILURE() << "accepted: " << (argv.empty() ? "" : argv.back());
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Usage);
    }
  }
}

}  // namespace
}  // namespace calotype::cli
