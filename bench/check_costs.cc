// What the hooks of checks and profiles cost a program that is not checked and of which no profile is taken: small calls of the library beside those of one that is compiled without
// the hooks, in turns in one process.
// SPDX-License-Identifier: Apache-2.0
//
// Usage: check_costs LIBRARY LIBRARY_WITHOUT_HOOKS [ROUNDS]. Prints the median time of a call, and the median of the rounds' ratios.
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_add.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kElements = 64;
constexpr size_t kBytes = kElements * sizeof(float);
constexpr int kCallsInARound = 200;

void Check(int status) {
  if (status == 0) return;
  std::fprintf(stderr, "a call returned %d\n", status);
  std::exit(1);
}

template <class Function>
Function* Find(void* library, const char* name) {
  void* const found = dlsym(library, name);
  if (found == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(1);
  }
  return reinterpret_cast<Function*>(found);
}

// One of the two, with all that the calls need.
class Library {
 public:
  explicit Library(const char* path) : handle_(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) {
      std::fprintf(stderr, "%s\n", dlerror());
      std::exit(1);
    }
#define PORTACL_FIND(function) function##_ = Find<decltype(function)>(handle_, #function)
    PORTACL_FIND(aclrtMalloc);
    PORTACL_FIND(aclrtFree);
    PORTACL_FIND(aclrtMemcpy);
    PORTACL_FIND(aclrtMemcpyAsync);
    PORTACL_FIND(aclrtRecordEvent);
    PORTACL_FIND(aclrtStreamWaitEvent);
    PORTACL_FIND(aclrtSynchronizeStream);
    PORTACL_FIND(aclnnAddGetWorkspaceSize);
    PORTACL_FIND(aclnnAdd);
    PORTACL_FIND(aclCreateTensor);
    PORTACL_FIND(aclDestroyTensor);
#undef PORTACL_FIND
    Check(Find<decltype(aclInit)>(handle_, "aclInit")(nullptr));
    Check(Find<decltype(aclrtSetDevice)>(handle_, "aclrtSetDevice")(0));
    Check(Find<decltype(aclrtCreateStream)>(handle_, "aclrtCreateStream")(&stream_));
    Check(Find<decltype(aclrtCreateEvent)>(handle_, "aclrtCreateEvent")(&event_));
    for (int i = 0; i < 3; ++i) {
      Check(aclrtMalloc_(&memory_[i], kBytes, ACL_MEM_MALLOC_NORMAL_ONLY));
      Check(aclrtMemcpy_(memory_[i], kBytes, host_, kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
      tensors_[i] = Tensor(memory_[i]);
    }
    const float one = 1;
    float copied = one;
    alpha_ = Find<decltype(aclCreateScalar)>(handle_, "aclCreateScalar")(&copied, ACL_FLOAT);
  }

  void Add() const {
    uint64_t workspace = 0;
    aclOpExecutor* executor = nullptr;
    Check(aclnnAddGetWorkspaceSize_(tensors_[0], tensors_[1], alpha_, tensors_[2], &workspace, &executor));
    Check(aclnnAdd_(nullptr, 0, executor, stream_));
  }
  void MallocAndFree() const {
    void* memory = nullptr;
    Check(aclrtMalloc_(&memory, kBytes, ACL_MEM_MALLOC_NORMAL_ONLY));
    Check(aclrtFree_(memory));
  }
  void Copy() { Check(aclrtMemcpy_(host_, kBytes, memory_[0], kBytes, ACL_MEMCPY_DEVICE_TO_HOST)); }
  void CopyInStream() const {
    Check(aclrtMemcpyAsync_(memory_[1], kBytes, memory_[0], kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_));
  }
  void RecordAndWait() const {
    Check(aclrtRecordEvent_(event_, stream_));
    Check(aclrtStreamWaitEvent_(stream_, event_));
  }
  void MakeTensor() const { Check(aclDestroyTensor_(Tensor(memory_[0]))); }
  void Synchronize() const { Check(aclrtSynchronizeStream_(stream_)); }

 private:
  aclTensor* Tensor(void* data) const {
    const int64_t n = kElements;
    return aclCreateTensor_(&n, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &n, 1, data);
  }

  void* handle_;
  decltype(aclrtMalloc)* aclrtMalloc_;
  decltype(aclrtFree)* aclrtFree_;
  decltype(aclrtMemcpy)* aclrtMemcpy_;
  decltype(aclrtMemcpyAsync)* aclrtMemcpyAsync_;
  decltype(aclrtRecordEvent)* aclrtRecordEvent_;
  decltype(aclrtStreamWaitEvent)* aclrtStreamWaitEvent_;
  decltype(aclrtSynchronizeStream)* aclrtSynchronizeStream_;
  decltype(aclnnAddGetWorkspaceSize)* aclnnAddGetWorkspaceSize_;
  decltype(aclnnAdd)* aclnnAdd_;
  decltype(aclCreateTensor)* aclCreateTensor_;
  decltype(aclDestroyTensor)* aclDestroyTensor_;
  aclrtStream stream_ = nullptr;
  aclrtEvent event_ = nullptr;
  void* memory_[3] = {};
  aclTensor* tensors_[3] = {};
  aclScalar* alpha_ = nullptr;
  float host_[kElements] = {};
};

double Median(std::vector<double>& samples) {
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

// Nanoseconds of one call.
template <class Call>
double RoundOf(Library& library, const Call& call) {
  const auto begin = Clock::now();
  for (int i = 0; i < kCallsInARound; ++i) call(library);
  const auto end = Clock::now();
  library.Synchronize();
  return std::chrono::duration<double, std::nano>(end - begin).count() / kCallsInARound;
}

template <class Call>
void Measure(const char* name, Library& with, Library& without, int rounds, const Call& call) {
  std::vector<double> of_with;
  std::vector<double> of_without;
  std::vector<double> ratios;
  for (int round = 0; round < rounds + 5; ++round) {
    // Who begins has the colder caches.
    const bool with_begins = round % 2 == 0;
    const double first = RoundOf(with_begins ? with : without, call);
    const double second = RoundOf(with_begins ? without : with, call);
    if (round < 5) continue;
    of_with.push_back(with_begins ? first : second);
    of_without.push_back(with_begins ? second : first);
    ratios.push_back(of_with.back() / of_without.back());
  }
  std::printf("| %s | %.0f ns | %.0f ns | %.3f |\n", name, Median(of_with), Median(of_without),
              Median(ratios));
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) {
    std::fprintf(stderr, "usage: check_costs LIBRARY LIBRARY_WITHOUT_HOOKS [ROUNDS]\n");
    return 2;
  }
  const int rounds = count > 3 ? std::max(1, std::atoi(arguments[3])) : 500;
  unsetenv("PORTACL_CHECK");
  unsetenv("PORTACL_PROFILE");
  setenv("PORTACL_NUM_THREADS", "1", 0);  // the calls, not the parallel loops
  Library with(arguments[1]);
  Library without(arguments[2]);
  std::printf("| calls | with hooks | without | ratio |\n|---|---|---|---|\n");
  const auto measure = [&](const char* name, const auto& call) {
    Measure(name, with, without, rounds, call);
  };
  measure("aclnnAdd of 64 elements, both phases", [](Library& library) { library.Add(); });
  measure("aclrtMalloc and aclrtFree", [](Library& library) { library.MallocAndFree(); });
  measure("aclrtMemcpy of 256 bytes", [](Library& library) { library.Copy(); });
  measure("aclrtMemcpyAsync of 256 bytes", [](Library& library) { library.CopyInStream(); });
  measure("aclrtRecordEvent and aclrtStreamWaitEvent", [](Library& library) { library.RecordAndWait(); });
  measure("aclCreateTensor and aclDestroyTensor", [](Library& library) { library.MakeTensor(); });
  return 0;
}
