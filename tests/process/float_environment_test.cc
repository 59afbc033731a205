// The caller's floating-point environment: after every public function its control bits and sticky flags are what they
// were, whatever they were, and no function stops at a trap that the caller unmasked.
// SPDX-License-Identifier: Apache-2.0
#include <cfenv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "aclnn/aclnn_base.h"
#include "gtest/gtest.h"
#include "process/simple_call.h"
#include "support/environment.h"
#include "support/fp_environment.h"

namespace portacl::testing {
namespace {

std::vector<FpMode> Modes() {
  std::vector<FpMode> modes = UnusualFpModes();
  modes.push_back({"as usual", false, FE_TONEAREST, false, false});
  return modes;
}

// Calls in one mode; remembers which functions changed the environment.
class Caller {
 public:
  explicit Caller(const FpMode& mode) : mode_(mode) {}

  // Calls `function` in the mode, outside of which the test itself computes.
  template <class Function>
  auto operator()(const char* name, const Function& function) {
    const FpState outside = FpState::Read();
    const FpState state = StateOf(mode_);
    state.Apply();
    const auto result = function();
    const bool kept = FpState::Read() == state;
    outside.Apply();
    EXPECT_TRUE(kept) << name << " changes the floating-point environment \"" << mode_.name << "\"";
    return result;
  }

 private:
  const FpMode& mode_;
};

class FloatEnvironment : public ::testing::TestWithParam<size_t> {
 protected:
  void SetUp() override {
    // Numbers that a reader of numbers rounds, lets overflow and lets underflow.
    char name[] = "/tmp/portacl-test-XXXXXX";
    const int file = mkstemp(name);
    ASSERT_GE(file, 0);
    close(file);
    path_ = name;
    std::ofstream(path_)
        << R"({"err_msg_mode": "0", "a": [0.1, 1e300, 1e-310, 12345678901234567890123456789]})";
    mode_ = Modes()[GetParam()];
  }
  void TearDown() override { std::remove(path_.c_str()); }

  std::string path_;
  FpMode mode_{};
};

TEST_P(FloatEnvironment, IsKeptByEveryFunction) {
  const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", "4"}},
                                      ScopedEnvironment::Start::kWithoutDevice);
  ASSERT_EQ(aclFinalize(), 0);
  Caller call(mode_);
  const char* const path = path_.c_str();
  EXPECT_EQ(call("aclInit with a file", [&] { return aclInit(path); }), 0);
  EXPECT_EQ(call("aclInit again", [&] { return aclInit(path); }), ACL_ERROR_REPEAT_INITIALIZE);
  uint64_t references = 0;
  EXPECT_EQ(call("aclFinalizeReference", [&] { return aclFinalizeReference(&references); }), 0);
  EXPECT_EQ(call("aclFinalize", [] { return aclFinalize(); }), 0);
  EXPECT_EQ(call("aclInit of a file that is not there", [] { return aclInit("/nonexistent"); }),
            ACL_ERROR_INVALID_FILE);
  EXPECT_EQ(call("aclInit", [] { return aclInit(nullptr); }), 0);
  EXPECT_EQ(call("aclnnInit", [] { return aclnnInit(nullptr); }), 0);

  uint32_t count = 0;
  EXPECT_EQ(call("aclrtGetDeviceCount", [&] { return aclrtGetDeviceCount(&count); }), 0);
  EXPECT_EQ(call("aclrtSetDevice", [] { return aclrtSetDevice(0); }), 0);
  int32_t device = -1;
  EXPECT_EQ(call("aclrtGetDevice", [&] { return aclrtGetDevice(&device); }), 0);
  aclrtRunMode run_mode;
  EXPECT_EQ(call("aclrtGetRunMode", [&] { return aclrtGetRunMode(&run_mode); }), 0);
  EXPECT_NE(call("aclrtGetSocName", [] { return aclrtGetSocName(); }), nullptr);
  aclrtContext first = nullptr;
  aclrtContext context = nullptr;
  EXPECT_EQ(call("aclrtGetCurrentContext", [&] { return aclrtGetCurrentContext(&first); }), 0);
  EXPECT_EQ(call("aclrtCreateContext", [&] { return aclrtCreateContext(&context, 0); }), 0);
  EXPECT_EQ(call("aclrtSetCurrentContext", [&] { return aclrtSetCurrentContext(first); }), 0);
  EXPECT_EQ(call("aclrtDestroyContext", [&] { return aclrtDestroyContext(context); }), 0);
  aclrtStream stream = nullptr;
  EXPECT_EQ(call("aclrtCreateStream", [&] { return aclrtCreateStream(&stream); }), 0);

  void* memory = nullptr;
  void* host = nullptr;
  constexpr size_t kBytes = size_t{5} << 20;
  EXPECT_EQ(call("aclrtMalloc", [&] { return aclrtMalloc(&memory, kBytes, ACL_MEM_MALLOC_HUGE_FIRST); }), 0);
  EXPECT_EQ(call("aclrtMallocHost", [&] { return aclrtMallocHost(&host, kBytes); }), 0);
  EXPECT_EQ(call("aclrtMemset", [&] { return aclrtMemset(memory, kBytes, 0x7F, kBytes); }), 0);
  EXPECT_EQ(call("aclrtMemcpy",
                 [&] { return aclrtMemcpy(host, kBytes, memory, kBytes, ACL_MEMCPY_DEVICE_TO_HOST); }),
            0);
  size_t free = 0;
  size_t total = 0;
  EXPECT_EQ(call("aclrtGetMemInfo", [&] { return aclrtGetMemInfo(ACL_HBM_MEM, &free, &total); }), 0);
  EXPECT_EQ(call("aclrtFree", [&] { return aclrtFree(memory); }), 0);
  EXPECT_EQ(call("aclrtFreeHost", [&] { return aclrtFreeHost(host); }), 0);
  EXPECT_EQ(call("aclrtMalloc that fails", [] { return aclrtMalloc(nullptr, 1, ACL_MEM_MALLOC_HUGE_FIRST); }),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(call("aclGetRecentErrMsg", [] { return aclGetRecentErrMsg(); }), nullptr);

  // 16-bit patterns of every kind, both ways.
  for (const float value : {0.1f, 1e-8f, 65519.0f, 1e30f, 0x1p-149f}) {
    aclFloat16 half = 0;
    call("aclFloatToFloat16", [&] { return half = aclFloatToFloat16(value); });
    call("aclFloat16ToFloat", [&] { return aclFloat16ToFloat(half); });
  }
  EXPECT_EQ(call("aclDataTypeSize", [] { return aclDataTypeSize(ACL_FLOAT); }), 4u);

  // A float attribute and a double scalar, arrays, lists.
  double value = 0.1;
  const aclScalar* scalar = nullptr;
  EXPECT_NE(call("aclCreateScalar", [&] { return scalar = aclCreateScalar(&value, ACL_DOUBLE); }), nullptr);
  EXPECT_EQ(call("aclDestroyScalar", [&] { return aclDestroyScalar(scalar); }), 0);
  const int64_t integers[] = {1, 2};
  const float floats[] = {1e-40f, 2};
  const bool bools[] = {true, false};
  const aclIntArray* int_array = nullptr;
  const aclFloatArray* float_array = nullptr;
  const aclBoolArray* bool_array = nullptr;
  EXPECT_NE(call("aclCreateIntArray", [&] { return int_array = aclCreateIntArray(integers, 2); }), nullptr);
  EXPECT_NE(call("aclCreateFloatArray", [&] { return float_array = aclCreateFloatArray(floats, 2); }),
            nullptr);
  EXPECT_NE(call("aclCreateBoolArray", [&] { return bool_array = aclCreateBoolArray(bools, 2); }), nullptr);
  EXPECT_EQ(call("aclDestroyIntArray", [&] { return aclDestroyIntArray(int_array); }), 0);
  EXPECT_EQ(call("aclDestroyFloatArray", [&] { return aclDestroyFloatArray(float_array); }), 0);
  EXPECT_EQ(call("aclDestroyBoolArray", [&] { return aclDestroyBoolArray(bool_array); }), 0);
  const aclTensor* const no_tensors[] = {nullptr};
  const aclScalar* const no_scalars[] = {nullptr};
  const aclTensorList* tensor_list = nullptr;
  const aclScalarList* scalar_list = nullptr;
  EXPECT_NE(call("aclCreateTensorList", [&] { return tensor_list = aclCreateTensorList(no_tensors, 1); }),
            nullptr);
  EXPECT_NE(call("aclCreateScalarList", [&] { return scalar_list = aclCreateScalarList(no_scalars, 1); }),
            nullptr);
  EXPECT_EQ(call("aclDestroyTensorList", [&] { return aclDestroyTensorList(tensor_list); }), 0);
  EXPECT_EQ(call("aclDestroyScalarList", [&] { return aclDestroyScalarList(scalar_list); }), 0);

  EXPECT_EQ(call("aclrtDestroyStream", [&] { return aclrtDestroyStream(stream); }), 0);
  EXPECT_EQ(call("aclnnFinalize", [] { return aclnnFinalize(); }), 0);
  EXPECT_EQ(call("aclrtResetDevice", [] { return aclrtResetDevice(0); }), 0);
  EXPECT_EQ(call("aclFinalize at the end", [] { return aclFinalize(); }), 0);
}

// Big data on several threads whose values round, overflow, underflow and are not numbers: every flag there is gets
// raised on the way.
class HarshCall {
 public:
  explicit HarshCall(int64_t reduction) : reduction_(reduction), data_(kBigCall), output_(kBigCall) {
    const uint32_t harsh[] = {0x7F7FFFFF, 0x00000001, 0x7F800001, 0x7FC00000,
                              0x7F800000, 0x3DCCCCCD, 0x80000001, 0x00800001};
    for (size_t i = 0; i < kBigCall; ++i) data_[i] = harsh[i * 7 % std::size(harsh)];
  }

  bool Check(const FpMode& mode, aclrtStream stream) {
    Caller call(mode);
    const int64_t dims[] = {static_cast<int64_t>(kBigCall)};
    const int64_t one[] = {1};
    aclTensor* grad = nullptr;
    aclTensor* self = nullptr;
    aclTensor* out = nullptr;
    void* const data = data_.data();
    void* const output = output_.data();
    call("aclCreateTensor", [&] {
      return grad = aclCreateTensor(dims, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, 1, data);
    });
    call("aclCreateTensor",
         [&] { return self = aclCreateTensor(one, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, one, 1, data); });
    call("aclCreateTensor", [&] {
      return out = aclCreateTensor(dims, 1, ACL_FLOAT16, nullptr, 0, ACL_FORMAT_ND, dims, 1, output);
    });
    call("aclInitTensor", [&] {
      return aclInitTensor(out, dims, 1, ACL_FLOAT16, nullptr, 0, ACL_FORMAT_ND, dims, 1, output);
    });
    int64_t* shape = nullptr;
    uint64_t rank = 0;
    call("aclGetViewShape", [&] { return aclGetViewShape(out, &shape, &rank); });
    delete[] shape;
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    bool right =
        call("phase 1", [&] {
          return aclnnL1LossBackwardGetWorkspaceSize(grad, self, grad, reduction_, out, &size, &executor);
        }) == 0;
    right = call("aclDestroyAclOpExecutor", [&] { return aclDestroyAclOpExecutor(executor); }) == 0 && right;
    right = call("phase 1",
                 [&] {
                   return aclnnL1LossBackwardGetWorkspaceSize(grad, self, grad, reduction_, out, &size,
                                                              &executor);
                 }) == 0 &&
            right;
    right =
        call("phase 2", [&] { return aclnnL1LossBackward(nullptr, size, executor, stream); }) == 0 && right;
    right = call("aclrtSynchronizeStream", [&] { return aclrtSynchronizeStream(stream); }) == 0 && right;
    right = call("phase 2 that fails",
                 [&] { return aclnnL1LossBackward(nullptr, size, executor, stream); }) != 0 &&
            right;
    right = call("phase 1 that fails",
                 [&] {
                   return aclnnL1LossBackwardGetWorkspaceSize(grad, nullptr, grad, reduction_, out, &size,
                                                              &executor);
                 }) != 0 &&
            right;
    call("aclGetRecentErrMsg", [] { return aclGetRecentErrMsg(); });
    for (const aclTensor* tensor : {grad, self, out})
      call("aclDestroyTensor", [&] { return aclDestroyTensor(tensor); });
    return right;
  }

 private:
  int64_t reduction_;
  std::vector<uint32_t> data_;
  std::vector<uint16_t> output_;
};

TEST_P(FloatEnvironment, IsKeptByBigCallsOnSeveralThreads) {
  for (const char* threads : {"1", "4"}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", threads}});
    for (const int64_t reduction : {0, 1, 2}) {
      HarshCall call(reduction);
      for (int round = 0; round < 5; ++round) EXPECT_TRUE(call.Check(mode_, environment.stream()));
    }
  }
}

// Threads of the program whose environments differ call at the same time.
TEST_P(FloatEnvironment, IsKeptBesideThreadsThatHaveAnother) {
  const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", "4"}});
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const std::vector<FpMode> modes = Modes();
      const FpMode& mode = modes[(GetParam() + t) % modes.size()];
      EXPECT_EQ(aclrtSetDevice(0), 0);
      HarshCall call(1);
      for (int round = 0; round < 3; ++round) EXPECT_TRUE(call.Check(mode, nullptr));
      EXPECT_EQ(aclrtResetDevice(0), 0);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

INSTANTIATE_TEST_SUITE_P(In, FloatEnvironment, ::testing::Range(size_t{0}, Modes().size()),
                         [](const ::testing::TestParamInfo<size_t>& mode) {
                           std::string name;
                           for (const char c : std::string(Modes()[mode.param].name)) {
                             if (c != ',') name += c == ' ' ? '_' : c;
                           }
                           return name;
                         });

}  // namespace
}  // namespace portacl::testing
