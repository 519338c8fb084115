// Pieces of memory that a thread keeps, each behind a head that knows its size.
#include "codegen/llvm/scratch.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace calotype::llvm_backend {
namespace {

constexpr std::size_t kAlignment = 64, kMostPieces = 16, kMostBytes = std::size_t{64} << 20;

struct alignas(kAlignment) Head {
  std::size_t bytes;  ///< behind the head
};

/// Whether this thread's Kept is gone: memory may be released while a thread ends.
thread_local bool ended = false;

class Kept {
 public:
  Kept() = default;
  ~Kept() {
    ended = true;
    while (count_ > 0) free_oldest();
  }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

  /// The smallest that holds `bytes` and is not more than twice as large, of equal ones the latest; or null.
  Head* take(std::size_t bytes) {
    std::size_t best = count_;
    for (std::size_t at = 0; at < count_; ++at) {
      const std::size_t size = pieces_[at]->bytes;
      if (size < bytes || size / 2 > bytes) continue;
      if (best == count_ || size <= pieces_[best]->bytes) best = at;
    }
    return best == count_ ? nullptr : remove(best);
  }

  std::size_t total() const { return total_; }

  void keep(Head* piece) {
    if (piece->bytes > kMostBytes) return std::free(piece);  // it would drive all others out
    while (count_ == kMostPieces || total_ + piece->bytes > kMostBytes) free_oldest();
    pieces_[count_++] = piece;
    total_ += piece->bytes;
  }

 private:
  Head* remove(std::size_t at) {
    Head* piece = pieces_[at];
    std::move(pieces_.begin() + at + 1, pieces_.begin() + count_, pieces_.begin() + at);
    --count_;
    total_ -= piece->bytes;
    return piece;
  }
  void free_oldest() { std::free(remove(0)); }

  std::array<Head*, kMostPieces> pieces_{};  ///< oldest first
  std::size_t count_ = 0, total_ = 0;
};

Kept& kept() {
  thread_local Kept pieces;
  return pieces;
}

}  // namespace

void* allocate_scratch(std::int64_t bytes) {
  if (bytes < 0 || bytes > INT64_MAX - std::int64_t{2 * kAlignment}) return nullptr;
  const std::size_t size = (static_cast<std::size_t>(bytes) + kAlignment - 1) / kAlignment * kAlignment;
  Head* head = ended ? nullptr : kept().take(size);
  if (!head) {
    void* memory = std::aligned_alloc(kAlignment, sizeof(Head) + size);
    if (!memory) return nullptr;
    head = new (memory) Head{size};
  }
  return head + 1;
}

void release_scratch(void* memory) {
  if (!memory) return;
  Head* head = static_cast<Head*>(memory) - 1;
  if (ended) return std::free(head);
  kept().keep(head);
}

std::int64_t kept_scratch() { return ended ? 0 : static_cast<std::int64_t>(kept().total()); }

}  // namespace calotype::llvm_backend
