// What a launch needs before it runs: memory regions with their shadows, warps with their registers.

#include "sim/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace calotype::sim {

Machine::Machine(const Code& code, const Launch& launch, const Options& options, Report& report)
    : code(code),
      launch(launch),
      options(options),
      report(report),
      findings(code, report, options.max_findings),
      executed_(code.instructions.size()),
      threads_(launch.block[0] * launch.block[1] * launch.block[2]),
      random_(options.seed) {
  if (options.figures) figures.emplace(code);
}

Coordinates Machine::coordinates(int thread) const {
  const auto& size = launch.block;
  thread %= kBlockThreads;
  return {thread % size[0], thread / size[0] % size[1], thread / size[0] / size[1]};
}

std::string Machine::who(int thread) const { return who(thread, first_block_); }

std::string Machine::who(int thread, const Coordinates& b) const {
  const Coordinates t = coordinates(thread);
  return fmt::format("thread ({}, {}, {}) of block ({}, {}, {})", t[0], t[1], t[2],
                     b[0] + thread / kBlockThreads, b[1], b[2]);
}

const Coordinates& Machine::block_of(std::uint32_t interval) const {
  const auto after =
      std::upper_bound(block_starts_.begin(), block_starts_.end(), interval,
                       [](std::uint32_t at, const BlockStart& start) { return at < start.interval; });
  return std::prev(after)->block;
}

// ---- Memory

void Machine::make_spaces() {
  spaces.resize(code.buffers.size());
  make_global_regions();
  make_shared_region();
  for (std::size_t i = 0; i < code.buffers.size(); ++i)
    if (code.buffers[i].is_private()) spaces[i] = make_private_space(code.buffers[i]);
}

/// Of arguments and tensors, by where it begins.
std::vector<Machine::GlobalMemory> Machine::global_memory() const {
  std::vector<GlobalMemory> all;
  for (int i = 0; i < code.arguments; ++i) all.push_back({i, launch.buffers[static_cast<std::size_t>(i)]});
  for (std::size_t i = 0; i < launch.tensors.size(); ++i)
    all.push_back({code.arguments + static_cast<int>(i), launch.tensors[i].memory});
  std::stable_sort(all.begin(), all.end(),
                   [](const GlobalMemory& a, const GlobalMemory& b) { return a.first() < b.first(); });
  return all;
}

/// What overlaps shares a region, so that a race through both is seen.
void Machine::make_global_regions() {
  const std::vector<GlobalMemory> all = global_memory();
  for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    Region& region = *regions_.emplace_back(std::make_unique<Region>());
    region.number = static_cast<int>(regions_.size());
    region.base = all[begin].first();
    std::int64_t granule = 0;
    bool written = false;
    for (end = begin; end < all.size(); ++end) {
      const auto& [i, memory] = all[end];
      const BufferUse& buffer = code.buffers[static_cast<std::size_t>(i)];
      const std::int64_t start = all[end].first() - region.base;
      if (end > begin && start >= region.bytes) break;
      region.bytes = std::max(region.bytes, start + memory.high - memory.low);
      granule = std::gcd(std::gcd(granule, start - memory.low), buffer.type.bytes());
      written |= buffer.written;
      spaces[static_cast<std::size_t>(i)] =
          make_global_space(buffer, region, start - memory.low, memory.low, memory.high);
    }
    // Pieces count from the region's base; an argument whose legal bytes begin inside an element has smaller
    // ones.
    region.granule = static_cast<int>(granule);
    const std::int64_t bytes = (region.bytes + granule - 1) / granule * granule;
    if (options.detect && written) region.shadow = std::make_unique<Shadow>(bytes, region.granule, true);
  }
}

void Machine::make_shared_region() {
  Region& region = *regions_.emplace_back(std::make_unique<Region>());
  region.number = static_cast<int>(regions_.size());
  constexpr std::int64_t align = 128;  // of every buffer, so that each block has the same pieces
  region.blocks = code.cluster;
  region.per_block = (code.shared_bytes + align - 1) / align * align;
  shared_.resize(static_cast<std::size_t>(region.per_block * region.blocks));
  region.base = shared_.data();
  region.bytes = region.per_block * region.blocks;
  std::int64_t granule = 0;
  for (const BufferUse& buffer : code.buffers)
    if (buffer.is_shared()) granule = std::gcd(std::gcd(granule, buffer.offset), buffer.type.bytes());
  if (granule == 0) return;  // no shared memory
  region.granule = static_cast<int>(granule);
  const std::int64_t bytes = (region.bytes + granule - 1) / granule * granule;
  const auto warps_of_block = static_cast<int>((threads_ + kWarp - 1) / kWarp);
  if (options.detect)
    region.shadow = std::make_unique<Shadow>(bytes, region.granule, false, code.partly ? warps_of_block : 0);
  for (std::size_t i = 0; i < code.buffers.size(); ++i)
    if (code.buffers[i].is_shared()) spaces[i] = make_shared_space(code.buffers[i], region);
}

// ---- Warps

void Machine::make_warps() {
  const std::int64_t of_block = (threads_ + kWarp - 1) / kWarp;
  warps.resize(static_cast<std::size_t>(of_block * code.cluster));
  for (std::size_t w = 0; w < warps.size(); ++w) {
    Warp& warp = warps[w];
    warp.number = static_cast<int>(static_cast<std::int64_t>(w) % of_block);
    warp.rank = static_cast<int>(static_cast<std::int64_t>(w) / of_block);
    const std::int64_t threads = std::min<std::int64_t>(kWarp, threads_ - warp.number * kWarp);
    warp.live = threads == kWarp ? ~LaneMask{0} : (LaneMask{1} << threads) - 1;
    warp.registers.resize(static_cast<std::size_t>(code.registers), of_int(0));
    warp.privates.resize(static_cast<std::size_t>(code.privates));
    warp.constants = code.constants.data();
    set_scalars(warp);
  }
}

void Machine::set_scalars(Warp& warp) const {
  for (std::size_t i = 0; i < code.scalars.size(); ++i) {
    const auto& [r, type] = code.scalars[i];
    *warp.write(r) = decode(type, &launch.scalars[i]);  // the low bytes come first
  }
  if (code.has_grid_var) *warp.write(code.grid_var) = of_int(launch.grid[0]);
  for (int axis = 0; axis < 3; ++axis) {
    if (!code.has_thread_var[axis]) continue;
    Cell* cells = warp.write(code.thread_vars[axis]);
    for (int lane = 0; lane < kWarp; ++lane) cells[lane] = of_int(coordinates(thread(warp, lane))[axis]);
  }
}

}  // namespace calotype::sim
