// One call of an operator that sums everything with several threads, and so needs a workspace; with data whose sum is
// known.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_mse_loss.h"

namespace portacl::testing {

// aclnnMseLoss, reduction sum, over n floats that are 0, 1 and 2 apart in turn. As SimpleCall, it allocates nothing
// itself after construction, but for the tensors and the workspace: those are the library's.
class SumCall {
 public:
  explicit SumCall(size_t n) : dims_{static_cast<int64_t>(n)}, self_(n), target_(n, 3.0f) {
    for (size_t i = 0; i < n; ++i) {
      self_[i] = static_cast<float>(3 + i % 3);
      expected_ += static_cast<double>((i % 3) * (i % 3));
    }
  }
  ~SumCall() { Release(); }
  SumCall(const SumCall&) = delete;
  SumCall& operator=(const SumCall&) = delete;

  // Makes the tensors that are not there yet; false if one could not be made.
  bool CreateTensors() {
    if (tensors_[0] == nullptr) tensors_[0] = Create(dims_, 1, self_.data());
    if (tensors_[1] == nullptr) tensors_[1] = Create(dims_, 1, target_.data());
    if (tensors_[2] == nullptr) tensors_[2] = Create(nullptr, 0, &sum_);
    return tensors_[0] != nullptr && tensors_[1] != nullptr && tensors_[2] != nullptr;
  }

  aclnnStatus Plan() {
    return aclnnMseLossGetWorkspaceSize(tensors_[0], tensors_[1], 2, tensors_[2], &workspace_size_,
                                        &executor_);
  }

  // The workspace that Plan asked for; false without memory.
  bool CreateWorkspace() {
    return workspace_ != nullptr || workspace_size_ == 0 ||
           aclrtMalloc(&workspace_, workspace_size_, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS;
  }
  bool HasWorkspace() const { return workspace_ != nullptr; }

  aclnnStatus Execute(aclrtStream stream) {
    sum_ = -1;
    return aclnnMseLoss(workspace_, workspace_size_, std::exchange(executor_, nullptr), stream);
  }

  bool Right() const { return static_cast<double>(sum_) == expected_; }

  void Release() {
    for (aclTensor*& tensor : tensors_) aclDestroyTensor(std::exchange(tensor, nullptr));
    if (workspace_ != nullptr) aclrtFree(std::exchange(workspace_, nullptr));
  }

 private:
  static aclTensor* Create(const int64_t* dims, uint64_t rank, void* data) {
    return aclCreateTensor(dims, rank, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, rank, data);
  }

  const int64_t dims_[1];
  std::vector<float> self_;
  std::vector<float> target_;
  float sum_ = -1;
  double expected_ = 0;
  aclTensor* tensors_[3] = {};
  void* workspace_ = nullptr;
  uint64_t workspace_size_ = 0;
  aclOpExecutor* executor_ = nullptr;
};

}  // namespace portacl::testing
