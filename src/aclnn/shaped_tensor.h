// References to the caller's tensors that phase 2 gives a shape, valid until the caller destroys or changes
// them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

struct aclTensor;

namespace portacl {

// References one such tensor of one executor. The reference is dropped when the program destroys or changes
// the tensor, in any thread and even while phase 2 runs. An address alone would not do: another tensor may
// have been created there since.
class ShapedTensor {
 public:
  ShapedTensor() = default;
  ShapedTensor(const ShapedTensor&) = delete;
  ShapedTensor& operator=(const ShapedTensor&) = delete;

  // Begins a reference to a tensor, or to the tensor of another reference that is still valid.
  void Expect(aclTensor* tensor) noexcept;
  void Expect(const ShapedTensor& other) noexcept;
  void Forget() noexcept;

  // Returns the tensor, which stays alive as long as the lock, or nullptr after the reference was dropped.
  aclTensor* Get(std::unique_lock<std::mutex>* lock) const noexcept;

 private:
  friend void ForgetShaped(const aclTensor* tensor) noexcept;

  void LinkLocked(aclTensor* tensor) noexcept;
  void UnlinkLocked() noexcept;

  aclTensor* tensor_ = nullptr;
  ShapedTensor* next_ = nullptr;
  ShapedTensor** from_ = nullptr;  // the pointer to this object in its list, while there is a tensor
};

// Drops all references to a tensor that is about to be destroyed or changed.
void ForgetShaped(const aclTensor* tensor) noexcept;

}  // namespace portacl
