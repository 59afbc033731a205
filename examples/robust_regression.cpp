// Fits a line through data with outliers by gradient descent, with three losses: a whole aclnn program that takes both
// the loss values and the gradients from the operators, and checks what it finds.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_l1_loss.h"
#include "aclnnop/aclnn_l1_loss_backward.h"
#include "aclnnop/aclnn_mse_loss.h"
#include "aclnnop/aclnn_mse_loss_backward.h"
#include "aclnnop/aclnn_smooth_l1_loss.h"
#include "aclnnop/aclnn_smooth_l1_loss_backward.h"

namespace {

void Check(int code, const char* call) {
  if (code == ACL_SUCCESS) return;
  const char* message = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s returned %d: %s\n", call, code, message != nullptr ? message : "no message");
  std::exit(1);
}
#define CHECK(call) Check((call), #call)

const int64_t kMean = 1;  // reduction: 0 none, 1 mean, 2 sum

// A float32 tensor in device memory: a vector, or a scalar of shape [].
struct DeviceTensor {
  void* address;
  aclTensor* handle;
  size_t bytes;

  explicit DeviceTensor(size_t count, bool scalar = false) : bytes(count * sizeof(float)) {
    CHECK(aclrtMalloc(&address, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    const int64_t shape[] = {static_cast<int64_t>(count)};
    const int64_t stride[] = {1};
    const uint64_t rank = scalar ? 0 : 1;
    handle = aclCreateTensor(shape, rank, ACL_FLOAT, stride, 0, ACL_FORMAT_ND, shape, rank, address);
    Check(handle != nullptr ? ACL_SUCCESS : ACL_ERROR_FAILURE, "aclCreateTensor");
  }
  ~DeviceTensor() {
    aclDestroyTensor(handle);
    aclrtFree(address);
  }
  DeviceTensor(const DeviceTensor&) = delete;
  DeviceTensor& operator=(const DeviceTensor&) = delete;

  void Set(const float* values) {
    CHECK(aclrtMemcpy(address, bytes, values, bytes, ACL_MEMCPY_HOST_TO_DEVICE));
  }
  void Get(float* values) const {
    CHECK(aclrtMemcpy(values, bytes, address, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
  }
};

// Phase 2 of any operator, with the workspace that phase 1 asked for.
typedef aclnnStatus (*Run)(void*, uint64_t, aclOpExecutor*, aclrtStream);
void RunOperator(Run run, uint64_t workspace_size, aclOpExecutor* executor, aclrtStream stream) {
  void* workspace = nullptr;
  if (workspace_size > 0) CHECK(aclrtMalloc(&workspace, workspace_size, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(run(workspace, workspace_size, executor, stream));
  CHECK(aclrtSynchronizeStream(stream));
  if (workspace != nullptr) CHECK(aclrtFree(workspace));
}

enum Loss { kMse, kL1, kSmoothL1 };
const char* const kNames[] = {"MSE", "L1", "smooth L1"};
const float kBeta = 0.5f;

// The mean loss of a prediction, and its gradient for every predicted value.
class Criterion {
 public:
  Criterion(Loss loss, const std::vector<float>& truth, aclrtStream stream)
      : loss_(loss),
        stream_(stream),
        prediction_(truth.size()),
        truth_(truth.size()),
        gradient_(truth.size()),
        value_(1, true),
        one_(1, true) {
    const float one = 1.0f;
    truth_.Set(truth.data());
    one_.Set(&one);
  }

  float operator()(const std::vector<float>& prediction, std::vector<float>* gradient) {
    prediction_.Set(prediction.data());
    const aclTensor* x = prediction_.handle;
    const aclTensor* y = truth_.handle;
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    switch (loss_) {
      case kMse:
        CHECK(aclnnMseLossGetWorkspaceSize(x, y, kMean, value_.handle, &size, &executor));
        RunOperator(aclnnMseLoss, size, executor, stream_);
        CHECK(aclnnMseLossBackwardGetWorkspaceSize(one_.handle, x, y, kMean, gradient_.handle, &size,
                                                   &executor));
        RunOperator(aclnnMseLossBackward, size, executor, stream_);
        break;
      case kL1:
        CHECK(aclnnL1LossGetWorkspaceSize(x, y, kMean, value_.handle, &size, &executor));
        RunOperator(aclnnL1Loss, size, executor, stream_);
        CHECK(aclnnL1LossBackwardGetWorkspaceSize(one_.handle, x, y, kMean, gradient_.handle, &size,
                                                  &executor));
        RunOperator(aclnnL1LossBackward, size, executor, stream_);
        break;
      case kSmoothL1:
        CHECK(aclnnSmoothL1LossGetWorkspaceSize(x, y, kMean, kBeta, value_.handle, &size, &executor));
        RunOperator(aclnnSmoothL1Loss, size, executor, stream_);
        CHECK(aclnnSmoothL1LossBackwardGetWorkspaceSize(one_.handle, x, y, kMean, kBeta, gradient_.handle,
                                                        &size, &executor));
        RunOperator(aclnnSmoothL1LossBackward, size, executor, stream_);
        break;
    }
    float value = 0.0f;
    value_.Get(&value);
    gradient_.Get(gradient->data());
    return value;
  }

 private:
  Loss loss_;
  aclrtStream stream_;
  DeviceTensor prediction_, truth_, gradient_, value_, one_;
};

// Numbers that are the same everywhere, in [-1, 1).
float NextRandom(uint32_t* state) {
  *state = *state * 1664525u + 1013904223u;
  return static_cast<float>(*state >> 8) / 8388608.0f - 1.0f;
}

}  // namespace

int main() {
  // y = 2 x - 1 with a little noise, and every eighth value far too large.
  const float kSlope = 2.0f;
  const float kIntercept = -1.0f;
  const size_t kCount = 400;
  std::vector<float> x(kCount), y(kCount);
  uint32_t state = 1;
  for (size_t i = 0; i < kCount; ++i) {
    x[i] = 2.0f * NextRandom(&state);
    y[i] = kSlope * x[i] + kIntercept + 0.05f * NextRandom(&state) + (i % 8 == 0 ? 15.0f : 0.0f);
  }

  aclrtStream stream = nullptr;
  CHECK(aclInit(nullptr));
  CHECK(aclrtSetDevice(0));
  CHECK(aclrtCreateStream(&stream));

  bool right = true;
  for (int loss = kMse; loss <= kSmoothL1; ++loss) {
    Criterion criterion(static_cast<Loss>(loss), y, stream);
    std::vector<float> prediction(kCount), gradient(kCount);
    float slope = 0.0f;
    float intercept = 0.0f;
    float first = 0.0f;
    float last = 0.0f;
    const int kSteps = 600;
    for (int step = 0; step < kSteps; ++step) {
      for (size_t i = 0; i < kCount; ++i) prediction[i] = slope * x[i] + intercept;
      last = criterion(prediction, &gradient);
      if (step == 0) first = last;
      // Shorter and shorter steps: the gradient of the L1 loss does not shrink by itself.
      const float rate = 0.3f / (1.0f + 0.02f * static_cast<float>(step));
      float by_slope = 0.0f;
      float by_intercept = 0.0f;
      for (size_t i = 0; i < kCount; ++i) {
        by_slope += gradient[i] * x[i];
        by_intercept += gradient[i];
      }
      slope -= rate * by_slope;
      intercept -= rate * by_intercept;
    }
    const float error = std::fmax(std::fabs(slope - kSlope), std::fabs(intercept - kIntercept));
    // An eighth of the values is an eighth of 15 too large on average, which the squares follow and the others do not.
    const bool expected = last < first && (loss == kMse ? error > 1.0f : error < 0.1f);
    std::printf("%-9s loss %8.4f -> %7.4f   y = %6.3f x %+6.3f   %s\n", kNames[loss], first, last, slope,
                intercept,
                !expected      ? "UNEXPECTED"
                : loss == kMse ? "misled by the outliers"
                               : "recovered");
    right = right && expected;
  }
  std::printf("the data: y = %6.3f x %+6.3f, one value in eight raised by 15\n", kSlope, kIntercept);

  CHECK(aclrtDestroyStream(stream));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return right ? 0 : 1;
}
