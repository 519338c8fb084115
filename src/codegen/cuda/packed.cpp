// Elements of 16 bits two to a register, and of 8 bits four: whole vectors of them lie in registers as they
// do in memory.

#include <fmt/format.h>

#include "codegen/cuda/alignment.h"
#include "codegen/cuda/kernel_printer.h"
#include "codegen/cuda/tile_helper.h"
#include "codegen/cuda/types.h"

namespace calotype::cuda {

/// What instructions of tiles use; and halves that are stored as vectors alone, from even elements on: what
/// is stored one by one takes a register apart and puts it together again.
bool KernelPrinter::is_packed(const ir::Stmt& body, const ir::BufferPtr& buffer) const {
  if (is_tile(buffer)) return buffer->type.bytes() < kWordBytes;
  if (buffer->space != ir::MemorySpace::Register || !is_half(buffer->type)) return false;
  bool good = true;
  ir::visit(body, [&](const ir::Stmt& s) {
    if (s->kind == ir::StmtKind::Store && s->buffer() == buffer) good &= fills_words(buffer, s->exprs[2]);
  });
  return good;
}

/// Whether a vector is of whole words.
bool KernelPrinter::fills_words(const ir::BufferPtr& buffer, const Expr& index) const {
  const int in_word = kWordBytes / buffer->type.bytes();
  return is_dense(index) && index->type.lanes % in_word == 0 &&
         power_of_two_divisor(index->args[0], facts_) % in_word == 0;
}

void KernelPrinter::store_words(const ir::Stmt& s, const Expr& value) {
  const ir::BufferPtr& buffer = s->buffer();
  const Expr& base = s->exprs[2]->args[0];
  const int in_word = kWordBytes / buffer->type.bytes();
  const auto place = [&](const Expr& word) {
    const Expr divisor = ir::make_int(base->type, in_word);
    const Expr first = ir::simplify(ir::make(ir::Op::TruncDiv, base->type, {base, divisor}), facts_);
    const Expr number = ir::make(ir::Op::Cast, base->type, {word});
    return ir::is_zero(first) ? number : ir::make(ir::Op::Add, base->type, {first, number});
  };
  const auto element = [&](const Expr& word, int which) {
    const Expr first = ir::make(ir::Op::Mul, word->type, {ir::make_int(word->type, in_word), word});
    const Expr at =
        which == 0 ? first : ir::make(ir::Op::Add, word->type, {first, ir::make_int(word->type, which)});
    return scalar(name_shared(lane(value, at)), Arithmetic::Data, Precedence::Primary) +
           (is_half(buffer->type) ? ".bits" : "");
  };
  const std::string& word_of = prelude_.use(in_word == 2 ? "pair_of_bits" : "word_of_bytes");
  lane_loop(value->type.lanes / in_word, [&](const Expr& word) {
    std::string elements = element(word, 0);
    for (int i = 1; i < in_word; ++i) elements += ", " + element(word, i);
    line(fmt::format("{}[{}] = {}({});", names_.of(buffer), scalar(place(word), Arithmetic::Index), word_of,
                     elements));
  });
}

void KernelPrinter::store_element(const ir::BufferPtr& buffer, const Expr& index, const std::string& value) {
  if (expressions_.is_packed(buffer)) {
    const std::string bits = is_half(buffer->type) ? fmt::format("({}).bits", value) : value;
    return line(fmt::format("{}({}, {}, {});",
                            prelude_.use(buffer->type.bytes() == 2 ? "set_bits" : "set_byte"),
                            names_.of(buffer), scalar(index, Arithmetic::Index), bits));
  }
  line(fmt::format("{} = {};", expressions_.element(buffer, index), value));
}

}  // namespace calotype::cuda
