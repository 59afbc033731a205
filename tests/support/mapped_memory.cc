// Under PORTACL_CHECK, memory that a test gives to a tensor counts as registered (aclrtHostRegister) until
// the tensor is destroyed, as in a program that maps host memory into the device. The linker redirects the
// calls here (--wrap).
// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>
#include <unordered_map>

#include "acl/memory/memory.h"
#include "aclnn/acl_meta.h"
#include "aclnn/tensor.h"
#include "base/data_type.h"
#include "base/process/fork.h"
#include "mapped_memory.h"
#include "sanitizer/device_memory.h"
#include "sanitizer/settings.h"
#include "sanitizer/start.h"

namespace portacl::testing {
namespace {

// Registers like aclrtHostRegister, but without a device and without a message in the calling thread.
class Registered {
 public:
  void Add(const aclTensor* tensor, uintptr_t begin, uintptr_t end) {
    const std::lock_guard lock(mutex_);
    const uintptr_t first = begin;
    int tensors = 1;
    auto it = ranges_.lower_bound(begin);
    if (it != ranges_.begin() && std::prev(it)->second.end > begin) --it;
    while (it != ranges_.end() && it->first < end) {
      RemoveMemory(reinterpret_cast<const void*>(it->first), MemoryKind::kRegisteredHost);
      begin = std::min(begin, it->first);
      end = std::max(end, it->second.end);
      tensors += it->second.tensors;
      it = ranges_.erase(it);
    }
    bool no_memory = false;
    if (!EnterMemory(reinterpret_cast<const void*>(begin), end - begin, MemoryKind::kRegisteredHost, 0,
                     &no_memory)) {
      return;  // registered as something else
    }
    ranges_.emplace(begin, Range{end, tensors});
    by_tensor_[tensor] = first;
  }

  void Remove(const aclTensor* tensor) {
    const std::lock_guard lock(mutex_);
    const auto found = by_tensor_.find(tensor);
    if (found == by_tensor_.end()) return;
    auto it = ranges_.upper_bound(found->second);
    by_tensor_.erase(found);
    if (it == ranges_.begin() || --std::prev(it)->second.tensors > 0) return;
    --it;
    RemoveMemory(reinterpret_cast<const void*>(it->first), MemoryKind::kRegisteredHost);
    ranges_.erase(it);
  }

  // Held across a fork.
  void Lock() { mutex_.lock(); }
  void Unlock() { mutex_.unlock(); }

 private:
  // Disjoint ranges; the key is the beginning of each.
  struct Range {
    uintptr_t end;
    int tensors;  // number of tensors inside
  };
  std::mutex mutex_;
  std::map<uintptr_t, Range> ranges_;
  std::unordered_map<const aclTensor*, uintptr_t> by_tensor_;
};

Registered& TheRegistered() {
  static auto* const registered = [] {
    // The library's locks are taken inside this one. The handler that is registered last is called first.
    NoticeForks();
    pthread_atfork([] { TheRegistered().Lock(); }, [] { TheRegistered().Unlock(); },
                   [] { TheRegistered().Unlock(); });
    return new Registered;  // never destroyed: static objects of tests may be tensors
  }();
  return *registered;
}

void TensorIsMade(const aclTensor* tensor) {
  constexpr int64_t kMostBytes = int64_t{1} << 40;
  sanitizer::Start();
  if (tensor == nullptr || tensor->data == nullptr || !sanitizer::IsOn(sanitizer::kMemory)) return;
  // The address behind the end of a device's memory may become the beginning of another block.
  if (sanitizer::OwnsDevice(tensor->data)) return;
  if (KindOfMemory(tensor->data) != MemoryKind::kUnknown &&
      KindOfMemory(tensor->data) != MemoryKind::kRegisteredHost) {
    return;
  }
  int64_t elements = 0;
  int64_t bits = 0;
  if (!tensor->storage.Numel(&elements) ||
      __builtin_mul_overflow(elements, int64_t{StorageBits(tensor->dtype)}, &bits) || bits / 8 > kMostBytes) {
    return;
  }
  const auto begin = reinterpret_cast<uintptr_t>(tensor->data);
  TheRegistered().Add(tensor, begin, begin + static_cast<uintptr_t>(std::max<int64_t>(bits / 8, 1)));
}

void TensorGoes(const aclTensor* tensor) {
  if (tensor != nullptr && sanitizer::IsOn(sanitizer::kMemory)) TheRegistered().Remove(tensor);
}

}  // namespace

void MemoryIsMapped(const void* address, size_t bytes) {
  sanitizer::Start();
  bool no_memory = false;
  if (bytes > 0 && sanitizer::IsOn(sanitizer::kMemory))
    EnterMemory(address, bytes, MemoryKind::kRegisteredHost, 0, &no_memory);
}

void MappedMemoryGoes(const void* address) {
  if (sanitizer::IsOn(sanitizer::kMemory)) RemoveMemory(address, MemoryKind::kRegisteredHost);
}

}  // namespace portacl::testing

extern "C" {

// NOLINTBEGIN(bugprone-reserved-identifier): the linker's names
aclTensor* __real_aclCreateTensor(const int64_t*, uint64_t, aclDataType, const int64_t*, int64_t, aclFormat,
                                  const int64_t*, uint64_t, void*);
aclnnStatus __real_aclDestroyTensor(const aclTensor*);
aclnnStatus __real_aclDestroyTensorList(const aclTensorList*);

aclTensor* __wrap_aclCreateTensor(const int64_t* view_dims, uint64_t rank, aclDataType dtype,
                                  const int64_t* strides, int64_t offset, aclFormat format,
                                  const int64_t* storage_dims, uint64_t storage_rank, void* data) {
  aclTensor* const tensor = __real_aclCreateTensor(view_dims, rank, dtype, strides, offset, format,
                                                   storage_dims, storage_rank, data);
  portacl::testing::TensorIsMade(tensor);
  return tensor;
}

aclnnStatus __wrap_aclDestroyTensor(const aclTensor* tensor) {
  portacl::testing::TensorGoes(tensor);
  return __real_aclDestroyTensor(tensor);
}

aclnnStatus __wrap_aclDestroyTensorList(const aclTensorList* list) {
  if (list != nullptr) {
    for (const aclTensor* tensor : list->values) portacl::testing::TensorGoes(tensor);
  }
  return __real_aclDestroyTensorList(list);
}
// NOLINTEND(bugprone-reserved-identifier)
}
