#pragma once
// Matrix products C = A @ B, with either factor given transposed: the algorithm, and schedules on tensor
// cores that all of them share.

#include <calotype/calotype.h>
#include <calotype/operator.h>

#include <string>

namespace calotype::apps {

/// Which factor is given with its rows and columns exchanged.
struct Transposed {
  bool a = false, b = false;
};

/// The factors, and acc(n, m), the sum over k of A(k, m) * B(n, k), in f32 or s32.
struct SumOfProducts {
  SumOfProducts(const OperatorTypes& types, Transposed t)
      : A(types.of("A"), t.a ? std::vector<Expr>{M, K} : std::vector<Expr>{K, M}, "A"),
        B(types.of("B"), t.b ? std::vector<Expr>{K, N} : std::vector<Expr>{N, K}, "B") {
    const Type sums = types.of("A").is_float() ? Float(32) : Int(32);
    RDom k(0, K, "k");
    acc(n, m) += cast(sums, t.a ? A(m, k) : A(k, m)) * cast(sums, t.b ? B(k, n) : B(n, k));
  }

  Dim M{"M"}, N{"N"}, K{"K"};
  Var n{"n"}, m{"m"};
  ImageParam A, B;
  Func acc{"acc"};
};

/// C is the sums in the result's type.
inline Pipeline matrix_product(const std::string& name, const OperatorTypes& types, Transposed t) {
  SumOfProducts p(types, t);
  Func C("C");
  C(p.n, p.m) = cast(types.of("C"), p.acc(p.n, p.m));
  return Pipeline(name, {p.A, p.B}, {Output(C, {p.N, p.M})});
}

/// How far a schedule on tensor cores goes; each step has those before it.
enum class ProductStep {
  TensorCores,  ///< a tile of BM x BN sums a block, by wgmma from boxes of A and B
  Pipelined,    ///< boxes are copied STAGES - 1 steps of k ahead
  Roles,        ///< by warps that do nothing else
  Staged,       ///< tiles of C go out as boxes, put together in shared memory
  Persistent,   ///< blocks take one tile after the other, so that the next one's boxes come meanwhile
  Above,        ///< pairs of blocks, one tile above the other, copy what both need of B for each other
};

class TensorProduct {
 public:
  /// `biased`: of a bias a tile's part is copied along with the tile, once C is staged.
  TensorProduct(const OperatorTypes& types, Transposed t, bool biased = false)
      : size_(types.of("A").bytes()), result_size_(types.of("C").bytes()), t_(t), biased_(biased) {}

  Schedule schedule(ProductStep step) {
    const bool staged = step >= ProductStep::Staged, roles = step >= ProductStep::Roles;
    const Knob rows = s_.knob("BM", 128), columns = s_.knob("BN", 256), depth = s_.knob("BK", row()),
               align = s_.knob("ALIGN", 16 / size_);
    for (const char* dense : {"K", "N"}) s_.assume(dense, Assumption::multiple(align));
    s_.assume("K", Assumption::at_least(1));  // there is no box of nothing
    if (t_.a) s_.assume("M", Assumption::multiple(align));
    const Stage out = staged ? s_.stage_out("C") : s_["C"];
    if (step == ProductStep::Above)
      make_pairs(rows, columns);
    else
      s_["C"].compute_root().tile("n", "m", "no", "mo", "ni", "mi", columns, rows).gpu_blocks("no", "mo");
    if (staged) send(out);
    if (step >= ProductStep::Persistent) s_["C"].persistent().raster(Grouped{s_.knob("STRIP", 8)});
    s_["acc"].compute_at("C", block_).store_in(Memory::Register);
    s_["acc"].update().split("k", "ko", "ki", depth).reorder("ki", "n", "m", "ko");
    s_["acc"].update().tensor_core({"m"}, {"n"}, {"ki"});
    const Stage a = copy("A", t_.a), b = copy("B", !t_.b);
    if (step == ProductStep::Above) share(b);
    if (step >= ProductStep::Pipelined) s_["acc"].update().pipeline("ko", s_.knob("STAGES", staged ? 4 : 3));
    if (!roles) return s_;
    std::vector<FuncName> copied = {a, b};
    if (biased_ && staged) copied.emplace_back(copy_bias(out));
    s_.role("copy", copied, {.warps = 4, .registers = 40});
    s_.role("multiply", {"C"}, {.warps = 8, .registers = 232});  // and all that is computed in its blocks
    return s_;
  }

 private:
  /// Elements of 128 bytes, which is what the copy engine swizzles.
  int row() const { return 128 / size_; }

  /// Boxes of a factor. `along_side`: its dense dimension is not k but the tile's side, in panels of 128
  /// bytes.
  Stage copy(const char* factor, bool along_side) {
    const Stage c = s_.in(factor, {"acc"});
    s_[c].compute_at(s_["acc"].update(), "ko").store_in(Memory::Shared).copy(Copy::Tma).swizzle(128);
    if (!along_side) return c;
    const std::string panel = std::to_string(row());
    s_[c].layout({"d0 % " + panel, "d1", "d0 / " + panel});
    s_[c].split("d0", "do", "di", row()).reorder("di", "d1", "do");
    return c;
  }

  Stage copy_bias(const Stage& staged) {
    const Stage bias = s_.in("bias", {staged});
    s_[bias].compute_at("C", block_).store_in(Memory::Shared).copy(Copy::Tma);
    return bias;
  }

  /// The tiles of a pair are PAIR rows, twice BM.
  void make_pairs(Knob rows, Knob columns) {
    s_["C"].compute_root().tile("n", "m", "no", "mo", "ni", "mi", columns, s_.knob("PAIR", 256));
    s_["C"].split("mi", "mc", "mj", rows).reorder("ni", "mj", "mc").gpu_blocks("no", "mo").cluster("mc");
    block_ = "mc";
    rows_ = "mj";
  }

  /// Each block of a pair copies half of B's tile: half the panels, or SHARE of BN rows.
  void share(const Stage& b) {
    if (t_.b)
      s_[b].split("d1", "dc", "dr", s_.knob("SHARE", 128)).multicast("dc");
    else
      s_[b].multicast("do");
  }

  /// The tile of C, PART columns at a time, which are SWIZZLE bytes, through two buffers.
  void send(const Stage& staged) {
    const Knob part = s_.knob("PART", 128 / result_size_), bytes = s_.knob("SWIZZLE", 128);
    s_["C"].split("ni", "part", "nj", part).reorder("nj", rows_, "part").unroll("part").copy(Copy::Tma);
    s_[staged].compute_at("C", "part").store_in(Memory::Shared).swizzle(bytes);
    s_[staged].hoist_storage("C", block_).ring_buffer(2);
  }

  Schedule s_;
  const int size_, result_size_;
  const Transposed t_;
  const bool biased_;
  std::string block_ = "no", rows_ = "mi";  ///< loops of C: the innermost of blocks, and its rows
};

}  // namespace calotype::apps
