// Pieces of memory that a thread keeps, each behind a head that knows its size.
#include "codegen/llvm/scratch.h"

#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

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
  Kept() { pieces_.reserve(kMostPieces + 1); }
  ~Kept() {
    ended = true;
    while (!pieces_.empty()) free_oldest();
  }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

  /// The smallest that holds `bytes` and is not more than twice as large, of equal ones the latest; or null.
  Head* take(std::size_t bytes) {
    auto best = pieces_.end();
    for (auto at = pieces_.begin(); at != pieces_.end(); ++at) {
      const std::size_t size = (*at)->bytes;
      if (size < bytes || size / 2 > bytes) continue;
      if (best == pieces_.end() || size <= (*best)->bytes) best = at;
    }
    if (best == pieces_.end()) return nullptr;
    Head* found = *best;
    pieces_.erase(best);
    total_ -= found->bytes;
    return found;
  }

  std::size_t total() const { return total_; }

  void keep(Head* piece) {
    pieces_.push_back(piece);
    total_ += piece->bytes;
    while (pieces_.size() > kMostPieces || total_ > kMostBytes) free_oldest();
  }

 private:
  void free_oldest() {
    Head* oldest = pieces_.front();
    pieces_.erase(pieces_.begin());
    total_ -= oldest->bytes;
    std::free(oldest);
  }

  std::vector<Head*> pieces_;  ///< oldest first
  std::size_t total_ = 0;
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
