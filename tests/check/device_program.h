// What small programs of the corpus are made of: memory, streams and events that end with their scope, and a few operators.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "acl/acl.h"
#include "aclnnop/families/arithmetic.h"
#include "aclnnop/families/sort.h"

namespace device_program {

inline void Ok(int status) {
  if (status == ACL_SUCCESS) return;
  std::printf("a call returned %d: %s\n", status, aclGetRecentErrMsg());
  std::fflush(stdout);
  std::_Exit(5);
}

class Memory {
 public:
  explicit Memory(size_t size) { Ok(aclrtMalloc(&address_, size, ACL_MEM_MALLOC_HUGE_FIRST)); }
  ~Memory() { Free(); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  void* Get() const { return address_; }
  void Free() {
    if (address_ != nullptr) Ok(aclrtFree(std::exchange(address_, nullptr)));
  }

 private:
  void* address_ = nullptr;
};

class Pinned {
 public:
  explicit Pinned(size_t size) { Ok(aclrtMallocHost(&address_, size)); }
  ~Pinned() { Ok(aclrtFreeHost(address_)); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  void* Get() const { return address_; }

 private:
  void* address_ = nullptr;
};

template <class Handle, aclError (*kCreate)(Handle*), aclError (*kDestroy)(Handle)>
class Owned {
 public:
  Owned() { Ok(kCreate(&handle_)); }
  ~Owned() { Ok(kDestroy(handle_)); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  Handle Get() const { return handle_; }

 private:
  Handle handle_ = nullptr;
};
inline aclError CreateNotify(aclrtNotify* notify) { return aclrtCreateNotify(notify, 0); }
using Stream = Owned<aclrtStream, aclrtCreateStream, aclrtDestroyStream>;
using Event = Owned<aclrtEvent, aclrtCreateEvent, aclrtDestroyEvent>;
using Notify = Owned<aclrtNotify, CreateNotify, aclrtDestroyNotify>;

// A tensor of one dim.
inline aclTensor* Tensor(void* data, int64_t count, int64_t offset = 0, aclDataType dtype = ACL_FLOAT) {
  const int64_t stride = 1;
  const int64_t storage = count + offset;
  return aclCreateTensor(&count, 1, dtype, &stride, offset, ACL_FORMAT_ND, &storage, 1, data);
}

inline void AddsTensors(aclTensor* from, aclTensor* to, aclrtStream stream) {
  float one = 1;
  aclScalar* scalar = aclCreateScalar(&one, ACL_FLOAT);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  Ok(aclnnAddsGetWorkspaceSize(from, scalar, scalar, to, &size, &executor));
  Ok(aclnnAdds(nullptr, 0, executor, stream));
  Ok(aclDestroyScalar(scalar));
  Ok(aclDestroyTensor(from));
  if (to != from) Ok(aclDestroyTensor(to));
}

// to = from + 1
inline void Adds(void* from, void* to, int64_t count, aclrtStream stream, int64_t offset = 0) {
  AddsTensors(Tensor(from, count, offset), Tensor(to, count, offset), stream);
}

// Adds 1 to some columns of a matrix of 32 x 32.
inline void Columns(void* matrix, int64_t first, int64_t count, aclrtStream stream) {
  const int64_t shape[] = {32, count};
  const int64_t strides[] = {32, 1};
  const int64_t storage = 1024;
  const auto view = [&] {
    return aclCreateTensor(shape, 2, ACL_FLOAT, strides, first, ACL_FORMAT_ND, &storage, 1, matrix);
  };
  AddsTensors(view(), view(), stream);
}

// aclnnSort of 128 floats, which takes a workspace; where they are from goes to `indices` besides.
class Sort {
 public:
  static constexpr int64_t kCount = 128;
  Sort(void* values, void* indices)
      : from_(Tensor(values, kCount)), indices_(Tensor(indices, kCount, 0, ACL_INT64)) {
    Ok(aclnnSortGetWorkspaceSize(from_, true, 0, false, from_, indices_, &size_, &executor_));
  }
  ~Sort() {
    Ok(aclDestroyTensor(from_));
    Ok(aclDestroyTensor(indices_));
  }
  Sort(const Sort&) = delete;
  Sort& operator=(const Sort&) = delete;
  uint64_t WorkspaceSize() const { return size_; }
  void Run(void* workspace, aclrtStream stream) { Ok(Run(workspace, stream, size_)); }
  // With fewer bytes than it needs it is refused.
  aclnnStatus Run(void* workspace, aclrtStream stream, uint64_t size) {
    return aclnnSort(workspace, size, executor_, stream);
  }

 private:
  aclTensor* from_;
  aclTensor* indices_;
  uint64_t size_ = 0;
  aclOpExecutor* executor_ = nullptr;
};

}  // namespace device_program
