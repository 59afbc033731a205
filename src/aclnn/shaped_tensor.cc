// Tracks the tensors that wait for a shape (see shaped_tensor.h). The lists, one per hashed address, link
// objects inside the executors, so they allocate nothing.
// SPDX-License-Identifier: Apache-2.0
#include "aclnn/shaped_tensor.h"

#include <atomic>
#include <cstdint>
#include <mutex>

#include "base/process/fork.h"

namespace portacl {
namespace {

constexpr uintptr_t kLists = 64;

// Guards the lists, and keeps every tensor in them alive while its shape is set.
std::mutex mutex;
ShapedTensor* lists[kLists];
// Counts the waiting tensors, so that destroying any other tensor costs one load.
std::atomic<int64_t> waiting{0};

std::mutex& TheMutex() noexcept {
  static const bool guarded = GuardAcrossFork(mutex, ForkRank::kTensors);
  (void)guarded;
  return mutex;
}

ShapedTensor** ListOf(const aclTensor* tensor) noexcept {
  const auto address = reinterpret_cast<uintptr_t>(tensor);
  return &lists[(address >> 6 ^ address >> 12) % kLists];
}

}  // namespace

void ShapedTensor::LinkLocked(aclTensor* tensor) noexcept {
  tensor_ = tensor;
  if (tensor == nullptr) return;
  from_ = ListOf(tensor);
  next_ = *from_;
  if (next_ != nullptr) next_->from_ = &next_;
  *from_ = this;
  waiting.fetch_add(1, std::memory_order_relaxed);
}

void ShapedTensor::UnlinkLocked() noexcept {
  if (tensor_ == nullptr) return;
  *from_ = next_;
  if (next_ != nullptr) next_->from_ = from_;
  tensor_ = nullptr;
  waiting.fetch_sub(1, std::memory_order_relaxed);
}

void ShapedTensor::Expect(aclTensor* tensor) noexcept {
  const std::lock_guard lock(TheMutex());
  UnlinkLocked();
  LinkLocked(tensor);
}

void ShapedTensor::Expect(const ShapedTensor& other) noexcept {
  const std::lock_guard lock(TheMutex());
  UnlinkLocked();
  LinkLocked(other.tensor_);
}

void ShapedTensor::Forget() noexcept {
  const std::lock_guard lock(TheMutex());
  UnlinkLocked();
}

aclTensor* ShapedTensor::Get(std::unique_lock<std::mutex>* lock) const noexcept {
  *lock = std::unique_lock(TheMutex());
  return tensor_;
}

void ForgetShaped(const aclTensor* tensor) noexcept {
  // The count is never too small: a program that destroys a tensor of another thread's phase 1 has waited for
  // that thread.
  if (waiting.load(std::memory_order_relaxed) == 0) return;
  const std::lock_guard lock(TheMutex());
  for (ShapedTensor* one = *ListOf(tensor); one != nullptr;) {
    ShapedTensor* const next = one->next_;
    if (one->tensor_ == tensor) one->UnlinkLocked();
    one = next;
  }
}

}  // namespace portacl
