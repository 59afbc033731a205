// Trains a network of two layers to tell which of eight regions a point lies in, every step through aclnn operators, and prints
// a hash of the trained weights: on portacl it is the same on every instruction set and with every number of threads.
// usage: reproducible_training [HASH]      returns 0 if it learned, and if the hash is the given one
// SPDX-License-Identifier: Apache-2.0
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_kl_div.h"
#include "aclnnop/aclnn_kl_div_backward.h"
#include "aclnnop/aclnn_logsoftmax.h"
#include "aclnnop/aclnn_logsoftmax_backward.h"
#include "aclnnop/aclnn_matmul.h"
#include "aclnnop/aclnn_relu.h"
#include "aclnnop/aclnn_threshold_backward.h"

namespace {

void Check(int code, const char* call) {
  if (code == ACL_SUCCESS) return;
  const char* message = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s returned %d: %s\n", call, code, message != nullptr ? message : "no message");
  std::exit(1);
}
#define CHECK(call) Check((call), #call)

const int64_t kSamples = 256, kInputs = 4, kHidden = 64,
              kClasses = 8;  // the fourth input is 1, in place of a bias
const int kSteps = 200;
const int64_t kBatchMean = 3;  // reduction: 0 none, 1 mean, 2 sum, 3 batchmean

// A float32 matrix in device memory, or a scalar, and the same matrix transposed.
struct Matrix {
  void* address;
  aclTensor* handle;
  aclTensor* transposed;
  std::vector<float> host;

  Matrix(int64_t rows, int64_t columns, uint64_t rank = 2) : host(rows * columns) {
    CHECK(aclrtMalloc(&address, Bytes(), ACL_MEM_MALLOC_HUGE_FIRST));
    const int64_t shape[] = {rows, columns}, strides[] = {columns, 1};
    const int64_t turned_shape[] = {columns, rows}, turned_strides[] = {1, columns};
    handle = aclCreateTensor(shape, rank, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, shape, rank, address);
    transposed = aclCreateTensor(turned_shape, rank, ACL_FLOAT, turned_strides, 0, ACL_FORMAT_ND, shape, rank,
                                 address);
    Check(handle != nullptr && transposed != nullptr ? ACL_SUCCESS : ACL_ERROR_FAILURE, "aclCreateTensor");
  }
  ~Matrix() {
    CHECK(aclDestroyTensor(handle));
    CHECK(aclDestroyTensor(transposed));
    CHECK(aclrtFree(address));
  }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;

  size_t Bytes() const { return host.size() * sizeof(float); }
  void ToDevice() { CHECK(aclrtMemcpy(address, Bytes(), host.data(), Bytes(), ACL_MEMCPY_HOST_TO_DEVICE)); }
  void ToHost() { CHECK(aclrtMemcpy(host.data(), Bytes(), address, Bytes(), ACL_MEMCPY_DEVICE_TO_HOST)); }
};

aclrtStream stream;

// Both phases of an operator: RUN(Relu, input, output).
typedef aclnnStatus (*Phase2)(void*, uint64_t, aclOpExecutor*, aclrtStream);
void Finish(Phase2 phase2, uint64_t size, aclOpExecutor* executor, const char* name) {
  void* workspace = nullptr;
  if (size > 0) CHECK(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST));
  Check(phase2(workspace, size, executor, stream), name);
  CHECK(aclrtSynchronizeStream(stream));
  if (workspace != nullptr) CHECK(aclrtFree(workspace));
}
#define RUN(NAME, ...)                                                   \
  do {                                                                   \
    uint64_t size = 0;                                                   \
    aclOpExecutor* executor = nullptr;                                   \
    CHECK(aclnn##NAME##GetWorkspaceSize(__VA_ARGS__, &size, &executor)); \
    Finish(aclnn##NAME, size, executor, "aclnn" #NAME);                  \
  } while (false)

// Numbers that are the same everywhere, in [-1, 1).
float NextRandom() {
  static uint32_t state = 1;
  state = state * 1664525u + 1013904223u;
  return static_cast<float>(state >> 8) / 8388608.0f - 1.0f;
}

// FNV-1a over the bytes of the values, lowest byte first.
uint64_t Hash(const std::vector<float>& values, uint64_t hash) {
  for (float value : values) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    for (int byte = 0; byte < 4; ++byte)
      hash = (hash ^ ((bits >> (8 * byte)) & 255)) * UINT64_C(1099511628211);
  }
  return hash;
}

}  // namespace

int main(int argc, char** argv) {
  CHECK(aclInit(nullptr));
  CHECK(aclrtSetDevice(0));
  CHECK(aclrtCreateStream(&stream));
  bool good = false;
  {
    Matrix x(kSamples, kInputs), target(kSamples, kClasses), one(1, 1, 0), loss(1, 1, 0);
    Matrix w1(kInputs, kHidden), w2(kHidden, kClasses), w1_gradient(kInputs, kHidden),
        w2_gradient(kHidden, kClasses);
    Matrix sums(kSamples, kHidden), hidden(kSamples, kHidden), hidden_gradient(kSamples, kHidden),
        sums_gradient(kSamples, kHidden);
    Matrix logits(kSamples, kClasses), odds(kSamples, kClasses), odds_gradient(kSamples, kClasses),
        logits_gradient(kSamples, kClasses);
    one.host[0] = 1.0f;
    for (int64_t row = 0; row < kSamples; ++row) {
      float* point = &x.host[row * kInputs];
      for (int axis = 0; axis < 3; ++axis) point[axis] = NextRandom();
      point[3] = 1.0f;
      target.host[row * kClasses + (point[0] > 0) + 2 * (point[1] > 0) + 4 * (point[2] > 0)] = 1.0f;
    }
    for (float& weight : w1.host) weight = NextRandom();
    for (float& weight : w2.host) weight = NextRandom() / 8;
    for (Matrix* matrix : {&x, &target, &one, &w1, &w2}) matrix->ToDevice();
    float down = -1.0f;  // the rate
    aclScalar* rate = aclCreateScalar(&down, ACL_FLOAT);
    float nothing = 0.0f;
    aclScalar* zero = aclCreateScalar(&nothing, ACL_FLOAT);

    for (int step = 1; step <= kSteps; ++step) {
      RUN(Matmul, x.handle, w1.handle, sums.handle, 0);
      RUN(Relu, sums.handle, hidden.handle);
      RUN(Matmul, hidden.handle, w2.handle, logits.handle, 0);
      RUN(LogSoftmax, logits.handle, 1, odds.handle);
      RUN(KlDivBackward, one.handle, odds.handle, target.handle, kBatchMean, false, odds_gradient.handle);
      RUN(LogSoftmaxBackward, odds_gradient.handle, odds.handle, 1, logits_gradient.handle);
      RUN(Matmul, hidden.transposed, logits_gradient.handle, w2_gradient.handle, 0);
      RUN(Matmul, logits_gradient.handle, w2.transposed, hidden_gradient.handle, 0);
      RUN(ThresholdBackward, hidden_gradient.handle, hidden.handle, zero, sums_gradient.handle);
      RUN(Matmul, x.transposed, sums_gradient.handle, w1_gradient.handle, 0);
      RUN(InplaceAdd, w1.handle, w1_gradient.handle, rate);
      RUN(InplaceAdd, w2.handle, w2_gradient.handle, rate);
      if (step % 40 == 0 || step == 1) {
        RUN(KlDiv, odds.handle, target.handle, kBatchMean, false, loss.handle);
        loss.ToHost();
        std::printf("step %3d  loss %.6f\n", step, loss.host[0]);
      }
    }
    CHECK(aclDestroyScalar(rate));
    CHECK(aclDestroyScalar(zero));
    w1.ToHost();
    w2.ToHost();
    char hash[17];
    std::snprintf(hash, sizeof hash, "%016" PRIx64,
                  Hash(w2.host, Hash(w1.host, UINT64_C(14695981039346656037))));
    good = loss.host[0] < 0.3f && (argc < 2 || std::strcmp(hash, argv[1]) == 0);
    std::printf("weights %s: %s\n", hash, good ? "right" : "WRONG");
  }
  CHECK(aclrtDestroyStream(stream));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return good ? 0 : 1;
}
