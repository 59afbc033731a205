// Memory whose end (or start) touches a page that nobody may access, every other byte of it filled with a
// known pattern: reading past the data crashes, writing outside the expected elements is found afterwards.
// Under PORTACL_CHECK it is memory of a device from aclrtMalloc instead, which the test sees at another address than operators.
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

  // For the test. A checked program counts all of it as written then, since nobody sees what the test does there.
  std::byte* data() const {
    NoteWritten(data_, bytes_);
    return data_;
  }
  size_t size() const { return bytes_; }

  // For tensors and for functions that take the address of a device's memory: data() but in a checked program.
  std::byte* device() const { return data_ + device_distance_; }

  // For what says itself which bytes it writes.
  std::byte* peek() const { return data_; }
  void NoteWritten(const std::byte* from, size_t bytes) const;

  // Everything between the two guard pages.
  std::span<std::byte> Accessible() const { return {accessible_, accessible_bytes_}; }

 private:
  std::byte* accessible_ = nullptr;
  size_t accessible_bytes_ = 0;
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
  bool is_on_device_ = false;  // in a checked program
  ptrdiff_t device_distance_ = 0;
};

// The slack for Guard::kEnd that makes the data start `misalignment` bytes past a multiple of 64.
size_t SlackForMisalignment(size_t bytes, size_t misalignment);

// The address of a page that nobody may access: for tensors whose data must not be touched.
void* ForbiddenAddress();

}  // namespace portacl::testing
