// Finds NVIDIA's disassembler and runs it on a file.

#include "codegen/cuda/disassemble.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "calotype/error.h"

extern char** environ;

namespace calotype::cuda {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrograms[] = {"nvdisasm", "cuobjdump"};

[[noreturn]] void fail(const std::string& message, const std::string& value, const std::string& legal) {
  throw Error({.kind = ErrorKind::Target, .message = message, .value = value, .legal = legal});
}

bool runs(const fs::path& program) {
  return access(program.c_str(), X_OK) == 0 && !fs::is_directory(program);
}

/// Those of the toolkit that is named, of the path, and where none is named of the place where it usually is.
std::vector<fs::path> folders() {
  std::vector<fs::path> all;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* root = std::getenv(variable); root && *root) all.push_back(fs::path(root) / "bin");
  const bool named = !all.empty();
  const char* searched = std::getenv("PATH");
  std::istringstream path(searched ? searched : "");
  for (std::string folder; std::getline(path, folder, ':');)
    if (!folder.empty()) all.emplace_back(folder);
  if (!named) all.emplace_back("/usr/local/cuda/bin");
  return all;
}

fs::path find_program() {
  if (const char* named = std::getenv("CALOTYPE_NVDISASM"); named && *named) {
    if (runs(named)) return named;
    fail("CALOTYPE_NVDISASM names no program that runs", named, "nvdisasm or cuobjdump of the CUDA toolkit");
  }
  for (const char* program : kPrograms)
    for (const fs::path& folder : folders())
      if (runs(folder / program)) return folder / program;
  fail("machine code is shown by nvdisasm or cuobjdump, and neither is on this machine", "",
       "--level ptx, or the CUDA toolkit (its package cuda-nvdisasm is enough) on the path or in CUDA_HOME");
}

/// A file of its own that goes with the object.
class TemporaryFile {
 public:
  TemporaryFile() : path_((folder() / "calotype.XXXXXX").string()) {
    const int file = mkstemp(path_.data());  // which names it in place of the X
    if (file < 0) fail("no temporary file can be made", path_, "a folder TMPDIR that can be written");
    close(file);
  }
  ~TemporaryFile() { unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }
  void write(const std::string& content) const {
    std::ofstream out(path_, std::ios::binary);
    out << content;
    if (!out.flush()) fail("a temporary file cannot be written", path_, "room in the folder TMPDIR");
  }
  std::string text() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }

 private:
  static fs::path folder() {
    std::error_code failure;
    const fs::path found = fs::temp_directory_path(failure);
    const char* named = std::getenv("TMPDIR");
    if (failure)
      fail("there is no folder for temporary files", named ? named : "/tmp",
           "a folder TMPDIR that can be written");
    return found;
  }
  std::string path_;
};

/// The exit status of a program whose output goes into a file.
int run(const std::vector<std::string>& command, const std::string& output) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int failed = posix_spawn(&child, command[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0)
    fail("the disassembler does not start: " + std::string(std::strerror(failed)), command[0], "");
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

}  // namespace

std::string disassemble(const std::string& cubin) {
  const fs::path program = find_program();
  const TemporaryFile code, text;
  code.write(cubin);
  std::vector<std::string> command{program.string()};
  if (program.filename() == "cuobjdump") command.emplace_back("--dump-sass");
  command.push_back(code.path());
  const int status = run(command, text.path());
  if (status != 0)
    fail(fmt::format("{} ends with status {}: {}", program.string(), status, text.text()), program.string(),
         "a disassembler of the CUDA that compiled the code, or a newer one");
  return text.text();
}

}  // namespace calotype::cuda
