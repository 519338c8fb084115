// The schedule files that are shipped: each loads, is legal, is the operator's own schedule of that name in
// C++, saves to the same bytes, and gives the reference's results.
#include <filesystem>
#include <fstream>

#include "cli/select.h"
#include "operators/harness.h"

namespace calotype::test {
namespace {

namespace fs = std::filesystem;

struct ShippedFile {
  std::string op, arch, path;
  bool gpu() const { return arch != "host"; }
  Target target() const { return gpu() ? Target::cuda(arch) : Target::host(); }
  friend void PrintTo(const ShippedFile& f, std::ostream* out) { *out << f.op << "/" << f.arch; }
};

std::vector<ShippedFile> shipped_files() {
  std::vector<ShippedFile> files;
  for (const Operator* op : operators())
    for (const std::string arch : {"host", "sm_90a"})
      files.push_back({op->name, arch, CALOTYPE_SOURCE_DIR "/schedules/" + op->name + "/" + arch + ".json"});
  return files;
}

const cli::Sizes& sizes_of(const std::string& op) {
  static const std::map<std::string, cli::Sizes> sizes = {{"blur3x3", {{"W", 71}, {"H", 35}, {"C", 3}}},
                                                          {"unsharp", {{"W", 71}, {"H", 67}, {"C", 3}}},
                                                          {"matmul", {{"M", 67}, {"N", 71}, {"K", 37}}},
                                                          {"softmax", {{"N", 261}, {"D1", 3}}},
                                                          {"rmsnorm_silu_mul", {{"N", 2059}, {"R", 3}}}};
  return sizes.at(op);
}

OperatorTypes types_of(const ShippedFile& file) {
  const Operator& op = find_operator(file.op);
  for (const OperatorTypes& types : op.types)
    if (cli::made_for(file.path, op.pipeline(types))) return types;
  ADD_FAILURE() << file.path << " is for no element types of the operator";
  return op.types.front();
}

class ScheduleFiles : public testing::TestWithParam<ShippedFile> {};

TEST_P(ScheduleFiles, IsTheSchedulesInCpp) {
  const ShippedFile& file = GetParam();
  ASSERT_TRUE(fs::exists(file.path)) << file.path;
  const Operator& op = find_operator(file.op);
  const OperatorTypes types = types_of(file);
  const Schedule loaded = Schedule::load(file.path, op.pipeline(types));
  EXPECT_EQ(loaded.str(), op.schedule(file.gpu() ? "gpu" : "host").make(types).str())
      << "calotype schedule save " << file.op << " @" << (file.gpu() ? "gpu" : "host") << " -o " << file.path;
}

TEST_P(ScheduleFiles, IsLegalAndSavesToTheSameBytes) {
  const ShippedFile& file = GetParam();
  const Pipeline pipeline = find_operator(file.op).pipeline(types_of(file));
  const Schedule loaded = Schedule::load(file.path, pipeline);
  for (const Diagnostic& d : loaded.check(pipeline, file.target())) ADD_FAILURE() << d.str();
  std::ifstream in(file.path);
  const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  EXPECT_EQ(loaded.to_json(pipeline, file.target()), bytes);
}

TEST_P(ScheduleFiles, GivesTheReference) {
  const ShippedFile& file = GetParam();
  check_schedule({file.op, types_of(file).str(), file.gpu() ? "gpu" : "host", file.gpu()}, sizes_of(file.op));
}

INSTANTIATE_TEST_SUITE_P(Operators, ScheduleFiles, testing::ValuesIn(shipped_files()),
                         [](const auto& info) { return info.param.op + "_" + info.param.arch; });

}  // namespace
}  // namespace calotype::test
