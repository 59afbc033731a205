// The gradient of a mean smooth L1 loss: a whole aclnn program, written as for an NPU, that checks its own result.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_smooth_l1_loss_backward.h"

namespace {

void Check(int code, const char* call) {
  if (code == ACL_SUCCESS) return;
  const char* message = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s returned %d: %s\n", call, code, message != nullptr ? message : "no message");
  std::exit(1);
}
#define CHECK(call) Check((call), #call)

// A tensor in device memory, filled from the host.
struct DeviceTensor {
  void* address;
  aclTensor* handle;
};

DeviceTensor MakeTensor(const std::vector<float>& values, const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t axis = shape.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * shape[axis];
  const size_t bytes = values.size() * sizeof(float);
  DeviceTensor tensor = {nullptr, nullptr};
  CHECK(aclrtMalloc(&tensor.address, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(aclrtMemcpy(tensor.address, bytes, values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
  tensor.handle = aclCreateTensor(shape.data(), shape.size(), ACL_FLOAT, strides.data(), 0, ACL_FORMAT_ND,
                                  shape.data(), shape.size(), tensor.address);
  Check(tensor.handle != nullptr ? ACL_SUCCESS : ACL_ERROR_FAILURE, "aclCreateTensor");
  return tensor;
}

void FreeTensor(const DeviceTensor& tensor) {
  CHECK(aclDestroyTensor(tensor.handle));
  CHECK(aclrtFree(tensor.address));
}

void Print(const char* name, const std::vector<float>& values) {
  std::printf("%-11s =", name);
  for (float value : values) std::printf(" %9.6f", value);
  std::printf("\n");
}

}  // namespace

int main() {
  const std::vector<int64_t> shape = {2, 4};
  const std::vector<float> grad_out_values = {1.0f, 1.0f, 1.0f, 1.0f, 0.5f, -2.0f, 3.0f, 0.1f};
  const std::vector<float> self_values = {0.5f, -1.0f, 2.0f, 3.0f, -0.25f, 7.0f, 1.5f, 0.0f};
  const std::vector<float> target_values = {0.75f, -2.0f, 2.0f, 0.0f, -0.5f, 6.5f, 1.6f, 0.1f};
  const int64_t kMean = 1;  // reduction: 0 none, 1 mean, 2 sum
  const float beta = 0.5f;  // the loss is a parabola where |self - target| < beta, straight outside
  const size_t count = self_values.size();

  aclrtStream stream = nullptr;
  CHECK(aclInit(nullptr));
  CHECK(aclrtSetDevice(0));
  CHECK(aclrtCreateStream(&stream));

  const DeviceTensor grad_out = MakeTensor(grad_out_values, shape);
  const DeviceTensor self = MakeTensor(self_values, shape);
  const DeviceTensor target = MakeTensor(target_values, shape);
  const DeviceTensor grad_input = MakeTensor(std::vector<float>(count, 0.0f), shape);

  // Phase 1 checks the arguments and plans the work; phase 2 submits it to the stream.
  uint64_t workspace_size = 0;
  aclOpExecutor* executor = nullptr;
  CHECK(aclnnSmoothL1LossBackwardGetWorkspaceSize(grad_out.handle, self.handle, target.handle, kMean, beta,
                                                  grad_input.handle, &workspace_size, &executor));
  void* workspace = nullptr;
  if (workspace_size > 0) CHECK(aclrtMalloc(&workspace, workspace_size, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(aclnnSmoothL1LossBackward(workspace, workspace_size, executor, stream));
  CHECK(aclrtSynchronizeStream(stream));

  std::vector<float> result(count);
  const size_t bytes = count * sizeof(float);
  CHECK(aclrtMemcpy(result.data(), bytes, grad_input.address, bytes, ACL_MEMCPY_DEVICE_TO_HOST));

  // The closed form: with d = self - target, the slope of the loss is d / beta inside and the sign of d outside; the mean
  // divides by 8. Dividing by powers of two is exact, so == is the test.
  std::vector<float> expected(count);
  for (size_t i = 0; i < count; ++i) {
    const float d = self_values[i] - target_values[i];
    const float slope = d >= beta ? 1.0f : d <= -beta ? -1.0f : d / beta;
    expected[i] = slope * grad_out_values[i] / static_cast<float>(count);
  }
  Print("gradOut", grad_out_values);
  Print("self", self_values);
  Print("target", target_values);
  Print("gradInput", result);
  Print("expected", expected);
  const bool equal = result == expected;
  std::printf("gradInput %s the slope of the loss * gradOut / %zu\n", equal ? "equals" : "DIFFERS FROM",
              count);

  FreeTensor(grad_out);
  FreeTensor(self);
  FreeTensor(target);
  FreeTensor(grad_input);
  if (workspace != nullptr) CHECK(aclrtFree(workspace));
  CHECK(aclrtDestroyStream(stream));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return equal ? 0 : 1;
}
