// matmul for Halide: C = A @ B in f32.
#include "halide_side.h"

namespace {

using namespace Halide;

peers::HalideOperator matmul(const peers::Job& job) {
  const Type type = peers::halide_type(job.type);
  const int rows = job.size("M"), columns = job.size("N"), depth = job.size("K");
  ImageParam A(type, 2, "A"), B(type, 2, "B");
  Var n("n"), m("m"), no("no"), mo("mo"), ni("ni"), mi("mi"), mt("mt"), nt("nt"), nr("nr"), mr("mr");
  RDom k(0, A.width(), "k");

  Func acc("acc"), C("C");
  acc(n, m) += A(k, m) * B(n, k);
  C(n, m) = acc(n, m);

  const int lanes = job.knob("VECTOR", peers::machine().natural_vector_size<float>());
  const bool wide = job.schedule == "wide", blocked = job.schedule == "blocked";
  if (job.schedule != "panels" && !wide && !blocked) peers::no_schedule(job, "panels, wide, blocked");
  const int tile_rows = job.knob("TM", wide ? 13 : blocked ? 8 : 6), tile_columns = job.knob("TN", 2 * lanes);
  if (blocked) {
    // As ours: blocks of all three dimensions, the panel of B copied together, register tiles within.
    RVar ko("ko"), ki("ki");
    C.tile(n, m, no, mo, ni, mi, job.knob("COLUMNS", 128), job.knob("ROWS", 256))
        .vectorize(ni, lanes)
        .parallel(mo)
        .parallel(no);
    acc.compute_at(C, no).vectorize(n, lanes);
    acc.update()
        .split(k, ko, ki, job.knob("DEPTH", 256))
        .tile(n, m, nt, mt, nr, mr, tile_columns, tile_rows)
        .reorder(nr, mr, ki, nt, mt, ko)
        .vectorize(nr, lanes)
        .unroll(nr)
        .unroll(mr);
    B.in(acc).compute_at(acc, ko).vectorize(_0, lanes);
  } else {
    // Tiles of sums that stay in registers through all of k.
    C.tile(n, m, no, mo, ni, mi, tile_columns, job.knob("PANEL", wide ? 104 : 96))
        .split(mi, mt, mi, tile_rows)
        .reorder(ni, mi, mt, no, mo)
        .vectorize(ni, lanes)
        .unroll(ni)
        .unroll(mi)
        .parallel(mo);
    acc.compute_at(C, mt).vectorize(n, lanes).unroll(n).unroll(m);
    acc.update().reorder(n, m, k).vectorize(n, lanes).unroll(n).unroll(m);
  }
  return {Pipeline(C), {A, B}, {{depth, rows}, {columns, depth}}, type, {columns, rows}};
}

}  // namespace

int main(int argc, char** argv) {
  return peers::serve_or_fail([&] {
    const peers::Job job = peers::parse_job(argc, argv, 1);
    return peers::halide_side([job] { return matmul(job); }, job);
  });
}
