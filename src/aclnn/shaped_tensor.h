// Tensors of the caller that phase 2 gives a shape, for as long as they are what phase 1 was given.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

struct aclTensor;

namespace portacl {

// One such tensor of one executor. It is forgotten when the program destroys it or makes it another tensor, by whatever thread and
// even while phase 2 runs: an address alone does not say whose tensor lies there now.
class ShapedTensor {
 public:
  ShapedTensor() = default;
  ShapedTensor(const ShapedTensor&) = delete;
  ShapedTensor& operator=(const ShapedTensor&) = delete;

  // Begins with a tensor, or with what another one still knows.
  void Expect(aclTensor* tensor) noexcept;
  void Expect(const ShapedTensor& other) noexcept;
  void Forget() noexcept;

  // The tensor, which stays as long as the lock; nullptr when it is forgotten.
  aclTensor* Get(std::unique_lock<std::mutex>* lock) const noexcept;

 private:
  friend void ForgetShaped(const aclTensor* tensor) noexcept;

  void LinkLocked(aclTensor* tensor) noexcept;
  void UnlinkLocked() noexcept;

  aclTensor* tensor_ = nullptr;
  ShapedTensor* next_ = nullptr;
  ShapedTensor** from_ = nullptr;  // what points here, while there is a tensor
};

// The tensor is about to go, or to become another one.
void ForgetShaped(const aclTensor* tensor) noexcept;

}  // namespace portacl
