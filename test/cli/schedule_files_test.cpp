// The command line with schedule files of several variants and cases.

#include "calotype/operator.h"
#include "calotype/schedule_file.h"
#include "cli/program.h"
#include "lang/graph.h"

namespace calotype::test {
namespace {

const std::string kTarget = " --target cuda-interpreter ";
const std::string kSmall = "run matmul --size M=5,N=6,K=7 --repeat 1 --check" + kTarget;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// A row a block, with fewer threads for M up to 8.
ScheduleFile two_cases() {
  const Pipeline matmul = find_operator("matmul").pipeline(OperatorTypes(Float(32)));
  const lang::Graph& graph = matmul.graph();
  const lang::FuncDef& out = graph.func(graph.outputs[0].func);
  Schedule rows, small;
  rows[out.name].gpu_blocks(out.args[1]->name).gpu_threads(out.args[0]->name, 16);
  const Knob threads = small.knob("THREADS", 4);
  small[out.name].gpu_blocks(out.args[1]->name).gpu_threads(out.args[0]->name, threads);
  ScheduleFile file("matmul", Target::cuda("sm_90a"));
  file.add(matmul, rows, {.template_name = "rows"});
  file.add(matmul, small, {.when = {{"M", 1, 8}}, .template_name = "small"});
  return file;
}

TEST(ScheduleCommand, RunTakesTheCaseOfTheSizes) {
  Directory d;
  const std::string path = d.write("two.json", two_cases().str());
  const Ran small = run_program(kSmall + "--explain --json --schedule " + path);
  ASSERT_EQ(small.code, 0) << small.err << small.out;
  EXPECT_EQ(small.json()["checked"], true);
  EXPECT_TRUE(has(small.json()["explain"], "case 0: M 1 to 8; template small; THREADS=4: taken"))
      << small.out;
  const Ran large =
      run_program("run matmul --size M=9,N=6,K=7 --repeat 1 --check --explain --schedule " + path + kTarget);
  EXPECT_EQ(large.code, 0) << large.err;
  EXPECT_TRUE(has(large.out, "M is 9, not 1 to 8")) << large.out;
  EXPECT_TRUE(has(large.out, "case 1: all sizes; template rows: taken")) << large.out;
  EXPECT_EQ(run_program(kSmall + "--set THREADS=8 --check=stages --schedule " + path).code, 0);
  EXPECT_TRUE(has(run_program(kSmall + "--explain").out, "no cases"));
}

TEST(ScheduleCommand, ShowPrintsTheCase) {
  Directory d;
  const std::string path = d.write("two.json", two_cases().str());
  const std::string show = "show matmul --schedule " + path + kTarget;
  EXPECT_TRUE(has(run_program(show + "--level cases").out, "case 1: all sizes; template rows: taken"));
  EXPECT_TRUE(
      has(run_program(show + "--level plan --size M=4,N=4,K=4").out, "# case 0: M 1 to 8; template small"));
  EXPECT_TRUE(has(run_program(show + "--level schedule --size M=4,N=4,K=4").out, "gpu_threads"));
}

TEST(ScheduleCommand, CheckPrintAndSaveTakeEveryCase) {
  Directory d;
  const std::string path = d.write("two.json", two_cases().str()), other = d / "other.json";
  EXPECT_EQ(run_program("schedule check matmul " + path + kTarget).code, 0);
  const Ran print = run_program("schedule print matmul " + path + kTarget);
  EXPECT_TRUE(has(print.out, "// f32, case 0: M 1 to 8; template small; THREADS=4\n")) << print.out;
  EXPECT_TRUE(has(print.out, "s.assume(\"M\", Assumption::range(1, 8));")) << print.out;
  ASSERT_EQ(run_program("schedule save matmul " + path + " -o " + other + " --target cuda-sm_90a").code, 0);
  EXPECT_EQ(Directory::read(other), Directory::read(path));
  EXPECT_EQ(run_program("schedule diff " + path + " " + other).code, 0);
}

TEST(ScheduleCommand, SaveWritesAVariantForEachType) {
  Directory d;
  const std::string both = d / "both.json", one = d / "one.json";
  ASSERT_EQ(run_program("schedule save softmax @host -o " + both).code, 0);
  ASSERT_EQ(run_program("schedule save softmax @host --type bf16 -o " + one).code, 0);
  const ScheduleFile file = ScheduleFile::load(both);
  EXPECT_EQ(file.variants().size(), find_operator("softmax").types.size());
  EXPECT_EQ(ScheduleFile::load(one).variants().size(), 1u);
  const Ran check = run_program("schedule check softmax --json " + both);
  EXPECT_EQ(check.code, 0) << check.out;
  EXPECT_EQ(check.json()["types"].size(), 2u);
  EXPECT_EQ(run_program("schedule check softmax --type bf16 " + both).code, 0);
  EXPECT_EQ(run_program("schedule check softmax --type f32 " + one).code, 2);
  const Ran diff = run_program("schedule diff " + both + " " + one);
  EXPECT_EQ(diff.code, 1);
  EXPECT_TRUE(has(diff.out, "- variant f32")) << diff.out;
}

TEST(ScheduleCommand, AVariantOfNoTypeIsAFault) {
  Directory d;
  std::string text = two_cases().str();
  const std::size_t at = text.find("  \"variants\": {") + 15;
  text.insert(at, R"( "old": { "structure": "h1:00", "inputs": [], "funcs": {} },)");
  text.insert(text.find("\"cases\": [") + 10,
              R"({ "variant": "old", "when": {}, "template": "rows", "knobs": {} },)");
  const Ran check = run_program("schedule check matmul --json " + d.write("old.json", text) + kTarget);
  EXPECT_EQ(check.code, 1) << check.out;
  EXPECT_TRUE(has(check.json()["error"]["message"], "the variant 'old' is for none")) << check.out;
}

TEST(ScheduleCommand, NumericsThatNoVariantHasAreAFault) {
  Directory d;
  ASSERT_EQ(run_program("schedule save softmax @host -o " + d / "good.json").code, 0);
  std::string text = Directory::read(d / "good.json");
  text.insert(text.find("\"reassociates\": [") + 17, "\"e.k\", ");
  const Ran check = run_program("schedule check softmax " + d.write("more.json", text));
  EXPECT_EQ(check.code, 1) << check.err;
  EXPECT_TRUE(has(check.out, "'numerics' lists 'e.k', whose order no case changes")) << check.out;
}

TEST(ScheduleCommand, SharedMemoryIsComparedByCheck) {
  Directory d;
  const std::string save = "schedule save matmul @gpu --target cuda-sm_90a -o " + d / "good.json",
                    check = "schedule check matmul --target cuda-sm_90a ";
  ASSERT_EQ(run_program(save).code, 0);
  EXPECT_EQ(run_program(check + d / "good.json").code, 0);
  std::string text = Directory::read(d / "good.json");
  const std::string need = "\"shared_kb\": ";
  const std::size_t at = text.find(need);
  ASSERT_NE(at, std::string::npos) << text;
  text.insert(at + need.size(), "0");
  text.erase(at + need.size() + 1, text.find(' ', at + need.size()) - at - need.size() - 1);
  const Ran less = run_program(check + d.write("less.json", text));
  EXPECT_EQ(less.code, 1) << less.err;
  EXPECT_TRUE(has(less.out, "shared_kb, and the file says 0")) << less.out;
  std::string more = Directory::read(d / "good.json");
  more.insert(more.find(need) + need.size(), "9");
  const Ran vain = run_program(check + d.write("more.json", more));
  EXPECT_EQ(vain.code, 1) << vain.err;
  EXPECT_TRUE(has(vain.out, "needs 8 shared_kb, and the file says 98")) << vain.out;
}

TEST(ScheduleCommand, RunTakesTheCaseOfItsBuffers) {
  Directory d;
  ScheduleFile file = two_cases();
  const Pipeline matmul = find_operator("matmul").pipeline(OperatorTypes(Float(32)));
  const lang::InputDef& first = matmul.graph().inputs[0];
  file.add(
      matmul, {},
      {.buffers = {{.buffer = first.name, .dense = true, .pitch_multiple = 32}}, .template_name = "form"});
  const std::string run = "run matmul --repeat 1 --check --explain --schedule " +
                          d.write("forms.json", file.str()) + kTarget + "--type f32 --size M=9,N=6,K=";
  const Ran whole = run_program(run + "8"), ragged = run_program(run + "7");
  EXPECT_TRUE(has(whole.out, "template form: taken")) << whole.out << whole.err;
  EXPECT_TRUE(has(ragged.out, "template rows: taken")) << ragged.out << ragged.err;
  EXPECT_TRUE(has(ragged.out, first.name + ".pitch is 28 bytes in dimension 1, not a multiple of 32 bytes"))
      << ragged.out;
  EXPECT_EQ(whole.code + ragged.code, 0);
}

TEST(ScheduleCommand, AMissExplainsItselfAndMayBeAnError) {
  Directory d;
  std::filesystem::create_directories(d / "matmul");
  std::string text = two_cases().str();
  const std::size_t at = text.find("h1:");
  text.replace(at, 19, "h1:0123456789abcdef");
  d.write("matmul/sm_90a.json", text);
  const std::string run = "run matmul --size M=2,N=2,K=2 --repeat 1 --schedule best" + kTarget;
  ::setenv("CALOTYPE_SCHEDULES", (d / ".").c_str(), 1);
  const Ran loose = run_program(run);
  ::setenv("CALOTYPE_SCHEDULE_STRICT", "1", 1);
  const Ran strict = run_program(run + "--json");
  ::unsetenv("CALOTYPE_SCHEDULE_STRICT");
  ::unsetenv("CALOTYPE_SCHEDULES");
  EXPECT_EQ(loose.code, 0) << loose.err;
  EXPECT_TRUE(has(loose.out, "h1:0123456789abcdef of 'f32'")) << loose.out;
  EXPECT_EQ(strict.code, 2) << strict.out;
  EXPECT_TRUE(has(strict.json()["error"]["message"], "h1:0123456789abcdef of 'f32'")) << strict.out;
}

TEST(ScheduleCommand, RebindGivesAFileTheNames) {
  Directory d;
  const std::string good = two_cases().str();
  std::string old = good;
  const Pipeline matmul = find_operator("matmul").pipeline(OperatorTypes(Float(32)));
  const std::string name = matmul.graph().func(matmul.graph().outputs[0].func).name;
  for (std::size_t at = 0; (at = old.find("\"" + name + "\"", at)) != std::string::npos;)
    old.replace(at, name.size() + 2, "\"former\"");
  const std::string path = d.write("old.json", old);
  EXPECT_EQ(run_program("schedule check matmul " + path + kTarget).code, 2);
  const Ran rebind = run_program("schedule rebind matmul " + path);
  EXPECT_EQ(rebind.code, 0) << rebind.err;
  EXPECT_TRUE(has(rebind.out, "former -> " + name)) << rebind.out;
  EXPECT_EQ(Directory::read(path), good);
  EXPECT_EQ(run_program("schedule rebind softmax " + path).code, 2);
}

TEST(ScheduleCommand, StatusSaysWhatIsStale) {
  Directory d;
  const std::string best = d / "best.json";
  ASSERT_EQ(run_program("run matmul --size M=3,N=4,K=5 --repeat 1 --schedule @gpu --check --save-best " +
                        best + " --target cuda-interpreter-sm_90a")
                .code,
            0);
  const Ran fresh = run_program("schedule status " + best + " " + d.write("two.json", two_cases().str()));
  EXPECT_EQ(fresh.code, 0) << fresh.err;
  EXPECT_TRUE(has(fresh.out, " us at K=5,M=3,N=4 on cuda-interpreter-sm_90a")) << fresh.out;
  EXPECT_FALSE(has(fresh.out, "stale")) << fresh.out;
  EXPECT_TRUE(has(fresh.out, "f32, case 1: all sizes; template rows: never measured")) << fresh.out;
  EXPECT_EQ(ScheduleFile::load(best).str(), Directory::read(best));
  std::string text = Directory::read(best);
  const std::size_t at = text.rfind("\"template\": \"t1:") + 16;
  text[at] = text[at] == '0' ? '1' : '0';
  EXPECT_TRUE(
      has(run_program("schedule status " + d.write("b.json", text)).out, "stale: its directives or knobs"));
  text = Directory::read(best);
  text.replace(text.find("\"calotype\": \"0.1.0\""), 19, "\"calotype\": \"0.0.9\"");
  EXPECT_TRUE(has(run_program("schedule status " + d.write("c.json", text)).out,
                  "stale: measured with calotype 0.0.9, and this is 0.1.0"));
  const Ran all = run_program("schedule status --json");
  EXPECT_EQ(all.code, 0) << all.err;
  EXPECT_GE(all.json()["cases"].size(), 10u);
}

TEST(ScheduleCommand, AFileForAnotherTargetSaysSo) {
  Directory d;
  const std::string gpu = d.write("gpu.json", two_cases().str()), host = d / "host.json";
  ASSERT_EQ(run_program("schedule save matmul @host -o " + host).code, 0);
  const std::string size = " --size M=3,N=4,K=5 ";
  for (const std::string& command :
       {"run matmul" + size + "--schedule ", std::string("schedule check matmul "),
        "show matmul --level loops" + size + "--schedule "}) {
    const Ran on_host = run_program(command + gpu + " --json");
    EXPECT_EQ(on_host.code, 2) << command << on_host.out;
    EXPECT_TRUE(has(on_host.json()["error"]["message"],
                    gpu + " is a schedule for cuda-sm_90a, and the target is host"))
        << on_host.out;
    EXPECT_TRUE(has(on_host.json()["error"]["legal"], "--target cuda-sm_90a")) << on_host.out;
    const Ran on_gpu = run_program(command + host + " --json" + kTarget);
    EXPECT_EQ(on_gpu.code, 2) << command << on_gpu.out;
    EXPECT_TRUE(has(on_gpu.json()["error"]["message"], "is a schedule for host")) << on_gpu.out;
  }
}

TEST(ScheduleCommand, LargeFilesAreRefused) {
  Directory d;
  const std::string path = d.write("large.json", "");
  std::filesystem::resize_file(path, 100u << 20);
  for (const std::string command : {"schedule check matmul ", "schedule status ", "schedule rebind matmul "})
    EXPECT_EQ(run_program(command + path).code, 2) << command;
  EXPECT_EQ(run_program("schedule diff " + path + " " + path).code, 2);
  const std::string deep = d.write("deep.json", std::string(100000, '['));
  EXPECT_EQ(run_program("schedule check matmul " + deep).code, 2);
}

}  // namespace
}  // namespace calotype::test
