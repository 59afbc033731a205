// portacl_bench: how close every operator comes to what memory allows, case by case, both in the same run.
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <regex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "cases.h"
#include "ceiling.h"
#include "loss_calls.h"
#include "measure.h"

namespace portacl::bench {
namespace {

void Check(int status) {
  if (status == 0) return;
  const char* text = aclGetRecentErrMsg();
  throw std::runtime_error("status " + std::to_string(status) + ": " + (text == nullptr ? "" : text));
}

int AllThreads() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return CPU_COUNT(&set);
}

// The library with a given number of threads, and a stream.
class Library {
 public:
  ~Library() { Stop(); }
  aclrtStream StreamWith(int threads) {
    if (threads != threads_) {
      Stop();
      setenv("PORTACL_NUM_THREADS", std::to_string(threads).c_str(), 1);
      Check(aclInit(nullptr));
      Check(aclrtSetDevice(0));
      Check(aclrtCreateStream(&stream_));
      threads_ = threads;
    }
    return stream_;
  }

 private:
  void Stop() {
    if (threads_ == 0) return;
    aclrtDestroyStream(stream_);
    aclrtResetDevice(0);
    aclFinalize();
    threads_ = 0;
  }
  int threads_ = 0;
  aclrtStream stream_ = nullptr;
};

// Storage of the operands, used by one case after the other and filled anew only where the type changes.
class Storage {
 public:
  std::byte* For(int operand, aclDataType dtype, int64_t elements) {
    Buffer& buffer = buffers_[operand];
    const size_t bytes = static_cast<size_t>(elements) * static_cast<size_t>(DtypeSize(dtype));
    if (bytes > buffer.bytes) {
      buffer.memory.reset(static_cast<std::byte*>(std::aligned_alloc(4096, (bytes / 4096 + 8) * 4096)));
      if (!buffer.memory) throw std::runtime_error("no memory");
      buffer.bytes = bytes;
      buffer.filled = 0;
    }
    // Not all at the same offset in a page, which no pair of loads and stores likes.
    std::byte* data = buffer.memory.get() + 1088 * (operand + 1);
    if (buffer.dtype != dtype || buffer.filled < bytes) {
      Fill(data, dtype, bytes, static_cast<uint32_t>(operand));
      buffer.dtype = dtype;
      buffer.filled = bytes;
    }
    return data;
  }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  struct Buffer {
    std::unique_ptr<std::byte, Free> memory;
    size_t bytes = 0;
    size_t filled = 0;
    aclDataType dtype = ACL_DT_UNDEFINED;
  };

  // Numbers in (0, 1], which every operator takes as any operand.
  static void Fill(std::byte* data, aclDataType dtype, size_t bytes, uint32_t seed) {
    const size_t size = static_cast<size_t>(DtypeSize(dtype));
    const size_t pattern = std::min(bytes, size << 16);
    uint32_t state = seed * 977 + 1;
    for (size_t i = 0; i < pattern; i += size) {
      state = state * 1664525 + 1013904223;
      const float value = static_cast<float>((state >> 16) + 1) / 65536.0f;
      uint32_t bits;
      std::memcpy(&bits, &value, sizeof bits);
      const uint16_t half =
          dtype == ACL_FLOAT16 ? aclFloatToFloat16(value) : static_cast<uint16_t>(bits >> 16);
      if (size == 4) std::memcpy(data + i, &bits, 4);
      if (size == 2) std::memcpy(data + i, &half, 2);
    }
    for (size_t done = pattern; done < bytes; done += std::min(pattern, bytes - done))
      std::memcpy(data + done, data, std::min(pattern, bytes - done));
  }

  std::map<int, Buffer> buffers_;
};

// A case ready to be called: both phases, and waiting for the stream.
class ReadyCall {
 public:
  ReadyCall(const Case& c, Storage& storage, aclrtStream stream)
      : call_(*c.call), stream_(stream), operands_(Operands(c)) {
    for (size_t i = 0; i < operands_.size(); ++i) {
      const Operand& one = operands_[i];
      data_.push_back(storage.For(static_cast<int>(i), one.dtype, one.elements));
      tensors_.push_back(aclCreateTensor(one.shape.data(), one.shape.size(), one.dtype, one.strides.data(), 0,
                                         ACL_FORMAT_ND, &one.elements, 1, data_.back()));
    }
  }
  ~ReadyCall() {
    for (const aclTensor* tensor : tensors_) aclDestroyTensor(tensor);
  }
  ReadyCall(const ReadyCall&) = delete;
  ReadyCall& operator=(const ReadyCall&) = delete;

  void operator()() {
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    Check(call_.plan(tensors_.data(), &size, &executor));
    if (size > workspace_.size()) workspace_.resize(size);
    Check(call_.run(size > 0 ? workspace_.data() : nullptr, size, executor, stream_));
    Check(aclrtSynchronizeStream(stream_));
  }

  const std::vector<Operand>& operands() const { return operands_; }
  const std::vector<std::byte*>& data() const { return data_; }

 private:
  const LossCall& call_;
  aclrtStream stream_;
  std::vector<Operand> operands_;
  std::vector<std::byte*> data_;
  std::vector<aclTensor*> tensors_;
  std::vector<std::byte> workspace_;
};

// Seconds that a comparison of this size needs to say anything.
double LeastSeconds(const Case& c) {
  if (c.log2 <= 16) return 0.03;
  if (c.log2 <= 20) return 0.06;
  return c.log2 <= 24 ? 0.35 : 1.2;
}

class Bench {
 public:
  void set_patience(double patience) { patience_ = patience; }

  void Run(const Case& c, benchmark::State& state) {
    try {
      Measure(c, state);
    } catch (const std::exception& problem) {
      state.SkipWithError(problem.what());
      for (auto _ : state) {
      }
    }
  }

 private:
  Team& TeamOf(int threads) {
    auto& team = teams_[threads];
    if (!team) team = std::make_unique<Team>(threads);
    return *team;
  }

  void Measure(const Case& c, benchmark::State& state) {
    const aclrtStream stream = library_.StreamWith(c.threads);
    ReadyCall call(c, storage_, stream);
    call();
    Side ours{[&] { call(); }};
    // Helper threads that still look out for work would disturb the other side.
    if (c.threads > 1) ours.after_burst = [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); };

    const CeilingLoop loop = Ceiling(c, call.operands(), call.data());
    std::vector<Side> ceilings;
    for (const int threads : {c.threads, 1}) {
      for (const bool streaming : {false, true}) {
        if (streaming && (!loop.may_stream || loop.traffic.out.width == 0)) continue;
        Team& team = TeamOf(threads);
        const std::function<void(int, int)> share = [&loop, streaming](int part, int parts) {
          MoveBytes(loop.traffic, streaming, part, parts);
        };
        if (threads == 1) {
          ceilings.push_back({[&loop, streaming] { MoveBytes(loop.traffic, streaming, 0, 1); }});
        } else {
          ceilings.push_back(
              {[&team, share] { team.Run(share); }, [&team] { team.Wake(); }, [&team] { team.Sleep(); }});
        }
      }
      if (c.threads == 1) break;
    }
    Effort effort;
    effort.seconds = LeastSeconds(c) * patience_;
    const Comparison result = Compare(ours, ceilings, effort);

    const double n = static_cast<double>(int64_t{1} << c.log2);
    const double bytes = static_cast<double>(loop.traffic.BytesPerElement() * loop.traffic.elements);
    state.counters["elements"] = n;
    state.counters["threads"] = c.threads;
    state.counters["ratio"] = result.ratio;
    state.counters["ratio_p10"] = result.p10;
    state.counters["ratio_p90"] = result.p90;
    state.counters["pairs"] = result.pairs;
    state.counters["ns_per_call"] = result.ours * 1e9;
    state.counters["ns_per_element"] = result.ours * 1e9 / n;
    state.counters["ceiling_ns_per_element"] = result.theirs * 1e9 / n;
    state.counters["gigabytes_per_second"] = bytes / result.ours / 1e9;
    state.counters["ceiling_gigabytes_per_second"] = bytes / result.theirs / 1e9;

    if (c.call->uses_exp_or_log && c.log2 >= 20) {
      // What the processors take for the formula alone: the same operator on data that stays in cache, on one
      // thread, shared among all.
      Case small = c;
      small.log2 = 14;
      small.layout = Layout::kDense;
      ReadyCall in_cache(small, storage_, stream);
      const double scale = n / static_cast<double>(int64_t{1} << small.log2) / c.threads;
      effort.seconds /= 2;
      const Comparison own =
          Compare(ours, {Side{[&] { in_cache(); }, ours.before_burst, ours.after_burst}}, effort);
      state.counters["own_in_cache_ratio"] = own.ratio * scale;
      state.counters["ratio_to_smaller"] = std::max(result.ratio, own.ratio * scale);
    }
    for (auto _ : state) state.SetIterationTime(result.ours);
  }

  Library library_;
  Storage storage_;
  std::map<int, std::unique_ptr<Team>> teams_;
  double patience_ = 1;
};

// One line a case as it comes, with how far the run is.
class Table : public benchmark::BenchmarkReporter {
 public:
  explicit Table(size_t cases) : cases_(cases) {}

  bool ReportContext(const Context&) override {
    std::printf("%11s  %-50s %7s %14s %11s %8s %8s\n", "case", "operator/dtype/layout/elements/threads",
                "ceiling", "p10..p90", "ns/element", "GB/s", "ceiling");
    return true;
  }

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      ++done_;
      std::printf("%5zu/%-5zu  ", done_, cases_);
      std::string name = run.benchmark_name();
      name = name.substr(0, name.find("/iterations"));
      if (run.error_occurred) {
        std::printf("%-50s failed: %s\n", name.c_str(), run.error_message.c_str());
        failed_ = true;
        continue;
      }
      const auto value = [&](const char* counter) { return run.counters.at(counter).value; };
      std::printf("%-50s %6.2fx (%5.2f..%5.2f) %11.4g %8.1f %8.1f", name.c_str(), value("ratio"),
                  value("ratio_p10"), value("ratio_p90"), value("ns_per_element"),
                  value("gigabytes_per_second"), value("ceiling_gigabytes_per_second"));
      if (run.counters.count("own_in_cache_ratio") > 0)
        std::printf("  of its own rate in cache %.2f", value("own_in_cache_ratio"));
      std::printf("\n");
      std::fflush(stdout);
    }
  }

  bool failed() const { return failed_; }

 private:
  size_t cases_;
  size_t done_ = 0;
  bool failed_ = false;
};

int Main(int argc, char** argv) {
  bool quick = false;
  bool whole = false;
  bool blocking = false;
  double minutes = 15;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) {
      quick = true;
    } else if (std::strcmp(argv[i], "--whole") == 0) {
      whole = true;
    } else if (std::strcmp(argv[i], "--blocking") == 0) {
      blocking = true;
    } else if (std::strncmp(argv[i], "--minutes=", 10) == 0) {
      minutes = std::atof(argv[i] + 10);
    } else {
      argv[kept++] = argv[i];
    }
  }
  argc = kept;
  // Blocking, every call computes on the calling thread: what is left out is the hand-over to the stream's worker.
  setenv("ASCEND_LAUNCH_BLOCKING", blocking ? "1" : "0", 1);
  if (quick) minutes = std::min(minutes, 0.7);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::AddCustomContext("ceiling_instruction_set", CeilingInstructionSet());
  benchmark::AddCustomContext("all_threads", std::to_string(AllThreads()));

  std::string filter = benchmark::GetBenchmarkFilter();
  if (filter == "all") filter.clear();
  const std::regex wanted(filter);
  std::vector<Case> chosen;
  double least = 0;
  for (const Case& c : AllCases(AllThreads())) {
    if (quick && !IsInQuickSelection(c)) continue;
    if (!whole && !IsInUsualSelection(c)) continue;
    if (!std::regex_search(c.Name(), wanted)) continue;
    chosen.push_back(c);
    least += LeastSeconds(c) * (c.call->uses_exp_or_log && c.log2 >= 20 ? 1.5 : 1);
  }
  // With few cases each gets more time, up to ten times the least.
  const double patience = std::clamp(minutes * 60 / std::max(least, 1e-9), 1.0, 10.0);
  Bench bench;
  bench.set_patience(patience);
  for (const Case& c : chosen) {
    benchmark::RegisterBenchmark(c.Name().c_str(),
                                 [&bench, c](benchmark::State& state) { bench.Run(c, state); })
        ->UseManualTime()
        ->Iterations(1);
  }
  std::fprintf(stderr, "%zu cases, about %.0f seconds\n", chosen.size(), least * patience * 1.2);
  Table table(chosen.size());
  benchmark::RunSpecifiedBenchmarks(&table);
  benchmark::Shutdown();
  return table.failed() || chosen.empty() ? 1 : 0;
}

}  // namespace
}  // namespace portacl::bench

int main(int argc, char** argv) { return portacl::bench::Main(argc, argv); }
