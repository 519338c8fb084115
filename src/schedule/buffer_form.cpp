// BufferForm: its text, and two of them together.
#include "calotype/buffer_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace calotype {

std::string BufferForm::str() const {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (dense) add("dense");
  if (pitch_multiple > 1) add(fmt::format("pitch multiple of {} bytes", pitch_multiple));
  if (base_align > 1) add(fmt::format("base aligned to {} bytes", base_align));
  return buffer + " " + (text.empty() ? "of any form" : text);
}

BufferForm join(const BufferForm& a, const BufferForm& b) {
  return {a.buffer, a.dense || b.dense, std::lcm(a.pitch_multiple, b.pitch_multiple),
          std::max(a.base_align, b.base_align)};
}

}  // namespace calotype
