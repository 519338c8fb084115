// The built program on real files: results, exit codes, JSON, and inputs that cannot be right.
#include "program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "calotype/buffer.h"
#include "cli/convert.h"
#include "cli/image_io.h"
#include "cli/npy.h"
#include "cli/random.h"

namespace calotype::test {
namespace {

#ifdef CALOTYPE_HAS_LLVM
const std::string kTarget = "";
#else
const std::string kTarget = " --target cuda-interpreter";
#endif

std::string save(const Directory& directory, const std::string& name, const Buffer& buffer) {
  cli::write_npy(directory / name, buffer);
  return directory / name;
}

Buffer normal(std::vector<std::int64_t> extents, int stream) {
  return cli::random_buffer(Float(32), extents, 5, stream);
}

// The JSON of a failure, after checking that it is one.
nlohmann::json failure(const std::string& arguments, int code, const std::string& kind) {
  const Ran ran = run_program(arguments + " --json");
  EXPECT_EQ(ran.code, code) << arguments << "\n" << ran.out << ran.err;
  nlohmann::json json = nlohmann::json::parse(ran.out, nullptr, false);
  if (json.is_discarded() || !json.contains("error")) {
    ADD_FAILURE() << arguments << " printed no JSON error: " << ran.out << ran.err;
    return nlohmann::json{{"error", {{"message", ""}, {"legal", ""}, {"value", ""}}}};
  }
  for (const char* key : {"kind", "func", "subject", "stage", "directive", "value", "legal", "message"})
    EXPECT_TRUE(json["error"].contains(key)) << arguments << " " << key;
  EXPECT_EQ(json["error"]["kind"], kind) << ran.out;
  EXPECT_FALSE(ran.err.empty()) << arguments;
  return json;
}

TEST(Program, ListNamesEveryOperator) {
  const Ran ran = run_program("list --json");
  ASSERT_EQ(ran.code, 0) << ran.err;
  std::vector<std::string> names;
  const nlohmann::json json = ran.json();
  for (const auto& op : json["operators"]) {
    names.push_back(op["name"]);
    for (const char* key : {"inputs", "outputs", "sizes", "knobs", "types", "schedules"})
      EXPECT_TRUE(op.contains(key)) << op["name"] << " " << key;
    for (const auto& input : op["inputs"]) EXPECT_TRUE(input.contains("type") && input.contains("rank"));
  }
  // Each operator of apps/ ships schedules, in a folder of its name.
  std::vector<std::string> shipped;
  for (const auto& entry : std::filesystem::directory_iterator(CALOTYPE_SOURCE_DIR "/schedules"))
    shipped.push_back(entry.path().filename());
  std::sort(shipped.begin(), shipped.end());
  EXPECT_EQ(names, shipped);
  EXPECT_NE(run_program("list").out.find("matmul"), std::string::npos);
}

TEST(Program, MatmulOnFiles) {
  Directory d;
  const Buffer a = normal({5, 3}, 0), b = normal({4, 5}, 1);
  const Ran ran =
      run_program("run matmul --input A=" + save(d, "a.npy", a) + " --input B=" + save(d, "b.npy", b) +
                  " --output C=" + d / "c.npy" + " --check --json" + kTarget);
  ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
  const nlohmann::json json = ran.json();
  EXPECT_EQ(json["operator"], "matmul");
  EXPECT_EQ(json["schedule"], "empty");
  EXPECT_EQ(json["sizes"], (nlohmann::json{{"M", 3}, {"N", 4}, {"K", 5}}));
  EXPECT_EQ(json["checked"], true);
  for (const char* key : {"compile_seconds", "median_seconds", "max_abs_error", "max_rel_error"})
    EXPECT_TRUE(json[key].is_number()) << key;
  const Buffer c = cli::read_npy(d / "c.npy");
  ASSERT_EQ(c.extent(0), 4);
  ASSERT_EQ(c.extent(1), 3);
  for (int m = 0; m < 3; ++m)
    for (int n = 0; n < 4; ++n) {
      double sum = 0;
      for (int k = 0; k < 5; ++k) sum += a.value({k, m}) * b.value({n, k});
      EXPECT_NEAR(c.value({n, m}), sum, 1e-5);
    }
}

TEST(Program, OutputsFollowTheSeedAlone) {
  Directory d;
  auto run = [&](const std::string& seed, const std::string& name) {
    const Ran ran =
        run_program("run softmax --size N=8,D1=2 --seed " + seed + " --output out=" + d / name + kTarget);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return Directory::read(d / name);
  };
  EXPECT_EQ(run("1", "a.npy"), run("1", "b.npy"));
  EXPECT_NE(run("1", "a.npy"), run("2", "b.npy"));
}

TEST(Program, SoftmaxKeepsTheRankOfItsFile) {
  Directory d;
  for (int rank = 1; rank <= 4; ++rank) {
    std::vector<std::int64_t> extents = {6, 3, 2, 2};
    extents.resize(rank);
    const Ran ran = run_program("run softmax --input x=" + save(d, "x.npy", normal(extents, 0)) +
                                " --output out=" + d / "o.npy" + " --check" + kTarget);
    ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
    EXPECT_EQ(cli::read_npy(d / "o.npy").rank(), rank);
  }
}

TEST(Program, PhotoInPhotoOut) {
  Directory d;
  Buffer photo = cli::random_buffer(UInt(8), {21, 13, 3}, 3, 0);
  cli::write_image(d / "p.png", photo);
  const Ran ran = run_program("run blur3x3 --input image=" + d / "p.png" + " --output blur=" + d / "o.png" +
                              " --check --json" + kTarget);
  ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_EQ(ran.json()["type"], "u8");
  const Buffer out = cli::read_image(d / "o.png").pixels;
  for (int c = 0; c < 3; ++c)
    for (int y = 0; y < 13; ++y)
      for (int x = 0; x < 21; ++x) {
        int sum = 4;
        for (int dy = -1; dy <= 1; ++dy)
          for (int dx = -1; dx <= 1; ++dx)
            sum += static_cast<int>(photo.value({std::clamp(x + dx, 0, 20), std::clamp(y + dy, 0, 12), c}));
        ASSERT_EQ(out.value({x, y, c}), sum / 9);
      }
  // Dense memory and grey pictures as (y, x) give the same.
  ASSERT_EQ(run_program("run blur3x3 --dense --input image=" + d / "p.png" + " --output blur=" + d / "q.png" +
                        kTarget)
                .code,
            0);
  EXPECT_EQ(Directory::read(d / "q.png"), Directory::read(d / "o.png"));
  save(d, "g.npy", cli::convert(Buffer(UInt(8), photo.data(), {21, 13}), UInt(8)));
  ASSERT_EQ(run_program("run blur3x3 --input image=" + d / "g.npy" +
                        " --output blur=" + d / "g_out.npy --check" + kTarget)
                .code,
            0);
  EXPECT_EQ(cli::read_npy(d / "g_out.npy").rank(), 2);
}

TEST(Program, ImageOperatorsTakePhotosOf8Bits) {
  Directory d;
  cli::write_image(d / "p.png", cli::random_buffer(UInt(8), {21, 13, 3}, 3, 0));
  for (const std::string op : {"blur3x3", "unsharp", "local_laplacian", "bilateral_grid", "stencil_chain",
                               "harris", "gaussian_blur", "histogram_equalize", "bayer", "resize"}) {
    const std::string size = op == "resize" ? " --size OW=7,OH=5" : "";
    const Ran ran = run_program("run " + op + size + " --repeat 1 --input image=" + d / "p.png" + kTarget);
    EXPECT_EQ(ran.code, 0) << op << "\n" << ran.out << ran.err;
  }
}

TEST(Program, PhotosScaleForFloatInputs) {
  Directory d;
  cli::write_image(d / "p.png", cli::random_buffer(UInt(8), {9, 8, 3}, 3, 0));
  const Ran ran = run_program("run unsharp --type f32 --param amount=0 --input image=" + d / "p.png" +
                              " --output sharp=" + d / "o.png" + " --json" + kTarget);
  ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_EQ(ran.json()["params"]["amount"], 0.0);
  // An amount of 0 changes nothing, and 255 and 1/255 cancel.
  const Buffer in = cli::dense(cli::read_image(d / "p.png").pixels),
               out = cli::dense(cli::read_image(d / "o.png").pixels);
  for (std::int64_t i = 0; i < in.elements(); ++i) ASSERT_EQ(cli::element(in, i), cli::element(out, i));
}

TEST(Program, Bfloat16IsGivenAndReturnedAsF32) {
  Directory d;
  const Ran ran =
      run_program("run rmsnorm_silu_mul --type bf16 --input x=" + save(d, "x.npy", normal({16, 2}, 0)) +
                  " --output out=" + d / "o.npy" + " --check" + kTarget);
  ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
  const Buffer out = cli::read_npy(d / "o.npy");
  EXPECT_EQ(out.type(), Float(32));
  for (std::int64_t i = 0; i < out.elements(); ++i)
    EXPECT_EQ(cli::element(out, i),
              static_cast<double>(bfloat16_t(static_cast<float>(cli::element(out, i)))));
}

TEST(Program, StagesAreComparedAndWritten) {
  Directory d;
  const Ran ran = run_program("run matmul --size M=6,N=5,K=7 --check=stages --json --repeat 1" +
                              (" --dump acc=" + d / "acc.npy") + " --output C=" + d / "c.npy" + kTarget);
  ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
  const nlohmann::json json = ran.json();
  const nlohmann::json& stages = json["stages"];
  EXPECT_EQ(json["checked"], true);
  EXPECT_TRUE(stages["first_different"].is_null());
  ASSERT_EQ(stages["comparisons"].size(), 2u);
  EXPECT_EQ(stages["comparisons"][0]["name"], "acc");
  EXPECT_EQ(stages["comparisons"][0]["elements"], 30);
  EXPECT_EQ(stages["comparisons"][1]["name"], "C");
  EXPECT_EQ(json["dumps"]["acc"]["extent"], (nlohmann::json{5, 6}));
  // C is the sums as they are.
  const Buffer acc = cli::read_npy(d / "acc.npy"), c = cli::read_npy(d / "c.npy");
  ASSERT_EQ(acc.elements(), 30);
  for (std::int64_t i = 0; i < 30; ++i) EXPECT_NEAR(cli::element(acc, i), cli::element(c, i), 1e-5);
  const Ran text = run_program("run blur3x3 --size W=9,H=8,C=1 --check=stages --repeat 1" + kTarget);
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find("stages    passed: "), std::string::npos) << text.out;
}

TEST(Program, StagesThatCannotBeWritten) {
  Directory d;
  const std::string run = "run matmul --size M=2,N=2,K=2" + kTarget + " --dump ";
  EXPECT_NE(failure(run + "ac=x.npy", 2, "usage")["error"]["legal"].get<std::string>().find("'acc'"),
            std::string::npos);
  failure(run + "acc=x.png", 2, "usage");
  failure(run + "acc=" + d / "no_folder/x.npy", 2, "usage");
  const nlohmann::json inlined = failure(
      "run blur3x3 --size W=9,H=8,C=1 --target cuda-interpreter --schedule @gpu_tiles --dump edged=x.npy", 2,
      "usage");
  EXPECT_NE(inlined["error"]["message"].get<std::string>().find("inline"), std::string::npos);
}

TEST(Program, TablesOfKnobsAndTheBestSaved) {
#ifndef CALOTYPE_HAS_LLVM
  GTEST_SKIP() << "this build has no CPU backend";
#endif
  Directory d;
  const Ran ran = run_program(
      "run blur3x3 --type u8 --size W=64,H=64,C=1 --schedule @strips --set ROWS=0,8,16 --check --json "
      "--save-best " +
      d / "best.json");
  ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
  const nlohmann::json json = ran.json();
  ASSERT_EQ(json["trials"].size(), 3u);
  EXPECT_EQ(json["trials"][0]["legal"], false);
  EXPECT_FALSE(json["trials"][0]["reason"]["message"].get<std::string>().empty());
  EXPECT_EQ(json["trials"][1]["checked"], true);
  ASSERT_EQ(
      run_program("run blur3x3 --type u8 --size W=64,H=64,C=1 --check --schedule " + d / "best.json").code,
      0);
  const std::string table = "run blur3x3 --type u8 --size W=64,H=64,C=1 --schedule @strips --set ROWS=8,16 ";
  EXPECT_EQ(run_program(table + "--check=stages --repeat 1").code, 0);
  failure(table + "--dump blur_x=x.npy", 2, "usage");
  const Ran print = run_program("schedule print blur3x3 " + d / "best.json");
  EXPECT_EQ(print.code, 0);
  EXPECT_NE(print.out.find("ROWS"), std::string::npos);
}

TEST(Program, ScheduleCommands) {
  Directory d;
  ASSERT_EQ(run_program("schedule save matmul @registers -o " + d / "a.json").code, 0);
  ASSERT_EQ(run_program("schedule save matmul @registers --set TM=4 -o " + d / "b.json").code, 0);
  EXPECT_EQ(run_program("schedule check matmul " + d / "a.json").code, 0);
  EXPECT_EQ(run_program("schedule diff " + d / "a.json" + " " + d / "a.json").code, 0);
  const Ran diff = run_program("schedule diff --json " + d / "a.json" + " " + d / "b.json");
  EXPECT_EQ(diff.code, 1);
  EXPECT_FALSE(diff.json()["removed"].empty());
  // A file for another algorithm is an error where it was named.
  failure("schedule check softmax " + d / "a.json", 2, "usage");
  // A host schedule is not legal on a GPU and the other way round: a check found something.
  const Ran check = run_program("schedule check matmul @host --target cuda-interpreter --json");
  EXPECT_EQ(check.code, 1) << check.out;
  EXPECT_FALSE(check.json()["diagnostics"].empty());
  // What only lowering refuses is found too.
  const Ran large =
      run_program("schedule check unsharp @gpu --set HEIGHT=1024 --target cuda-interpreter --json");
  EXPECT_EQ(large.code, 1) << large.out;
  EXPECT_NE(large.json()["error"]["message"].get<std::string>().find("shared memory"), std::string::npos);
}

TEST(Program, ShowPrintsLevels) {
  Directory d;
  EXPECT_NE(run_program("show matmul --level algorithm").out.find("acc"), std::string::npos);
  EXPECT_NE(run_program("show blur3x3 --level schedule --schedule @strips").out.find("blur_x"),
            std::string::npos);
  const Ran loops = run_program("show blur3x3 --level loops --size W=8,H=8,C=3 -o " + d / "l.txt" + kTarget);
  EXPECT_EQ(loops.code, 0) << loops.err;
  EXPECT_NE(Directory::read(d / "l.txt").find("W=8"), std::string::npos);
  failure("show matmul --level nonsense" + kTarget, 2, "usage");
}

TEST(Program, WrongUseIsRefusedWithWhatWouldBeLegal) {
  EXPECT_NE(failure("run matmull", 2, "usage")["error"]["legal"].get<std::string>().find("matmul"),
            std::string::npos);
  EXPECT_NE(failure("run matmul --size M=1,N=1", 2, "usage")["error"]["value"].get<std::string>().find("K"),
            std::string::npos);
  failure("run matmul --size M=1,N=1,K=1,Q=1", 2, "usage");
  failure("run matmul --size M=1,N=1,K=1 --type s4", 2, "usage");
  failure("run matmul --size M=1,N=1,K=1 --type s8", 2, "usage");
  failure("run matmul --size M=1,N=1,K=1 --target gpu", 2, "usage");
  failure("run matmul --size M=1,N=1,K=1 --schedule @nonsense", 2, "usage");
  failure("run matmul --size M=1,N=1,K=1 --schedule /no/such/file.json", 2, "usage");
  failure("run matmul --size M=1,N=1,K=1 --param x=1", 2, "usage");
  failure("run matmul --size M=1,N=1,K=1 --set KNOB=1", 2, "usage");
  failure("run matmul --size M=1,N=1,K=1 --output D=x.npy", 2, "usage");
  failure("run matmul --size M=1,N=1,K=1 --output C=x.txt", 2, "usage");
  failure("run matmul --size M=1,N=1,K=1 --check=all", 2, "usage");
  failure("run matmul --size M=4000000000,N=4000000000,K=1", 2, "usage");
  failure("", 2, "usage");
}

// One type stands for the combination in which every argument has it.
TEST(Program, OneTypeForAllArguments) {
  for (const std::string op : {"sum", "sum_rows", "cumulative_sum"}) {
    const Ran ran =
        run_program("run " + op + " --size N=9,D1=3,D2=1,D3=1 --type f32 --check --json" + kTarget);
    EXPECT_EQ(ran.code, 0) << op << ran.out << ran.err;
    if (ran.code != 0) continue;
    EXPECT_TRUE(ran.json()["type"].get<std::string>().starts_with("x=f32,")) << ran.out;
    EXPECT_NE(
        failure("run " + op + " --size N=9,D1=3,D2=1,D3=1 --type u8" + kTarget, 2, "usage")["error"]["legal"]
            .get<std::string>()
            .find("x=f32,"),
        std::string::npos);
  }
}

TEST(Program, AGreyPhotoForColourSaysWhatToDo) {
  Directory d;
  cli::write_image(d / "grey.png", cli::random_buffer(UInt(8), {9, 8, 1}, 3, 0));
  const nlohmann::json error =
      failure("run harris --input image=" + d / "grey.png" + kTarget, 2, "usage")["error"];
  EXPECT_EQ(error["subject"], "Input");
  EXPECT_EQ(error["func"], "image");
  EXPECT_EQ(error["legal"],
            "an extent of 3, the channels of a colour image; save a grey image, which has one, as RGB first");
}

#ifdef CALOTYPE_HAS_LLVM
TEST(Program, WithoutMemoryTheFuncAndItsBytesAreNamed) {
  // More than processors can address, so that no system promises it.
  const nlohmann::json error =
      failure("run bilateral_grid --size W=1000,H=1000,C=3 --param bins=2000000000", 2, "memory")["error"];
  EXPECT_EQ(error["subject"], "Func");
  EXPECT_EQ(error["func"], "grid");
  EXPECT_EQ(error["message"],
            "bilateral_grid: no memory for " + error["value"].get<std::string>() + " of storage");
  EXPECT_TRUE(error["value"].get<std::string>().ends_with(" bytes")) << error["value"];
  EXPECT_NE(error["legal"].get<std::string>().find("smaller sizes"), std::string::npos);
}
#endif

TEST(Program, BadFilesAreRefused) {
  Directory d;
  const std::string fake = d.write("fake.png", "this is no picture"),
                    text = d.write("x.npy", "nor this an array");
  failure("run blur3x3 --input image=" + fake, 2, "usage");
  failure("run matmul --input A=" + text, 2, "usage");
  failure("run matmul --input A=" + d / "missing.npy", 2, "usage");
  failure("run matmul --input A=" + d.write("a.csv", "1,2"), 2, "usage");
  const std::string a = save(d, "a.npy", normal({5, 3}, 0));
  failure("run matmul --input X=" + a, 2, "usage");
  failure("run matmul --input A=" + a + " --input A=" + a, 2, "usage");
  EXPECT_NE(failure("run matmul --input A=" + a + " --input B=" + save(d, "b.npy", normal({4, 6}, 1)), 2,
                    "usage")["error"]["message"]
                .get<std::string>()
                .find("K"),
            std::string::npos);
  failure("run matmul --size N=2 --input A=" + save(d, "r.npy", normal({5, 3, 2}, 0)), 2, "usage");
  failure("run matmul --size N=2,M=4 --input A=" + a, 2, "usage");
  failure("run matmul --size N=2 --input A=" + save(d, "i.npy", cli::random_buffer(Int(32), {5, 3}, 1, 0)), 2,
          "usage");
}

TEST(Program, BadSchedulesAreRefused) {
  Directory d;
  const std::string size = " --size M=2,N=2,K=2 --schedule ";
  failure("run matmul" + size + d.write("cut.json", "{ \"calotype_schedule\": 1,"), 2, "usage");
  const std::string deep = std::string(10000, '[') + std::string(10000, ']');
  failure("run matmul" + size + d.write("deep.json", deep), 2, "usage");
  EXPECT_EQ(run_program("schedule diff " + d.write("d1.json", deep) + " " + d.write("d2.json", deep)).code,
            2);
  EXPECT_EQ(run_program("schedule diff " + d.write("e1.json", "{}") + " " + d.write("e2.json", "[]")).code,
            2);
}

TEST(Program, TargetsThatAreNotHereExitWithThree) {
#ifndef CALOTYPE_HAS_LLVM
  failure("run matmul --size M=1,N=1,K=1", 3, "target");
#endif
#if defined(__x86_64__)
  failure("run matmul --size M=1,N=1,K=1 --target host-aarch64-neon", 3, "target");
#endif
}

TEST(Program, AFailedRunLeavesNoOutput) {
  Directory d;
  const std::string out = d / "c.npy";
  failure("run matmul --size M=2,N=2 --output C=" + out, 2, "usage");
  EXPECT_FALSE(std::filesystem::exists(out));
  failure("run matmul --size M=2,N=2,K=2 --output C=" + d / "no_folder/c.npy" + kTarget, 2, "usage");
}

TEST(Program, ShowTimingsAddUp) {
  const Ran ran = run_program("show blur3x3 --timings --json" + kTarget);
  ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
  const nlohmann::json json = ran.json(), timings = json["timings"];
  double sum = 0, shares = 0;
  std::vector<std::string> parts, steps;
  for (const auto& part : timings["parts"]) {
    parts.push_back(part["part"]);
    double of_part = 0;
    for (const auto& step : part["steps"]) {
      EXPECT_GE(step["seconds"], 0.0);
      of_part += step["seconds"].get<double>();
      shares += step["share"].get<double>();
      steps.push_back(step["step"]);
    }
    EXPECT_NEAR(part["seconds"], of_part, 1e-9);
    sum += of_part;
  }
  EXPECT_NEAR(timings["seconds"], sum, 1e-9);
  EXPECT_NEAR(shares, 1, 1e-9);
  for (const char* step : {"bounds", "simplify", "partition", "vectorize"})
    EXPECT_EQ(std::count(steps.begin(), steps.end(), step), 1) << step;
#ifdef CALOTYPE_HAS_LLVM
  EXPECT_EQ(parts, (std::vector<std::string>{"schedule", "lowering", "code generation"}));
  for (const char* step : {"LLVM IR", "optimisation", "machine code"})
    EXPECT_EQ(std::count(steps.begin(), steps.end(), step), 1) << step;
  EXPECT_GE(timings["first_seconds"], timings["seconds"]);
#endif
  EXPECT_NE(json["text"].get<std::string>().find("partition"), std::string::npos);
  failure("show blur3x3" + kTarget, 2, "usage");
  failure("show blur3x3 --timings --level loops" + kTarget, 2, "usage");
}

TEST(Program, ShowWritesAPage) {
  Directory d;
  const Ran ran = run_program("show blur3x3 --html -o " + d / "p.html" + " --json" + kTarget);
  ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_EQ(ran.json()["file"], d / "p.html");
  const std::string page = Directory::read(d / "p.html");
  EXPECT_EQ(page.rfind("<!DOCTYPE html>", 0), 0u);
  EXPECT_NE(page.find("produce blur"), std::string::npos);
  failure("show blur3x3 --html" + kTarget, 2, "usage");
}

#ifdef CALOTYPE_HAS_LLVM
TEST(Program, ProfileIsPartOfTheRun) {
  const Ran ran =
      run_program("run blur3x3 --type f32 --schedule @strips --size W=64,H=32,C=3 --profile --check --json");
  ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
  const nlohmann::json profile = ran.json()["profile"];
  double shares = 0;
  for (const auto& f : profile["funcs"]) {
    shares += f["share"].get<double>();
    EXPECT_GT(f["points"], 0) << f;
    EXPECT_GT(f["loads"], 0) << f;
    if (f["name"] == "blur") {
      EXPECT_EQ(f["needed"], 64 * 32 * 3);
      EXPECT_EQ(f["peak_bytes"], 0);
    }
  }
  EXPECT_NEAR(shares, 1, 1e-9);
  const Ran text = run_program("run blur3x3 --type f32 --schedule @strips --size W=64,H=32,C=3 --profile");
  EXPECT_NE(text.out.find("share"), std::string::npos) << text.out;
}
#endif

TEST(Program, ProfileIsOfTheHostAndOneSchedule) {
  EXPECT_EQ(failure("run blur3x3 --size W=8,H=8,C=1 --profile --target cuda-interpreter", 2,
                    "usage")["error"]["legal"],
            "--target host");
#ifdef CALOTYPE_HAS_LLVM
  failure("run blur3x3 --schedule @strips --set ROWS=4,8 --size W=8,H=8,C=1 --profile", 2, "usage");
#endif
}

}  // namespace
}  // namespace calotype::test
