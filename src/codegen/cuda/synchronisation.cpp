// Synchronisations, as calls of helpers or CUDA's own functions.

#include <fmt/format.h>

#include "codegen/cuda/kernel_printer.h"
#include "schedule/roles.h"

namespace calotype::cuda {

using Kind = ir::SyncInfo::Kind;

void KernelPrinter::synchronisation(const ir::Stmt& s) {
  const ir::SyncInfo& sync = s->sync();
  if (sync.fence) line(prelude_.use("fence_copies") + "();");
  std::string text;
  switch (sync.kind) {
    case Kind::Turn:
      text = turn(*sync.ring);
      break;
    case Kind::Arrive:
      text = arrival(s);
      break;
    case Kind::Await:
      text = awaiting(s);
      break;
    case Kind::BoxesCommit:
      text = prelude_.use("commit_boxes") + "();";
      break;
    case Kind::BoxesRead:
      text = fmt::format("{}<{}>();", prelude_.use("boxes_read"), sync.pending);
      break;
    case Kind::BoxesWritten:
      text = fmt::format("{}<{}>();", prelude_.use("boxes_written"), sync.pending);
      break;
    case Kind::Registers:
      text = change_registers(sync.number);
      break;
    case Kind::ProductFence:
    case Kind::ProductCommit:
    case Kind::ProductWait:
    case Kind::ProductRead:
      text = of_products(sync);
      break;
    default:
      text = of_threads(sync);
  }
  line(text + (sync.reason.empty() ? "" : "  // " + one_line(sync.reason)));
  if (sync.kind == Kind::ProductWait) pin_products();
}

std::string KernelPrinter::of_threads(const ir::SyncInfo& sync) {
  switch (sync.kind) {
    case Kind::Block:
      return "__syncthreads();";
    case Kind::Warp:
      return "__syncwarp();";
    case Kind::Some:
      return fmt::format("{}<{}, {}>();", prelude_.use("meet"), sync.number, sync.threads);
    case Kind::SomeArrive:
      return fmt::format("{}<{}, {}>();", prelude_.use("come"), sync.number, sync.threads);
    case Kind::Cluster:
      return prelude_.use("cluster_barrier") + "();";
    case Kind::ClusterArrive:
      return prelude_.use("cluster_arrive") + "();";
    case Kind::ClusterWait:
      return prelude_.use("cluster_wait") + "();";
    case Kind::Commit:
      return prelude_.use("commit_copies") + "();";
    case Kind::Wait:
      return fmt::format("{}<{}>();", prelude_.use("wait_copies"), sync.pending);
    default:
      return prelude_.use("fence_copies") + "();";
  }
}

/// What was computed of a product's registers before a fence stays before it; behind a wait, behind that.
/// In front of a fence that products are under way at nothing has touched their registers.
std::string KernelPrinter::of_products(const ir::SyncInfo& sync) {
  if (sync.kind == Kind::ProductWait || sync.kind == Kind::ProductRead)
    return fmt::format("{}<{}>();", prelude_.use("wait_products"), sync.pending);
  if (sync.kind == Kind::ProductCommit) return prelude_.use("commit_products") + "();";
  if (sync.pending == 0) pin_products();
  return prelude_.use("fence_products") + "();";
}

std::string KernelPrinter::change_registers(int number) {
  const bool more = number > schedule::registers_at_first(kernel_.max_threads);
  return fmt::format("{}<{}>();", prelude_.use(more ? "take_registers" : "give_registers"), number);
}

}  // namespace calotype::cuda
