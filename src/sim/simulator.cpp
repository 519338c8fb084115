// The interface of the simulator: compile once, check a launch, run it.

#include "sim/simulator.h"

#include <fmt/format.h>

#include <cstring>
#include <optional>

#include "calotype/error.h"
#include "instr/instruction.h"
#include "sim/compile.h"
#include "sim/machine.h"

namespace calotype::sim {
namespace {

constexpr std::int64_t kMostThreads = 1024;

void expect(bool holds, const Code& code, std::string message, std::string value, std::string legal) {
  if (holds) return;
  throw Error({.kind = ErrorKind::Internal,
               .message = fmt::format("kernel '{}' cannot run: {}", code.name, message),
               .value = std::move(value),
               .legal = std::move(legal)});
}

/// Bytes of an argument; Error where the range makes no sense.
void check_memory(const Code& code, const BufferUse& buffer, const Memory& memory) {
  const bool empty = memory.low == memory.high;
  expect(memory.low <= memory.high && (memory.data != nullptr || empty), code,
         fmt::format("buffer '{}' has no memory", buffer.name),
         fmt::format("[{}, {})", memory.low, memory.high), "host memory with low <= high");
}

void check_tensors(const Code& code, const Launch& launch) {
  expect(launch.tensors.size() == code.tensors.size(), code, "it takes another number of tensors",
         fmt::format("{}", launch.tensors.size()), fmt::format("{}", code.tensors.size()));
  for (std::size_t i = 0; i < code.tensors.size(); ++i) {
    const std::size_t rank = code.tensors[i]->box.size();
    expect(launch.tensors[i].extents.size() == rank && launch.tensors[i].strides.size() == rank, code,
           fmt::format("the rank of the tensor '{}'", code.tensors[i]->name),
           fmt::format("{}", launch.tensors[i].extents.size()), fmt::format("{}", rank));
  }
}

void check_launch(const Code& code, const Launch& launch) {
  expect(launch.scalars.size() == code.scalars.size(), code, "it takes another number of scalars",
         fmt::format("{}", launch.scalars.size()), fmt::format("{}", code.scalars.size()));
  expect(static_cast<int>(launch.buffers.size()) == code.arguments, code,
         "it takes another number of buffers", fmt::format("{}", launch.buffers.size()),
         fmt::format("{}", code.arguments));
  for (int i = 0; i < code.arguments; ++i) check_memory(code, code.buffers[i], launch.buffers[i]);
  check_tensors(code, launch);
  std::int64_t threads = 1, blocks = 1;
  const std::int64_t most = code.max_threads > 0 ? code.max_threads : kMostThreads;
  for (int axis = 0; axis < 3; ++axis) {
    const std::int64_t b = launch.block[axis], g = launch.grid[axis];
    expect(b >= 1 && b <= kMostThreads, code, fmt::format("the block's size along {}", "xyz"[axis]),
           fmt::format("{}", b), "1 to 1024");
    expect(g >= 0 && g <= INT32_MAX, code, fmt::format("the number of blocks along {}", "xyz"[axis]),
           fmt::format("{}", g), "0 to 2147483647");
    threads *= b;
    expect(!__builtin_mul_overflow(blocks, g, &blocks), code, "the number of blocks", fmt::format("{}", g),
           "a grid of less than 2^63 blocks");
  }
  expect(launch.grid[0] % code.cluster == 0, code, "the number of blocks along x",
         fmt::format("{}", launch.grid[0]), fmt::format("a multiple of the cluster's {}", code.cluster));
  expect(threads <= most, code, "the block is too large", fmt::format("{}", threads),
         fmt::format("at most {}", most));
}

/// What the driver does not encode: tensors at, or with strides of, other than multiples of 16 bytes.
void check_tensor_alignment(Machine& machine) {
  constexpr std::int64_t bytes = instr::kBulkBytes;
  for (std::size_t i = 0; i < machine.launch.tensors.size(); ++i) {
    const Tensor& tensor = machine.launch.tensors[i];
    bool good = reinterpret_cast<std::uintptr_t>(tensor.memory.data) % bytes == 0;
    for (std::size_t d = 1; d < tensor.extents.size(); ++d)
      good &= tensor.extents[d] <= 1 || (tensor.strides[d] > 0 && tensor.strides[d] % bytes == 0);
    if (good) continue;
    const std::string& name = machine.code.tensors[i]->source->name;
    machine.findings.add(Fault::Misaligned, -1 - machine.code.arguments - static_cast<int>(i), [&] {
      return Finding{.message = fmt::format("{} is a tensor whose address or strides are no multiples of {} "
                                            "bytes",
                                            name, bytes),
                     .buffer = name};
    });
  }
}

/// A pointer that is not a multiple of its element's size is a fault of every access; the run goes on.
void check_alignment(Machine& machine) {
  for (int i = 0; i < machine.code.arguments; ++i) {
    const BufferUse& buffer = machine.code.buffers[i];
    const auto address = reinterpret_cast<std::uintptr_t>(machine.launch.buffers[i].data);
    if (address % static_cast<std::uintptr_t>(buffer.type.bytes()) == 0) continue;
    machine.findings.add(Fault::Misaligned, -1 - i, [&] {
      return Finding{.message = fmt::format("{} of {} is not at a multiple of {} bytes", buffer.name,
                                            buffer.type.str(), buffer.type.bytes()),
                     .buffer = buffer.name};
    });
  }
}

}  // namespace

Kernel::Kernel(const lower::Function& function) : code_(std::make_shared<const Code>(compile(function))) {}

namespace {

/// The bytes of the buffers that a launch writes, as they were before it.
class Contents {
 public:
  Contents(const Code& code, const Launch& launch) {
    std::size_t i = 0;
    for (const Memory& m : launch.buffers) keep(code.buffers[i++], m);
    for (const Tensor& t : launch.tensors) keep(code.buffers[i++], t.memory);
  }
  void restore() const {
    for (const auto& [first, bytes] : kept_) std::memcpy(first, bytes.data(), bytes.size());
  }

 private:
  void keep(const BufferUse& buffer, const Memory& m) {
    if (!buffer.written || m.low == m.high) return;
    std::byte* first = static_cast<std::byte*>(m.data) + m.low;
    kept_.emplace_back(first, std::vector<std::byte>(first, first + (m.high - m.low)));
  }
  std::vector<std::pair<std::byte*, std::vector<std::byte>>> kept_;
};

/// Runs the launch again, as it ran, up to the accesses that others were in conflict with.
void explain_conflicts(const Code& code, const Launch& launch, const Options& options, const Contents& before,
                       const std::vector<Suspect>& suspects, Report& report) {
  before.restore();
  Launch silent = launch;
  silent.print = {};
  Report again;
  Machine machine(code, silent, options, again);
  machine.watch_for(suspects);
  machine.run();
  machine.tell_suspects(report.findings);
}

}  // namespace

Report Kernel::run(const Launch& launch, const Options& options) const {
  check_launch(*code_, launch);
  Report report;
  std::optional<Contents> before;
  if (options.explain && options.detect) before.emplace(*code_, launch);
  Machine machine(*code_, launch, options, report);
  check_alignment(machine);
  check_tensor_alignment(machine);
  machine.run();
  if (before && !machine.suspects.empty())
    explain_conflicts(*code_, launch, options, *before, machine.suspects, report);
  return report;
}

}  // namespace calotype::sim
