// Which tensors wait for a shape (see shaped_tensor.h): lists by address, of the executors' own objects, so that none needs memory.
// SPDX-License-Identifier: Apache-2.0
#include "aclnn/shaped_tensor.h"

#include <atomic>
#include <cstdint>
#include <mutex>

#include "acl/process/fork.h"

namespace portacl {
namespace {

constexpr uintptr_t kLists = 64;

// Guards the lists, and every tensor in them against going while its shape is set.
std::mutex mutex;
ShapedTensor* lists[kLists];
// How many tensors wait, so that destroying others costs no more than a look.
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
  // A program that destroys what another thread gave to phase 1 has waited for that thread, so the number is not too small.
  if (waiting.load(std::memory_order_relaxed) == 0) return;
  const std::lock_guard lock(TheMutex());
  for (ShapedTensor* one = *ListOf(tensor); one != nullptr;) {
    ShapedTensor* const next = one->next_;
    if (one->tensor_ == tensor) one->UnlinkLocked();
    one = next;
  }
}

}  // namespace portacl
