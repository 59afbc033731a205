// Memory whose end (or start) touches a page that nobody may access, every other byte of it filled with a
// known pattern: reading past the data crashes, writing outside the expected elements is found afterwards.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace portacl::testing {

enum class Guard { kEnd, kStart };

class GuardedBuffer {
 public:
  // `bytes` of data, `slack` accessible bytes between the data and the guard page on the chosen side. The
  // other side has a guard page too, at the end of the rest of the page. Pages start at multiples of 4096, so
  // slack and bytes decide the alignment of the data. Zero bytes are fine: the address then points at the
  // guard page itself.
  explicit GuardedBuffer(size_t bytes, Guard guard = Guard::kEnd, size_t slack = 0);
  ~GuardedBuffer();
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;

  std::byte* data() const { return data_; }
  size_t size() const { return bytes_; }

  // Everything between the two guard pages.
  std::span<std::byte> Accessible() const { return {accessible_, accessible_bytes_}; }

 private:
  std::byte* accessible_ = nullptr;
  size_t accessible_bytes_ = 0;
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
};

// The slack for Guard::kEnd that makes the data start `misalignment` bytes past a multiple of 64.
size_t SlackForMisalignment(size_t bytes, size_t misalignment);

// The address of a page that nobody may access: for tensors whose data must not be touched.
void* ForbiddenAddress();

}  // namespace portacl::testing
