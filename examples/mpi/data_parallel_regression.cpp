// The regression of robust_regression.cpp, shared among the processes of an MPI job: each has a part of the data, asks
// the operators for the sum over its part, and adds the sums of all processes up. Every step is checked against what one
// process computes from all the data. With mse, l1 or smooth_l1 as argument it does so with that loss, else with each.
//
//   mpicxx data_parallel_regression.cpp -lopapi_nn -lascendcl -lnnopbase -o data_parallel_regression
//   mpirun -n 3 ./data_parallel_regression
// SPDX-License-Identifier: Apache-2.0
#include <mpi.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_l1_loss.h"
#include "aclnnop/aclnn_l1_loss_backward.h"
#include "aclnnop/aclnn_mse_loss.h"
#include "aclnnop/aclnn_mse_loss_backward.h"
#include "aclnnop/aclnn_smooth_l1_loss.h"
#include "aclnnop/aclnn_smooth_l1_loss_backward.h"

namespace {

// One process that fails ends them all. (MPI's own calls do so by themselves, unless told otherwise.)
void Check(int code, const char* call) {
  if (code == ACL_SUCCESS) return;
  const char* message = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s returned %d: %s\n", call, code, message != nullptr ? message : "no message");
  MPI_Abort(MPI_COMM_WORLD, 1);
}
#define CHECK(call) Check((call), #call)

const int64_t kSum = 2;  // reduction: 0 none, 1 mean, 2 sum
const float kBeta = 0.5f;

enum Loss { kMse, kL1, kSmoothL1 };
const int kLosses = 3;
const char* const kNames[kLosses] = {"mse", "l1", "smooth_l1"};

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
    CHECK(aclDestroyTensor(handle));
    CHECK(aclrtFree(address));
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

// Sums over data: the loss, its derivatives for slope and intercept, and the magnitudes of what they add up, in this
// order. Sums of two parts of the data are added element by element.
const int kSums = 5;
enum { kLoss, kBySlope, kByIntercept, kMagnitudeBySlope, kMagnitudeByIntercept };
struct Sums {
  double value[kSums];
};

// Some of the points (x, y), and the operators over them.
class Part {
 public:
  Part(Loss loss, const float* x, const float* y, size_t count, aclrtStream stream)
      : criterion_(loss),
        x_(x, x + count),
        stream_(stream),
        predictions_(count),
        gradients_(count),
        prediction_(count),
        truth_(count),
        gradient_(count),
        loss_(1, true),
        one_(1, true) {
    const float one = 1.0f;
    truth_.Set(y);
    one_.Set(&one);
  }

  Sums Evaluate(float slope, float intercept) {
    for (size_t i = 0; i < x_.size(); ++i) predictions_[i] = slope * x_[i] + intercept;
    prediction_.Set(predictions_.data());
    RunLoss();
    float loss = 0.0f;
    loss_.Get(&loss);
    gradient_.Get(gradients_.data());

    Sums sums = {{loss, 0.0, 0.0, 0.0, 0.0}};
    for (size_t i = 0; i < x_.size(); ++i) {
      const double g = gradients_[i];
      sums.value[kBySlope] += g * x_[i];  // exact products: 24 and 24 bits go into 53
      sums.value[kByIntercept] += g;
      sums.value[kMagnitudeBySlope] += std::fabs(g * x_[i]);
      sums.value[kMagnitudeByIntercept] += std::fabs(g);
    }
    return sums;
  }

 private:
  // The sum of the losses, and the gradient of each point.
  void RunLoss() {
    const aclTensor* x = prediction_.handle;
    const aclTensor* y = truth_.handle;
    const aclTensor* g = one_.handle;
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    switch (criterion_) {
      case kMse:
        CHECK(aclnnMseLossGetWorkspaceSize(x, y, kSum, loss_.handle, &size, &executor));
        RunOperator(aclnnMseLoss, size, executor, stream_);
        CHECK(aclnnMseLossBackwardGetWorkspaceSize(g, x, y, kSum, gradient_.handle, &size, &executor));
        RunOperator(aclnnMseLossBackward, size, executor, stream_);
        break;
      case kL1:
        CHECK(aclnnL1LossGetWorkspaceSize(x, y, kSum, loss_.handle, &size, &executor));
        RunOperator(aclnnL1Loss, size, executor, stream_);
        CHECK(aclnnL1LossBackwardGetWorkspaceSize(g, x, y, kSum, gradient_.handle, &size, &executor));
        RunOperator(aclnnL1LossBackward, size, executor, stream_);
        break;
      case kSmoothL1:
        CHECK(aclnnSmoothL1LossGetWorkspaceSize(x, y, kSum, kBeta, loss_.handle, &size, &executor));
        RunOperator(aclnnSmoothL1Loss, size, executor, stream_);
        CHECK(aclnnSmoothL1LossBackwardGetWorkspaceSize(g, x, y, kSum, kBeta, gradient_.handle, &size,
                                                        &executor));
        RunOperator(aclnnSmoothL1LossBackward, size, executor, stream_);
        break;
    }
  }

  Loss criterion_;
  std::vector<float> x_;
  aclrtStream stream_;
  std::vector<float> predictions_, gradients_;
  DeviceTensor prediction_, truth_, gradient_, loss_, one_;
};

// Whether sums over the parts are as near to those over the whole as arithmetic allows, for each of the losses.
//
// Derivatives: the gradient of a point depends on that point alone, and with the reduction sum on nothing else, so
// both sides add up the same n numbers, the same to the last bit, in different orders. Any order of n - 1 additions
// in double is within (n - 1) u S of the exact sum, where u = 2^-53, S is the sum of the magnitudes, and terms of the
// order u^2 are left out; so two orders differ by at most twice that. n instead of n - 1 makes up for what is left out,
// the rounding of S included.
//
// Loss: no term is negative, and the operator rounds a sum to float32 once, by 2^-24 of it. Both sides have done that
// to all their terms, so they differ by at most 2^-23 of the loss; half as much again covers the sums in double.
bool Equal(const Sums& parts, const Sums& whole, size_t n) {
  const double kRoundoff = std::ldexp(1.0, -53);
  const double by_order = 2.0 * static_cast<double>(n) * kRoundoff;
  return std::fabs(parts.value[kLoss] - whole.value[kLoss]) <= 1.5 * std::ldexp(whole.value[kLoss], -23) &&
         std::fabs(parts.value[kBySlope] - whole.value[kBySlope]) <=
             by_order * whole.value[kMagnitudeBySlope] &&
         std::fabs(parts.value[kByIntercept] - whole.value[kByIntercept]) <=
             by_order * whole.value[kMagnitudeByIntercept];
}

// Numbers that are the same everywhere, in [-1, 1).
float NextRandom(uint32_t* state) {
  *state = *state * 1664525u + 1013904223u;
  return static_cast<float>(*state >> 8) / 8388608.0f - 1.0f;
}

// Returns whether every step was as it must be.
bool Fit(Loss loss, int rank, int ranks, aclrtStream stream) {
  // y = 2 x - 1 with a little noise, and every eighth value far too large. A real program would read only its part.
  const float kSlope = 2.0f;
  const float kIntercept = -1.0f;
  const size_t kCount = 401;  // not a multiple of 2 or 3: the parts differ in length
  std::vector<float> x(kCount), y(kCount);
  uint32_t state = 1;
  for (size_t i = 0; i < kCount; ++i) {
    x[i] = 2.0f * NextRandom(&state);
    y[i] = kSlope * x[i] + kIntercept + 0.05f * NextRandom(&state) + (i % 8 == 0 ? 15.0f : 0.0f);
  }
  const size_t begin = kCount * static_cast<size_t>(rank) / static_cast<size_t>(ranks);
  const size_t end = kCount * static_cast<size_t>(rank + 1) / static_cast<size_t>(ranks);
  Part part(loss, &x[begin], &y[begin], end - begin, stream);
  Part whole(loss, &x[0], &y[0], kCount, stream);

  bool equal = true;
  float slope = 0.0f;
  float intercept = 0.0f;
  double first = 0.0;
  double last = 0.0;
  const int kSteps = 600;
  for (int step = 0; step < kSteps; ++step) {
    const Sums mine = part.Evaluate(slope, intercept);
    Sums all = {{0.0}};
    MPI_Allreduce(mine.value, all.value, kSums, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    equal = equal && Equal(all, whole.Evaluate(slope, intercept), kCount);
    last = all.value[kLoss] / static_cast<double>(kCount);
    if (step == 0) first = last;
    const double rate = 0.3 / (1.0 + 0.02 * step) / static_cast<double>(kCount);
    slope -= static_cast<float>(rate * all.value[kBySlope]);
    intercept -= static_cast<float>(rate * all.value[kByIntercept]);
  }
  const float error = std::fmax(std::fabs(slope - kSlope), std::fabs(intercept - kIntercept));
  // An eighth of the values is an eighth of 15 too large on average, which the squares follow and the others do not.
  const bool expected = last < first && (loss == kMse ? error > 1.0f : error < 0.1f);
  std::printf("process %d of %d, %3d points: %-9s %8.4f -> %7.4f   y = %6.3f x %+6.3f   %s, gradients %s\n",
              rank, ranks, static_cast<int>(end - begin), kNames[loss], first, last, slope, intercept,
              !expected      ? "UNEXPECTED"
              : loss == kMse ? "misled by the outliers"
                             : "recovered",
              equal ? "equal" : "DIFFER");
  return equal && expected;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  int first = 0;
  int last = kLosses;
  if (argc > 1) {
    while (first < kLosses && std::strcmp(argv[1], kNames[first]) != 0) ++first;
    last = first + 1;
    if (first == kLosses || argc > 2) {
      if (rank == 0) std::fprintf(stderr, "usage: %s [mse|l1|smooth_l1]\n", argv[0]);
      MPI_Finalize();
      return 2;
    }
  }

  aclrtStream stream = nullptr;
  CHECK(aclInit(nullptr));
  CHECK(aclrtSetDevice(0));
  CHECK(aclrtCreateStream(&stream));
  int right = 1;
  for (int loss = first; loss < last; ++loss) {
    if (!Fit(static_cast<Loss>(loss), rank, ranks, stream)) right = 0;
  }
  CHECK(aclrtDestroyStream(stream));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());

  int all_right = 0;
  MPI_Allreduce(&right, &all_right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Finalize();
  return all_right == 1 ? 0 : 1;
}
