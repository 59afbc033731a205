// Memory for the bytes behind public addresses, used again and again: an allocation's addresses are new each time, its pages are not.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace portacl::sanitizer {

// Pieces of one range of addresses. Not thread-safe.
class WorkingMemory {
 public:
  // Longer pieces come from elsewhere.
  static constexpr size_t kLongest = size_t{32} << 20;

  struct Piece {
    uintptr_t begin = 0;  // 0: there is none
    bool is_populated =
        false;  // its pages are there: those of the length that it was given back with, at least
  };

  // Addresses for all pieces, without access until they are needed. False when there are none.
  bool Reserve(size_t length) noexcept;
  bool Holds(uintptr_t address) const noexcept { return address >= begin_ && address < end_; }

  // Pages for `length` bytes, whole pages; those given back last come first. `populates`: all of them will be written.
  Piece Take(size_t length, bool populates);
  // The same length as it was taken with. Without `keeps_pages` they are the kernel's again, and what was mapped there is gone.
  void Give(uintptr_t begin, size_t length, bool keeps_pages);

 private:
  static constexpr size_t kPage = 4096;
  static constexpr size_t kClasses = 96;
  // So much is kept; beyond it the pages of all free pieces are given back to the kernel.
  static constexpr size_t kMostKept = size_t{64} << 20;
  // Access is asked for so many bytes at a time. Small pieces are populated together.
  static constexpr size_t kOpened = size_t{64} << 20;
  static constexpr size_t kPopulated = size_t{256} << 10;
  static constexpr size_t kSmall = 8 * kPage;

  static size_t ClassOf(size_t pages) noexcept;
  static size_t PagesOf(size_t size_class) noexcept;
  void DropKept() noexcept;

  std::array<std::vector<Piece>, kClasses> free_;
  size_t kept_ = 0;  // bytes
  uintptr_t begin_ = 0;
  uintptr_t next_ = 0;       // never taken from here on
  uintptr_t populated_ = 0;  // the end of what was populated ahead
  uintptr_t opened_ = 0;     // the end of what can be accessed
  uintptr_t end_ = 0;
};

}  // namespace portacl::sanitizer
