// Teaches a small softmax classifier what a larger one knows: the loss and its gradient for the logarithms of the
// student's probabilities come from aclnn operators, the rest of the chain rule is plain C++. (aclnnKlDiv is in
// another library than its gradient: link -lopapi_math beside -lopapi_nn.)
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_kl_div.h"
#include "aclnnop/aclnn_kl_div_backward.h"

namespace {

void Check(int code, const char* call) {
  if (code == ACL_SUCCESS) return;
  const char* message = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s returned %d: %s\n", call, code, message != nullptr ? message : "no message");
  std::exit(1);
}
#define CHECK(call) Check((call), #call)

const int64_t kBatchMean = 3;  // reduction: 0 none, 1 mean, 2 sum, 3 batchmean
const size_t kSamples = 600;
const size_t kFeatures = 6;
const size_t kClasses = 4;

// A float32 tensor in device memory: [kSamples, kClasses], or a scalar of shape [].
struct DeviceTensor {
  void* address;
  aclTensor* handle;
  size_t bytes;

  explicit DeviceTensor(bool scalar) : bytes((scalar ? 1 : kSamples * kClasses) * sizeof(float)) {
    CHECK(aclrtMalloc(&address, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    const int64_t shape[] = {static_cast<int64_t>(kSamples), static_cast<int64_t>(kClasses)};
    const int64_t strides[] = {static_cast<int64_t>(kClasses), 1};
    const uint64_t rank = scalar ? 0 : 2;
    handle = aclCreateTensor(shape, rank, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, shape, rank, address);
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

// The divergence of the student's distributions from the teacher's, sum of t * (log t - log p) over the number of
// samples, and its gradient for every log p.
class Divergence {
 public:
  Divergence(const std::vector<float>& teacher, aclrtStream stream)
      : stream_(stream), student_(false), teacher_(false), gradient_(false), value_(true), one_(true) {
    const float one = 1.0f;
    one_.Set(&one);
    teacher_.Set(teacher.data());
  }

  float operator()(const std::vector<float>& log_student, std::vector<float>* gradient) {
    const bool kLogTarget = false;
    student_.Set(log_student.data());
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    CHECK(aclnnKlDivGetWorkspaceSize(student_.handle, teacher_.handle, kBatchMean, kLogTarget, value_.handle,
                                     &size, &executor));
    RunOperator(aclnnKlDiv, size, executor, stream_);
    CHECK(aclnnKlDivBackwardGetWorkspaceSize(one_.handle, student_.handle, teacher_.handle, kBatchMean,
                                             kLogTarget, gradient_.handle, &size, &executor));
    RunOperator(aclnnKlDivBackward, size, executor, stream_);
    float value = 0.0f;
    value_.Get(&value);
    gradient_.Get(gradient->data());
    return value;
  }

 private:
  aclrtStream stream_;
  DeviceTensor student_, teacher_, gradient_, value_, one_;
};

// Numbers that are the same everywhere, in [-1, 1).
float NextRandom(uint32_t* state) {
  *state = *state * 1664525u + 1013904223u;
  return static_cast<float>(*state >> 8) / 8388608.0f - 1.0f;
}

// The logarithms of the softmax of a linear model: one row of weights for a class, the last column its bias.
std::vector<float> LogProbabilities(const std::vector<float>& features, const std::vector<float>& weights) {
  std::vector<float> result(kSamples * kClasses);
  for (size_t sample = 0; sample < kSamples; ++sample) {
    double logits[kClasses];
    double highest = -HUGE_VAL;
    for (size_t k = 0; k < kClasses; ++k) {
      logits[k] = weights[k * (kFeatures + 1) + kFeatures];
      for (size_t j = 0; j < kFeatures; ++j) {
        logits[k] += features[sample * kFeatures + j] * weights[k * (kFeatures + 1) + j];
      }
      highest = std::fmax(highest, logits[k]);
    }
    double sum = 0.0;
    for (size_t k = 0; k < kClasses; ++k) sum += std::exp(logits[k] - highest);
    for (size_t k = 0; k < kClasses; ++k) {
      result[sample * kClasses + k] = static_cast<float>(logits[k] - highest - std::log(sum));
    }
  }
  return result;
}

// By way of log p = z - log(sum(exp(z))): the gradient for a logit z_k is g_k - p_k * (sum of all g of its sample), and
// the logits are linear in the weights.
std::vector<float> WeightGradient(const std::vector<float>& features, const std::vector<float>& log_student,
                                  const std::vector<float>& gradient) {
  std::vector<float> result(kClasses * (kFeatures + 1), 0.0f);
  for (size_t sample = 0; sample < kSamples; ++sample) {
    const float* g = &gradient[sample * kClasses];
    float sum = 0.0f;
    for (size_t k = 0; k < kClasses; ++k) sum += g[k];
    for (size_t k = 0; k < kClasses; ++k) {
      const float by_logit = g[k] - std::exp(log_student[sample * kClasses + k]) * sum;
      for (size_t j = 0; j < kFeatures; ++j) {
        result[k * (kFeatures + 1) + j] += by_logit * features[sample * kFeatures + j];
      }
      result[k * (kFeatures + 1) + kFeatures] += by_logit;
    }
  }
  return result;
}

// In how many of a hundred samples both think the same class the likeliest.
float Agreement(const std::vector<float>& a, const std::vector<float>& b) {
  size_t agreeing = 0;
  for (size_t sample = 0; sample < kSamples; ++sample) {
    size_t best_a = 0;
    size_t best_b = 0;
    for (size_t k = 1; k < kClasses; ++k) {
      if (a[sample * kClasses + k] > a[sample * kClasses + best_a]) best_a = k;
      if (b[sample * kClasses + k] > b[sample * kClasses + best_b]) best_b = k;
    }
    agreeing += best_a == best_b ? 1 : 0;
  }
  return 100.0f * static_cast<float>(agreeing) / static_cast<float>(kSamples);
}

}  // namespace

int main() {
  // What the teacher knows: a linear rule, and a product of two features, which a linear student cannot learn.
  uint32_t state = 7;
  std::vector<float> features(kSamples * kFeatures), rule(kClasses * (kFeatures + 1));
  for (float& value : features) value = NextRandom(&state);
  for (float& value : rule) value = 4.0f * NextRandom(&state);
  std::vector<float> teacher = LogProbabilities(features, rule);
  for (size_t sample = 0; sample < kSamples; ++sample) {
    const float bend = 0.2f * features[sample * kFeatures] * features[sample * kFeatures + 1];
    float sum = 0.0f;
    for (size_t k = 0; k < kClasses; ++k) {
      float& value = teacher[sample * kClasses + k];
      value = std::exp(value + (k % 2 == 0 ? bend : -bend));
      sum += value;
    }
    for (size_t k = 0; k < kClasses; ++k) teacher[sample * kClasses + k] /= sum;
  }

  aclrtStream stream = nullptr;
  CHECK(aclInit(nullptr));
  CHECK(aclrtSetDevice(0));
  CHECK(aclrtCreateStream(&stream));

  bool right = true;
  {
    Divergence divergence(teacher, stream);
    std::vector<float> weights(kClasses * (kFeatures + 1), 0.0f);  // the student knows nothing yet
    std::vector<float> gradient(kSamples * kClasses);
    float first_loss = 0.0f, loss = 0.0f, first_agreement = 0.0f, agreement = 0.0f;
    const int kSteps = 300;
    for (int step = 0; step <= kSteps; ++step) {
      const std::vector<float> student = LogProbabilities(features, weights);
      const float previous = loss;
      loss = divergence(student, &gradient);
      agreement = Agreement(student, teacher);
      if (step == 0) first_loss = loss, first_agreement = agreement;
      // A convex loss and short steps: it never rises, but for rounding.
      right = right && (step == 0 || loss <= previous + 1e-6f);
      if (step % 50 == 0) {
        std::printf("step %3d   KL divergence %8.5f   agreement with the teacher %5.1f %%\n", step, loss,
                    agreement);
      }
      const std::vector<float> by_weight = WeightGradient(features, student, gradient);
      for (size_t i = 0; i < weights.size(); ++i) weights[i] -= 1.0f * by_weight[i];
    }
    right = right && loss < 0.05f * first_loss && agreement > 95.0f && agreement > first_agreement;
  }
  std::printf("the student %s\n", right ? "has learned" : "HAS NOT LEARNED");

  CHECK(aclrtDestroyStream(stream));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return right ? 0 : 1;
}
