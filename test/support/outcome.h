#pragma once
// What becomes of a program that has been run on the simulator, and small damages to it.

#include <algorithm>

#include "support/hand_program.h"

namespace calotype::testing {

inline bool is_sync(const ir::Stmt& s, ir::SyncInfo::Kind kind, const std::string& ring = "") {
  return s->kind == ir::StmtKind::Barrier && s->sync().kind == kind &&
         (ring.empty() || s->sync().ring->name == ring);
}
inline ir::Stmt without(const ir::Stmt& body, ir::SyncInfo::Kind kind, const std::string& ring = "") {
  return ir::rewrite(body, [&](const ir::Stmt& s) { return is_sync(s, kind, ring) ? ir::block({}) : s; });
}
/// Without the n-th of them, from 0.
inline ir::Stmt without_one(const ir::Stmt& body, ir::SyncInfo::Kind kind, int n) {
  return ir::rewrite(body,
                     [&](const ir::Stmt& s) { return is_sync(s, kind) && n-- == 0 ? ir::block({}) : s; });
}
inline ir::Stmt with_syncs(const ir::Stmt& body, ir::SyncInfo::Kind kind,
                           const std::function<void(ir::SyncInfo&)>& change) {
  return ir::rewrite(body, [&](const ir::Stmt& s) {
    if (!is_sync(s, kind)) return s;
    ir::SyncInfo sync = s->sync();
    change(sync);
    return ir::make_stmt(s->kind, s->exprs, {}, std::make_shared<const ir::SyncInfo>(std::move(sync)));
  });
}

/// Whether the right result comes of it, and the kinds of what is found.
struct Outcome {
  bool right = false;
  std::vector<std::string> kinds;
  std::string text;
  bool has(const std::string& kind) const {
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
  }
};

inline Outcome outcome(HandProgram& hand, const ir::Stmt& body, const std::vector<std::uint32_t>& expected,
                       const VerifyOptions& options = {}) {
  std::vector<std::uint32_t> bits;
  const Verification found = simulated(hand, hand.finish(body), bits, options);
  Outcome o{bits == expected, {}, found.str()};
  for (const Finding& f : found.findings) o.kinds.push_back(f.kind);
  return o;
}

}  // namespace calotype::testing
