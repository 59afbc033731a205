// The gradient of a KL divergence for one distribution that a whole batch shares, so that the gradients of all samples
// are summed: a whole aclnn program, written as for an NPU, that checks its own result.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_kl_div_backward.h"

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
  std::printf("%-28s =", name);
  for (float value : values) std::printf(" %9.6f", value);
  std::printf("\n");
}

const int64_t kBatch = 65536;
const int64_t kClasses = 4;

// The gradient for self, of shape [1, kClasses], when the target has the shape [kBatch, kClasses].
std::vector<float> Gradient(const std::vector<float>& target_values, bool log_target, aclrtStream stream) {
  const int64_t kBatchMean = 3;  // reduction: 0 none, 1 mean, 2 sum, 3 batchmean
  const size_t classes = static_cast<size_t>(kClasses);
  const DeviceTensor grad_output = MakeTensor({1.0f}, {});  // a scalar
  const DeviceTensor self =
      MakeTensor(std::vector<float>(classes, -1.4f), {1, kClasses});  // its values do not matter
  const DeviceTensor target = MakeTensor(target_values, {kBatch, kClasses});
  const DeviceTensor out = MakeTensor(std::vector<float>(classes, 0.0f), {1, kClasses});

  // Phase 1 checks the arguments and plans the work. A long sum asks for a workspace, to share it among threads.
  uint64_t workspace_size = 0;
  aclOpExecutor* executor = nullptr;
  CHECK(aclnnKlDivBackwardGetWorkspaceSize(grad_output.handle, self.handle, target.handle, kBatchMean,
                                           log_target, out.handle, &workspace_size, &executor));
  std::printf("logTarget %s: workspace of %llu bytes\n", log_target ? "true" : "false",
              static_cast<unsigned long long>(workspace_size));
  void* workspace = nullptr;
  if (workspace_size > 0) CHECK(aclrtMalloc(&workspace, workspace_size, ACL_MEM_MALLOC_HUGE_FIRST));

  // Phase 2 submits the work to the stream. The workspace must live until the work is done.
  CHECK(aclnnKlDivBackward(workspace, workspace_size, executor, stream));
  CHECK(aclrtSynchronizeStream(stream));

  std::vector<float> result(classes);
  const size_t bytes = classes * sizeof(float);
  CHECK(aclrtMemcpy(result.data(), bytes, out.address, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
  if (workspace != nullptr) CHECK(aclrtFree(workspace));
  FreeTensor(grad_output);
  FreeTensor(self);
  FreeTensor(target);
  FreeTensor(out);
  return result;
}

}  // namespace

int main() {
  // Half of the samples have one distribution, half the other.
  const float samples[2][4] = {{0.5f, 0.25f, 0.125f, 0.125f}, {0.125f, 0.0625f, 0.3125f, 0.5f}};
  std::vector<float> target;
  std::vector<float> log_target;
  for (int64_t sample = 0; sample < kBatch; ++sample) {
    for (float probability : samples[sample % 2]) {
      target.push_back(probability);
      log_target.push_back(std::log(probability));
    }
  }

  aclrtStream stream = nullptr;
  CHECK(aclInit(nullptr));
  CHECK(aclrtSetDevice(0));
  CHECK(aclrtCreateStream(&stream));
  const std::vector<float> from_target = Gradient(target, false, stream);
  const std::vector<float> from_log_target = Gradient(log_target, true, stream);
  CHECK(aclrtDestroyStream(stream));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());

  // The closed form: minus the mean of the targets. They are sums of powers of two, so == is the test; by way of the
  // logarithm, which is rounded, the result is close.
  std::vector<float> expected;
  bool equal = true;
  bool close = true;
  for (size_t k = 0; k < static_cast<size_t>(kClasses); ++k) {
    expected.push_back(-(samples[0][k] + samples[1][k]) / 2);
    equal = equal && from_target[k] == expected[k];
    close = close && std::fabs(from_log_target[k] - expected[k]) <= 1e-6f * std::fabs(expected[k]);
  }
  Print("out, from the target", from_target);
  Print("out, from its logarithm", from_log_target);
  Print("minus the mean of the target", expected);
  std::printf("out %s minus the mean of the target\n", equal && close ? "equals" : "DIFFERS FROM");
  return equal && close ? 0 : 1;
}
