// Boxes that are sent out of shared memory or go to several blocks of a cluster, and arrivals at rings of
// other blocks, as CUDA C.

#include <gtest/gtest.h>

#include "codegen/cuda/nvrtc_compile.h"
#include "runtime/nvrtc.h"
#include "tiles.h"

namespace {

using namespace calotype_test;

void expect_text(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << part << "\nis not in\n" << text;
}

void expect_compiles(const std::string& source) {
  calotype_context context{};
  if (calotype_nvrtc_version(&context) == 0) GTEST_SKIP() << context.error.message;
  const cuda::Compiled c = cuda::compile(source, "sm_90a", {.cache = false});
  for (const std::string& warning : c.warnings) ADD_FAILURE() << warning;
  for (const cuda::KernelFigures& k : c.kernels) EXPECT_EQ(k.spill_bytes + k.stack_bytes, 0) << k.name;
}

ir::Stmt one_of(const ir::SymbolPtr& thread, ir::Stmt s) {
  const Expr lane = node(Op::Mod, Int(32), {var(thread), number(32)});
  return ir::if_then(node(Op::Eq, Bool(), {lane, number(0)}), std::move(s));
}

/// A tensor of that many dimensions, and a tile that is a box of it.
struct Boxes {
  int rank = 2;
  ir::BufferPtr tensor = argument("out", Float(32), 0, false),
                tile = storage("tile", Float(32), ir::MemorySpace::Shared, 1024);
  ir::SymbolPtr thread = symbol("thread", Int(32), ir::SymbolKind::Thread),
                block = symbol("block", Int(32), ir::SymbolKind::Thread);
  ir::TensorMapPtr map = make_map();

  ir::TensorMapPtr make_map() const {
    std::vector<std::int64_t> box(static_cast<std::size_t>(rank), 2);
    box[0] = 8;
    return std::make_shared<const ir::TensorMap>(
        ir::TensorMap{.name = "out_map", .source = tensor, .box = std::move(box)});
  }
  std::vector<Expr> start() const {
    std::vector<Expr> all;
    for (int d = 0; d < rank; ++d) all.push_back(number(8 * d));
    return all;
  }
  std::string print(ir::Stmt body, std::vector<ir::BufferPtr> buffers = {},
                    const std::vector<ir::RingPtr>& rings = {}, int cluster = 1) const {
    lower::Function f = tile_kernel("boxes", std::move(buffers), thread, 64, ir::allocate(tile, body));
    f.tensors = {map};
    f.rings = rings;
    f.cluster = cluster;
    f.grid[0] = number(cluster);
    if (cluster > 1) f.block_vars[0] = block;
    return cuda::print({f});
  }
};

TEST(Boxes, AreSent) {
  const Boxes b;
  const ir::Stmt send = ir::box_store({.buffer = b.tile, .map = b.map, .out = true},
                                      {.index = number(256), .start = b.start()});
  const std::string text = b.print(ir::block(
      {one_of(b.thread, ir::synchronise({.kind = Kind::BoxesRead, .pending = 1})), sync(Kind::Warp),
       ir::store(b.tile, to(Float(32), var(b.thread)), {add(number(256), var(b.thread))}), sync(Kind::Fence),
       sync(Kind::Warp), one_of(b.thread, ir::block({send, sync(Kind::BoxesCommit)}))}));
  expect_text(text, "boxes(const __grid_constant__ tensor_map out_map) {\n  fetch_tensor_map(&out_map);\n");
  expect_text(text, R"cuda(
  if ((thread & 31) == 0) {
    boxes_read<1>();
  }
  __syncwarp();
  tile[256 + thread] = (float)thread;
  fence_copies();
  __syncwarp();
  if ((thread & 31) == 0) {
    send_box_2d(&out_map, 0, 8, &tile[256]);
    commit_boxes();
  }
  boxes_read<0>();
}
)cuda");
  expect_text(text, "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];");
  EXPECT_EQ(text.find("boxes_written"), std::string::npos) << text;
  expect_compiles(text);
}

/// What is loaded of memory that boxes go to does not take the way that sees no stores.
TEST(Boxes, AreReadBack) {
  const Boxes b;
  const ir::BufferPtr copy = argument("copy", Float(32), 1, false);
  const ir::Stmt send =
      ir::box_store({.buffer = b.tile, .map = b.map, .out = true}, {.index = number(0), .start = b.start()});
  const std::string text = b.print(
      ir::block({ir::store(b.tile, to(Float(32), var(b.thread)), {var(b.thread)}),
                 ir::synchronise({.kind = Kind::Block, .fence = true}),
                 one_of(b.thread, ir::block({send, sync(Kind::BoxesCommit), sync(Kind::BoxesWritten)})),
                 sync(Kind::Block), ir::store(copy, load(b.tensor, var(b.thread)), {var(b.thread)})}),
      {b.tensor, copy});
  expect_text(text, "boxes(float* out, float* __restrict__ copy,");
  expect_text(text, "    commit_boxes();\n    boxes_written<0>();\n");
  expect_text(text, "cp.async.bulk.wait_group %0;");
  expect_compiles(text);
}

ir::RingPtr ring(const std::string& name, int arrivals, bool open = false) {
  return std::make_shared<const ir::Ring>(ir::Ring{
      .name = name, .slots = 2, .offset = 4096 + (open ? 16 : 0), .arrivals = arrivals, .open = open});
}

TEST(Boxes, GoToSeveralBlocks) {
  for (const int rank : {1, 2, 3, 4, 5}) {
    const Boxes b{.rank = rank};
    const ir::RingPtr full = ring("full", 1), empty = ring("empty", 4, true);
    const Expr other = node(Op::BitXor, Int(32), {var(b.block), number(1)});
    const auto at = [&](Kind kind, const ir::RingPtr& r, std::int64_t bytes = 0, const Expr& block = {}) {
      return ir::synchronise({.kind = kind, .ring = r, .bytes = bytes}, number(1), block);
    };
    const ir::Stmt spread = ir::box_store({.buffer = b.tile, .ring = full, .map = b.map, .of_warp = true},
                                          {.index = number(256),
                                           .slot = number(1),
                                           .start = b.start(),
                                           .receivers = add(number(2), var(b.block))});
    const std::string text = b.print(
        ir::block({sync(Kind::Cluster),
                   ir::if_then(less(var(b.thread), number(32)),
                               ir::block({at(Kind::Await, empty), spread, at(Kind::Arrive, full, 128)})),
                   at(Kind::Await, full), at(Kind::Arrive, empty), at(Kind::Arrive, empty, 0, other),
                   sync(Kind::Cluster)}),
        {}, {full, empty}, 2);
    if (rank == 2)
      expect_text(text, R"cuda(
  if (thread < 32) {
    await_next(empty, 1, empty_phases);
    if (lane_in_warp() == 0) spread_box_2d(&tile[256], &out_map, 0, 8, 2 + block, &full[1]);
    arrive_expecting(&full[1], 128);
  }
  await_next(full, 1, full_phases);
  arrive(&empty[1]);
  arrive_at(&empty[1], block ^ 1);
  cluster_barrier();
}
)cuda");
    expect_text(text, ".multicast::cluster [%0], [%1, {%4");
    expect_text(text, "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;");
    expect_text(text, "mbarrier.arrive.shared::cluster.b64 _, [%0];");
    EXPECT_EQ(text.find("release.cluster.shared"), std::string::npos) << text;
    expect_compiles(text);
  }
}

}  // namespace
