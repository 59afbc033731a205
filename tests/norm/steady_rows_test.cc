// Operators over rows, rows that lie dense and rows that lie across, small and shared among threads: once a program has made a few
// calls, the next ones allocate nothing.
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "aclnnop/families/norm.h"
#include "gtest/gtest.h"
#include "process/allocation_hook.h"
#include "support/environment.h"
#include "support/guarded_buffer.h"
#include "support/shapes.h"

namespace portacl::testing {
namespace {

using Plan = std::function<aclnnStatus(uint64_t* size, aclOpExecutor** executor)>;
using Run = aclnnStatus (*)(void*, uint64_t, aclOpExecutor*, aclrtStream);

class Tensor {
 public:
  Tensor(const Shape& shape, aclDataType dtype) : data_(static_cast<size_t>(NumElements(shape)) * 4) {
    tensor_ = aclCreateTensor(shape.data(), shape.size(), dtype, nullptr, 0, ACL_FORMAT_ND, shape.data(),
                              shape.size(), data_.data());
  }
  ~Tensor() { aclDestroyTensor(tensor_); }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;
  operator aclTensor*() const { return tensor_; }  // NOLINT(*-explicit-*)

 private:
  std::vector<std::byte> data_;
  aclTensor* tensor_;
};

void CheckSteady(const std::string& what, const Plan& plan, Run run, aclrtStream stream) {
  const GuardedBuffer workspace(1 << 20);
  const auto call = [&](int times) {
    int failures = 0;
    for (int i = 0; i < times; ++i) {
      uint64_t size = 0;
      aclOpExecutor* executor = nullptr;
      failures += plan(&size, &executor) != 0;
      failures += size > workspace.size() ||
                  run(size > 0 ? workspace.device() : nullptr, size, executor, stream) != 0;
      failures += aclrtSynchronizeStream(stream) != 0;
    }
    return failures;
  };
  ASSERT_EQ(call(5), 0) << what << ": " << aclGetRecentErrMsg();
  // Threads that help come when they like, and the first time each of them makes what it keeps.
  long made = 1;
  for (int attempt = 0; attempt < 10 && made != 0; ++attempt) {
    const long before = AllocationsMade();
    const int failures = call(10);
    made = AllocationsMade() - before;
    ASSERT_EQ(failures, 0) << what;
  }
  EXPECT_EQ(made, 0) << what;
}

TEST(SteadyRows, AllocateNothing) {
  const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", "3"}});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  for (const aclDataType dtype : {ACL_FLOAT, ACL_BF16}) {
    for (const Shape& shape : {Shape{3, 5}, Shape{40, 17}, Shape{600, 300}, Shape{20, 30000}}) {
      const std::string what =
          std::to_string(shape[0]) + " x " + std::to_string(shape[1]) + ", dtype " + std::to_string(dtype);
      const Tensor x(shape, dtype);
      const Tensor y(shape, dtype);
      const Tensor out(shape, dtype);
      const Shape columns = {shape[1]};
      const Shape rows = {shape[0], 1};
      const Tensor weight(columns, dtype);
      const Tensor bias(columns, dtype);
      const Tensor of_weight(columns, dtype);
      const Tensor of_bias(columns, dtype);
      const Tensor mean(rows, ACL_FLOAT);
      const Tensor rstd(rows, ACL_FLOAT);
      const Tensor channel_mean(columns, ACL_FLOAT);
      const Tensor channel_rstd(columns, ACL_FLOAT);
      for (const int64_t dim : {0, 1}) {
        const std::string along = what + ", dim " + std::to_string(dim);
        CheckSteady(
            along + ", Softmax",
            [&](auto* size, auto** executor) {
              return aclnnSoftmaxGetWorkspaceSize(x, dim, out, size, executor);
            },
            aclnnSoftmax, environment.stream());
        CheckSteady(
            along + ", LogSoftmax",
            [&](auto* size, auto** executor) {
              return aclnnLogSoftmaxGetWorkspaceSize(x, dim, out, size, executor);
            },
            aclnnLogSoftmax, environment.stream());
        CheckSteady(
            along + ", SoftmaxBackward",
            [&](auto* size, auto** executor) {
              return aclnnSoftmaxBackwardGetWorkspaceSize(x, y, dim, out, size, executor);
            },
            aclnnSoftmaxBackward, environment.stream());
      }
      aclIntArray* const normalized = aclCreateIntArray(columns.data(), 1);
      const bool all[] = {true, true, true};
      aclBoolArray* const mask = aclCreateBoolArray(all, 3);
      if (shape[1] < 10000) {  // the sums over columns of longer rows need more workspace than there is
        CheckSteady(
            what + ", LayerNormBackward",
            [&](auto* size, auto** executor) {
              return aclnnLayerNormBackwardGetWorkspaceSize(x, y, normalized, mean, rstd, weight, bias, mask,
                                                            out, of_weight, of_bias, size, executor);
            },
            aclnnLayerNormBackward, environment.stream());
      }
      CheckSteady(
          what + ", RmsNorm",
          [&](auto* size, auto** executor) {
            return aclnnRmsNormGetWorkspaceSize(x, weight, 1e-6, out, rstd, size, executor);
          },
          aclnnRmsNorm, environment.stream());
      CheckSteady(
          what + ", BatchNorm",
          [&](auto* size, auto** executor) {
            return aclnnBatchNormGetWorkspaceSize(x, nullptr, nullptr, nullptr, nullptr, true, 0.1, 1e-5, out,
                                                  channel_mean, channel_rstd, size, executor);
          },
          aclnnBatchNorm, environment.stream());
      aclDestroyIntArray(normalized);
      aclDestroyBoolArray(mask);
    }
  }
}

}  // namespace
}  // namespace portacl::testing
