// What the paths through the runtime cost, as ratios to a bare hand-over between two threads measured in the
// same run: an inline small call, a queued call, an event between two streams, a host function; and what a call costs
// between others that fill the caches.
// SPDX-License-Identifier: Apache-2.0
//
// Every figure is the median over many rounds. "latency" is from the first call until the host knows that the
// work is done; "host" is what the launching thread spends until it can go on.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_l1_loss_backward.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRounds = 3000;

double MedianNanoseconds(std::vector<double>& samples) {
  std::nth_element(samples.begin(), samples.begin() + static_cast<long>(samples.size() / 2), samples.end());
  return samples[samples.size() / 2];
}

double Since(Clock::time_point begin) {
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

// Runs `round` and returns the median of what it measured.
template <class Round>
double Median(const Round& round) {
  std::vector<double> samples;
  for (int i = 0; i < kRounds; ++i) samples.push_back(round());
  return MedianNanoseconds(samples);
}

void Check(int status) {
  if (status == 0) return;
  const char* text = aclGetRecentErrMsg();
  std::fprintf(stderr, "a call returned %d: %s\n", status, text == nullptr ? "" : text);
  std::exit(1);
}

// The yardstick: a std::thread that waits on a condition variable for one function at a time.
class BareThread {
 public:
  BareThread() : thread_([this] { Loop(); }) {}
  ~BareThread() {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  void HandOver() {
    {
      std::lock_guard lock(mutex_);
      ++asked_;
    }
    changed_.notify_all();
  }
  void Wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return done_ == asked_; });
  }

 private:
  void Loop() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return stop_ || done_ != asked_; });
      if (stop_) return;
      ++done_;
      changed_.notify_all();
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t asked_ = 0, done_ = 0;
  bool stop_ = false;
  std::thread thread_;
};

struct L1Call {
  explicit L1Call(int64_t n) {
    for (auto& one : data) one.assign(static_cast<size_t>(n), 1.0f);
    for (int i = 0; i < 4; ++i) {
      tensor[i] = aclCreateTensor(&n, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &n, 1, data[i].data());
    }
  }
  ~L1Call() {
    for (aclTensor* one : tensor) aclDestroyTensor(one);
  }
  aclOpExecutor* Plan() {
    uint64_t workspace = 0;
    aclOpExecutor* executor = nullptr;
    Check(aclnnL1LossBackwardGetWorkspaceSize(tensor[0], tensor[1], tensor[2], 0, tensor[3], &workspace,
                                              &executor));
    return executor;
  }
  std::vector<float> data[4];
  aclTensor* tensor[4];
};

void Print(const char* path, double ns, double bare) {
  std::printf("%-58s %9.0f ns  %6.2f\n", path, ns, ns / bare);
}

}  // namespace

int main() {
  setenv("PORTACL_NUM_THREADS", "1", 0);  // the paths, not the parallel loops
  Check(aclInit(nullptr));
  Check(aclrtSetDevice(0));
  aclrtStream stream = nullptr;
  aclrtStream other = nullptr;
  aclrtEvent event = nullptr;
  Check(aclrtCreateStream(&stream));
  Check(aclrtCreateStream(&other));
  Check(aclrtCreateEvent(&event));

  double bare = 0;
  double bare_host = 0;
  {
    BareThread thread;
    bare = Median([&] {
      const auto begin = Clock::now();
      thread.HandOver();
      thread.Wait();
      return Since(begin);
    });
    bare_host = Median([&] {
      const auto begin = Clock::now();
      thread.HandOver();
      const double host = Since(begin);
      thread.Wait();
      return host;
    });
  }
  std::printf("%-58s %9s     %6s\n", "path", "median", "ratio");
  Print("bare std::thread hand-over and back: latency", bare, bare);
  Print("bare std::thread hand-over: host", bare_host, bare);

  L1Call one(1);
  std::vector<aclOpExecutor*> executors;
  const double phase1 = Median([&] {
    const auto begin = Clock::now();
    executors.push_back(one.Plan());
    return Since(begin);
  });
  Print("phase 1, 1 element", phase1, bare);
  const double inline_call = Median([&] {
    aclOpExecutor* executor = executors.back();
    executors.pop_back();
    const auto begin = Clock::now();
    Check(aclnnL1LossBackward(nullptr, 0, executor, stream));
    return Since(begin);
  });
  Print("inline small call: phase 2, 1 element, done at return", inline_call, bare);

  // A fill just above the size that runs inline stands for the cheapest work that is queued.
  std::vector<char> bytes((size_t{64} << 10) + 64);
  const double fill = Median([&] {
    const auto begin = Clock::now();
    Check(aclrtMemset(bytes.data(), bytes.size(), 1, bytes.size()));
    return Since(begin);
  });
  const double queued_host = Median([&] {
    const auto begin = Clock::now();
    Check(aclrtMemsetAsync(bytes.data(), bytes.size(), 1, bytes.size(), stream));
    const double host = Since(begin);
    Check(aclrtSynchronizeStream(stream));
    return host;
  });
  const double queued = Median([&] {
    const auto begin = Clock::now();
    Check(aclrtMemsetAsync(bytes.data(), bytes.size(), 1, bytes.size(), stream));
    Check(aclrtSynchronizeStream(stream));
    return Since(begin);
  });
  Print("queued call to an idle stream: host", queued_host, bare);
  Print("queued call: latency, less the work itself", queued - fill, bare);
  const double busy_host = Median([&] {
    for (int i = 0; i < 8; ++i) Check(aclrtMemsetAsync(bytes.data(), bytes.size(), 1, bytes.size(), stream));
    const auto begin = Clock::now();
    Check(aclrtMemsetAsync(bytes.data(), bytes.size(), 1, bytes.size(), stream));
    const double host = Since(begin);
    Check(aclrtSynchronizeStream(stream));
    return host;
  });
  Print("queued call to a busy stream: host", busy_host, bare);

  const auto nothing = [](void*) {};
  const double host_function = Median([&] {
    const auto begin = Clock::now();
    Check(aclrtLaunchHostFunc(stream, nothing, nullptr));
    Check(aclrtSynchronizeStream(stream));
    return Since(begin);
  });
  Print("host function: latency", host_function, bare);

  // Two host functions in one stream against the same two in two streams with an event between them.
  const double two_in_one = Median([&] {
    const auto begin = Clock::now();
    Check(aclrtLaunchHostFunc(stream, nothing, nullptr));
    Check(aclrtRecordEvent(event, stream));
    Check(aclrtStreamWaitEvent(stream, event));
    Check(aclrtLaunchHostFunc(stream, nothing, nullptr));
    Check(aclrtSynchronizeStream(stream));
    return Since(begin);
  });
  const double two_streams = Median([&] {
    const auto begin = Clock::now();
    Check(aclrtLaunchHostFunc(stream, nothing, nullptr));
    Check(aclrtRecordEvent(event, stream));
    Check(aclrtStreamWaitEvent(other, event));
    Check(aclrtLaunchHostFunc(other, nothing, nullptr));
    Check(aclrtSynchronizeStream(other));
    return Since(begin);
  });
  Print("two host functions in two streams, an event between: latency", two_streams, bare);
  Print("event hand-over between two streams (less one stream)", two_streams - two_in_one, bare);
  constexpr int kHops = 100;
  std::vector<double> hops;
  for (int i = 0; i < 50; ++i) {
    const auto begin = Clock::now();
    Check(aclrtLaunchHostFunc(stream, nothing, nullptr));
    aclrtStream from = stream;
    aclrtStream to = other;
    for (int hop = 0; hop < kHops; ++hop) {
      Check(aclrtRecordEvent(event, from));
      Check(aclrtStreamWaitEvent(to, event));
      Check(aclrtLaunchHostFunc(to, nothing, nullptr));
      std::swap(from, to);
    }
    Check(aclrtSynchronizeStream(from));
    hops.push_back(Since(begin) / kHops);
  }
  Print("record, wait and a host function, to and fro: each hop", MedianNanoseconds(hops), bare);
  const double record = Median([&] {
    const auto begin = Clock::now();
    Check(aclrtRecordEvent(event, stream));
    return Since(begin);
  });
  Print("recording an event in an idle stream", record, bare);
  const double wait_complete = Median([&] {
    const auto begin = Clock::now();
    Check(aclrtStreamWaitEvent(other, event));
    return Since(begin);
  });
  Print("waiting for a complete event", wait_complete, bare);

  std::printf("\nwhere running inline and handing over cost the same\n");
  for (int64_t n : {1024, 4096, 16384, 65536, 262144, 1048576, 1048577, 4194304}) {
    L1Call call(n);
    aclOpExecutor* executor = call.Plan();
    Check(aclSetAclOpExecutorRepeatable(executor));
    const double latency = Median([&] {
      const auto begin = Clock::now();
      Check(aclnnL1LossBackward(nullptr, 0, executor, stream));
      Check(aclrtSynchronizeStream(stream));
      return Since(begin);
    });
    const double host = Median([&] {
      const auto begin = Clock::now();
      Check(aclnnL1LossBackward(nullptr, 0, executor, stream));
      const double spent = Since(begin);
      Check(aclrtSynchronizeStream(stream));
      return spent;
    });
    std::printf("  float32, %6ld elements: latency %7.0f ns (%.2f), host %7.0f ns (%.2f)\n",
                static_cast<long>(n), latency, latency / bare, host, host / bare);
    Check(aclDestroyAclOpExecutor(executor));
  }
  for (size_t size : {size_t{4} << 10, size_t{16} << 10, size_t{64} << 10, size_t{256} << 10}) {
    std::vector<char> from(size), to(size);
    const double copy = Median([&] {
      const auto begin = Clock::now();
      Check(aclrtMemcpy(to.data(), size, from.data(), size, ACL_MEMCPY_DEVICE_TO_DEVICE));
      return Since(begin);
    });
    std::printf("  copy of %6zu bytes on the calling thread: %7.0f ns (%.2f)\n", size, copy, copy / bare);
  }

  // What a call costs by itself between others that fill the second-level cache: its code and the library's data come
  // from further away.
  std::printf(
      "\nboth phases and synchronisation, 4 elements, after other data has been read and a quarter of it "
      "written\n");
  L1Call four(4);
  std::vector<char> others(size_t{4} << 20);
  for (const size_t kibibytes : {0, 256, 512, 768, 1024, 2048, 4096}) {
    const double after = Median([&] {
      char sum = 0;
      for (size_t i = 0; i < kibibytes << 10; i += 64) sum = static_cast<char>(sum + others[i]);
      for (size_t i = 0; i < kibibytes << 8; i += 64) others[i] = sum;
      const auto begin = Clock::now();
      Check(aclnnL1LossBackward(nullptr, 0, four.Plan(), stream));
      Check(aclrtSynchronizeStream(stream));
      return Since(begin);
    });
    std::printf("  after %4zu KiB: %7.0f ns (%.2f)\n", kibibytes, after, after / bare);
  }

  Check(aclrtDestroyEvent(event));
  Check(aclrtDestroyStream(stream));
  Check(aclrtDestroyStream(other));
  Check(aclrtResetDevice(0));
  Check(aclFinalize());
  return 0;
}
