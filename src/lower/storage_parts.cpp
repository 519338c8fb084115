// Memory laid out by parts of coordinates.
#include "lower/storage_parts.h"

namespace calotype::lower {

Expr extent_of_part(const schedule::StoragePart& part, const Expr& extent) {
  if (part.modulo) return ir::index(*part.modulo);
  return (extent + ir::index(part.divide - 1)) / ir::index(part.divide);
}

Expr index_of_parts(const std::vector<schedule::StoragePart>& parts, const ir::BufferPtr& buffer,
                    const std::vector<Expr>& positions) {
  Expr index = ir::index(0);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Expr digit = positions[parts[i].dim] / ir::index(parts[i].divide);
    if (parts[i].modulo) digit = digit % ir::index(*parts[i].modulo);
    index = index + digit * buffer->strides[i];
  }
  return index;
}

}  // namespace calotype::lower
