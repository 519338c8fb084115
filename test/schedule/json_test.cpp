// Schedule files: what is written, and every way of being wrong.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "calotype/schedule_file.h"
#include "file_text.h"
#include "helpers.h"

namespace calotype::test {

/// A file that uses knobs, lists, choices and directives on the graph.
Schedule sample() {
  Schedule s;
  const Knob B = s.knob("B", 8);
  s["C"].split("m", "mo", "mi", B).parallel("mo").vectorize("n", 16);
  s["acc"].compute_at("C", "mo").update().split("k", "ko", "ki", 4).unroll("ki");
  s[s.in("A", {"acc"})].compute_at("C", "mo");
  return s;
}
std::string sample_text() { return sample().to_json(matmul(), Target::host()); }

std::string with(const std::string& from, const std::string& to) { return replaced(sample_text(), from, to); }

void expect_bad(const std::string& text, const std::vector<std::string>& parts,
                ErrorKind kind = ErrorKind::Usage) {
  expect_unreadable([](const std::string& t) { Schedule::from_json(t, matmul(), "f.json"); }, text, parts,
                    kind);
}

TEST(Json, HasOneDirectiveALineInCanonicalOrder) {
  const std::string fingerprint = matmul().graph().fingerprint;
  EXPECT_EQ(sample_text(),
            R"j({ "calotype_schedule": 1, "defaults": 1, "operator": "matmul", "target": "host",
  "variants": {
    "f32": { "structure": ")j" +
                fingerprint +
                R"j(", "inputs": ["A", "B"], "funcs": { "acc": ["n", "m", "k"], "C": ["n", "m"] } } },
  "templates": {
    "main": { "requires": [], "needs": {}, "do": [
      { "stage": "C", "do": "split", "loop": "m", "into": ["mo", "mi"], "by": "B" },
      { "stage": "C", "do": "parallel", "loop": "mo" },
      { "stage": "C", "do": "vectorize", "loop": "n", "by": 16 },
      { "stage": "acc", "do": "compute_at", "of": "C", "loop": "mo" },
      { "stage": "acc.update(0)", "do": "split", "loop": "k", "into": ["ko", "ki"], "by": 4 },
      { "stage": "acc.update(0)", "do": "unroll", "loop": "ki" },
      { "do": "in", "of": "A", "for": ["acc"], "as": "A.in(acc)" },
      { "stage": "A.in(acc)", "do": "compute_at", "of": "C", "loop": "mo" }] } },
  "cases": [
    { "variant": "f32", "when": {}, "template": "main", "knobs": { "B": 8 } } ],
  "numerics": { "reassociates": [], "contract": true },
  "provenance": { "calotype": "0.1.0", "by": "hand" } }
)j");
}

TEST(Json, RoundTripsByteForByte) {
  expect_round_trip(matmul(), sample());
  expect_round_trip(matmul(), Schedule{});
  expect_round_trip(matmul(), Schedule{}, Target::interpreter("sm_90a"));
}

TEST(Json, KeepsProvenanceMeasuredAndNames) {
  Schedule s = sample();
  s.set_notes({.variant = "plain",
               .template_name = "tiled",
               .provenance = R"({ "calotype": "0.1.0", "by": "tune", "seed": 7, "date": "2024-01-31" })",
               .measured = R"({ "at": { "M": 64 }, "us": 12.50, "on": "a \"desk\"" })"});
  const std::string text = s.to_json(matmul(), Target::host());
  const Schedule read = Schedule::from_json(text, matmul());
  EXPECT_EQ(read.to_json(matmul(), Target::host()), text);
  EXPECT_EQ(read.notes().variant, "plain");
  EXPECT_EQ(read.notes().target, "host");
  EXPECT_NE(text.find(R"("us": 12.50, "on": "a \"desk\"")"), std::string::npos);
}

TEST(Json, OtherLayoutsOfTheTextMeanTheSame) {
  std::string text = sample_text();
  for (std::size_t at = 0; (at = text.find(": ", at)) != std::string::npos; at++)
    text.replace(at, 2, " :\n\t");
  EXPECT_TRUE(Schedule::from_json(text, matmul()) == sample());
}

TEST(Json, CutShortAnywhereIsRefused) {
  const std::string text = sample_text();
  for (std::size_t length = 0; length + 2 < text.size(); length += 7)
    expect_bad(text.substr(0, length), {"this is no JSON"});
  expect_bad("", {"f.json:1: this is no JSON"});
  expect_bad(text + "x", {"this is no JSON"});
}

TEST(Json, DeepNestingIsRefused) {
  expect_bad(std::string(10000, '['), {"f.json:1: the text is nested too deep", "more than 64 levels"});
  std::string objects;
  for (int i = 0; i < 10000; i++) objects += "{\"a\":";
  expect_bad(objects, {"the text is nested too deep"});
}

TEST(Json, LargeFilesAreRefusedUnread) {
  const std::string folder =
      std::filesystem::temp_directory_path() / ("calotype_large_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const std::string path = folder + "/large.json";
  {
    std::ofstream out(path);
  }
  std::filesystem::resize_file(path, 100u << 20);
  try {
    Schedule::load(path, matmul());
    ADD_FAILURE() << "loaded";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Usage);
    EXPECT_NE(e.diagnostic().str().find("large.json:1: the file is too large"), std::string::npos)
        << e.what();
  }
  std::filesystem::remove_all(folder);
  expect_bad(std::string(100u << 20, ' '), {"the file is too large for a schedule"});
  expect_bad(std::string(100000, '['), {"the text is nested too deep"});
}

TEST(Json, ManyKeysAreReadQuickly) {
  std::string text = "{";
  for (int i = 0; i < 100000; i++) text += (i ? ",\"" : "\"") + std::to_string(i) + "\":1";
  expect_bad(text + "}", {"the key 'calotype_schedule' is missing"});
}

// A file as version 0.1.0 wrote it, with one variant, one template and one case.
TEST(Json, OldFilesStayReadable) {
  const std::string path = CALOTYPE_SOURCE_DIR "/test/schedule/files/matmul_0.1.0.json";
  std::ifstream in(path);
  const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const Schedule old = Schedule::load(path, matmul());
  EXPECT_TRUE(old == sample());
  EXPECT_EQ(old.to_json(matmul(), Target::host()), bytes);
  EXPECT_EQ(ScheduleFile::load(path, matmul()).str(), bytes);
}

TEST(Json, NumericsAndNeedsAreCompared) {
  expect_bad(with(R"("reassociates": [])", R"("reassociates": ["acc.k"])"),
             {"no case changes the order of 'acc.k'", "/numerics/reassociates/0"});
  expect_bad(with(R"("contract": true)", R"("contract": false)"),
             {"do not agree on 'contract'", "/numerics/contract"});
  Schedule s;
  s["acc"].update().split("k", "ko", "ki", 4).rfactor({{"ki", "lane"}}, "part");
  std::string text = s.to_json(matmul(), Target::host());
  text.replace(text.find(R"(["acc.k"])"), 9, "[]");
  expect_bad(text, {"case 0 changes the order of 'acc.k'", "/numerics/reassociates"});
  const Target gpu = Target::cuda("sm_90a");
  Schedule threads;
  threads["C"].gpu_blocks("m").gpu_threads("n", 64);
  threads["acc"].compute_at("C", "m").store_in(Memory::Shared).gpu_threads("n", 64);
  threads["acc"].update().gpu_threads("n", 64);
  text = threads.to_json(matmul(), gpu);
  text.replace(text.find(R"("threads": 64)"), 13, R"("threads": 32)");
  expect_bad(text,
             {"the template 'main' needs 64 threads, and the file says 32", "/templates/main/needs/threads"});
}

TEST(Json, VersionsAreRefused) {
  expect_bad(with(R"("calotype_schedule": 1)", R"("calotype_schedule": 2)"),
             {"f.json:1: the file is of version 2, and this library reads 1 to 1", "/calotype_schedule",
              "a newer library"});
  expect_bad(with(R"("defaults": 1)", R"("defaults": 9)"), {"the defaults are numbered 9", "/defaults"});
  expect_bad(with(R"("requires": [])", R"("requires": ["tma"])"),
             {"this library has no 'tma'", "/templates/main/requires/0"});
  expect_bad(with(R"("calotype_schedule": 1)", R"("calotype_schedule": "1")"),
             {"is a string, not an integer"});
}

TEST(Json, UnknownAndMissingKeysAreRefused) {
  expect_bad(with(R"("numerics": {)", R"("numeric": {)"),
             {"the key 'numeric' is not known here", "did you mean 'numerics'"});
  expect_bad(with(R"("defaults": 1, )", ""), {"the key 'defaults' is missing"});
  expect_bad(with(R"("when": {}, )", ""), {"f.json:15: the key 'when' is missing (at /cases/0)"});
  expect_bad(with(R"("needs": {})", R"("needs": { "shared": 1 })"),
             {"the key 'shared' is not known", "/templates/main/needs/shared"});
  expect_bad(with(R"("operator")", R"("calotype_schedule": 1, "operator")"),
             {"the key 'calotype_schedule' is given twice"});
  expect_bad(with(R"("contract": true)", R"("contract": 1)"),
             {"'contract' is an integer, not a bool", "/numerics/contract"});
  expect_bad("[]", {"a schedule file is a list, not an object"});
  expect_bad(with(R"("variants": {)", R"("variants": { "s8": {},)"),
             {"the key 'structure' is missing", "/variants/s8"});
  expect_bad(with(R"("template": "main")", R"("template": "mian")"),
             {"there is no template 'mian'", "did you mean 'main'"});
  expect_bad(
      with(R"("when": {})", R"("when": { "M": 1 })"),
      {"the variant 'f32' does not end with a case for all sizes", "/cases/0/when", "an empty 'when'"});
}

TEST(Json, BadDirectivesNameTheirPlace) {
  expect_bad(
      with(R"("do": "parallel")", R"("do": "paralel")"),
      {"f.json:7: there is no directive 'paralel'", "/templates/main/do/1/do", "did you mean 'parallel'"});
  expect_bad(with(R"("by": 16)", R"("bye": 16)"),
             {"f.json:8: 'vectorize' has no argument 'bye'", "did you mean 'by'"});
  expect_bad(with(R"("by": 16)", R"("by": 1.5)"),
             {"f.json:8: 'by' is a number", "/templates/main/do/2/by", "1.5"});
  expect_bad(with(R"("by": 16)", R"("by": [16])"),
             {"'by' is of the wrong kind", "an integer or the name of a knob"});
  expect_bad(with(R"("by": 16)", R"("by": 0)"), {"'by' is out of range", "1 to 256"});
  expect_bad(with(R"("by": 16)", R"("by": "BM")"), {"there is no knob 'BM'", "knobs: B"});
  expect_bad(with(R"("by": "B")", R"("by": "B", "tail": "gard")"),
             {"'gard' is no tail", "did you mean 'guard'"});
  expect_bad(with(R"("into": ["mo", "mi"])", R"("into": ["mo", 3])"),
             {"f.json:6: 'into' is of the wrong kind", "/templates/main/do/0/into/1"});
  expect_bad(with(R"("into": ["mo", "mi"])", R"("into": ["mo"])"), {"'into' has 1 elements", "2"});
  expect_bad(with(R"("loop": "m", )", ""), {"f.json:6: 'split' needs the argument 'loop'"});
  expect_bad(with(R"("stage": "C", "do": "parallel")", R"("do": "parallel")"),
             {"the key 'stage' is missing", "/templates/main/do/1"});
  expect_bad(with(R"({ "stage": "C", "do": "parallel", "loop": "mo" })", "7"),
             {"a directive is an integer, not an object"});
}

TEST(Json, IllegalDirectivesNameTheirPlace) {
  expect_bad(with(R"("loop": "mo" },)", R"("loop": "mq" },)"),
             {"f.json:7: there is no loop 'mq' in C", "/templates/main/do/1", "#2 parallel(mq)",
              "did you mean 'mi' or 'mo'"},
             ErrorKind::Schedule);
  expect_bad(with(R"j("acc.update(0)", "do": "unroll")j", R"j("ac.update(0)", "do": "unroll")j"),
             {"f.json:11: there is no stage 'ac.update(0)'", "did you mean 'acc.update(0)'"},
             ErrorKind::Schedule);
}

TEST(Json, AnotherAlgorithmIsRefused) {
  const std::string own = matmul().graph().fingerprint, other = matmul(Int(32)).graph().fingerprint;
  EXPECT_NE(own, other);
  expect_bad(Schedule{}.to_json(matmul(Int(32)), Target::host()),
             {"the file is for another algorithm", own, other, "/variants/s32/structure"});
  expect_bad(with(R"("operator": "matmul")", R"("operator": "matmull")"),
             {"for the operator 'matmull', not for 'matmul'"});
  expect_bad(with(R"("target": "host")", R"("target": "hostess")"), {"/target"});
}

TEST(Json, OtherNamesOfTheSameAlgorithmPrintTheRenaming) {
  expect_bad(with(R"("inputs": ["A", "B"])", R"("inputs": ["X", "B"])"), {"its names differ", "X -> A"});
  expect_bad(with(R"("acc": ["n", "m", "k"])", R"("sum": ["n", "m", "kk"])"), {"sum -> acc", "sum.kk -> k"});
}

TEST(Json, FilesAreWrittenWhole) {
  const std::string folder =
      std::filesystem::temp_directory_path() / ("calotype_json_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const std::string path = folder + "/host.json";
  sample().save(path, matmul(), Target::host());
  EXPECT_TRUE(Schedule::load(path, matmul()) == sample());
  Schedule illegal;
  illegal["C"].split("q", 8);
  EXPECT_THROW(illegal.save(path, matmul(), Target::host()), Error);
  EXPECT_TRUE(Schedule::load(path, matmul()) == sample()) << "the old file stays";
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1)
      << "nothing else is left behind";
  std::filesystem::remove_all(folder);
  EXPECT_THROW(sample().save(folder + "/none/host.json", matmul(), Target::host()), Error);
  EXPECT_THROW(Schedule::load(folder + "/none/host.json", matmul()), Error);
}

}  // namespace calotype::test
