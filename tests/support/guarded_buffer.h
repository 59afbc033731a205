// Memory whose end (or start) touches a page that nobody may access. All other bytes have a known pattern.
// Reading past the data thus crashes, and writing outside the expected elements is found afterwards. Under
// PORTACL_CHECK it is memory of a device from aclrtMalloc, which the test sees at another address than
// operators.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace portacl::testing {

enum class Guard { kEnd, kStart };

class GuardedBuffer {
 public:
  // Allocates `bytes` of data, with `slack` accessible bytes between the data and the guard page on the
  // chosen side. The other side has a guard page too, at the end of the rest of the page. Pages start at
  // multiples of 4096, so slack and bytes determine the alignment of the data. With zero bytes the address
  // points at the guard page itself.
  explicit GuardedBuffer(size_t bytes, Guard guard = Guard::kEnd, size_t slack = 0);
  ~GuardedBuffer();
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;

  // The test's address. A checked program counts all of it as written then, since the checks cannot see the
  // test's writes.
  std::byte* data() const {
    NoteWritten(data_, bytes_);
    return data_;
  }
  size_t size() const { return bytes_; }

  // The address for tensors and for functions on device memory. It equals data(), except in a checked
  // program.
  std::byte* device() const { return data_ + device_distance_; }

  // The test's address, for callers that report themselves which bytes they write.
  std::byte* peek() const { return data_; }
  void NoteWritten(const std::byte* from, size_t bytes) const;

  // All bytes between the two guard pages.
  std::span<std::byte> Accessible() const { return {accessible_, accessible_bytes_}; }

 private:
  std::byte* accessible_ = nullptr;
  size_t accessible_bytes_ = 0;
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
  bool is_on_device_ = false;  // in a checked program
  ptrdiff_t device_distance_ = 0;
};

// Returns the slack for Guard::kEnd that makes the data start `misalignment` bytes past a multiple of 64.
size_t SlackForMisalignment(size_t bytes, size_t misalignment);

// Returns an address in a page that nobody may access, for tensors whose data must not be touched.
void* ForbiddenAddress();

}  // namespace portacl::testing
