// Any bytes as a schedule file.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "calotype/calotype.h"
#include "fuzz/bytes.h"
#include "schedule/scheduled.h"

namespace calotype::fuzz {

namespace {

/// Names and loops that directives of a file may hit.
Pipeline small_pipeline() {
  Dim M("M"), N("N"), K("K");
  ImageParam A(Float(32), {K, M}, "A"), B(Float(32), {N, K}, "B");
  Var n("n"), m("m");
  RDom k(0, K, "k");
  Func acc("acc"), C("C");
  acc(n, m) += A(k, m) * B(n, k);
  C(n, m) = max(acc(n, m), 0.0f);
  return Pipeline("small", {A, B}, {Output(C, {N, M})});
}

/// Whether an Error is the answer to the bytes, not a fault of the library.
bool is_answer(const Error& e) { return e.kind() != ErrorKind::Internal && !e.diagnostic().message.empty(); }

template <class F>
bool refused(const char* what, F&& f) {
  try {
    f();
    return false;
  } catch (const Error& e) {
    if (!is_answer(e)) throw std::logic_error(std::string(what) + ": " + e.what());
    return true;
  }
}

}  // namespace

void try_schedule_file(const std::uint8_t* data, std::size_t size) {
  static const Pipeline pipeline = small_pipeline();
  const std::string text(data, data + size);
  std::vector<ScheduleFile> read;
  if (refused("reading", [&] { read.push_back(ScheduleFile::parse(text, "fuzz.json")); })) return;
  const std::string written = read.front().str();
  if (refused("reading what was written",
              [&] { read.push_back(ScheduleFile::parse(written, "again.json")); }))
    throw std::logic_error("what was written is refused:\n" + written);
  if (read.back().str() != written) throw std::logic_error("other bytes the second time:\n" + written);
  refused("checking", [&] { read.front().check(pipeline); });
  for (std::size_t i = 0; i < read.front().cases().size(); ++i)
    refused("a case",
            [&] { schedule::apply_or_throw(pipeline.graph(), read.front().schedule(i), Target::host()); });
}

std::vector<std::pair<std::string, std::string>> byte_files(const std::string& folder) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream in(entry.path(), std::ios::binary);
    files.emplace_back(entry.path().string(), std::string(std::istreambuf_iterator<char>(in), {}));
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace calotype::fuzz
