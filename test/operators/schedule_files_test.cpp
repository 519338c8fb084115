// The schedule files that are shipped: each has a variant for every combination of element types, whose case
// for all sizes is the operator's own schedule of that name in C++, and whose others are those of their
// templates' names; they are legal and give the reference's results; and each file saves to the same bytes.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "calotype/schedule_file.h"
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

bool has_schedule(const Operator& op, const std::string& name) {
  return std::any_of(op.schedules.begin(), op.schedules.end(),
                     [&](const NamedSchedule& s) { return s.name == name; });
}

// An operator may have no schedule for a GPU yet; one for the host each has.
std::vector<ShippedFile> shipped_files() {
  std::vector<ShippedFile> files;
  for (const Operator* op : operators())
    for (const std::string arch : {"host", "sm_90a"})
      if (has_schedule(*op, arch == "host" ? "host" : "gpu"))
        files.push_back(
            {op->name, arch, CALOTYPE_SOURCE_DIR "/schedules/" + op->name + "/" + arch + ".json"});
  return files;
}

const cli::Sizes& sizes_of(const std::string& op) {
  static const std::map<std::string, cli::Sizes> sizes = {
      {"blur3x3", {{"W", 71}, {"H", 35}, {"C", 3}}},
      {"unsharp", {{"W", 71}, {"H", 67}, {"C", 3}}},
      {"local_laplacian", {{"W", 41}, {"H", 19}}},
      {"bilateral_grid", {{"W", 71}, {"H", 35}, {"C", 3}}},
      {"bayer", {{"W", 71}, {"H", 35}}},
      {"camera_pipe", {{"W", 71}, {"H", 35}}},
      {"stencil_chain", {{"W", 71}, {"H", 35}, {"C", 3}}},
      {"harris", {{"W", 71}, {"H", 35}}},
      {"resize", {{"W", 71}, {"H", 35}, {"C", 3}, {"OW", 40}, {"OH", 67}}},
      {"gaussian_blur", {{"W", 71}, {"H", 67}, {"C", 3}}},
      {"histogram_equalize", {{"W", 71}, {"H", 135}}},
      {"matmul", {{"M", 67}, {"N", 71}, {"K", 37}}},
      {"matmul_nt", {{"M", 67}, {"N", 71}, {"K", 37}}},
      {"matmul_tn", {{"M", 67}, {"N", 71}, {"K", 37}}},
      {"matmul_tt", {{"M", 67}, {"N", 71}, {"K", 37}}},
      {"matmul_bias_gelu", {{"M", 67}, {"N", 71}, {"K", 37}}},
      {"matmul_nt_bias_gelu", {{"M", 67}, {"N", 71}, {"K", 37}}},
      {"softmax", {{"N", 261}, {"D1", 3}}},
      {"rmsnorm_silu_mul", {{"N", 2059}, {"R", 3}}},
      {"transpose", {{"N", 71}, {"M", 67}, {"B", 2}}},
      {"sum", {{"N", 4261}, {"D1", 3}}},
      {"sum_rows", {{"N", 261}, {"D1", 7}}},
      {"argmax", {{"N", 261}, {"D1", 7}}},
      {"cumulative_sum", {{"N", 261}, {"D1", 19}}},
      {"layernorm_residual", {{"N", 2059}, {"R", 3}}},
      {"bias_gelu_dropout", {{"N", 259}, {"R", 7}}},
      {"softmax_columns", {{"N", 261}, {"R", 19}}},
      {"conv2d_nhwc_relu", {{"CI", 5}, {"CO", 37}, {"W", 27}, {"H", 5}, {"N", 2}, {"KW", 3}, {"KH", 3}}},
      {"depthwise_separable_conv",
       {{"CI", 5}, {"CO", 37}, {"W", 27}, {"H", 5}, {"N", 2}, {"KW", 3}, {"KH", 3}}},
      {"int8_matmul", {{"M", 67}, {"N", 71}, {"K", 37}}}};
  return sizes.at(op);
}

class ScheduleFiles : public testing::TestWithParam<ShippedFile> {
 protected:
  const ShippedFile& shipped() const { return GetParam(); }
  const Operator& op() const { return find_operator(shipped().op); }
  const NamedSchedule& named() const { return op().schedule(shipped().gpu() ? "gpu" : "host"); }

  static bool is_general(const schedule::FileCase& c) { return c.when.empty() && c.buffers.empty(); }

  /// For all sizes that of the name; for some the one that the case's template is called by, with its knobs.
  Schedule own_schedule(const schedule::FileCase& c, const OperatorTypes& types) const {
    if (is_general(c)) return named().make(types);
    Schedule s = op().schedule(c.template_name).make(types);
    for (const Knob& knob : c.knobs) s.set(knob.name, knob.value);
    return s;
  }

  static schedule::NewCase as_in_file(const schedule::FileCase& c) {
    return {c.when, c.buffers, c.variant, c.template_name, c.measured};
  }
};

TEST_P(ScheduleFiles, IsTheSchedulesInCpp) {
  ASSERT_TRUE(fs::exists(shipped().path)) << shipped().path;
  const ScheduleFile file = ScheduleFile::load(shipped().path);
  EXPECT_EQ(file.variants().size(), op().types.size());
  for (const OperatorTypes& types : op().types) {
    const Pipeline pipeline = op().pipeline(types);
    const schedule::FileVariant* variant = file.find_variant(pipeline);
    ASSERT_TRUE(variant) << types.str();
    for (const std::size_t i : file.cases_of(*variant)) {
      ScheduleFile one(op().name, shipped().target());
      one.add(pipeline, own_schedule(file.cases()[i], types), as_in_file(file.cases()[i]));
      EXPECT_EQ(file.schedule(i).str(), one.schedule(0).str())
          << "calotype schedule save " << op().name << " @" << named().name << " -o " << shipped().path;
    }
  }
}

/// With CALOTYPE_UPDATE set the file is written anew, with its cases and the schedules of the operator's C++.
TEST_P(ScheduleFiles, IsLegalAndSavesToTheSameBytes) {
  const ScheduleFile file = ScheduleFile::load(shipped().path);
  ScheduleFile made(op().name, shipped().target());
  for (const OperatorTypes& types : op().types) {
    const Pipeline pipeline = op().pipeline(types);
    file.check(pipeline);
    for (const std::size_t i : file.cases_of(file.variant(pipeline))) {
      for (const Diagnostic& d : file.schedule(i).check(pipeline, shipped().target()))
        ADD_FAILURE() << d.str();
      made.add(pipeline, own_schedule(file.cases()[i], types), as_in_file(file.cases()[i]));
    }
  }
  if (std::getenv("CALOTYPE_UPDATE")) {
    made.save(shipped().path);
    return;
  }
  std::ifstream in(shipped().path);
  const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  EXPECT_EQ(file.str(), bytes);
  EXPECT_EQ(made.str(), bytes);
}

/// The test's sizes, made such as the case is for. Of long rows there are few.
cli::Sizes sizes_for(const schedule::FileCase& c, cli::Sizes sizes) {
  for (const SizeRange& r : c.when) {
    std::int64_t& n = sizes.try_emplace(r.size, 1).first->second;
    const std::int64_t least = (r.low + r.multiple - 1) / r.multiple * r.multiple;
    n = std::max(std::min(n, r.high.value_or(n)) / r.multiple * r.multiple, least);
    EXPECT_TRUE(r.contains(n)) << r.str();
    for (const char* rows : {"R", "D1"})
      if (n > 4096 && sizes.count(rows) > 0 && r.size != rows) sizes[rows] = 1;
  }
  return sizes;
}

/// Every case with its own knobs, but for rows of more than 65536, which take the interpreter minutes: these
/// differ in knobs from shorter ones, and are compared where they are timed on a GPU.
TEST_P(ScheduleFiles, GivesTheReference) {
  const ScheduleFile file = ScheduleFile::load(shipped().path);
  for (const OperatorTypes& types : op().types) {
    const Pipeline pipeline = op().pipeline(types);
    for (const std::size_t i : file.cases_of(file.variant(pipeline))) {
      const schedule::FileCase& c = file.cases()[i];
      const cli::Sizes sizes = sizes_for(c, sizes_of(shipped().op));
      if (std::any_of(sizes.begin(), sizes.end(), [](const auto& size) { return size.second > 65536; }))
        continue;
      SCOPED_TRACE(fmt::format("case {} of {}, {}", i, shipped().path, types.str()));
      check_schedule(file.schedule(i), {shipped().op, types.str(), c.template_name, shipped().gpu()}, sizes);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Operators, ScheduleFiles, testing::ValuesIn(shipped_files()),
                         [](const auto& info) { return info.param.op + "_" + info.param.arch; });

}  // namespace
}  // namespace calotype::test
