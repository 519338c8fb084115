// Buffers between pages that may not be touched.
#include "fuzz/guarded.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <new>

namespace calotype::fuzz {

namespace {
constexpr unsigned char poison = 0xA5;

/// Elements that the strides span.
std::int64_t span(const std::vector<std::int64_t>& extents, const std::vector<std::int64_t>& strides) {
  std::int64_t last = 0;
  for (std::size_t d = 0; d < extents.size(); ++d) last += (extents[d] - 1) * strides[d];
  return last + 1;
}

/// Dense, or with rows farther apart, or with another dimension innermost unless each stride is to be a
/// multiple of `step`.
std::vector<std::int64_t> any_strides(Random& random, const std::vector<std::int64_t>& extents,
                                      std::int64_t step) {
  std::vector<std::int64_t> strides(extents.size());
  const bool padded = random.chance(50), turned = extents.size() > 1 && random.chance(10);
  std::int64_t next = 1;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const std::size_t d = turned && step == 1 ? extents.size() - 1 - i : i;
    if (i > 0) next = (next + step - 1) / step * step;
    strides[d] = next;
    next = next * extents[d] + (padded ? random.within(0, 3) : 0);
  }
  return strides;
}
}  // namespace

struct Guarded::Pages {
  explicit Pages(std::size_t bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    size = (bytes + page - 1) / page * page;
    whole = size + 2 * page;
    base = mmap(nullptr, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) throw std::bad_alloc();
    data = static_cast<unsigned char*>(base) + page;
    if (mprotect(data, size, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    std::memset(data, poison, size);
  }
  ~Pages() { munmap(base, whole); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  void* base;
  std::size_t whole, size;
  unsigned char* data;
};

Guarded::Guarded(Random& random, Type type, const std::vector<std::int64_t>& extents, bool tensor) {
  const std::vector<std::int64_t> strides = any_strides(random, extents, tensor ? 16 / type.bytes() : 1);
  const auto width = static_cast<std::size_t>(type.bytes());
  const std::size_t bytes = static_cast<std::size_t>(span(extents, strides)) * width;
  pages_ = std::make_shared<Pages>(bytes);
  const std::size_t offset = random.chance(70) ? pages_->size - bytes : 0;
  buffer_ = Buffer(type, pages_->data + offset, extents, strides);
  is_element_.assign(pages_->size, 0);
  std::vector<std::int64_t> at(extents.size(), 0);
  for (std::size_t d = 0; d < at.size();) {
    std::int64_t element = 0;
    for (std::size_t i = 0; i < at.size(); ++i) element += at[i] * strides[i];
    std::memset(&is_element_[offset + static_cast<std::size_t>(element) * width], 1, width);
    for (d = 0; d < at.size() && ++at[d] == extents[d]; ++d) at[d] = 0;
  }
}

bool Guarded::margins_whole() const {
  for (std::size_t i = 0; i < pages_->size; ++i)
    if (!is_element_[i] && pages_->data[i] != poison) return false;
  return true;
}

void Guarded::remember() { remembered_.assign(pages_->data, pages_->data + pages_->size); }

bool Guarded::unchanged() const {
  return std::memcmp(remembered_.data(), pages_->data, remembered_.size()) == 0;
}

}  // namespace calotype::fuzz
