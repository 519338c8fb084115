// Schedule files that must be refused: all or nothing, with file and line.

#include <limits>

#include "error/refusals.h"

namespace calotype::test {
namespace {

std::string good() {
  Schedule s;
  const Knob rows = s.knob("ROWS", 8);
  s["out"].split("y", "yo", "yi", rows).parallel("yo").vectorize("x", 16);
  s["total"].compute_at("out", "yo");
  return s.to_json(sample(), Target::host());
}

std::string with(const std::string& from, const std::string& to) {
  std::string text = good();
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from << "\nin\n" << text;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

struct Row {
  const char* what;
  std::string text;
  Refusal refusal;
};

/// Refused with the file's name and a line; a Schedule that is assigned keeps what it had.
void expect_rows(const std::vector<Row>& rows) {
  const Pipeline pipeline = sample();
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    Schedule kept;
    kept["out"].parallel("y");
    const Schedule before = kept;
    expect_refused([&] { kept = Schedule::from_json(row.text, pipeline, "f.json"); }, row.refusal);
    EXPECT_TRUE(kept == before);
  }
}

constexpr ErrorKind kUsage = ErrorKind::Usage;

TEST(RefusedFiles, CutShortAtEveryByte) {
  const std::string text = good();
  const Pipeline pipeline = sample();
  const Schedule whole = Schedule::from_json(text, pipeline);
  const std::size_t end = text.find_last_of('}') + 1;
  for (std::size_t length = 0; length < text.size(); ++length) {
    try {
      const Schedule loaded = Schedule::from_json(text.substr(0, length), pipeline, "f.json");
      EXPECT_GE(length, end) << "loaded from " << length << " bytes";
      EXPECT_TRUE(loaded == whole);
    } catch (const Error& e) {
      EXPECT_LT(length, end) << e.what();
      EXPECT_EQ(e.kind(), kUsage) << length << ": " << e.what();
      EXPECT_EQ(e.diagnostic().message.find("f.json:"), 0u) << length << ": " << e.what();
    }
  }
}

// Every byte replaced: refused, or read as some schedule that is legal; never anything else.
TEST(RefusedFiles, AnyByteChanged) {
  const std::string text = good();
  const Pipeline pipeline = sample();
  for (std::size_t at = 0; at < text.size(); ++at)
    for (const char c : {'\0', '"', '}', '[', '9', '\xff'}) {
      std::string changed = text;
      changed[at] = c;
      try {
        EXPECT_TRUE(Schedule::from_json(changed, pipeline, "f.json").check(pipeline).empty());
      } catch (const Error& e) {
        EXPECT_TRUE(e.kind() == kUsage || e.kind() == ErrorKind::Schedule) << at << ": " << e.what();
        EXPECT_EQ(e.diagnostic().message.find("f.json:"), 0u) << at << ": " << e.what();
      }
    }
}

TEST(RefusedFiles, NoJson) {
  expect_rows({
      {"empty", "", {kUsage, "f.json:1: this is no JSON", "", "", "", {"a whole JSON object"}}},
      {"blanks", " \n\t\n", {kUsage, "this is no JSON", "", "", "", {"a whole JSON object"}}},
      {"not UTF-8",
       with("\"by\": \"hand\"", "\"by\": \"h\xc3\x28nd\""),
       {kUsage, "UTF-8", "", "", "", {"a whole JSON object"}}},
      {"a lone surrogate",
       with("\"by\": \"hand\"", R"("by": "\ud800")"),
       {kUsage, "this is no JSON", "", "", "", {"a whole JSON object"}}},
      {"a byte order mark alone",
       "\xef\xbb\xbf",
       {kUsage, "this is no JSON", "", "", "", {"a whole JSON object"}}},
      {"10,000 lists",
       std::string(10000, '['),
       {kUsage, "nested too deep", "", "", "more than 64 levels", {"8 levels"}}},
      {"a comment",
       "// schedule\n" + good(),
       {kUsage, "f.json:1: this is no JSON", "", "", "", {"a whole JSON object"}}},
      {"two objects", good() + "{}", {kUsage, "this is no JSON", "", "", "", {"a whole JSON object"}}},
      {"a number", "1", {kUsage, "a schedule file is an integer, not an object", "", "", "1", {"an object"}}},
  });
}

TEST(RefusedFiles, Keys) {
  expect_rows({
      {"unknown",
       with("\"numerics\"", "\"numeric\""),
       {kUsage, "the key 'numeric' is not known", "", "", "numeric", {"did you mean 'numerics'?"}}},
      {"unknown argument",
       with("\"loop\": \"yo\"", "\"lop\": \"yo\""),
       {kUsage, "'parallel' has no argument 'lop'", "", "", "lop", {"did you mean 'loop'?"}}},
      {"missing",
       with("\"defaults\": 1, ", ""),
       {kUsage, "the key 'defaults' is missing", "", "", "", {"'defaults', an integer"}}},
      {"twice",
       with("\"defaults\": 1", "\"defaults\": 1, \"defaults\": 1"),
       {kUsage, "the key 'defaults' is given twice", "", "", "defaults", {"once"}}},
      {"argument twice",
       with("\"loop\": \"yo\"", "\"loop\": \"yo\", \"loop\": \"yi\""),
       {kUsage, "the key 'loop' is given twice", "", "", "loop", {"once"}}},
      {"knob that no case sets",
       with("\"ROWS\": 8", ""),
       {kUsage, "there is no knob 'ROWS'", "", "", "ROWS", {"knobs: none"}}},
  });
}

TEST(RefusedFiles, Values) {
  expect_rows({
      {"newer version",
       with("\"calotype_schedule\": 1", "\"calotype_schedule\": 2"),
       {kUsage, "version 2, and this library reads 1 to 1", "", "", "2", {"a newer library"}}},
      {"version 0",
       with("\"calotype_schedule\": 1", "\"calotype_schedule\": 0"),
       {kUsage, "version 0", "", "", "0", {"1"}}},
      {"string for a number",
       with("\"by\": 16", "\"by\": true"),
       {kUsage, "'by' is a bool", "", "", "", {"lanes"}}},
      {"fraction",
       with("\"by\": 16", "\"by\": 16.0"),
       {kUsage, "'by' is a number", "", "", "16.0", {"lanes"}}},
      {"number for a name",
       with("\"loop\": \"yo\"", "\"loop\": 3"),
       {kUsage, "'loop' is of the wrong kind", "", "", "3", {"the name of a loop"}}},
      {"list for a name",
       with("\"loop\": \"yo\"", "\"loop\": [\"yo\"]"),
       {kUsage, "'loop' is of the wrong kind", "", "", "a list", {"the name of a loop"}}},
      {"object for a list",
       with("\"reassociates\": []", "\"reassociates\": {}"),
       {kUsage, "'reassociates' is an object, not a list", "", "", "", {"a list"}}},
      {"number beyond 64 bits",
       with("\"by\": 16", "\"by\": 18446744073709551616"),
       {kUsage, "'by' is a number", "", "", "18446744073709551616", {"lanes"}}},
      {"number beyond doubles",
       with("\"by\": 16", "\"by\": 1e999"),
       {kUsage, "number overflow parsing '1e999'", "", "", "", {"a whole JSON object"}}},
      {"largest number",
       with("\"by\": 16", "\"by\": 9223372036854775807"),
       {kUsage, "'by' is out of range", "", "", "9223372036854775807", {"1 to 256"}}},
      {"knob beyond 64 bits",
       with("\"ROWS\": 8", "\"ROWS\": 99999999999999999999"),
       {kUsage, "the knob 'ROWS' is a number", "", "", "99999999999999999999", {"an integer"}}},
      {"target",
       with("\"target\": \"host\"", "\"target\": \"hots\""),
       {kUsage, "hots", "", "", "hots", {"host"}}},
      {"NUL in a name",
       with("\"loop\": \"yo\"", R"("loop": "y\u0000o")"),
       {ErrorKind::Schedule,
        "there is no loop",
        "out",
        std::string("#2 parallel(y\0o)", 16),
        std::string("y\0o", 3),
        {"loops of out"}}},
  });
}

TEST(RefusedFiles, OtherAlgorithms) {
  const std::string own = sample().fingerprint(), other = "h1:0123456789abcdef";
  expect_rows({
      {"fingerprint",
       with(own, other),
       {kUsage, "the file is for another algorithm: its structure is " + other, "", "", other, {own}}},
      {"operator",
       with("\"operator\": \"sample\"", "\"operator\": \"simple\""),
       {kUsage, "for the operator 'simple', not for 'sample'", "", "", "simple", {"sample"}}},
      {"names of Funcs",
       with("\"total\": [", "\"sum\": ["),
       {kUsage, "its names differ", "", "", "", {"sum -> total"}}},
      {"illegal directive",
       with("\"loop\": \"yo\"", "\"loop\": \"y\""),
       {ErrorKind::Schedule, "the loop 'y' is gone", "out", "#2 parallel(y)", "y", {"loops of out"}}},
  });
}

}  // namespace
}  // namespace calotype::test
