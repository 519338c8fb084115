#pragma once
// What running a GPU program on the simulator has found: its faults, each with the accesses and where they
// come from, and figures of each stage. Kernel::verify and Pipeline::verify make one; no GPU is needed.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace calotype {

/// How a program is verified.
struct VerifyOptions {
  std::uint64_t seed = 1;  ///< of the order in which blocks and warps run
  /// Copies that are under way end at random moments that are legal, not as late as what waits for them
  /// allows.
  bool random_landing = false;
  std::int64_t max_findings = 20;  ///< places reported in a kernel; more are only counted
  /// Instructions of warps in a launch. A launch that wants more is a finding of kind "step limit": it has
  /// not been verified to its end.
  std::int64_t max_steps = std::int64_t{1} << 30;
};

/// What a thread did, as a Finding tells of it.
struct ThreadAccess {
  std::string verb;       ///< "reads", "writes", "updates", "copies to"
  std::string text;       ///< "tile[y*33 + x]"
  std::string stage;      ///< the Func whose loops it stands in
  std::string directive;  ///< what put it there: "#9 compute_at(sharp, xo)"; empty: no directive
  std::array<std::int64_t, 3> block{}, thread{};            ///< coordinates
  std::vector<std::pair<std::string, std::int64_t>> loops;  ///< around it with their values, outermost first
};

/// A fault of the program, reported once for each place in it; `count` says how often it happened there.
struct Finding {
  /// "data race", "out of bounds", "uninitialised read", "unfinished copy", "unfinished product", "missing
  /// fence", "ring overwrite", "phase misuse", "barrier divergence", "deadlock", "block not running",
  /// "misaligned access", "illegal box", "illegal matrix", "illegal registers", "index overflow", "check
  /// failed", "step limit" or "wrong result"
  std::string kind;
  std::string message;                  ///< one sentence with the place and the threads
  std::string kernel;                   ///< in which it happened
  std::string stage;                    ///< the Func whose code saw it
  std::string directive;                ///< of the schedule, that put the code or the storage there
  std::string buffer;                   ///< the buffer concerned, or empty
  std::array<std::int64_t, 3> block{};  ///< coordinates of the block that saw it
  std::vector<std::array<std::int64_t, 3>>
      threads;             ///< coordinates in their blocks; the one that saw it first
  std::int64_t index = 0;  ///< flat index of the element, where there is a buffer
  std::int64_t count = 1;
  std::vector<ThreadAccess> accesses = {};  ///< the one that saw it, and the one that it conflicts with
};

/// Accesses to one kind of memory. A request is what a warp asks for by one instruction.
struct MemoryFigures {
  std::int64_t requests = 0;
  std::int64_t bytes = 0;  ///< that threads asked for
  /// Global memory: pieces of 32 bytes that lie at multiples of that, touched by the requests. Shared memory:
  /// turns of its 32 banks of 4 bytes that the requests took.
  std::int64_t pieces = 0;
  /// The least that bytes of that number could have taken.
  std::int64_t least_pieces = 0;
};

/// What the code of one stage did in a launch, all threads together.
struct StageFigures {
  std::string stage;
  MemoryFigures global_loads, global_stores, shared_loads, shared_stores;
  std::int64_t barriers = 0;        ///< of a block or cluster, that warps came to
  std::int64_t register_bytes = 0;  ///< a thread, of the tiles that the stage keeps in registers
  std::int64_t shared_bytes = 0;    ///< a block, of its storage
  std::map<std::string, std::int64_t> instructions;  ///< executed by warps, by kind
};

/// A launch of a kernel.
struct KernelFigures {
  std::string kernel;
  std::array<std::int64_t, 3> grid{}, block{};
  std::int64_t cluster = 1;
  std::int64_t shared_bytes = 0;
  /// Blocks that a multiprocessor of the target has room for at one time, by its threads and by its shared
  /// memory; registers are the assembler's to say. `limited_by`: "threads", "shared memory" or "blocks".
  std::int64_t blocks_at_once = 0;
  std::string limited_by;
  std::vector<StageFigures> stages;  ///< in the order of the code
};

struct Verification {
  std::vector<Finding> findings;  ///< in the order in which they were seen
  std::int64_t dropped = 0;       ///< places beyond VerifyOptions::max_findings
  std::vector<KernelFigures> kernels;
  /// No finding. A program that was not run to its end has one.
  bool clean() const { return findings.empty(); }
  /// The findings with their accesses, then the figures of each kernel by stage.
  std::string str() const;
};

}  // namespace calotype
