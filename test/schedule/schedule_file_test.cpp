// Schedule files of several variants, templates and cases.
#include "calotype/schedule_file.h"

#include <unistd.h>

#include <filesystem>

#include "file_text.h"
#include "helpers.h"
#include "schedule/cases.h"

namespace calotype::test {

namespace {

Schedule strips(int rows) {
  Schedule s;
  const Knob B = s.knob("B", rows);
  s["C"].split("m", "mo", "mi", B).parallel("mo");
  return s;
}

Schedule lanes() {
  Schedule s;
  s["acc"].update().split("k", "ko", "ki", 4).rfactor({{"ki", "lane"}}, "part");
  return s;
}

/// f32 for small and middling M in strips and otherwise in lanes; s32 in strips.
ScheduleFile sample_file() {
  ScheduleFile file("matmul", Target::host());
  file.add(matmul(), lanes(), {.template_name = "lanes"});
  file.add(matmul(), strips(2), {.when = {{.size = "M", .low = 1, .high = 16}}, .template_name = "strips"});
  file.add(matmul(), strips(8),
           {.when = {{.size = "M", .low = 1, .high = 64}, {.size = "K", .multiple = 4}}});
  file.add(matmul(Int(32)), strips(4));
  return file;
}

std::string with(const std::string& from, const std::string& to) {
  return replaced(sample_file().str(), from, to);
}

void expect_bad(const std::string& text, const std::vector<std::string>& parts,
                ErrorKind kind = ErrorKind::Usage) {
  expect_unreadable(
      [](const std::string& t) {
        const ScheduleFile file = ScheduleFile::parse(t, "f.json");
        file.check(matmul());
        file.check(matmul(Int(32)));
      },
      text, parts, kind);
}

TEST(ScheduleFile, HasACaseALineInCanonicalOrder) {
  const std::string text = sample_file().str();
  EXPECT_EQ(text.substr(text.find("  \"templates\"")), R"j(  "templates": {
    "strips": { "requires": [], "needs": {}, "do": [
      { "stage": "C", "do": "split", "loop": "m", "into": ["mo", "mi"], "by": "B" },
      { "stage": "C", "do": "parallel", "loop": "mo" }] },
    "lanes": { "requires": [], "needs": {}, "do": [
      { "stage": "acc.update(0)", "do": "split", "loop": "k", "into": ["ko", "ki"], "by": 4 },
      { "stage": "acc.update(0)", "do": "rfactor", "loops": ["ki"], "into": ["lane"], "as": "part" }] } },
  "cases": [
    { "variant": "f32", "when": { "M": [1, 16] }, "template": "strips", "knobs": { "B": 2 } },
    { "variant": "f32", "when": { "M": [1, 64], "K": "multiple 4" }, "template": "strips", "knobs": { "B": 8 } },
    { "variant": "f32", "when": {}, "template": "lanes", "knobs": {} },
    { "variant": "s32", "when": {}, "template": "strips", "knobs": { "B": 4 } } ],
  "numerics": { "reassociates": ["acc.k"], "contract": true },
  "provenance": { "calotype": "0.1.0", "by": "hand" } }
)j");
}

TEST(ScheduleFile, RoundTripsByteForByte) {
  const std::string text = sample_file().str();
  const ScheduleFile read = ScheduleFile::parse(text);
  EXPECT_EQ(read.str(), text);
  read.check(matmul());
  read.check(matmul(Int(32)));
  const std::string path =
      std::filesystem::temp_directory_path() / ("calotype_file_" + std::to_string(::getpid()) + ".json");
  read.save(path);
  EXPECT_EQ(ScheduleFile::load(path, matmul()).str(), text);
  std::filesystem::remove(path);
}

TEST(ScheduleFile, EverySpellingOfASizeRoundTrips) {
  for (const char* when : {"64", "[64, 128]", "[64, null]", "\"multiple 16\"", "[64, 128, \"multiple 16\"]",
                           "[64, null, \"multiple 16\"]"}) {
    const std::string text = with("[1, 16]", when);
    EXPECT_EQ(ScheduleFile::parse(text).str(), text);
  }
}

TEST(ScheduleFile, ACaseIsItsTemplateKnobsAndAssumptions) {
  const ScheduleFile file = sample_file();
  Schedule expected = strips(8);
  expected.assume("M", Assumption::range(1, 64)).assume("K", Assumption::multiple(4));
  EXPECT_TRUE(file.schedule(1) == expected) << file.schedule(1).str();
  EXPECT_TRUE(file.schedule(3) == strips(4));
  EXPECT_THROW(Schedule::from_json(file.str(), matmul()), Error);
  EXPECT_TRUE(Schedule::from_json(file.str(), matmul(Int(32))) == strips(4));
}

TEST(ScheduleFile, AddingReplacesTheSameCase) {
  ScheduleFile file = sample_file();
  file.add(matmul(), strips(4), {.when = {{.size = "M", .low = 1, .high = 16}}});
  EXPECT_EQ(file.cases().size(), 4u);
  EXPECT_TRUE(file.cases()[0].knobs[0].value == 4);
  file.add(matmul(), strips(16));
  EXPECT_EQ(file.templates().size(), 1u) << "nothing uses 'lanes' any more";
  EXPECT_THROW(file.add(matmul(), lanes(), {.template_name = "strips"}), Error);
  EXPECT_THROW(file.add(matmul(UInt(8)), lanes(), {.variant = "f32"}), Error);
  EXPECT_THROW(file.add(blur(), {}), Error);
}

TEST(ScheduleFile, ConditionsThatNoFileCanHoldAreRefused) {
  ScheduleFile file("matmul", Target::host());
  for (const std::vector<SizeRange>& when : std::vector<std::vector<SizeRange>>{
           {{"M"}}, {{"M", 0, {}, 0}}, {{"M", -4, 4}}, {{"M", 8, 4}}, {{"M", 0, 0}}, {{"M", 4}, {"M", 8}}})
    EXPECT_THROW(file.add(matmul(), {}, {.when = when}), Error);
  EXPECT_THROW(file.add(matmul(), {}, {.when = {{"V", 4}}}), Error);
  EXPECT_THROW(file.add(matmul(), {}, {.measured = "{"}), Error);
  EXPECT_TRUE(file.cases().empty()) << "nothing is left half changed";
}

TEST(ScheduleFile, NothingIsWrittenWithoutACaseForAllSizes) {
  ScheduleFile file("matmul", Target::host());
  file.add(matmul(), strips(2), {.when = {{.size = "M", .low = 1, .high = 16}}});
  EXPECT_THROW(file.save(std::filesystem::temp_directory_path() / "calotype_none.json"), Error);
}

TEST(ScheduleFile, BadCasesAreRefused) {
  expect_bad(with(R"("when": {}, "template": "lanes")", R"("when": { "M": 3 }, "template": "lanes")"),
             {"the variant 'f32' does not end with a case for all sizes", "case 2", "/cases/2/when"});
  for (const char* when :
       {"[16, 1]", "[1]", "[-1, 4]", "\"multiple 0\"", "\"multiples 4\"", "1.5", "null", "[0, null]", "0",
        "[1, 2, 3]", "[1, 7, \"multiple 8\"]", "\"multiple 99999999999999999\""})
    expect_bad(with("[1, 16]", when), {"the condition on 'M'", "/cases/0/when/M", "\"multiple N\""});
  expect_bad(with(R"("M": [1, 16])", R"("V": [1, 16])"),
             {"the algorithm has no size 'V'", "/cases/0/when/V", "sizes: "}, ErrorKind::Schedule);
  expect_bad(with(R"("knobs": { "B": 2 })", R"("knobs": {})"),
             {"there is no knob 'B', with the knobs of case 0", "/templates/strips/do/0/by"});
  expect_bad(with(R"("knobs": { "B": 2 })", R"("knobs": { "B": 0 })"), {"'by' is out of range"});
  expect_bad(with(R"("template": "lanes", "knobs": {})", R"("template": "strips", "knobs": { "B": 2 })"),
             {"no case uses the template 'lanes'"});
  expect_bad(with(R"("variant": "s32")", R"("variant": "f32")"), {"the same sizes as case 2"});
  expect_bad(with(R"("template": "lanes")", R"("template": "lane")"),
             {"there is no template 'lane'", "did you mean 'lanes'"});
  expect_bad(with(R"("when": { "M": [1, 16] })", R"("when": { "K": "multiple 4", "M": [1, 64] })"),
             {"the same sizes as case 0"});
  expect_bad(with(R"("variant": "s32")", R"("variant": "s23")"), {"there is no variant 's23'"});
  expect_bad(with("\"cases\": [", "\"cases\": [], \"case\": ["), {"the key 'case' is not known"});
}

TEST(ScheduleFile, AnAlgorithmWithoutVariantListsThem) {
  const ScheduleFile file = sample_file();
  EXPECT_EQ(file.find_variant(matmul(UInt(8))), nullptr);
  try {
    file.check(matmul(UInt(8)));
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("of 's32'"), std::string::npos) << e.what();
  }
}

TEST(ScheduleFile, IllegalCasesNameTheirPlace) {
  expect_bad(with(R"("loop": "mo" }] })", R"("loop": "m" }] })"),
             {"the loop 'm' is gone", "/templates/strips/do/1", "#2 parallel(m)"}, ErrorKind::Schedule);
}

// Every byte replaced: refused with its place, or read as a file that saves and reads as itself.
TEST(ScheduleFile, AnyByteChanged) {
  const std::string text = sample_file().str();
  for (std::size_t at = 0; at < text.size(); ++at)
    for (const char c : {'"', '}', '[', '9', '\xff'}) {
      std::string changed = text;
      changed[at] = c;
      try {
        const ScheduleFile read = ScheduleFile::parse(changed, "f.json");
        read.check(matmul());
        EXPECT_EQ(ScheduleFile::parse(read.str()).str(), read.str());
      } catch (const Error& e) {
        EXPECT_TRUE(e.kind() == ErrorKind::Usage || e.kind() == ErrorKind::Schedule)
            << at << ": " << e.what();
        EXPECT_EQ(e.diagnostic().message.find("f.json:"), 0u) << at << ": " << e.what();
      }
    }
}

/// Dense A in lanes, a pitch of A for middling M, and the rest.
ScheduleFile forms_file() {
  ScheduleFile file("matmul", Target::host());
  file.add(matmul(), {});
  file.add(matmul(), strips(2), {.when = {{"M", 4, 64}}, .template_name = "strips"});
  file.add(matmul(), strips(8),
           {.when = {{"M", 4, 64}}, .buffers = {{.buffer = "A", .pitch_multiple = 16, .base_align = 64}}});
  file.add(matmul(), lanes(),
           {.buffers = {{.buffer = "A", .dense = true}, {.buffer = "C", .base_align = 32}},
            .template_name = "lanes"});
  return file;
}

std::string with_form(const std::string& from, const std::string& to) {
  return replaced(forms_file().str(), from, to);
}

TEST(ScheduleFile, ConditionsOnBuffersStandInWhen) {
  const std::string text = forms_file().str();
  EXPECT_NE(text.find(R"j(  "cases": [
    { "variant": "f32", "when": { "M": [4, 64] }, "template": "strips", "knobs": { "B": 2 } },
    { "variant": "f32", "when": { "M": [4, 64], "A.pitch": "multiple 16 bytes", "A.base": "aligned 64 bytes" }, "template": "strips", "knobs": { "B": 8 } },
    { "variant": "f32", "when": { "A": "dense", "C.base": "aligned 32 bytes" }, "template": "lanes", "knobs": {} },
    { "variant": "f32", "when": {}, "template": "main", "knobs": {} } ],)j"),
            std::string::npos)
      << text;
  const ScheduleFile read = ScheduleFile::parse(text);
  EXPECT_EQ(read.str(), text);
  read.check(matmul());
  EXPECT_EQ(read.cases()[1].buffers, (std::vector<BufferForm>{{"A", false, 16, 64}}));
  Schedule expected = strips(8);
  expected.assume("M", Assumption::range(4, 64));
  expected.assume_buffer({.buffer = "A", .pitch_multiple = 16, .base_align = 64});
  EXPECT_TRUE(read.schedule(1) == expected) << read.schedule(1).str();
}

TEST(ScheduleFile, AddingReplacesTheCaseOfTheSameBuffers) {
  ScheduleFile file = forms_file();
  file.add(matmul(), strips(4),
           {.when = {{"M", 4, 64}}, .buffers = {{.buffer = "A", .pitch_multiple = 16, .base_align = 64}}});
  EXPECT_EQ(file.cases().size(), 4u);
  EXPECT_EQ(file.cases()[1].knobs[0].value, 4);
  file.add(matmul(), strips(4), {.buffers = {{.buffer = "B", .dense = true}}});
  EXPECT_EQ(file.cases().size(), 5u);
  EXPECT_EQ(file.cases()[3].buffers[0].buffer, "B") << "before the case for all calls";
  for (const std::vector<BufferForm>& forms : std::vector<std::vector<BufferForm>>{
           {{.buffer = "A"}},
           {{.buffer = "A", .pitch_multiple = 0}},
           {{.buffer = "A", .base_align = 48}},
           {{.buffer = "D", .dense = true}},
           {{.buffer = "A", .dense = true}, {.buffer = "A", .base_align = 4}}})
    EXPECT_THROW(file.add(matmul(), {}, {.buffers = forms}), Error);
  EXPECT_EQ(file.cases().size(), 5u);
}

TEST(ScheduleFile, BadConditionsOnBuffersAreRefused) {
  const std::string pitch = "\"A.pitch\": \"multiple 16 bytes\"";
  for (const char* to : {"\"A.pitch\": \"multiple 16\"", "\"A.pitch\": \"aligned 16 bytes\"",
                         "\"A.pitch\": \"multiple 0 bytes\"", "\"A.pitch\": \"multiple 1 bytes\"",
                         "\"A.pitch\": \"multiple 016 bytes\"", "\"A.pitch\": \"multiple  bytes\"",
                         "\"A.pitch\": \"multiple 99999999999 bytes\"", "\"A.pitch\": \"multiple -4 bytes\""})
    expect_bad(with_form(pitch, to),
               {"the condition on 'A.pitch'", "/cases/1/when/A.pitch", "multiple N bytes"});
  expect_bad(with_form("\"aligned 64 bytes\"", "\"multiple 64 bytes\""),
             {"the condition on 'A.base'", "/cases/1/when/A.base", "aligned N bytes"});
  expect_bad(with_form("\"A\": \"dense\"", "\"A\": \"sparse\""),
             {"the condition on 'A'", "\"B\": \"dense\""});
  expect_bad(with_form("\"A\": \"dense\"", "\"D\": \"dense\""),
             {"there is no input or output 'D'", "/cases/2/when/D", "inputs and outputs: A, B, C"},
             ErrorKind::Schedule);
  expect_bad(with_form("\"A.pitch\": \"multiple 16", "\"acc.pitch\": \"multiple 16"),
             {"there is no input or output 'acc'", "/cases/1/when/acc.pitch"}, ErrorKind::Schedule);
  expect_bad(with_form("aligned 64 bytes", "aligned 48 bytes"), {"powers of two", "/cases/1/when"},
             ErrorKind::Schedule);
  expect_bad(with_form(R"({ "variant": "f32", "when": {}, "template": "main")",
                       R"({ "variant": "f32", "when": { "B": "dense" }, "template": "main")"),
             {"the variant 'f32' does not end with a case for all sizes", "/cases/3/when"});
  expect_bad(with_form("\"M\": [4, 64], " + pitch + ", \"A.base\": \"aligned 64 bytes\"",
                       "\"C.base\": \"aligned 32 bytes\", \"A\": \"dense\""),
             {"the case is for the same sizes and buffers as case 1"});
}

TEST(ScheduleFile, AnyByteOfConditionsOnBuffersChanged) {
  const std::string text = forms_file().str();
  for (std::size_t at = text.find("\"cases\""); at < text.size(); ++at)
    for (const char c : {'"', '0', 'A', ' '}) {
      std::string changed = text;
      changed[at] = c;
      try {
        const ScheduleFile read = ScheduleFile::parse(changed, "f.json");
        read.check(matmul());
        EXPECT_EQ(ScheduleFile::parse(read.str()).str(), read.str());
      } catch (const Error& e) {
        EXPECT_TRUE(e.kind() == ErrorKind::Usage || e.kind() == ErrorKind::Schedule)
            << at << ": " << e.what();
      }
    }
}

std::vector<std::size_t> order(const ScheduleFile& file) {
  return schedule::CaseOrder(file, file.variants()[0], Target::host()).tried();
}

TEST(CaseOrder, NarrowestFirst) {
  ScheduleFile file("matmul", Target::host());
  const auto add = [&](std::vector<SizeRange> when) { file.add(matmul(), {}, {.when = std::move(when)}); };
  add({{"M", 1, 64}});
  add({{"M", 1, 16}});
  add({{"M", 4}});
  add({{"M", 32}});
  add({{"M", 1, 64}, {"K", 1, 4}});
  add({{"M", 1, 64, 8}});
  add({{"M", 32, {}, 8}});
  add({});
  EXPECT_EQ(order(file), (std::vector<std::size_t>{4, 5, 1, 0, 6, 3, 2, 7}));
  const schedule::CaseOrder cases(file, file.variants()[0], Target::host());
  EXPECT_EQ(cases.choose({{"M", 8}, {"K", 4}}), 4u);
  EXPECT_EQ(cases.choose({{"M", 8}, {"K", 5}}), 5u);
  EXPECT_EQ(cases.choose({{"M", 9}, {"K", 5}}), 1u);
  EXPECT_EQ(cases.choose({{"M", 17}, {"K", 5}}), 0u);
  EXPECT_EQ(cases.choose({{"M", 72}, {"K", 5}}), 6u);
  EXPECT_EQ(cases.choose({{"M", 71}, {"K", 5}}), 3u);
  EXPECT_EQ(cases.choose({{"M", 0}}), 7u);
  EXPECT_EQ(cases.choose({}), 7u);
}

TEST(CaseOrder, StricterFormsFirst) {
  ScheduleFile file("matmul", Target::host());
  const auto add = [&](std::vector<SizeRange> when, std::vector<BufferForm> buffers) {
    file.add(matmul(), {}, {.when = std::move(when), .buffers = std::move(buffers)});
  };
  add({}, {{.buffer = "A", .pitch_multiple = 16}});
  add({}, {{.buffer = "A", .pitch_multiple = 64}});
  add({}, {{.buffer = "A", .pitch_multiple = 16}, {.buffer = "B", .dense = true}});
  add({{"M", 1, 64}}, {});
  add({{"M", 1, 64}}, {{.buffer = "A", .base_align = 16}});
  add({}, {});
  EXPECT_EQ(order(file), (std::vector<std::size_t>{4, 3, 2, 1, 0, 5}));
  const schedule::CaseOrder cases(file, file.variants()[0], Target::host());
  EXPECT_EQ(cases.buffers(), (Names{"A", "B"}));
  const auto choose = [&](std::int64_t pitch, std::uint64_t address, std::int64_t b_pitch, std::int64_t m) {
    return cases.choose({{"M", m}},
                        {{"A", {{8, m}, {4, pitch}, 4, address}}, {"B", {{6, 8}, {4, b_pitch}, 4, 0}}});
  };
  EXPECT_EQ(choose(32, 16, 24, 64), 4u);
  EXPECT_EQ(choose(32, 8, 24, 64), 3u);
  EXPECT_EQ(choose(32, 16, 24, 65), 2u);
  EXPECT_EQ(choose(64, 16, 28, 65), 1u);
  EXPECT_EQ(choose(48, 16, 28, 65), 0u);
  EXPECT_EQ(choose(36, 16, 28, 65), 5u);
  EXPECT_EQ(cases.choose({{"M", 65}}), 5u) << "what is not known fits no condition";
}

TEST(CaseOrder, AFormIsWhatTheCompilerAssumes) {
  using schedule::CaseBuffer;
  const BufferForm dense{.buffer = "A", .dense = true}, pitch{.buffer = "A", .pitch_multiple = 16},
      both{.buffer = "A", .dense = true, .pitch_multiple = 16}, base{.buffer = "A", .base_align = 64};
  const auto misfit = [](const BufferForm& form, const CaseBuffer& b) { return schedule::misfit(form, b); };
  EXPECT_EQ(misfit(dense, {{5, 3}, {4, 20}, 4, 0}), "");
  EXPECT_EQ(misfit(dense, {{5, 3}, {4, 24}, 4, 0}),
            "A is not dense: the stride of dimension 1 is 24 bytes, not 20");
  EXPECT_EQ(misfit(dense, {{5, 3}, {8, 20}, 4, 0}),
            "A is not dense: the stride of dimension 0 is 8 bytes, not 4");
  EXPECT_EQ(misfit(dense, {{5, 1}, {4, 999}, 4, 0}), "") << "one row";
  EXPECT_EQ(misfit(dense, {{1, 3}, {999, 4}, 4, 0}), "");
  EXPECT_EQ(misfit(pitch, {{5, 3, 2}, {4, 32, 100}, 4, 0}),
            "A.pitch is 100 bytes in dimension 2, not a multiple of 16 bytes");
  EXPECT_EQ(misfit(pitch, {{5, 3, 1}, {4, -32, 100}, 4, 0}), "");
  EXPECT_EQ(misfit(both, {{5, 1}, {4, 20}, 4, 0}),
            "A.pitch is 20 bytes in dimension 1, not a multiple of 16 bytes");
  EXPECT_EQ(misfit(both, {{8, 1}, {4, 20}, 4, 0}), "");
  EXPECT_EQ(misfit(base, {{5}, {4}, 4, 68}), "A.base is 4 bytes past a multiple of 64 bytes");
  EXPECT_EQ(misfit(base, {{5}, {4}, 4, std::nullopt}), "") << "a copy is made so";
  EXPECT_EQ(misfit(base, {{0}, {4}, 4, 68}), "") << "there is no element";
}

TEST(CaseOrder, ExplainsBuffers) {
  const ScheduleFile file = forms_file();
  const schedule::CaseOrder cases(file, file.variants()[0], Target::host());
  EXPECT_EQ(
      cases.explain({{"M", 5}}, {{"A", {{5, 5}, {4, 20}, 4, 64}}, {"C", {{5, 5}, {4, 20}, 4, 16}}}),
      "case 0: M 4 to 64; template strips; B=2: taken\n"
      "case 1: M 4 to 64, A pitch multiple of 16 bytes, base aligned to 64 bytes; template strips; B=8: "
      "A.pitch is 20 bytes in dimension 1, not a multiple of 16 bytes\n"
      "case 2: A dense, C base aligned to 32 bytes; template lanes: C.base is 16 bytes past a multiple of 32 "
      "bytes\n"
      "case 3: all sizes; template main: fits, but case 0 is narrower or stands before it\n");
  EXPECT_NE(cases.explain({{"M", 5}}).find("how A lies is not known"), std::string::npos);
}

TEST(CaseOrder, ExplainsEveryCase) {
  const ScheduleFile file = sample_file();
  const schedule::CaseOrder cases(file, file.variants()[0], Target::host());
  EXPECT_EQ(cases.explain({{"M", 5}, {"K", 7}}),
            "case 0: M 1 to 16; template strips; B=2: taken\n"
            "case 1: M 1 to 64, K multiples of 4; template strips; B=8: K is 7, not multiples of 4\n"
            "case 2: all sizes; template lanes: fits, but case 0 is narrower or stands before it\n");
}

TEST(ScheduleFile, NeedsAreThoseOfTheLoweredProgram) {
  Schedule blocks;
  blocks["C"].gpu_blocks("m").gpu_threads("n", 64);
  blocks["acc"].compute_at("C", "m").store_in(Memory::Shared).gpu_threads("n", 64);
  blocks["acc"].update().gpu_threads("n", 64);
  blocks.assume("N", Assumption::exact(12000));
  ScheduleFile file("matmul", Target::cuda("sm_90a"));
  file.add(matmul(), blocks, {.when = {{"M", 1, 64}}, .template_name = "shared"});
  file.add(matmul(), {}, {.template_name = "main"});
  EXPECT_NE(file.str().find(R"("shared": { "requires": [], "needs": { "threads": 64, "shared_kb": 47 })"),
            std::string::npos)
      << file.str();
  EXPECT_EQ(ScheduleFile::parse(file.str()).str(), file.str());
  const ScheduleFile more =
      ScheduleFile::parse(replaced(file.str(), "\"shared_kb\": 47", "\"shared_kb\": 164"));
  const auto tried = [&](const char* arch) {
    return schedule::CaseOrder(more, more.variants()[0], Target::cuda(arch)).tried().size();
  };
  EXPECT_EQ(tried("sm_90a"), 2u);
  EXPECT_EQ(tried("sm_80"), 1u);
  EXPECT_EQ(tried("sm_120a"), 1u);
  EXPECT_EQ(tried(""), 2u);
  EXPECT_NE(schedule::CaseOrder(more, more.variants()[0], Target::cuda("sm_80"))
                .explain({{"M", 4}})
                .find("needs 164 KB of shared memory a block, and cuda-sm_80 has 163"),
            std::string::npos);
  // A schedule is refused where a block cannot have its memory.
  Schedule large;
  large["C"].gpu_blocks("m").gpu_threads("n", 64);
  large["acc"].compute_at("C", "m").store_in(Memory::Shared).gpu_threads("n", 64);
  large["acc"].update().gpu_threads("n", 64);
  large.assume("N", Assumption::exact(30000));
  EXPECT_TRUE(large.check(matmul(), Target::cuda("sm_90a")).empty());
  EXPECT_FALSE(large.check(matmul(), Target::cuda("sm_86")).empty());
}

/// The needs that a file states for a schedule of matmul as its only template.
std::string needs_of_matmul(const Schedule& s) {
  ScheduleFile file("matmul", Target::cuda("sm_90a"));
  file.add(matmul(), s, {.template_name = "main"});
  const std::string text = file.str(), key = "\"needs\": ";
  const std::size_t at = text.find(key) + key.size();
  return text.substr(at, text.find('}', at) + 1 - at);
}

// Threads whose number no directive of their own loop says: of loops that rfactor has made dimensions of a
// Func of its own, and of regions that tiles of other Funcs make constant.
TEST(ScheduleFile, NeedsThreadsOfAllLoops) {
  Schedule parts;
  parts["acc"].update().split("k", "ko", "ki", 64);
  parts["acc"].update().split("ki", "kw", "kt", 8);
  parts["acc"].update().rfactor({{"ko", "u"}}, "part");
  parts["C"].gpu_blocks("m").gpu_threads("n", 32);
  parts["acc"].compute_root().gpu_blocks("m").gpu_threads("n", 32);
  parts["acc"].update().gpu_blocks("m").gpu_threads("n", 32);
  parts["part"].compute_root().gpu_blocks("u", "m", "n");
  parts["part"].update().reorder("kt", "kw", "u", "m", "n").gpu_blocks("u", "m", "n").atomic();
  parts["part"].update().gpu_threads("kt", "kw");
  EXPECT_EQ(needs_of_matmul(parts), R"({ "threads": 64 })");

  Schedule tiles;
  tiles["C"].tile("n", "m", "no", "mo", "ni", "mi", 16, 4).gpu_blocks("no", "mo");
  tiles["acc"].compute_at("C", "no").store_in(Memory::Shared).gpu_threads("n", "m");
  tiles["acc"].update().reorder("n", "m", "k").gpu_threads("n", "m");
  EXPECT_EQ(needs_of_matmul(tiles), R"({ "threads": 64, "shared_kb": 1 })");
}

TEST(CaseOrder, NeedsThatTheTargetDoesNotMeetAreLeftOut) {
  Schedule blocks;
  blocks["C"].gpu_blocks("m").gpu_threads("n", 64);
  ScheduleFile file("matmul", Target::cuda("sm_90a"));
  file.add(matmul(), blocks, {.when = {{"M", 1, 64}}, .template_name = "many"});
  file.add(matmul(), {}, {.template_name = "main"});
  std::string text = file.str();
  text.replace(text.find("\"threads\": 256"), 14, "\"threads\": 2048");
  const ScheduleFile read = ScheduleFile::parse(text);
  read.check(matmul());
  const schedule::CaseOrder cases(read, read.variants()[0], Target::cuda("sm_90a"));
  EXPECT_EQ(cases.tried(), std::vector<std::size_t>{1});
  EXPECT_NE(cases.explain({{"M", 4}}).find("case 0: M 1 to 64; template many: needs 2048 threads a block"),
            std::string::npos)
      << cases.explain({{"M", 4}});
}

}  // namespace

}  // namespace calotype::test
