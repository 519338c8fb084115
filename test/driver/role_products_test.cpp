// Products by roles whose results go out as boxes, and whose blocks copy for each other: on the simulator
// and, where asked for, on a GPU; what is found where they are damaged.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "codegen/cuda/nvrtc_compile.h"
#include "codegen/cuda/printer.h"
#include "runtime/nvrtc.h"
#include "support/outcome.h"
#include "support/tile_roles.h"

namespace calotype::testing {
namespace {

using Kind = ir::SyncInfo::Kind;

const RoleForm kForms[] = {
    {.steps = 1, .sent = true},
    {.steps = 3, .tiles = 3, .sent = true},
    {.steps = 1, .cluster = 2},
    {.steps = 9, .cluster = 2},
    {.steps = 3, .slots = 2, .tiles = 2, .cluster = 2, .sent = true},
    {.steps = 2, .slots = 3, .cluster = 4},
};
std::string text_of(const RoleForm& f) {
  return fmt::format("{} tiles of {} steps, {} slots, clusters of {}{}", f.tiles, f.steps, f.slots, f.cluster,
                     f.sent ? ", sent" : "");
}

TEST(RoleProducts, ByBoxes) {
  for (const RoleForm& form : kForms)
    for (const bool random_landing : {false, true}) {
      SCOPED_TRACE(text_of(form));
      RoleProduct product(form);
      const Outcome o =
          outcome(product.hand(), product.body(), product.expected(), {.random_landing = random_landing});
      EXPECT_TRUE(o.kinds.empty()) << o.text;
      EXPECT_TRUE(o.right);
    }
}

TEST(RoleProducts, CompileWithoutSpills) {
  calotype_context context{};
  if (calotype_nvrtc_version(&context) == 0) GTEST_SKIP() << context.error.message;
  for (const RoleForm& form : kForms) {
    SCOPED_TRACE(text_of(form));
    const std::string text =
        cuda::print({RoleProduct(form).program().functions[0]}, {.aligned_arguments = true});
    const cuda::Compiled compiled = cuda::compile(text, "sm_90a", {.cache = false});
    for (const std::string& warning : compiled.warnings) ADD_FAILURE() << warning << "\n" << text;
    for (const cuda::KernelFigures& k : compiled.kernels) EXPECT_EQ(k.spill_bytes + k.stack_bytes, 0);
  }
}

TEST(RoleProducts, OnAGpu) {
  if (std::getenv("CALOTYPE_TEST_GPU") == nullptr) GTEST_SKIP() << "CALOTYPE_TEST_GPU is not set";
  std::vector<RoleForm> forms(std::begin(kForms), std::end(kForms));
  forms.push_back({.steps = 64, .tiles = 4, .cluster = 2, .sent = true});
  for (const RoleForm& form : forms) {
    RoleProduct product(form);
    lower::Program program = product.program();
    program.target = Target::cuda("sm_90a");
    EXPECT_EQ(product.hand().result(program, *driver::make_cuda_executable(program, {})), product.expected())
        << text_of(form);
  }
}

struct Fault {
  const char* name;
  const char* kind;  ///< that is found, maybe beside others
  ir::Stmt (*damage)(const ir::Stmt& body);
  RoleForm form;
  friend void PrintTo(const Fault& f, std::ostream* out) { *out << f.name; }
};

constexpr RoleForm kSent{.steps = 1, .tiles = 2, .sent = true}, kCluster{.steps = 9, .cluster = 2};

ir::Stmt with_receivers(const ir::Stmt& body, std::int64_t bits) {
  return ir::rewrite(body, [&](const ir::Stmt& s) {
    if (s->kind != ir::StmtKind::Store || !s->receivers().defined()) return s;
    std::vector<Expr> exprs = s->exprs;
    exprs.back() = number(bits);
    return ir::make_stmt(s->kind, std::move(exprs), {}, s->attr);
  });
}
bool is_remote(const ir::Stmt& s) { return is_sync(s, Kind::Arrive) && s->exprs.size() > 1; }
/// Arrivals at the ring of the block of that rank.
ir::Stmt with_rank(const ir::Stmt& body, const Expr& rank) {
  return ir::rewrite(body, [&](const ir::Stmt& s) {
    return is_remote(s) ? ir::synchronise(s->sync(), s->exprs[0], rank) : s;
  });
}
ir::Stmt with_bytes(const ir::Stmt& body, std::int64_t bytes) {
  return with_syncs(body, Kind::Arrive, [&](ir::SyncInfo& sync) {
    if (sync.bytes > 0) sync.bytes = bytes;
  });
}

const Fault kFaults[] = {
    {"NoFenceOfResults", "missing fence", [](const ir::Stmt& body) { return without(body, Kind::Fence); },
     kSent},
    {"NoBarrierBehindResults", "data race",
     [](const ir::Stmt& body) { return without_one(body, Kind::Warp, 1); }, kSent},
    {"NoWaitForResults", "ring overwrite",
     [](const ir::Stmt& body) { return without(body, Kind::BoxesRead); }, kSent},
    {"NotAllResultsAreWaitedFor", "ring overwrite",
     [](const ir::Stmt& body) {
       return with_syncs(body, Kind::BoxesRead, [](ir::SyncInfo& sync) { sync.pending = 2; });
     },
     kSent},
    {"NoCommitOfResults", "unfinished copy",
     [](const ir::Stmt& body) { return without(body, Kind::BoxesCommit); }, kSent},
    {"FewerBytes", "deadlock", [](const ir::Stmt& body) { return with_bytes(body, 8192); }, kCluster},
    {"MoreBytes", "deadlock", [](const ir::Stmt& body) { return with_bytes(body, 16384 + 16); }, kCluster},
    {"NoBytes", "deadlock", [](const ir::Stmt& body) { return with_bytes(body, 0); }, kCluster},
    {"ForOneBlockAlone", "deadlock", [](const ir::Stmt& body) { return with_receivers(body, 1); }, kCluster},
    {"ForBlocksThatAreNotThere", "out of bounds",
     [](const ir::Stmt& body) { return with_receivers(body, 7); }, kCluster},
    {"NoBarrierOfTheClusterAtFirst", "block not running",
     [](const ir::Stmt& body) { return without_one(body, Kind::Cluster, 0); }, kCluster},
    {"NoBarrierOfTheClusterInTheEnd", "block not running",
     [](const ir::Stmt& body) { return without_one(body, Kind::Cluster, 1); }, kCluster},
    {"OthersAreNotTold", "deadlock",
     [](const ir::Stmt& body) {
       return ir::rewrite(body, [](const ir::Stmt& s) { return is_remote(s) ? ir::block({}) : s; });
     },
     kCluster},
    {"OnlyOneBlockIsTold", "deadlock", [](const ir::Stmt& body) { return with_rank(body, number(0)); },
     kCluster},
    {"ABlockThatIsNotThereIsTold", "out of bounds",
     [](const ir::Stmt& body) { return with_rank(body, number(2)); }, kCluster},
    {"OthersAreToldBeforeTheWait", "ring overwrite",
     [](const ir::Stmt& body) {
       return ir::rewrite(body, [](const ir::Stmt& s) -> ir::Stmt {
         if (s->kind != ir::StmtKind::Block) return s;
         std::vector<ir::Stmt> parts = s->stmts;
         for (std::size_t i = 0; i + 2 < parts.size(); ++i)
           if (is_sync(parts[i], Kind::ProductWait) && is_remote(parts[i + 2]))
             std::swap(parts[i], parts[i + 2]);
         return ir::block(std::move(parts));
       });
     },
     kCluster},
};

class RoleProductFaults : public ::testing::TestWithParam<Fault> {};

/// In some order of blocks and warps.
TEST_P(RoleProductFaults, AreFound) {
  const Fault& fault = GetParam();
  std::string text;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    RoleProduct product(fault.form);
    const Outcome o = outcome(product.hand(), fault.damage(product.body()), product.expected(),
                              {.seed = seed, .max_findings = 1000});
    if (o.has(fault.kind)) return;
    text = o.text;
  }
  ADD_FAILURE() << text;
}

INSTANTIATE_TEST_SUITE_P(All, RoleProductFaults, ::testing::ValuesIn(kFaults),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace calotype::testing
