// Memory that runs out at any allocation inside a call: the call returns a code or a null pointer, nothing crashes or
// leaks, no exception leaves, and the same call succeeds once there is memory again.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aclnnop/families/convolution.h"
#include "aclnnop/families/serving.h"
#include "gtest/gtest.h"
#include "process/allocation_hook.h"
#include "process/child_process.h"
#include "process/prepared_call.h"
#include "process/simple_call.h"

namespace portacl::testing {
namespace {

// The path of a new configuration file.
std::string MakeConfigurationFile() {
  char name[] = "/tmp/portacl-test-XXXXXX";
  const int file = mkstemp(name);
  const std::string_view content =
      R"({"err_msg_mode": "0", "other": {"a": [1, 2, "some longer text than fits inline"]}})";
  EXPECT_EQ(write(file, content.data(), content.size()), static_cast<ssize_t>(content.size()));
  close(file);
  return name;
}

// A depthwise convolution of ones and its gradient of w, which several threads compute, each with memory of its own.
class DepthwiseCall {
 public:
  bool Run(aclrtStream stream) {
    const int64_t two[] = {2, 2}, one[] = {1, 1}, none[] = {0, 0};
    const bool of_w[] = {false, true, false};
    bool right = true;
    const auto keep = [&](auto* made) {
      right = right && made != nullptr;
      return made;
    };
    const auto tensor = [&](std::vector<float>& numbers, int64_t outer, int64_t inner, int64_t side) {
      const int64_t shape[] = {outer, inner, side, side};
      return keep(
          aclCreateTensor(shape, 4, ACL_FLOAT, nullptr, 0, ACL_FORMAT_NCHW, shape, 4, numbers.data()));
    };
    aclTensor* const t[] = {tensor(x_, 1, kChannels, kSide), tensor(w_, kChannels, 1, kKernel),
                            tensor(y_, 1, kChannels, kSideOfY), tensor(gradient_, kChannels, 1, kKernel)};
    aclIntArray* const arrays[] = {keep(aclCreateIntArray(one, 2)), keep(aclCreateIntArray(none, 2)),
                                   keep(aclCreateIntArray(two, 2))};
    aclBoolArray* const mask = keep(aclCreateBoolArray(of_w, 3));
    std::fill(y_.begin(), y_.end(), -1.0f);
    std::fill(gradient_.begin(), gradient_.end(), -1.0f);
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    const auto done = [&](auto run) {
      if (size != 0 || run(nullptr, 0, executor, stream) != 0 || aclrtSynchronizeStream(stream) != 0)
        std::abort();
      return true;
    };
    right = right &&
            aclnnConvolutionGetWorkspaceSize(t[0], t[1], nullptr, arrays[0], arrays[1], arrays[2], false,
                                             arrays[1], kChannels, t[2], 0, &size, &executor) == 0 &&
            done(aclnnConvolution);
    // All of y is the number of the window's elements; the gradient, that of y's times as many.
    if (right && !AreAll(y_, kKernel * kKernel)) std::abort();
    right = right &&
            aclnnConvolutionBackwardGetWorkspaceSize(t[2], t[0], t[1], nullptr, arrays[0], arrays[1],
                                                     arrays[2], false, arrays[1], kChannels, mask, 0, nullptr,
                                                     t[3], nullptr, &size, &executor) == 0 &&
            done(aclnnConvolutionBackward);
    if (right && !AreAll(gradient_, kSideOfY * kSideOfY * kKernel * kKernel)) std::abort();
    for (aclTensor* const one_tensor : t) aclDestroyTensor(one_tensor);
    for (aclIntArray* const array : arrays) aclDestroyIntArray(array);
    aclDestroyBoolArray(mask);
    return right;
  }

 private:
  static constexpr int64_t kChannels = 128, kSide = 85, kKernel = 5;
  static constexpr int64_t kSideOfY = kSide - 2 * (kKernel - 1);  // elements of the window lie 2 apart

  static std::vector<float> Ones(int64_t side) {
    return std::vector<float>(static_cast<size_t>(kChannels * side * side), 1.0f);
  }
  static bool AreAll(const std::vector<float>& numbers, int64_t value) {
    return std::count(numbers.begin(), numbers.end(), static_cast<float>(value)) ==
           static_cast<int64_t>(numbers.size());
  }

  std::vector<float> x_ = Ones(kSide), w_ = Ones(kKernel), y_ = Ones(kSideOfY), gradient_ = Ones(kKernel);
};

// What one program does, step by step. A step returns whether it succeeded; one that failed can be tried again.
struct Session {
  explicit Session(const char* configuration_path) : path(configuration_path) {}

  const char* path;
  aclrtStream stream = nullptr;
  aclrtContext context = nullptr;
  void* device_memory = nullptr;
  void* host_memory = nullptr;
  SimpleCall call{kBigCall};
  PreparedCall sum = SumOfSquares(kBigCall);
  PreparedCall repeated_targets = RepeatedTargets();
  PreparedCall wide_columns = WideColumns();
  PreparedCall rows_that_lie_across = ShortRowsThatLieAcross();
  PreparedCall blocks_that_lie_across = RowsOfBlocksThatLieAcross();
  DepthwiseCall depthwise;
  aclIntArray* array = nullptr;
  aclTensorList* list = nullptr;
  aclScalar* scalar = nullptr;
  bool planned = false;
};

struct Step {
  const char* name;
  bool (*run)(Session& s);
};

bool Message(Session&) {
  // The code of a failing call stands, with or without its message.
  const aclError status = aclrtMalloc(nullptr, 64, ACL_MEM_MALLOC_HUGE_FIRST);
  const char* message = aclGetRecentErrMsg();
  if (status != ACL_ERROR_INVALID_PARAM) std::abort();
  const bool complete =
      message != nullptr && std::string_view(message).find("devPtr") != std::string_view::npos;
  aclGetRecentErrMsg();
  return complete;
}

// A call for which a thread has memory that it keeps, and does without where there is none: once
// planned, the call succeeds in any case.
bool CallWithThreadMemory(PreparedCall& call, const Session& s) {
  if (!call.CreateTensors() || call.Plan() != 0) return false;
  if (call.NeedsWorkspace()) std::abort();
  if (call.Execute(s.stream) != 0 || aclrtSynchronizeStream(s.stream) != 0 || !call.Right()) std::abort();
  return true;
}

constexpr Step kSteps[] = {
    {"aclInit", [](Session& s) { return aclInit(s.path) == 0; }},
    {"aclrtGetDeviceCount",
     [](Session&) {
       uint32_t count = 0;
       return aclrtGetDeviceCount(&count) == 0 && count == 1;
     }},
    {"aclrtSetDevice", [](Session&) { return aclrtSetDevice(0) == 0; }},
    {"aclrtCreateStream", [](Session& s) { return aclrtCreateStream(&s.stream) == 0; }},
    {"aclrtMalloc",
     [](Session& s) { return aclrtMalloc(&s.device_memory, 1000, ACL_MEM_MALLOC_HUGE_FIRST) == 0; }},
    {"aclrtMallocHost", [](Session& s) { return aclrtMallocHost(&s.host_memory, 1000) == 0; }},
    {"aclrtGetMemInfo",
     [](Session&) {
       size_t free = 1;
       size_t total = 1;
       const aclError status = aclrtGetMemInfo(ACL_HBM_MEM, &free, &total);
       if (status == 0 && (total < 1000 || free < 1000)) std::abort();  // success without a number
       return status == 0;
     }},
    {"aclCreateTensor", [](Session& s) { return s.call.CreateTensors(); }},
    {"aclCreateIntArray",
     [](Session& s) {
       const int64_t values[3] = {1, 2, 3};
       s.array = aclCreateIntArray(values, 3);
       return s.array != nullptr;
     }},
    {"aclCreateScalar",
     [](Session& s) {
       float value = 1;
       s.scalar = aclCreateScalar(&value, ACL_FLOAT);
       return s.scalar != nullptr;
     }},
    {"aclCreateTensorList",
     [](Session& s) {
       const aclTensor* const none[2] = {nullptr, nullptr};
       s.list = aclCreateTensorList(none, 2);
       return s.list != nullptr;
     }},
    {"a message", Message},
    {"phase 1", [](Session& s) { return s.planned = s.call.Plan() == 0; }},
    {"phase 2",
     [](Session& s) {
       // A failing phase 2 would have consumed the executor.
       if (!s.planned && s.call.Plan() != 0) return false;
       s.planned = false;
       s.call.ClearResult();
       return s.call.Execute(s.stream) == 0 && aclrtSynchronizeStream(s.stream) == 0 && s.call.Right();
     }},
    {"tensors of a sum", [](Session& s) { return s.sum.CreateTensors(); }},
    {"phase 1 of a sum", [](Session& s) { return s.planned = s.sum.Plan() == 0; }},
    {"workspace of a sum", [](Session& s) { return s.sum.CreateWorkspace(); }},
    {"phase 2 of a sum",
     [](Session& s) {
       if (!s.sum.HasWorkspace()) std::abort();  // the sum is large enough to be shared
       if (!s.planned && s.sum.Plan() != 0) return false;
       s.planned = false;
       return s.sum.Execute(s.stream) == 0 && aclrtSynchronizeStream(s.stream) == 0 && s.sum.Right();
     }},
    {"repeated targets", [](Session& s) { return CallWithThreadMemory(s.repeated_targets, s); }},
    {"sums of wide columns", [](Session& s) { return CallWithThreadMemory(s.wide_columns, s); }},
    {"sums of rows that lie across",
     [](Session& s) { return CallWithThreadMemory(s.rows_that_lie_across, s); }},
    {"sums of blocks that lie across",
     [](Session& s) { return CallWithThreadMemory(s.blocks_that_lie_across, s); }},
    {"depthwise convolutions", [](Session& s) { return s.depthwise.Run(s.stream); }},
    {"another message", Message},
    {"aclCreateTensorList and destroy",
     [](Session& s) {
       return aclDestroyTensorList(std::exchange(s.list, nullptr)) == 0 &&
              aclDestroyScalar(std::exchange(s.scalar, nullptr)) == 0 &&
              aclDestroyIntArray(std::exchange(s.array, nullptr)) == 0;
     }},
    {"aclrtFree",
     [](Session& s) {
       for (PreparedCall* call : {&s.sum, &s.repeated_targets, &s.wide_columns, &s.rows_that_lie_across,
                                  &s.blocks_that_lie_across}) {
         call->Release();
       }
       return s.device_memory == nullptr ||
              (aclrtFree(s.device_memory) == 0 && (s.device_memory = nullptr, true));
     }},
    {"aclrtFreeHost",
     [](Session& s) {
       return s.host_memory == nullptr ||
              (aclrtFreeHost(s.host_memory) == 0 && (s.host_memory = nullptr, true));
     }},
    {"aclrtDestroyStream", [](Session& s) { return aclrtDestroyStream(s.stream) == 0; }},
    {"aclrtResetDevice", [](Session&) { return aclrtResetDevice(0) == 0; }},
    {"aclFinalize", [](Session&) { return aclFinalize() == 0; }},
};
constexpr int kStepCount = static_cast<int>(sizeof kSteps / sizeof kSteps[0]);

enum Outcome { kAsExpected = 0, kWrong = 1, kNothingLeftToFail = 42 };

// One session in which the nth allocation of one step fails.
int RunSession(const char* path, int failing_step, long nth, Failing failing) {
  Session session(path);
  int outcome = kAsExpected;
  for (int i = 0; i < kStepCount; ++i) {
    const Step& step = kSteps[i];
    bool right = false;
    if (i == failing_step) {
      FailAllocation(nth, failing);
      right = step.run(session);
      if (!StopFailingAllocations()) outcome = kNothingLeftToFail;
    }
    if (!right) right = step.run(session);
    if (!right) {
      const char* message = aclGetRecentErrMsg();
      std::printf("%s fails%s: %s\n", step.name, i == failing_step ? " after there is memory again" : "",
                  message == nullptr ? "" : message);
      return kWrong;
    }
  }
  session.call.DestroyTensors();
  return outcome;
}

class OutOfMemory : public ::testing::TestWithParam<int> {
 protected:
  static void SetUpTestSuite() { setenv("PORTACL_NUM_THREADS", "3", 1); }
};

// In a fresh process each time, so that what the library makes at its first use is reached as well.
TEST_P(OutOfMemory, AtAnyAllocationOfAFreshProcess) {
  const std::string path = MakeConfigurationFile();
  for (const Failing failing : {Failing::kOnlyOne, Failing::kAllFromThereOn}) {
    for (long nth = 1; nth < 1000; ++nth) {
      const ChildResult result = InChild([&] { return RunSession(path.c_str(), GetParam(), nth, failing); });
      if (result.exited && result.code == kNothingLeftToFail) break;
      ASSERT_TRUE(result.Succeeded())
          << kSteps[GetParam()].name << ", allocation " << nth
          << (failing == Failing::kOnlyOne ? " alone" : " and all later ones") << ": "
          << (result.exited ? "exit code " : "signal ") << result.code << "\n"
          << result.out << result.err;
    }
  }
  std::remove(path.c_str());
}

INSTANTIATE_TEST_SUITE_P(In, OutOfMemory, ::testing::Range(0, kStepCount),
                         [](const ::testing::TestParamInfo<int>& step) {
                           std::string name = kSteps[step.param].name;
                           for (char& c : name) c = c == ' ' ? '_' : c;
                           return name;
                         });

// Whether what is live grows from session to session. Helpers and workers, of which there are few, keep memory from the
// time when they first take part, which is when they like.
bool Grows(const char* path, int step, long nth, Failing failing) {
  constexpr int kSessions = 50;
  const long before = AllocationsLive();
  for (int i = 0; i < kSessions; ++i) RunSession(path, step, nth, failing);
  return AllocationsLive() - before > kSessions / 2;
}

// In one process that has been through everything before, so that nothing is made that stays.
TEST(OutOfMemoryLeaks, None) {
  setenv("PORTACL_NUM_THREADS", "3", 1);
  const std::string path = MakeConfigurationFile();
  const ChildResult result = InChild([&] {
    for (int i = 0; i < 10; ++i) {
      if (RunSession(path.c_str(), -1, 0, Failing::kOnlyOne) != kAsExpected) return static_cast<int>(kWrong);
    }
    long live = AllocationsLive();
    for (int step = 0; step < kStepCount; ++step) {
      for (const Failing failing : {Failing::kOnlyOne, Failing::kAllFromThereOn}) {
        for (long nth = 1; nth < 1000; ++nth) {
          const int outcome = RunSession(path.c_str(), step, nth, failing);
          if (outcome == kWrong) return static_cast<int>(kWrong);
          if (AllocationsLive() != live && Grows(path.c_str(), step, nth, failing)) {
            std::printf("%s, allocation %ld: %ld allocations live, %ld before\n", kSteps[step].name, nth,
                        AllocationsLive(), live);
            return static_cast<int>(kWrong);
          }
          live = AllocationsLive();
          if (outcome == kNothingLeftToFail) break;
        }
      }
    }
    return static_cast<int>(kAsExpected);
  });
  EXPECT_TRUE(result.Succeeded()) << (result.exited ? "exit code " : "signal ") << result.code << "\n"
                                  << result.out << result.err;
  std::remove(path.c_str());
}

// Tensors and arrays of calls whose arrays become one of phase 1's own.
struct Lengths {
  Lengths() {
    const auto tensor = [this](std::vector<int64_t> shape, aclDataType dtype) {
      return aclCreateTensor(shape.data(), shape.size(), dtype, nullptr, 0, ACL_FORMAT_ND, shape.data(),
                             shape.size(), memory);
    };
    rows = tensor({3, 1, 4}, ACL_FLOAT16);
    marks = tensor({2, 1, 2, 2}, ACL_INT8);
    index = tensor({3, 1, 1}, ACL_INT32);
    statistics = tensor({3, 1, 8}, ACL_FLOAT);
    const int64_t numbers[] = {1, 2};
    array = aclCreateIntArray(numbers, 2);
  }
  ~Lengths() {
    for (const aclTensor* one : {rows, marks, index, statistics}) aclDestroyTensor(one);
    aclDestroyIntArray(array);
  }
  static constexpr int kCalls = 4;
  aclnnStatus Plan(int which, aclOpExecutor** executor) {
    uint64_t size = 0;
    char layout[] = "TND";
    switch (which) {
      case 0:
        return aclnnBlockSparseAttentionGetWorkspaceSize(rows, rows, rows, marks, nullptr, array, array,
                                                         array, nullptr, layout, layout, 1, 0, 1, 0, 0, 0, 0,
                                                         0, rows, nullptr, &size, executor);
      case 1:
        return aclnnNsaSelectedAttentionGetWorkspaceSize(rows, rows, rows, index, nullptr, array, array, 1, 1,
                                                         layout, 0, 1, 1, statistics, statistics, rows, &size,
                                                         executor);
      case 2:
        return aclnnNsaCompressAttentionGetWorkspaceSize(rows, rows, rows, nullptr, nullptr, array, array,
                                                         array, 1, 1, layout, 0, 1, 1, 1, 1, statistics,
                                                         statistics, rows, index, &size, executor);
      default:
        return aclnnNsaSelectedAttentionGradGetWorkspaceSize(
            rows, rows, rows, rows, rows, statistics, statistics, index, array, array, nullptr, 1, 1, 1, 1,
            layout, 0, rows, rows, rows, &size, executor);
    }
  }

  std::byte memory[256];
  aclTensor *rows, *marks, *index, *statistics;
  aclIntArray* array;
};

// Phase 1 as every other step above, without phase 2, which allocates nothing for it.
TEST(OutOfMemoryOfLengths, AtAnyAllocationOfPhaseOne) {
  const ChildResult result = InChild([] {
    setenv("PORTACL_SOC", "Ascend910B1", 1);
    if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0) return static_cast<int>(kWrong);
    Lengths lengths;
    for (int which = 0; which < Lengths::kCalls; ++which) {
      for (const Failing failing : {Failing::kOnlyOne, Failing::kAllFromThereOn}) {
        bool has_failed = true;
        for (long nth = 1; nth < 1000 && has_failed; ++nth) {
          aclOpExecutor* executor = nullptr;
          FailAllocation(nth, failing);
          const aclnnStatus status = lengths.Plan(which, &executor);
          has_failed = StopFailingAllocations();
          if (status == 0) aclDestroyAclOpExecutor(executor);
          if (status == 0 || (has_failed && status == 561101)) continue;
          const char* const message = aclGetRecentErrMsg();
          std::printf("allocation %ld: %d: %s\n", nth, status, message == nullptr ? "" : message);
          return static_cast<int>(kWrong);
        }
      }
    }
    return static_cast<int>(kAsExpected);
  });
  EXPECT_TRUE(result.Succeeded()) << (result.exited ? "exit code " : "signal ") << result.code << "\n"
                                  << result.out << result.err;
}

}  // namespace
}  // namespace portacl::testing
