// Helpers for copies that go on by themselves and for the memory of a cluster's blocks: cp.async and its
// groups, cp.async.bulk, cp.async.bulk.tensor, st.async and the barriers in shared memory that count them
// (PTX ISA, data movement and parallel synchronization instructions).

#include <fmt/format.h>

#include <array>

#include "codegen/cuda/prelude_helpers.h"

namespace calotype::cuda {

namespace {

/// The coordinates of a box of so many dimensions: as parameters, as operands of PTX from `first` on, and as
/// what those stand for.
struct Coordinates {
  std::string parameters, operands, values;
  Coordinates(int rank, int first) {
    for (int d = 0; d < rank; ++d) {
      parameters += fmt::format("int c{}, ", d);
      operands += fmt::format("{}%{}", d ? ", " : "", first + d);
      values += fmt::format(", \"r\"(c{})", d);
    }
  }
};

/// The function that starts the copy of a box: its bytes are due, and on their way.
std::string copy_box(int rank) {
  const Coordinates at(rank, 3);
  return fmt::format(
      "@ void copy_box_{0}d(void* to, const tensor_map* from, {1}int bytes, unsigned long long* full) {{\n"
      "  asm volatile(\"mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;\" ::\n"
      "      \"r\"(shared_address(full)), \"r\"(bytes) : \"memory\");\n"
      "  asm volatile(\"cp.async.bulk.tensor.{0}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "\"\n"
      "      \"[%0], [%1, {{{2}}}], [%2];\" ::\n"
      "      \"r\"(shared_address(to)), \"l\"(from), \"r\"(shared_address(full)){3} : \"memory\");\n"
      "}}\n",
      rank, at.parameters, at.operands, at.values);
}

/// The same for the blocks of a cluster whose ranks' bits are set: they expect the bytes by themselves.
std::string spread_box(int rank) {
  std::string parameters, operands, values;
  for (int d = 0; d < rank; ++d) {
    parameters += fmt::format("int c{}, ", d);
    operands += fmt::format("{}%{}", d ? ", " : "", 4 + d);
    values += fmt::format(", \"r\"(c{})", d);
  }
  return fmt::format(
      "@ void spread_box_{0}d(void* to, const tensor_map* from, {1}unsigned short blocks,\n"
      "    unsigned long long* full) {{\n"
      "  asm "
      "volatile(\"cp.async.bulk.tensor.{0}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes\"\n"
      "      \".multicast::cluster [%0], [%1, {{{2}}}], [%2], %3;\" ::\n"
      "      \"r\"(shared_address(to)), \"l\"(from), \"r\"(shared_address(full)), \"h\"(blocks){3} : "
      "\"memory\");\n"
      "}}\n",
      rank, parameters, operands, values);
}

/// The same the other way, from shared memory.
std::string send_box(int rank) {
  const Coordinates at(rank, 2);
  return fmt::format(
      "@ void send_box_{0}d(const tensor_map* to, {1}void* from) {{\n"
      "  asm volatile(\"cp.async.bulk.tensor.{0}d.global.shared::cta.tile.bulk_group [%0, {{{2}}}], [%1];\" "
      "::\n"
      "      \"l\"(to), \"r\"(shared_address(from)){3} : \"memory\");\n"
      "}}\n",
      rank, at.parameters, at.operands, at.values);
}

}  // namespace

const std::vector<Helper>& copy_helpers() {
  static const std::array<std::string, 5> boxes = {copy_box(1), copy_box(2), copy_box(3), copy_box(4),
                                                   copy_box(5)};
  static const std::array<std::string, 5> spread = {spread_box(1), spread_box(2), spread_box(3),
                                                    spread_box(4), spread_box(5)};
  static const std::array<std::string, 5> sent = {send_box(1), send_box(2), send_box(3), send_box(4),
                                                  send_box(5)};
  static const std::vector<Helper> all = {
      // What lies in a block's shared memory where `place` does in this one's.
      {"remote_address",
       {},
       "@ unsigned int remote_address(void* place, int rank) {\n"
       "  unsigned int r;\n"
       "  asm(\"mapa.shared::cluster.u32 %0, %1, %2;\"\n"
       "      : \"=r\"(r) : \"r\"((unsigned int)__cvta_generic_to_shared(place)), \"r\"(rank));\n"
       "  return r;\n"
       "}\n"},
      {"store_remote_8",
       {"remote_address"},
       "@ void store_remote_8(void* place, int rank, unsigned char value) {\n"
       "  asm volatile(\"st.shared::cluster.b8 [%0], %1;\" :: \"r\"(remote_address(place, rank)), "
       "\"r\"((unsigned int)value) : \"memory\");\n"
       "}\n"},
      {"store_remote_16",
       {"remote_address"},
       "@ void store_remote_16(void* place, int rank, unsigned short value) {\n"
       "  asm volatile(\"st.shared::cluster.b16 [%0], %1;\" :: \"r\"(remote_address(place, rank)), "
       "\"h\"(value) : \"memory\");\n"
       "}\n"},
      {"store_remote_32",
       {"remote_address"},
       "@ void store_remote_32(void* place, int rank, unsigned int value) {\n"
       "  asm volatile(\"st.shared::cluster.b32 [%0], %1;\" :: \"r\"(remote_address(place, rank)), "
       "\"r\"(value) : \"memory\");\n"
       "}\n"},
      {"store_remote_64",
       {"remote_address"},
       "@ void store_remote_64(void* place, int rank, unsigned long long value) {\n"
       "  asm volatile(\"st.shared::cluster.b64 [%0], %1;\" :: \"r\"(remote_address(place, rank)), "
       "\"l\"(value) : \"memory\");\n"
       "}\n"},
      // Words that the receiver's ring counts.
      {"send_32",
       {"remote_address"},
       "@ void send_32(void* place, int rank, unsigned int value, unsigned long long* ring) {\n"
       "  asm volatile(\"st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];\" ::\n"
       "      \"r\"(remote_address(place, rank)), \"r\"(value), \"r\"(remote_address(ring, rank)) : "
       "\"memory\");\n"
       "}\n"},
      {"send_64",
       {"remote_address"},
       "@ void send_64(void* place, int rank, unsigned long long value, unsigned long long* ring) {\n"
       "  asm volatile(\"st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];\" ::\n"
       "      \"r\"(remote_address(place, rank)), \"l\"(value), \"r\"(remote_address(ring, rank)) : "
       "\"memory\");\n"
       "}\n"},
      {"cluster_barrier",
       {},
       "@ void cluster_barrier() {\n"
       "  asm volatile(\"barrier.cluster.arrive.release.aligned;\" ::: \"memory\");\n"
       "  asm volatile(\"barrier.cluster.wait.acquire.aligned;\" ::: \"memory\");\n"
       "}\n"},
      {"cluster_arrive",
       {},
       "@ void cluster_arrive() { asm volatile(\"barrier.cluster.arrive.release.aligned;\" ::: \"memory\"); "
       "}\n"},
      {"cluster_wait",
       {},
       "@ void cluster_wait() { asm volatile(\"barrier.cluster.wait.acquire.aligned;\" ::: \"memory\"); }\n"},
      // Copies from global to shared memory that pass no register; the widest pass by the first cache as
      // well.
      {"copy_async_4",
       {},
       "@ void copy_async_4(void* to, const void* from) {\n"
       "  asm volatile(\"cp.async.ca.shared.global [%0], [%1], 4;\" ::\n"
       "      \"r\"((unsigned int)__cvta_generic_to_shared(to)), \"l\"(from) : \"memory\");\n"
       "}\n"},
      {"copy_async_8",
       {},
       "@ void copy_async_8(void* to, const void* from) {\n"
       "  asm volatile(\"cp.async.ca.shared.global [%0], [%1], 8;\" ::\n"
       "      \"r\"((unsigned int)__cvta_generic_to_shared(to)), \"l\"(from) : \"memory\");\n"
       "}\n"},
      {"copy_async_16",
       {},
       "@ void copy_async_16(void* to, const void* from) {\n"
       "  asm volatile(\"cp.async.cg.shared.global [%0], [%1], 16;\" ::\n"
       "      \"r\"((unsigned int)__cvta_generic_to_shared(to)), \"l\"(from) : \"memory\");\n"
       "}\n"},
      {"commit_copies",
       {},
       "@ void commit_copies() { asm volatile(\"cp.async.commit_group;\" ::: \"memory\"); }\n"},
      {"wait_copies",
       {},
       "template <int pending>\n"
       "@ void wait_copies() { asm volatile(\"cp.async.wait_group %0;\" ::\"n\"(pending) : \"memory\"); }\n"},
      {"thread_in_block",
       {},
       "@ int thread_in_block() {\n"
       "  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);\n"
       "}\n"},
      {"threads_of_block", {}, "@ int threads_of_block() { return blockDim.x * blockDim.y * blockDim.z; }\n"},
      {"lane_in_warp", {"thread_in_block"}, "@ int lane_in_warp() { return thread_in_block() & 31; }\n"},
      {"warps_of_block",
       {"threads_of_block"},
       "@ int warps_of_block() { return (threads_of_block() + 31) / 32; }\n"},
      {"shared_address",
       {},
       "@ unsigned int shared_address(const void* place) {\n"
       "  return (unsigned int)__cvta_generic_to_shared(place);\n"
       "}\n"},
      {"make_ring",
       {"shared_address", "thread_in_block", "warps_of_block"},
       // Each slot waits for every warp, or for some; copies must see that, and so must all threads.
       "@ void make_ring(unsigned long long* ring, int slots, int arrivals = warps_of_block()) {\n"
       "  if (thread_in_block() == 0) {\n"
       "    for (int i = 0; i < slots; ++i)\n"
       "      asm volatile(\"mbarrier.init.shared::cta.b64 [%0], %1;\" ::\n"
       "          \"r\"(shared_address(ring + i)), \"r\"(arrivals) : \"memory\");\n"
       "    asm volatile(\"fence.mbarrier_init.release.cluster;\" ::: \"memory\");\n"
       "  }\n"
       "}\n"},
      {"copy_row",
       {"shared_address"},
       "@ void copy_row(void* to, const void* from, int bytes, unsigned long long* full) {\n"
       "  asm volatile(\"mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;\" ::\n"
       "      \"r\"(shared_address(full)), \"r\"(bytes) : \"memory\");\n"
       "  asm volatile(\"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
       "[%3];\" ::\n"
       "      \"r\"(shared_address(to)), \"l\"(__cvta_generic_to_global(from)), \"r\"(bytes),\n"
       "      \"r\"(shared_address(full)) : \"memory\");\n"
       "}\n"},
      // What a launch is given for memory that boxes are copied of: encoded by the driver.
      {"tensor_map", {}, "struct __align__(128) tensor_map { unsigned char bytes[128]; };\n"},
      {"fetch_tensor_map",
       {"tensor_map", "thread_in_block"},
       "@ void fetch_tensor_map(const tensor_map* map) {\n"
       "  if (thread_in_block() == 0) asm volatile(\"prefetch.tensormap [%0];\" :: \"l\"(map) : "
       "\"memory\");\n"
       "}\n"},
      // From the coordinates on, the first one innermost; what lies outside is zeros, and counts as well.
      {"copy_box_1d", {"shared_address", "tensor_map"}, boxes[0]},
      {"copy_box_2d", {"shared_address", "tensor_map"}, boxes[1]},
      {"copy_box_3d", {"shared_address", "tensor_map"}, boxes[2]},
      {"copy_box_4d", {"shared_address", "tensor_map"}, boxes[3]},
      {"copy_box_5d", {"shared_address", "tensor_map"}, boxes[4]},
      {"spread_box_1d", {"shared_address", "tensor_map"}, spread[0]},
      {"spread_box_2d", {"shared_address", "tensor_map"}, spread[1]},
      {"spread_box_3d", {"shared_address", "tensor_map"}, spread[2]},
      {"spread_box_4d", {"shared_address", "tensor_map"}, spread[3]},
      {"spread_box_5d", {"shared_address", "tensor_map"}, spread[4]},
      // To the coordinates on; what lies outside is left out.
      {"send_box_1d", {"shared_address", "tensor_map"}, sent[0]},
      {"send_box_2d", {"shared_address", "tensor_map"}, sent[1]},
      {"send_box_3d", {"shared_address", "tensor_map"}, sent[2]},
      {"send_box_4d", {"shared_address", "tensor_map"}, sent[3]},
      {"send_box_5d", {"shared_address", "tensor_map"}, sent[4]},
      {"commit_boxes",
       {},
       "@ void commit_boxes() { asm volatile(\"cp.async.bulk.commit_group;\" ::: \"memory\"); }\n"},
      {"boxes_read",
       {},
       "template <int pending> @ void boxes_read() {\n"
       "  asm volatile(\"cp.async.bulk.wait_group.read %0;\" :: \"n\"(pending) : \"memory\");\n"
       "}\n"},
      {"boxes_written",
       {},
       "template <int pending> @ void boxes_written() {\n"
       "  asm volatile(\"cp.async.bulk.wait_group %0;\" :: \"n\"(pending) : \"memory\");\n"
       "}\n"},
      {"fence_copies",
       {},
       // What threads have stored and loaded comes before a later bulk copy to the same place.
       "@ void fence_copies() { asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\"); }\n"},
      {"arrive",
       {"shared_address", "lane_in_warp"},
       "@ void arrive(unsigned long long* full) {\n"
       "  __syncwarp();\n"
       "  if (lane_in_warp() == 0)\n"
       "    asm volatile(\"mbarrier.arrive.shared::cta.b64 _, [%0];\" :: \"r\"(shared_address(full)) : "
       "\"memory\");\n"
       "}\n"},
      {"arrive_expecting",
       {"shared_address", "lane_in_warp"},
       "@ void arrive_expecting(unsigned long long* full, int bytes) {\n"
       "  __syncwarp();\n"
       "  if (lane_in_warp() == 0)\n"
       "    asm volatile(\"mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\" ::\n"
       "        \"r\"(shared_address(full)), \"r\"(bytes) : \"memory\");\n"
       "}\n"},
      // At the ring of another block: what it is told are loads that are complete, so that no more is
      // released.
      {"arrive_at",
       {"remote_address", "lane_in_warp"},
       "@ void arrive_at(unsigned long long* ring, int rank) {\n"
       "  __syncwarp();\n"
       "  if (lane_in_warp() == 0)\n"
       "    asm volatile(\"mbarrier.arrive.shared::cluster.b64 _, [%0];\" :: \"r\"(remote_address(ring, "
       "rank)) "
       ": \"memory\");\n"
       "}\n"},
      {"expect",
       {"shared_address", "thread_in_block"},
       "@ void expect(unsigned long long* ring, int bytes) {\n"
       "  if (thread_in_block() == 0)\n"
       "    asm volatile(\"mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;\" ::\n"
       "        \"r\"(shared_address(ring)), \"r\"(bytes) : \"memory\");\n"
       "}\n"},
      {"await_sent",
       {"shared_address"},
       "@ void await_sent(unsigned long long* ring, unsigned int parity) {\n"
       "  unsigned int done;\n"
       "  do {\n"
       "    asm volatile(\"{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], "
       "%2; "
       "selp.u32 %0, 1, 0, p; }\"\n"
       "        : \"=r\"(done) : \"r\"(shared_address(ring)), \"r\"(parity) : \"memory\");\n"
       "  } while (!done);\n"
       "}\n"},
      {"await",
       {"shared_address"},
       "@ void await(unsigned long long* full, unsigned int parity) {\n"
       "  unsigned int done;\n"
       "  do {\n"
       "    asm volatile(\"{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 "
       "%0, "
       "1, 0, p; }\"\n"
       "        : \"=r\"(done) : \"r\"(shared_address(full)), \"r\"(parity) : \"memory\");\n"
       "  } while (!done);\n"
       "}\n"},
      {"await_next",
       {"await"},
       "@ void await_next(unsigned long long* ring, int slot, unsigned int& phases) {\n"
       "  await(ring + slot, phases >> slot & 1u);\n"
       "  phases ^= 1u << slot;\n"
       "}\n"},
      {"finish_ring",
       {"await"},
       "@ void finish_ring(unsigned long long* ring, int slots, unsigned int turns) {\n"
       "  for (int i = 0; i < slots; ++i) await(ring + i, ~(turns >> i) & 1u);\n"
       "}\n"},
  };
  return all;
}

}  // namespace calotype::cuda
