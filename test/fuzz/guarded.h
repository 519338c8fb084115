#pragma once
// Buffers between pages that may not be touched, with margins whose bytes are known: a read or write outside
// is a fault or shows afterwards.

#include <memory>
#include <vector>

#include "calotype/buffer.h"
#include "fuzz/random.h"

namespace calotype::fuzz {

class Guarded {
 public:
  /// Random padding of rows, at the end or the start of its pages; every byte is poison. A tensor has its
  /// first dimension innermost, and rows that lie multiples of 16 bytes apart.
  Guarded(Random& random, Type type, const std::vector<std::int64_t>& extents, bool tensor = false);

  const Buffer& buffer() const { return buffer_; }
  /// Whether the bytes around and between the elements are still those of the poison.
  bool margins_whole() const;
  /// Whether every byte is what it was at the last `remember`.
  bool unchanged() const;
  void remember();

 private:
  struct Pages;
  std::shared_ptr<Pages> pages_;
  Buffer buffer_;
  std::vector<unsigned char> is_element_;  ///< by byte of the pages
  std::vector<unsigned char> remembered_;
};

}  // namespace calotype::fuzz
