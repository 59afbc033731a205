// One operator call with data that is easy to check, for tests that are about the process and not about numbers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_l1_loss_backward.h"

namespace portacl::testing {

// Blocks enough that several threads share the work, and that a worker does it.
inline constexpr size_t kBigCall = size_t{1} << 20;

// aclnnL1LossBackward over n floats. Everything that the test itself allocates is there after construction, but for
// the tensors: those are the library's.
class SimpleCall {
 public:
  explicit SimpleCall(size_t n, uint32_t variant = 0)
      : dims_{static_cast<int64_t>(n)}, grad_output_(n), self_(n), target_(n), grad_input_(n, -1.0f) {
    for (size_t i = 0; i < n; ++i) {
      grad_output_[i] = static_cast<float>(static_cast<int>((i + variant) % 1000) - 500);
      self_[i] = static_cast<float>((i + variant) % 5);
      target_[i] = static_cast<float>(i % 3);
    }
  }
  ~SimpleCall() { DestroyTensors(); }
  SimpleCall(const SimpleCall&) = delete;
  SimpleCall& operator=(const SimpleCall&) = delete;

  // Makes the tensors that are not there yet; false if one could not be made.
  bool CreateTensors() {
    float* const data[] = {grad_output_.data(), self_.data(), target_.data(), grad_input_.data()};
    for (size_t i = 0; i < 4; ++i) {
      if (tensors_[i] == nullptr) {
        tensors_[i] = aclCreateTensor(dims_, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims_, 1, data[i]);
      }
      if (tensors_[i] == nullptr) return false;
    }
    return true;
  }

  void DestroyTensors() {
    for (aclTensor*& tensor : tensors_) {
      aclDestroyTensor(tensor);
      tensor = nullptr;
    }
  }

  aclnnStatus Plan() {
    return aclnnL1LossBackwardGetWorkspaceSize(tensors_[0], tensors_[1], tensors_[2], 2, tensors_[3],
                                               &workspace_size_, &executor_);
  }
  aclnnStatus Execute(aclrtStream stream) {
    return aclnnL1LossBackward(nullptr, workspace_size_, executor_, stream);
  }

  bool Right() const {
    for (size_t i = 0; i < self_.size(); ++i) {
      const float sign = self_[i] > target_[i] ? 1.0f : self_[i] < target_[i] ? -1.0f : 0.0f;
      if (grad_input_[i] != sign * grad_output_[i]) return false;
    }
    return true;
  }

  void ClearResult() { grad_input_.assign(grad_input_.size(), -1.0f); }

  // Everything from the tensors to the result.
  bool Run(aclrtStream stream) {
    ClearResult();
    return CreateTensors() && Plan() == 0 && Execute(stream) == 0 && aclrtSynchronizeStream(stream) == 0 &&
           Right();
  }

  aclOpExecutor* executor() const { return executor_; }

 private:
  const int64_t dims_[1];
  std::vector<float> grad_output_;
  std::vector<float> self_;
  std::vector<float> target_;
  std::vector<float> grad_input_;
  aclTensor* tensors_[4] = {};
  uint64_t workspace_size_ = 0;
  aclOpExecutor* executor_ = nullptr;
};

}  // namespace portacl::testing
