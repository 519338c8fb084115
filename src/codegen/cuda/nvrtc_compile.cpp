// NVRTC and the cache around it.

#include "codegen/cuda/nvrtc_compile.h"

#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <regex>
#include <sstream>

#include "calotype/error.h"
#include "runtime/disk_cache.h"
#include "runtime/nvrtc.h"

namespace calotype::cuda {
namespace {

constexpr int kVersionWithCache = 12090;

std::vector<const char*> nvrtc_options(const CompileOptions& options, int version) {
  std::vector<const char*> all = {options.contract ? "--fmad=true" : "--fmad=false", "--std=c++17",
                                  "--ptxas-options=-v", "--restrict"};
  // What NVRTC takes from the driver's cache comes without the figures of ptxas; the cache here keeps them.
  if (version >= kVersionWithCache) all.push_back("--no-cache");
  return all;
}

calotype_hash cache_key(const std::string& source, const std::string& arch, const CompileOptions& options,
                        int version) {
  calotype_hash hash = calotype_hash_text(calotype_hash_start(), "cuda 1");
  hash = calotype_hash_bytes(hash, &version, sizeof version);
  hash = calotype_hash_text(hash, arch.c_str());
  for (const char* option : nvrtc_options(options, version)) hash = calotype_hash_text(hash, option);
  return calotype_hash_text(hash, source.c_str());
}

// ---- Entries of the cache: three texts, each behind its length

std::string pack(const Compiled& c) {
  std::string data;
  for (const std::string* part : {&c.ptx, &c.cubin, &c.log}) {
    const std::uint64_t size = part->size();
    data.append(reinterpret_cast<const char*>(&size), sizeof size).append(*part);
  }
  return data;
}

bool unpack(const char* data, std::size_t size, Compiled& c) {
  for (std::string* part : {&c.ptx, &c.cubin, &c.log}) {
    std::uint64_t length = 0;
    if (size < sizeof length) return false;
    std::memcpy(&length, data, sizeof length);
    data += sizeof length;
    size -= sizeof length;
    if (length > size) return false;
    part->assign(data, length);
    data += length;
    size -= length;
  }
  return size == 0;
}

bool read_cache(calotype_hash key, Compiled& c) {
  std::size_t size = 0;
  const std::unique_ptr<void, void (*)(void*)> data(calotype_cache_read(key, &size), std::free);
  return data && unpack(static_cast<const char*>(data.get()), size, c);
}

std::string numbered(const std::string& source) {
  std::istringstream lines(source);
  std::string text, line;
  for (int number = 1; std::getline(lines, line); ++number) text += fmt::format("{:4} {}\n", number, line);
  return text;
}

void compile_now(const std::string& source, const CompileOptions& options, int version, Compiled& c) {
  struct Output : calotype_nvrtc_output {
    Output() : calotype_nvrtc_output{} {}
    ~Output() { calotype_nvrtc_free(this); }
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;
  } output;
  calotype_context context{};
  const std::vector<const char*> flags = nvrtc_options(options, version);
  if (calotype_nvrtc_compile(&context, source.c_str(), options.name.c_str(), c.arch.c_str(), flags.data(),
                             static_cast<int>(flags.size()), &output) != CALOTYPE_GOOD)
    throw_error(context.error);
  c.log = output.log ? output.log : "";
  if (output.failed)
    throw Error({.kind = ErrorKind::Internal,
                 .message = "the printed CUDA C does not compile\n" + c.log + "\n" + numbered(source),
                 .value = options.name});
  c.ptx.assign(output.ptx, output.ptx_size);
  c.cubin.assign(output.cubin, output.cubin_size);
}

}  // namespace

Compiled compile(const std::string& source, const std::string& arch, const CompileOptions& options) {
  Compiled c;
  c.arch = arch;
  calotype_context context{};
  const int version = calotype_nvrtc_version(&context);
  if (version == 0) throw_error(context.error);
  const calotype_hash key = cache_key(source, arch, options, version);
  c.from_cache = options.cache && read_cache(key, c);
  if (!c.from_cache) {
    compile_now(source, options, version, c);
    const std::string data = pack(c);
    if (options.cache) calotype_cache_write(key, data.data(), data.size());
  }
  c.nvrtc = version;
  c.kernels = read_figures(c.log);
  c.warnings = read_warnings(c.log);
  return c;
}

std::vector<KernelFigures> read_figures(const std::string& log) {
  static const std::regex entry("Compiling entry function '([^']*)'"), used("Used (\\d+) registers"),
      smem("(\\d+) bytes smem"),
      frame("(\\d+) bytes stack frame, (\\d+) bytes spill stores, (\\d+) bytes spill loads");
  std::vector<KernelFigures> kernels;
  std::istringstream lines(log);
  std::string line;
  while (std::getline(lines, line)) {
    std::smatch m;
    if (std::regex_search(line, m, entry)) kernels.push_back({.name = m[1]});
    if (kernels.empty()) continue;
    KernelFigures& k = kernels.back();
    if (std::regex_search(line, m, used)) k.registers = std::stoi(m[1]);
    if (std::regex_search(line, m, smem)) k.shared_bytes = std::stoi(m[1]);
    if (std::regex_search(line, m, frame)) {
      k.stack_bytes = std::stoi(m[1]);
      k.spill_bytes = std::stoi(m[2]) + std::stoi(m[3]);
    }
  }
  return kernels;
}

std::vector<std::string> read_warnings(const std::string& log) {
  static const std::regex numbered("\\(C7\\d\\d\\d\\)");
  std::vector<std::string> warnings;
  std::istringstream lines(log);
  std::string line;
  while (std::getline(lines, line)) {
    if (line.find("warning") == std::string::npos && !std::regex_search(line, numbered)) continue;
    warnings.push_back(line.substr(0, line.find_last_not_of(" \r") + 1));
  }
  return warnings;
}

ErrorKind kind_of(calotype_error_kind kind) {
  switch (kind) {
    case CALOTYPE_OUT_OF_MEMORY:
      return ErrorKind::Memory;
    case CALOTYPE_NO_TARGET:
      return ErrorKind::Target;
    case CALOTYPE_INTERNAL:
      return ErrorKind::Internal;
    default:
      return ErrorKind::Argument;
  }
}

void throw_error(const calotype_error& error) {
  throw Error({.kind = kind_of(error.kind),
               .message = error.message,
               .func = error.func,
               .value = error.value,
               .legal = error.legal});
}

}  // namespace calotype::cuda
