// matmul for Halide: C = A @ B in f32.
#include "halide_side.h"

namespace {

using namespace Halide;

peers::HalideOperator matmul(const peers::Job& job) {
  const Type type = peers::halide_type(job.type);
  const int rows = job.size("M"), columns = job.size("N"), depth = job.size("K");
  ImageParam A(type, 2, "A"), B(type, 2, "B");
  Var n("n"), m("m"), no("no"), mo("mo"), ni("ni"), mi("mi"), mt("mt"), nc("nc"), mc("mc"), nt("nt");
  RDom k(0, A.width(), "k");

  Func acc("acc"), C("C");
  acc(n, m) += A(k, m) * B(n, k);
  C(n, m) = acc(n, m);

  const int lanes = job.knob("VECTOR", peers::machine().natural_vector_size<float>());
  // Tiles of sums that stay in registers through all of k; with "packed" (ours) panels of B are copied
  // together.
  if (job.schedule != "panels" && job.schedule != "wide" && job.schedule != "packed")
    peers::no_schedule(job, "panels, wide, packed");
  const bool wide = job.schedule == "wide", packed = job.schedule == "packed";
  const int tile_rows = job.knob("TM", wide ? 13 : packed ? 8 : 6), tile_columns = job.knob("TN", 2 * lanes);
  if (packed) {
    C.tile(n, m, no, mo, nc, mc, job.knob("COLUMNS", 128), job.knob("ROWS", 64))
        .tile(nc, mc, nt, mt, ni, mi, tile_columns, tile_rows)
        .reorder(ni, mi, nt, mt, mo, no);
    B.in(acc).compute_at(C, no).vectorize(_0, lanes);
  } else {
    C.tile(n, m, no, mo, ni, mi, tile_columns, job.knob("PANEL", wide ? 104 : 96))
        .split(mi, mt, mi, tile_rows)
        .reorder(ni, mi, mt, no, mo);
  }
  C.vectorize(ni, lanes).unroll(ni).unroll(mi).parallel(mo);
  acc.compute_at(C, packed ? nt : mt).vectorize(n, lanes).unroll(n).unroll(m);
  acc.update().reorder(n, m, k).vectorize(n, lanes).unroll(n).unroll(m);
  return {Pipeline(C), {A, B}, {{depth, rows}, {columns, depth}}, type, {columns, rows}};
}

}  // namespace

int main(int argc, char** argv) {
  return peers::serve_or_fail([&] {
    const peers::Job job = peers::parse_job(argc, argv, 1);
    return peers::halide_side([job] { return matmul(job); }, job);
  });
}
