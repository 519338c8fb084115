#pragma once
// Rows by the blocks of a cluster, for schedules of operators on rows: each block has a part of a row, whose
// vectors its threads take in turn.

#include <calotype/operator.h>

#include <string>

namespace calotype::apps {

struct PartsOfRows {
  /// Rows of at most COLUMNS elements, in parts of PART, by THREADS threads with VECTOR elements at a time.
  PartsOfRows(Schedule& s, const OperatorTypes& types, int most_columns, int of_part, int of_threads)
      : columns(s.knob("COLUMNS", most_columns)),
        part(s.knob("PART", of_part)),
        threads(s.knob("THREADS", of_threads)),
        vector(s.knob("VECTOR", 16 / types.all().bytes())) {
    s.assume("N", Assumption::range(1, columns));
  }
  Knob columns, part, threads, vector;

  /// The iterations of `loop`, in order, to the blocks and their threads.
  void deal_out(Stage stage, const std::string& loop) const {
    stage.split(loop, "part", "own", part).vectorize("own", vector).gpu_threads("own.o", threads);
    stage.unroll("own.o.o").cluster("part");
  }

  /// `of`, a reduction over k at the loop `at` of out: first the threads of a block combine what they have,
  /// then one result of each block goes to the others.
  void reduce_in_steps(Schedule& s, const std::string& of, const std::string& at) const {
    s[of].compute_at("out", at).store_in(Memory::Register);
    Stage update = s[of].update().split("k", "part", "own", part);
    Stage of_block = s[update.rfactor({{"part", "block"}}, of + "_of_block")];
    of_block.compute_at("out", at).store_in(Memory::Register).cluster("block");
    Stage own = of_block.update().vectorize("own", vector).gpu_threads("own.o", threads).unroll("own.o.o");
    own.cluster("block");
    update.cluster("part");
  }

  /// Rows of an input, copied in bulk ahead of the iterations of the loop `at` of out, each part to its
  /// block.
  void copy_ahead(Schedule& s, const std::string& input, const std::string& at) const {
    Stage row = s.in(input);
    row.compute_at("out", at).store_in(Memory::Shared).copy(Copy::Bulk);
    row.split("d0", "part", "own", part).cluster("part");
  }
};

}  // namespace calotype::apps
