// Figures of memory. Vectors of neighbours are asked for in accesses of up to 16 bytes where their addresses
// are multiples of that, as generated code does where it can prove that they are. Global memory is touched in
// pieces of 32 bytes (the sectors of the caches). Shared memory has 32 banks of 4 bytes; accesses of 8 and 16
// bytes come by half and quarter warps, and lanes that want the same word share a turn.

#include "sim/figures.h"

#include <algorithm>
#include <array>
#include <bit>

#include "sim/machine.h"

namespace calotype::sim {
namespace {

constexpr std::int64_t kSector = 32, kBanks = 32, kWord = 4, kWidest = 16;

std::int64_t sectors(const std::array<std::int64_t, kWarp>& address, LaneMask lanes, std::int64_t bytes) {
  std::array<std::int64_t, 2 * kWarp> touched;
  std::size_t count = 0;
  for_lanes(lanes, [&](int lane) {
    touched[count++] = address[lane] / kSector;
    touched[count++] = (address[lane] + bytes - 1) / kSector;
  });
  std::sort(touched.begin(), touched.begin() + count);
  return std::unique(touched.begin(), touched.begin() + count) - touched.begin();
}

/// Turns of the banks for the lanes of one phase: as many as the busiest bank has words.
std::int64_t turns(const std::array<std::int64_t, kWarp>& address, LaneMask lanes, std::int64_t bytes) {
  std::array<std::int64_t, kWarp * kWidest / kWord> words;
  std::size_t count = 0;
  for_lanes(lanes, [&](int lane) {
    for (std::int64_t b = 0; b < bytes; b += kWord) words[count++] = (address[lane] + b) / kWord;
  });
  std::sort(words.begin(), words.begin() + count);
  const auto end = std::unique(words.begin(), words.begin() + count);
  std::array<std::int64_t, kBanks> busy{};
  std::for_each(words.begin(), end,
                [&](std::int64_t word) { ++busy[static_cast<std::size_t>(word % kBanks)]; });
  return *std::max_element(busy.begin(), busy.end());
}

}  // namespace

Figures::Figures(const Code& code) : code_(code) {
  for (const Instruction& i : code.instructions) {
    const std::string stage = code.stage_of(i.scope);
    const auto [entry, is_new] = numbers_.try_emplace(stage, static_cast<int>(stages_.size()));
    if (is_new) stages_.push_back({.stage = stage});
    stage_of_.push_back(entry->second);
  }
}

StageFigures& Figures::stage_of(const Instruction& i) {
  const auto position = static_cast<std::size_t>(&i - code_.instructions.data());
  return stages_[static_cast<std::size_t>(stage_of_[position])];
}

MemoryFigures* Figures::memory_of(const Instruction& i, int buffer, bool stores) {
  const BufferUse& use = code_.buffers[static_cast<std::size_t>(buffer)];
  if (use.is_private()) return nullptr;
  StageFigures& stage = stage_of(i);
  if (use.is_shared()) return stores ? &stage.shared_stores : &stage.shared_loads;
  return stores ? &stage.global_stores : &stage.global_loads;
}

/// Elements of a row come one by one: what is carried over is the rest of a piece.
static void add_bulk(MemoryFigures& memory, std::int64_t bytes, std::int64_t piece) {
  const auto pieces = [&](std::int64_t all) { return (all + piece - 1) / piece; };
  memory.bytes += bytes;
  const std::int64_t more = pieces(memory.bytes) - pieces(memory.bytes - bytes);
  memory.pieces += more;
  memory.least_pieces += more;
}

void Figures::bulk(const Instruction& i, int buffer, std::int64_t bytes, bool stores) {
  const bool shared = code_.buffers[static_cast<std::size_t>(buffer)].is_shared();
  if (MemoryFigures* memory = memory_of(i, buffer, stores))
    add_bulk(*memory, bytes, shared ? kBanks * kWord : kSector);
}

void Figures::bulk_from_global(const Instruction& i, std::int64_t bytes) {
  add_bulk(stage_of(i).global_loads, bytes, kSector);
}

/// One request: `count` components from `first` on, which are neighbours, of each lane.
void Figures::count_piece(MemoryFigures& memory, const std::vector<Elements>& elements, std::size_t first,
                          std::size_t count, std::int64_t bytes, bool shared) const {
  const Elements& e = elements[first];
  if (e.lanes == 0) return;
  const std::int64_t width = bytes * static_cast<std::int64_t>(count);
  ++memory.requests;
  const std::int64_t asked = width * std::popcount(e.lanes);
  memory.bytes += asked;
  if (!shared) {
    memory.pieces += sectors(e.address, e.lanes, width);
    memory.least_pieces += (asked + kSector - 1) / kSector;
    return;
  }
  const int lanes_at_once = static_cast<int>(kWarp / std::max<std::int64_t>(1, width / kWord));
  for (int lane = 0; lane < kWarp; lane += lanes_at_once) {
    const LaneMask all = lanes_at_once == kWarp ? ~LaneMask{0} : (LaneMask{1} << lanes_at_once) - 1;
    const LaneMask phase = e.lanes & (all << lane);
    if (phase == 0) continue;
    memory.pieces += turns(e.address, phase, width);
    ++memory.least_pieces;
  }
}

void Figures::request(const Instruction& i, const std::vector<Elements>& elements, bool stores) {
  const int buffer = code_.accesses[static_cast<std::size_t>(i.site)].buffer;
  MemoryFigures* memory = memory_of(i, buffer, stores);
  if (!memory) return;
  const BufferUse& use = code_.buffers[static_cast<std::size_t>(buffer)];
  const std::int64_t bytes = use.type.bytes();
  // The widest access that all lanes' addresses are multiples of, over neighbours that the same lanes ask
  // for.
  std::size_t at_once = std::min<std::size_t>(static_cast<std::size_t>(kWidest / bytes), elements.size());
  at_once = std::bit_floor(at_once);
  const auto fits = [&](std::size_t width) {
    if (elements.size() % width != 0) return false;
    for (std::size_t k = 0; k < elements.size(); ++k) {
      const Elements &e = elements[k], &head = elements[k / width * width];
      if (e.lanes != head.lanes) return false;
      for (int lane = 0; lane < kWarp; ++lane) {
        if ((e.lanes >> lane & 1) == 0) continue;
        const auto from_head = static_cast<std::int64_t>(k % width) * bytes;
        if (e.address[lane] != head.address[lane] + from_head ||
            head.address[lane] % (static_cast<std::int64_t>(width) * bytes) != 0)
          return false;
      }
    }
    return true;
  };
  while (at_once > 1 && !fits(at_once)) at_once /= 2;
  for (std::size_t k = 0; k < elements.size(); k += at_once)
    count_piece(*memory, elements, k, at_once, bytes, use.is_shared());
}

/// What a stage keeps, by the names of its buffers.
void Figures::add_storage(std::vector<StageFigures>& stages) const {
  for (const BufferUse& use : code_.buffers) {
    if (!use.is_private() && !use.is_shared()) continue;
    for (StageFigures& stage : stages) {
      if (stage.stage.empty() || use.stage != stage.stage) continue;
      const std::int64_t bytes = use.elements * use.type.bytes();
      (use.is_shared() ? stage.shared_bytes : stage.register_bytes) += bytes;
    }
  }
}

std::vector<StageFigures> Figures::of_stages(const std::vector<std::int64_t>& executed) const {
  std::vector<StageFigures> stages = stages_;
  for (std::size_t k = 0; k < executed.size(); ++k) {
    if (executed[k] == 0) continue;
    const Instruction& i = code_.instructions[k];
    StageFigures& stage = stages[static_cast<std::size_t>(stage_of_[k])];
    stage.instructions[i.name] += executed[k];
    if (i.run == run_barrier || i.run == run_cluster_barrier) stage.barriers += executed[k];
  }
  add_storage(stages);
  std::erase_if(stages, [](const StageFigures& s) { return s.instructions.empty(); });
  return stages;
}

}  // namespace calotype::sim
