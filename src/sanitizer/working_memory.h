// Memory for the bytes behind public addresses. An allocation's addresses are new each time, but its pages
// are reused.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace portacl::sanitizer {

// Ranges of one reservation of addresses. Not thread-safe.
class WorkingMemory {
 public:
  // Longer ranges are allocated elsewhere.
  static constexpr size_t kLongest = size_t{32} << 20;

  struct Range {
    uintptr_t begin = 0;        // 0: there is none
    bool is_populated = false;  // its pages are populated, at least for the length with which it was freed
  };

  // Reserves addresses for all ranges, without access until they are needed. Returns false if there are none.
  bool Reserve(size_t length) noexcept;
  bool Holds(uintptr_t address) const noexcept { return address >= begin_ && address < end_; }

  // Returns whole pages for `length` bytes; those freed last come first. `populates`: all of them will be
  // written.
  Range Take(size_t length, bool populates);
  // Frees a range; `length` is that of Take. Without `keeps_pages` the pages go back to the kernel, and
  // mappings there are gone.
  void Give(uintptr_t begin, size_t length, bool keeps_pages);

 private:
  static constexpr size_t kPage = 4096;
  static constexpr size_t kClasses = 96;
  // The limit of kept bytes; beyond it the pages of all free ranges go back to the kernel.
  static constexpr size_t kMostKept = size_t{64} << 20;
  // Access is requested for this many bytes at a time. Small ranges are populated together.
  static constexpr size_t kOpened = size_t{64} << 20;
  static constexpr size_t kPopulated = size_t{256} << 10;
  static constexpr size_t kSmall = 8 * kPage;

  static size_t ClassOf(size_t pages) noexcept;
  static size_t PagesOf(size_t size_class) noexcept;
  void DropKept() noexcept;

  std::array<std::vector<Range>, kClasses> free_;
  size_t kept_ = 0;  // bytes
  uintptr_t begin_ = 0;
  uintptr_t next_ = 0;       // never used from here on
  uintptr_t populated_ = 0;  // end of the pages that were populated in advance
  uintptr_t opened_ = 0;     // end of the accessible range
  uintptr_t end_ = 0;
};

}  // namespace portacl::sanitizer
