// Schedules of argmax: from the plainest to the one that is shipped.
#include <calotype/operator.h>

namespace {

using namespace calotype;

// The largest values of all rows, then their places, serial.
Schedule naive(const OperatorTypes&) {
  Schedule s;
  s["peak"].compute_root();
  s["place"].compute_root();
  s["out"].compute_root().serial("l");
  return s;
}

// `of`, a reduction over `loop` in each row: one for each of LANES, in vectors, combined at the end.
void reduce_in_lanes(Schedule& s, const std::string& of, const std::string& loop, const Knob& lanes,
                     const Knob& vector) {
  s[of].compute_at("out", "io");
  s[of].update().split(loop, "outer", "inner", lanes);
  Stage own = s[of].update().rfactor({{"inner", "lane"}}, of + "_lanes");
  s[own]
      .compute_at("out", "io")
      .store_in(Memory::Stack)
      .reorder_storage("lane", "i")
      .vectorize("lane", vector);
  s[own].update().reorder("lane", "i", "outer").vectorize("lane", vector).unroll("lane.o").unroll("i");
  s[of].update().vectorize("inner");
}

// ROWS rows side by side, so that memory is read in as many places at a time; a maximum, and then a least
// place, for each of LANES.
Schedule host(const OperatorTypes& types) {
  Schedule s;
  const Knob rows = s.knob("ROWS", 4), lanes = s.knob("LANES", 64),
             vector = s.knob("VECTOR", 64 / types.all().bytes()), place_vector = s.knob("PLACES", 16);
  s["out"].compute_root().split("i", "io", "ii", rows).parallel("io").parallel("j").parallel("l");
  reduce_in_lanes(s, "peak", "k", lanes, vector);
  reduce_in_lanes(s, "place", "q", lanes, place_vector);
  return s;
}

// A row a block, in accesses of 16 bytes; the second reading comes from the cache.
Schedule gpu(const OperatorTypes& types) {
  Schedule s;
  const Knob threads = s.knob("THREADS", 256), vector = s.knob("VECTOR", 16 / types.all().bytes()),
             unroll = s.knob("UNROLL", 4);
  s["out"].compute_root().gpu_blocks("i", "j", "l");
  for (const char* stage : {"peak", "place"}) {
    const std::string loop = stage == std::string("peak") ? "k" : "q";
    s[stage].compute_at("out", "i").store_in(Memory::Register);
    s[stage].update().vectorize(loop, vector).gpu_threads(loop + ".o", threads).unroll(loop + ".o.o", unroll);
  }
  return s;
}

// Short rows, of at most COLUMNS: a row a warp.
Schedule gpu_short(const OperatorTypes& types) {
  Schedule s;
  const Knob columns = s.knob("COLUMNS", 1024), warps = s.knob("WARPS", 8),
             vector = s.knob("VECTOR", 16 / types.all().bytes());
  s.assume("N", Assumption::range(1, columns));
  s["out"].compute_root().gpu_warps("i", warps).gpu_blocks("i.o", "j", "l");
  for (const char* stage : {"peak", "place"}) {
    const std::string loop = stage == std::string("peak") ? "k" : "q";
    s[stage].compute_at("out", "i.o").store_in(Memory::Register).gpu_warps("i", warps);
    s[stage].update().vectorize(loop, vector).gpu_lanes(loop + ".o", 32).unroll(loop + ".o.o");
    s[stage].update().gpu_warps("i", warps);
  }
  return s;
}

CALOTYPE_SCHEDULES(argmax)
    .schedule("naive", Target::Kind::Host, "largest values of all rows first, the output serial", naive)
    .schedule("host", Target::Kind::Host, "rows in parallel, a maximum and a place for each lane", host)
    .schedule("gpu", Target::Kind::Cuda, "a row a block, a maximum and a place by its threads in vectors",
              gpu)
    .schedule("gpu_short", Target::Kind::Cuda, "a row a warp", gpu_short);

}  // namespace
