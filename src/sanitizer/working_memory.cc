// Allocates and frees the pages behind device addresses (see working_memory.h).
// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/working_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace portacl::sanitizer {
namespace {

constexpr size_t kExact = 16;          // up to this number of pages, each number has its own class
constexpr size_t kDoublingRounds = 8;  // from there on

}  // namespace

bool WorkingMemory::Reserve(size_t length) noexcept {
  void* const all = mmap(nullptr, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) return false;
  madvise(all, length, MADV_DONTDUMP);
  begin_ = next_ = populated_ = opened_ = reinterpret_cast<uintptr_t>(all);
  end_ = begin_ + length;
  return true;
}

size_t WorkingMemory::ClassOf(size_t pages) noexcept {
  if (pages <= kExact) return pages - 1;
  const auto doubling =
      static_cast<size_t>(std::bit_width(pages - 1));  // 2^(doubling-1) < pages <= 2^doubling
  const size_t step = (size_t{1} << (doubling - 1)) / kDoublingRounds;
  const size_t below = size_t{1} << (doubling - 1);
  return kExact + (doubling - 5) * kDoublingRounds + (pages - below + step - 1) / step - 1;
}

size_t WorkingMemory::PagesOf(size_t size_class) noexcept {
  if (size_class < kExact) return size_class + 1;
  const size_t doubling = (size_class - kExact) / kDoublingRounds + 5;
  const size_t below = size_t{1} << (doubling - 1);
  return below + ((size_class - kExact) % kDoublingRounds + 1) * (below / kDoublingRounds);
}

WorkingMemory::Range WorkingMemory::Take(size_t length, bool populates) {
  const size_t size_class = ClassOf(length / kPage);
  std::vector<Range>& free = free_[size_class];
  if (!free.empty()) {
    const Range range = free.back();
    free.pop_back();
    if (range.is_populated) kept_ -= PagesOf(size_class) * kPage;
    return range;
  }
  const size_t whole = PagesOf(size_class) * kPage;
  if (whole > end_ - next_) return {};
  if (whole > opened_ - next_) {
    const size_t more = std::min(end_ - opened_, std::max(kOpened, whole));
    if (mprotect(reinterpret_cast<void*>(opened_), more, PROT_READ | PROT_WRITE) != 0) return {};
    opened_ += more;
  }
  const Range range = {next_, false};
  next_ += whole;
  // Populates the next pages together with those of a small range, for the ranges that follow.
  if (populates && length < kSmall && next_ > populated_) {
    const size_t ahead = std::min<size_t>(kPopulated, opened_ - range.begin);
    madvise(reinterpret_cast<void*>(range.begin), ahead, MADV_POPULATE_WRITE);
    populated_ = range.begin + ahead;
  }
  return range;
}

void WorkingMemory::Give(uintptr_t begin, size_t length, bool keeps_pages) {
  const size_t size_class = ClassOf(length / kPage);
  const size_t whole = PagesOf(size_class) * kPage;
  free_[size_class].push_back({begin, keeps_pages});
  if (!keeps_pages) {
    mmap(reinterpret_cast<void*>(begin), whole, PROT_READ | PROT_WRITE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    return;
  }
  kept_ += whole;
  if (kept_ > kMostKept) DropKept();
}

void WorkingMemory::DropKept() noexcept {
  for (size_t size_class = 0; size_class < kClasses; ++size_class) {
    for (Range& range : free_[size_class]) {
      if (!range.is_populated) continue;
      madvise(reinterpret_cast<void*>(range.begin), PagesOf(size_class) * kPage, MADV_DONTNEED);
      range.is_populated = false;
    }
  }
  kept_ = 0;
}

}  // namespace portacl::sanitizer
