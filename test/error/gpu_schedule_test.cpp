// Directives that must be refused on a GPU: blocks, threads, memory.

#include "error/refusals.h"

namespace calotype::test {
namespace {

void expect_rows(const std::vector<ScheduleRow>& rows) { expect_refused_schedules(rows, gpu); }

constexpr ErrorKind kSchedule = ErrorKind::Schedule;

/// #1 and #2: tiles of 32 by 8 in blocks; #3 their points as threads.
Stage tiles(Schedule& s) {
  return s["out"].tile("x", "y", "xo", "yo", "xi", "yi", 32, 8).gpu_blocks("xo", "yo");
}
Stage threads(Schedule& s) { return tiles(s).gpu_threads("xi", "yi"); }

TEST(RefusedGpuSchedules, Nest) {
  expect_rows({
      {"host threads",
       [](Schedule& s) { s["out"].parallel("y"); },
       {kSchedule, "the target cuda-interpreter-sm_90a", "out", "#1 parallel(y)", "y", {"gpu_blocks"}}},
      {"race of threads",
       [](Schedule& s) { s["total"].update().gpu_blocks("y").gpu_threads("k", 32); },
       {kSchedule,
        "gpu_threads over the reduction loop 'k.t' is a race",
        "total",
        "#2 gpu_threads(k, 32)",
        "k.t",
        {"rfactor"}}},
      {"race of blocks",
       [](Schedule& s) { s["scan"].update().gpu_blocks("r.y"); },
       {kSchedule,
        "gpu_blocks over the reduction loop 'r.y' is a race",
        "scan",
        "#1 gpu_blocks(r.y)",
        "r.y",
        {"pure loops"}}},
      {"2048 threads",
       [](Schedule& s) {
         s["out"]
             .tile("x", "y", "xo", "yo", "xi", "yi", 64, 32)
             .gpu_blocks("xo", "yo")
             .gpu_threads("xi", "yi");
       },
       {kSchedule, "a block of 2048 threads", "out", "#3 gpu_threads(xi, yi)", "xi", {"at most 1024"}}},
      {"2048 threads by a factor",
       [](Schedule& s) { s["out"].gpu_blocks("y").gpu_threads("x", 2048); },
       {kSchedule, "'by' is out of range", "out", "#2 gpu_threads(x, 2048)", "2048", {"1 to 1024"}}},
      {"2048 threads of two stages together",
       [](Schedule& s) {
         s["out"]
             .tile("x", "y", "xo", "yo", "xi", "yi", 128, 8)
             .gpu_blocks("xo", "yo")
             .gpu_threads("xi", "yi");
         s["total"]
             .compute_at("out", "xo")
             .split("y", "a", "r", 4)
             .split("r", "b", "c", 2)
             .gpu_threads("c", "b", "a");
       },
       {kSchedule,
        "a block of 2048 threads",
        "out",
        "#1 tile(x, y, xo, yo, xi, yi, 128, 8), #3 gpu_threads(xi, yi)",
        "2048",
        {"at most 1024"}}},
      {"128 threads along z",
       [](Schedule& s) {
         s["out"].split("x", "xo", "xi", 2).split("y", "yo", "yi", 128).split("yi", "ya", "yb", 128);
         s["out"].reorder("xi", "ya", "yb", "xo", "yo").gpu_blocks("xo", "yo").gpu_threads("xi", "ya", "yb");
       },
       {kSchedule, "128 threads along z", "out", "#6 gpu_threads(xi, ya, yb)", "yb", {"at most 64"}}},
      {"four block loops",
       [](Schedule& s) {
         s["out"]
             .split("x", 4)
             .split("y", 4)
             .reorder("x.i", "y.i", "x.o", "y.o")
             .gpu_blocks({"x.i", "y.i", "x.o", "y.o"});
       },
       {kSchedule,
        "a fourth block loop",
        "out",
        "#4 gpu_blocks(x.i, y.i, x.o, y.o)",
        "y.o",
        {"three at most", "fuse"}}},
      {"four thread loops",
       [](Schedule& s) {
         tiles(s).split("xi", "a", "b", 4).split("yi", "c", "d", 4).gpu_threads({"a", "b", "c", "d"});
       },
       {kSchedule, "a fourth thread loop", "out", "#5 gpu_threads(a, b, c, d)", "d", {"three at most"}}},
      {"threads in no block",
       [](Schedule& s) { s["out"].gpu_threads("x", 32); },
       {kSchedule,
        "the threads of out are in no block",
        "out",
        "#1 gpu_threads(x, 32)",
        "x.t",
        {"gpu_blocks"}}},
      {"no blocks at all",
       [](Schedule& s) { s["out"].split("x", 32); },
       {kSchedule,
        "none of its loops is bound to blocks",
        "out",
        "#1 split(x, x.o, x.i, 32)",
        "",
        {"gpu_blocks"}}},
      {"loop around the blocks",
       [](Schedule& s) { s["out"].gpu_blocks("x"); },
       {kSchedule,
        "the loop 'y' lies outside the block loop 'x'",
        "out",
        "#1 gpu_blocks(x)",
        "x",
        {"reorder"}}},
      {"blocks inside a block",
       [](Schedule& s) {
         threads(s);
         s["total"].compute_at("out", "xo").gpu_blocks("y");
       },
       {kSchedule, "cannot have blocks of its own", "total", "#5 gpu_blocks(y)", "y", {"compute_root"}}},
      {"threads inside a thread",
       [](Schedule& s) {
         threads(s);
         s["total"].compute_at("out", "xi").gpu_threads("y", 4);
       },
       {kSchedule, "inside a thread already", "total", "#5 gpu_threads(y, 4)", "y.t", {"serial"}}},
      {"between block loops",
       [](Schedule& s) {
         threads(s);
         s["total"].compute_at("out", "yo");
       },
       {kSchedule,
        "the block loop 'xo' lies inside 'yo'",
        "total",
        "#4 compute_at(out, yo)",
        "yo",
        {"'xo', or a loop inside it"}}},
      {"between thread loops",
       [](Schedule& s) {
         threads(s);
         s["total"].compute_at("out", "yi");
       },
       {kSchedule,
        "the thread loop 'xi' lies inside 'yi'",
        "total",
        "#4 compute_at(out, yi)",
        "yi",
        {"'xi', or a loop inside it"}}},
  });
}

TEST(RefusedGpuSchedules, Storage) {
  expect_rows({
      {"host memory",
       [](Schedule& s) {
         threads(s);
         s["total"].store_in(Memory::Stack);
       },
       {kSchedule, "has no stack memory", "total", "#4 store_in(stack)", "stack", {"shared, register"}}},
      {"more than a thread holds",
       [](Schedule& s) {
         threads(s);
         s["total"].compute_at("out", "xi").bound_storage("y", 1 << 20).store_in(Memory::Local);
       },
       {kSchedule,
        "'total' does not fit into the memory of a GPU thread",
        "total",
        "#6 store_in(local)",
        "4194304 bytes",
        {"at most 524288 bytes"}}},
      {"more than any memory holds",
       [](Schedule& s) {
         threads(s);
         s["total"].compute_at("out", "xo").bound_storage("y", 2147483647).store_in(Memory::Shared);
       },
       {kSchedule,
        "the block would need 8589934592 bytes of shared memory",
        "total",
        "#6 store_in(shared)",
        "8589934592",
        {"at most"}}},
      {"shared memory outside every block",
       [](Schedule& s) {
         threads(s);
         s["total"].store_in(Memory::Shared);
       },
       {kSchedule,
        "stored outside every block",
        "total",
        "#4 store_in(shared)",
        "shared",
        {"compute_at a loop inside a block"}}},
      {"registers outside every block",
       [](Schedule& s) {
         threads(s);
         s["total"].store_in(Memory::Register);
       },
       {kSchedule, "stored outside every block", "total", "#4 store_in(register)", "register", {"global"}}},
      {"shared memory inside a thread",
       [](Schedule& s) {
         threads(s);
         s["total"].compute_at("out", "xi").store_in(Memory::Shared);
       },
       {kSchedule, "stored inside a thread", "total", "#5 store_in(shared)", "shared", {"register, local"}}},
      {"global memory inside a block",
       [](Schedule& s) {
         threads(s);
         s["total"].compute_at("out", "xo").store_in(Memory::Global);
       },
       {kSchedule, "stored inside a block", "total", "#5 store_in(global)", "global", {"shared"}}},
      {"256 KiB of shared memory",
       [](Schedule& s) {
         s.in("image").compute_at("rows", "xo").store_in(Memory::Shared);
         s["rows"]
             .compute_root()
             .tile("x", "y", "xo", "yo", "xi", "yi", 256, 256)
             .gpu_blocks("xo", "yo")
             .gpu_threads("xi");
       },
       {kSchedule,
        "262144 bytes of shared memory",
        "image.in",
        "#3 store_in(shared)",
        "262144",
        {"at most 232448 bytes"}}},
      {"shared memory of no constant size",
       [](Schedule& s) {
         s.in("rows", {"total"}).compute_at("total.update(0)", "y").store_in(Memory::Shared);
         s["total"].gpu_blocks("y").update().gpu_blocks("y");
       },
       {kSchedule,
        "needs a constant size, and dimension 0 has no constant bound",
        "rows.in(total)",
        "#3 store_in(shared)",
        "W",
        {"tile"}}},
      {"registers of no constant size",
       [](Schedule& s) {
         s.in("rows", {"total"}).compute_at("total.update(0)", "y").store_in(Memory::Register);
         s["total"].gpu_blocks("y").update().gpu_blocks("y");
       },
       {kSchedule,
        "the extent of register loop 'x' has no constant bound",
        "rows.in(total)",
        "#3 store_in(register)",
        "W",
        {"split it by a constant"}}},
      {"registers that another thread would update",
       [](Schedule& s) {
         threads(s);
         s["total"].compute_at("out", "xo").store_in(Memory::Register).gpu_threads("y", 8);
       },
       {kSchedule,
        "'total' is held in registers of thread.x",
        "total",
        "#5 store_in(register)",
        "Register",
        {"store_in(Shared)"}}},
      {"threads of any number",
       [](Schedule& s) {
         s["out"].split("y", 4).reorder("y.i", "x", "y.o").gpu_blocks("y.o").gpu_threads("x");
       },
       {kSchedule,
        "the extent of thread loop 'x' has no constant bound",
        "out",
        "#4 gpu_threads(x)",
        "W",
        {"split it by a constant"}}},
  });
}

}  // namespace
}  // namespace calotype::test
