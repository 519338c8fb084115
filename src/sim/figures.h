#pragma once
// Counts, by stage, what a launch asks of memory and of the multiprocessor: requests of warps, the pieces of
// global memory that they touch, the turns of the banks of shared memory.

#include <string>
#include <unordered_map>
#include <vector>

#include "sim/code.h"
#include "sim/simulator.h"

namespace calotype::sim {

class Figures {
 public:
  explicit Figures(const Code& code);

  /// An instruction of a warp that loads or stores up to `Register::components` elements a lane.
  struct Elements {
    int component = 0;
    LaneMask lanes = 0;
    std::array<std::int64_t, kWarp>
        address{};  ///< of each lane's element: bytes; of shared memory in the block's
  };
  void request(const Instruction& i, const std::vector<Elements>& elements, bool stores);
  /// Bytes that go by themselves, in bulk: of no request.
  void bulk(const Instruction& i, int buffer, std::int64_t bytes, bool stores);
  /// The same of a tensor, which is no buffer of the code.
  void bulk_from_global(const Instruction& i, std::int64_t bytes);

  /// With the instructions that warps have executed, by position.
  std::vector<StageFigures> of_stages(const std::vector<std::int64_t>& executed) const;

 private:
  StageFigures& stage_of(const Instruction& i);
  MemoryFigures* memory_of(const Instruction& i, int buffer, bool stores);
  void count_piece(MemoryFigures& memory, const std::vector<Elements>& elements, std::size_t first,
                   std::size_t count, std::int64_t bytes, bool shared) const;
  void add_storage(std::vector<StageFigures>& stages) const;

  const Code& code_;
  std::vector<int> stage_of_;  ///< of each instruction, into stages_
  std::vector<StageFigures> stages_;
  std::unordered_map<std::string, int> numbers_;
};

}  // namespace calotype::sim
