// Room on a multiprocessor, by architecture.

#include "driver/occupancy.h"

#include <algorithm>
#include <array>

namespace calotype::driver {
namespace {

struct Multiprocessor {
  const char* arch;
  std::int64_t threads, blocks, shared_kb;
};
constexpr std::array<Multiprocessor, 6> kKnown = {{{"sm_80", 2048, 32, 164},
                                                   {"sm_86", 1536, 16, 100},
                                                   {"sm_89", 1536, 24, 100},
                                                   {"sm_90a", 2048, 32, 228},
                                                   {"sm_100a", 2048, 32, 228},
                                                   {"sm_120a", 1536, 24, 100}}};
constexpr const Multiprocessor& kUnnamed = kKnown[3];  // sm_90a
constexpr std::int64_t kReserved = 1024, kWarp = 32;   // bytes a block; threads come in whole warps

}  // namespace

Occupancy occupancy(const Target& target, std::int64_t threads, std::int64_t shared_bytes) {
  const auto known = std::find_if(kKnown.begin(), kKnown.end(),
                                  [&](const Multiprocessor& m) { return target.arch == m.arch; });
  const Multiprocessor& m = known == kKnown.end() ? kUnnamed : *known;
  const std::int64_t whole = (std::max<std::int64_t>(threads, 1) + kWarp - 1) / kWarp * kWarp;
  Occupancy room{m.blocks, "blocks"};
  if (m.threads / whole < room.blocks) room = {m.threads / whole, "threads"};
  const std::int64_t by_memory = m.shared_kb * 1024 / (shared_bytes + kReserved);
  if (by_memory < room.blocks) room = {by_memory, "shared memory"};
  return room;
}

}  // namespace calotype::driver
