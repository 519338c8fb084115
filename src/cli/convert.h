#pragma once
// Walking and converting buffers element by element.

#include <functional>
#include <vector>

#include "calotype/buffer.h"

namespace calotype::cli {

/// A dense copy in another element type: to narrower floats rounded to nearest even, to integers rounded and
/// saturated. `scale` multiplies each value first.
Buffer convert(const Buffer& buffer, Type type, double scale = 1);

/// Calls `f` with the coordinates of every element, dimension 0 fastest.
void for_each_coordinate(const Buffer& buffer,
                         const std::function<void(const std::vector<std::int64_t>&)>& f);

/// Element `i` of a dense buffer as a double.
double element(const Buffer& dense, std::int64_t i);
void set_element(const Buffer& dense, std::int64_t i, double value);
/// The coordinates of element `i` of a dense buffer.
std::vector<std::int64_t> coordinates_of(const Buffer& dense, std::int64_t i);
/// The buffer itself where it is dense with dimension 0 innermost, else a dense copy.
Buffer dense(const Buffer& buffer);

}  // namespace calotype::cli
