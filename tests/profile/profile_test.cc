// Profiles by acl/acl_prof.h: what is recorded, in which order, on which rows; that nothing is when none is taken; refusals.
// SPDX-License-Identifier: Apache-2.0
#include "acl/acl_prof.h"

#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <thread>

#include "acl/acl.h"
#include "gtest/gtest.h"
#include "hccl/hccl.h"
#include "process/allocation_hook.h"
#include "process/child_process.h"
#include "process/simple_call.h"
#include "profile/recorder.h"
#include "profile/trace_file.h"
#include "support/environment.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

constexpr const char* kOperator = "aclnnL1LossBackward";

class Config {
 public:
  explicit Config(uint64_t data_types = 0) {
    uint32_t device = 0;
    config_ = aclprofCreateConfig(&device, 1, ACL_AICORE_NONE, nullptr, data_types);
  }
  ~Config() { aclprofDestroyConfig(config_); }
  Config(const Config&) = delete;
  Config& operator=(const Config&) = delete;
  operator const aclprofConfig*() const { return config_; }

 private:
  aclprofConfig* config_;
};

// The trace in the one folder of results.
std::string TraceIn(const Folder& folder) {
  const std::vector<std::string> names = folder.Names();
  return names.size() == 1 ? folder.path() + "/" + names[0] + "/host/data/portacl_trace.json" : "";
}

// The events of what body does.
nlohmann::json Profiled(const std::function<void()>& body) {
  const Folder folder;
  const Config config;
  EXPECT_EQ(aclprofInit(folder.path().c_str(), folder.path().size()), ACL_SUCCESS);
  EXPECT_EQ(aclprofStart(config), ACL_SUCCESS);
  body();
  EXPECT_EQ(aclprofStop(config), ACL_SUCCESS);
  EXPECT_EQ(aclprofFinalize(), ACL_SUCCESS);
  nlohmann::json events = EventsOf(TraceIn(folder));
  EXPECT_TRUE(events.is_array());
  return events;
}

class Profile : public ::testing::Test {
 protected:
  ScopedEnvironment environment_{{}};
  aclrtStream stream() const { return environment_.stream(); }
  int32_t Id(aclrtStream stream) const {
    int32_t id = -1;
    aclrtStreamGetId(stream, &id);
    return id;
  }
};

TEST_F(Profile, HasCallsAndTasksInOrder) {
  SimpleCall call(1000);
  const nlohmann::json events = Profiled([&] {
    EXPECT_TRUE(call.Run(stream()));
    EXPECT_TRUE(call.Run(stream()));
  });
  const auto host = Spans(events, "host");
  std::vector<std::string> names;
  for (const auto& span : host) names.push_back(span["name"]);
  const std::vector<std::string> once = {"aclnnL1LossBackwardGetWorkspaceSize", kOperator,
                                         "aclrtSynchronizeStream"};
  std::vector<std::string> twice = once;
  twice.insert(twice.end(), once.begin(), once.end());
  EXPECT_EQ(names, twice);
  const auto tasks = Spans(events, "operator");
  ASSERT_EQ(tasks.size(), 2u);
  double end = 0;
  for (size_t i = 0; i < 2; ++i) {
    const auto& task = tasks[i];
    EXPECT_EQ(task["name"], kOperator);
    EXPECT_EQ(task["tid"], Id(stream()));
    EXPECT_NE(task["pid"], host[0]["pid"]);
    EXPECT_EQ(task["args"]["Input Shapes"], "1000;1000;1000");
    EXPECT_EQ(task["args"]["Input Data Types"], "FLOAT;FLOAT;FLOAT");
    EXPECT_EQ(task["args"]["Input Formats"], "ND;ND;ND");
    EXPECT_EQ(task["args"]["Output Shapes"], "1000");
    EXPECT_EQ(task["args"]["Output Data Types"], "FLOAT");
    const double begin = task["ts"];
    const double called = host[i * 3 + 1]["ts"];
    EXPECT_GE(begin, end);
    EXPECT_GE(begin, called);
    end = begin + task["dur"].get<double>();
    EXPECT_LE(end, host[i * 3 + 2]["ts"].get<double>() + host[i * 3 + 2]["dur"].get<double>());
  }
}

TEST_F(Profile, LeadsFromACallToItsTask) {
  SimpleCall call(1000);
  const nlohmann::json events = Profiled([&] { EXPECT_TRUE(call.Run(stream())); });
  std::map<std::string, nlohmann::json> ends;
  for (const auto& event : events) {
    if (event.value("cat", "") == "HostToDevice") ends[event["ph"]] = event;
  }
  ASSERT_EQ(ends.size(), 2u);
  const auto host = Named(Spans(events, "host"), kOperator);
  const auto task = Spans(events, "operator");
  ASSERT_EQ(host.size(), 1u);
  ASSERT_EQ(task.size(), 1u);
  EXPECT_EQ(ends["s"]["id"], ends["f"]["id"]);
  EXPECT_EQ(ends["s"]["ts"], host[0]["ts"]);
  EXPECT_EQ(ends["s"]["tid"], host[0]["tid"]);
  EXPECT_EQ(ends["f"]["ts"], task[0]["ts"]);
  EXPECT_EQ(ends["f"]["tid"], task[0]["tid"]);
  EXPECT_EQ(ends["f"]["id"], task[0]["args"]["Task Id"]);
}

TEST_F(Profile, HasARowForEachStreamAndThread) {
  aclrtStream other = nullptr;
  ASSERT_EQ(aclrtCreateStream(&other), ACL_SUCCESS);
  const nlohmann::json events = Profiled([&] {
    std::vector<std::thread> threads;
    aclrtContext context = nullptr;
    aclrtGetCurrentContext(&context);
    for (const aclrtStream one : {stream(), other}) {
      threads.emplace_back([one, context] {
        aclrtSetCurrentContext(context);
        SimpleCall call(kBigCall * 2);  // a worker's
        EXPECT_TRUE(call.Run(one));
      });
    }
    for (std::thread& one : threads) one.join();
  });
  std::set<int> streams;
  std::set<int> threads;
  for (const auto& task : Spans(events, "operator")) streams.insert(task["tid"].get<int>());
  for (const auto& call : Named(Spans(events, "host"), kOperator)) threads.insert(call["tid"].get<int>());
  EXPECT_EQ(streams, (std::set<int>{Id(stream()), Id(other)}));
  EXPECT_EQ(threads.size(), 2u);
  std::set<std::string> rows;
  for (const auto& event : events) {
    if (event["name"] == "thread_name") rows.insert(event["args"]["name"]);
  }
  EXPECT_EQ(rows.count("stream " + std::to_string(Id(other))), 1u);
  EXPECT_EQ(aclrtDestroyStream(other), ACL_SUCCESS);
}

TEST_F(Profile, HasCopiesMemoryEventsAndMarks) {
  aclrtEvent event = nullptr;
  aclrtStream other = nullptr;
  ASSERT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateStream(&other), ACL_SUCCESS);
  const nlohmann::json events = Profiled([&] {
    void* device = nullptr;
    ASSERT_EQ(aclrtMalloc(&device, 4096, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemsetAsync(device, 4096, 1, 4096, stream()), ACL_SUCCESS);
    EXPECT_EQ(aclrtRecordEvent(event, stream()), ACL_SUCCESS);
    EXPECT_EQ(aclrtStreamWaitEvent(other, event), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
    const char mark[] = "a \"mark\"\n";
    EXPECT_EQ(aclprofMarkEx(mark, sizeof mark - 1, stream()), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(device), ACL_SUCCESS);
  });
  const auto copies = Spans(events, "memory");
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(copies[0]["name"], "aclrtMemsetAsync");
  EXPECT_EQ(copies[0]["args"]["Bytes"], 4096);
  std::vector<int64_t> held;
  std::string mark;
  for (const auto& one : events) {
    if (one["ph"] == "C") held.push_back(one["args"]["bytes"].get<int64_t>());
    if (one["ph"] == "i") mark = one["name"];
  }
  ASSERT_GE(held.size(), 2u);
  EXPECT_EQ(held[held.size() - 2] - held.back(), 4096);
  EXPECT_EQ(mark, "a \"mark\"\n");
  for (const char* name : {"aclrtMalloc", "aclrtFree", "aclrtRecordEvent", "aclrtStreamWaitEvent"}) {
    EXPECT_EQ(Named(Spans(events, "host"), name).size(), 1u) << name;
  }
  aclrtDestroyStream(other);
  aclrtDestroyEvent(event);
}

TEST_F(Profile, BeginsWithTheMemoryThatIsHeld) {
  void* device = nullptr;
  ASSERT_EQ(aclrtMalloc(&device, 1 << 20, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  const nlohmann::json events = Profiled([&] { EXPECT_EQ(aclrtFree(device), ACL_SUCCESS); });
  std::vector<int64_t> held;
  for (const auto& one : events) {
    if (one["ph"] == "C") held.push_back(one["args"]["bytes"].get<int64_t>());
  }
  ASSERT_EQ(held.size(), 2u);
  EXPECT_EQ(held[0] - held[1], 1 << 20);
}

TEST_F(Profile, HasMarksThatAreNoText) {
  const nlohmann::json events =
      Profiled([&] { EXPECT_EQ(aclprofMarkEx("\xff mark", 6, stream()), ACL_SUCCESS); });
  std::string mark;
  for (const auto& one : events) {
    if (one["ph"] == "i") mark = one["name"];
  }
  EXPECT_EQ(mark, "\xef\xbf\xbd mark");  // U+FFFD
}

TEST_F(Profile, LiesWhereItWasPrepared) {
  const Folder folder;
  const ChildResult result = InChild([&] {
    const Config config;
    aclrtStream own = nullptr;
    SimpleCall call(1000);
    if (aclrtCreateStream(&own) != 0 || chdir(folder.path().c_str()) != 0) return 1;
    if (aclprofInit("results", 7) != 0 || chdir("/") != 0) return 2;
    if (aclprofStart(config) != 0 || !call.Run(own) || aclprofStop(config) != 0) return 3;
    return aclprofFinalize() == 0 ? 0 : 4;
  });
  EXPECT_TRUE(result.Succeeded()) << result.code << result.err;
  ASSERT_EQ(folder.Names(), std::vector<std::string>{"results"});
  const std::string results = folder.path() + "/results";
  const auto run = std::filesystem::directory_iterator(results)->path();
  EXPECT_EQ(Spans(EventsOf(run / "host/data/portacl_trace.json"), "operator").size(), 1u);
}

// What two users need is there until both have taken it.
TEST(Recorder, KeepsWhatAnotherUserHasNotTaken) {
  ASSERT_TRUE(profile::Start(profile::User::kActivities));
  profile::Memory(0, 1, 1);
  ASSERT_TRUE(profile::Start(profile::User::kAclprof));
  profile::Memory(0, 2, 3);
  EXPECT_EQ(profile::Take(profile::User::kActivities).size(), 2u);
  profile::Memory(0, 3, 6);
  EXPECT_EQ(profile::Take(profile::User::kAclprof).size(), 2u);
  EXPECT_EQ(profile::Take(profile::User::kActivities).size(), 1u);
  EXPECT_TRUE(profile::Take(profile::User::kAclprof).empty());
  for (const profile::User user : {profile::User::kActivities, profile::User::kAclprof}) {
    EXPECT_TRUE(profile::Stop(user));
    profile::Release(user);
  }
}

// More events than are kept at once, of which the user takes some or begins anew.
TEST(Recorder, HasRoomForWhatFollows) {
  constexpr size_t kAtOnce = 512;
  constexpr size_t kRounds = (size_t{1} << 23) / kAtOnce + 2;
  const profile::User user = profile::User::kActivities;
  for (const bool takes : {true, false}) {
    ASSERT_TRUE(profile::Start(user));
    for (size_t round = 0; round < kRounds; ++round) {
      for (size_t i = 0; i < kAtOnce; ++i) profile::Memory(0, 1, 1);
      if (takes) {
        ASSERT_EQ(profile::Take(user).size(), kAtOnce) << round;
      } else {
        ASSERT_TRUE(profile::Stop(user) && profile::Start(user));
      }
    }
    EXPECT_EQ(profile::Dropped(), 0u);
    profile::Memory(0, 1, 1);
    EXPECT_EQ(profile::Take(user).size(), 1u);
    EXPECT_TRUE(profile::Stop(user));
    profile::Release(user);
  }
}

TEST_F(Profile, HasTheOperatorsOfAGraph) {
  SimpleCall call(1000);
  ASSERT_TRUE(call.CreateTensors());
  aclmdlRI graph = nullptr;
  const nlohmann::json events = Profiled([&] {
    ASSERT_EQ(aclmdlRICaptureBegin(stream(), ACL_MODEL_RI_CAPTURE_MODE_RELAXED), ACL_SUCCESS);
    EXPECT_EQ(call.Plan(), ACL_SUCCESS);
    EXPECT_EQ(call.Execute(stream()), ACL_SUCCESS);
    ASSERT_EQ(aclmdlRICaptureEnd(stream(), &graph), ACL_SUCCESS);
    EXPECT_EQ(aclmdlRIExecuteAsync(graph, stream()), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(stream()), ACL_SUCCESS);
  });
  EXPECT_TRUE(call.Right());
  const auto whole = Spans(events, "graph");
  const auto parts = Spans(events, "operator");
  ASSERT_EQ(whole.size(), 1u);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0]["tid"], whole[0]["tid"]);
  EXPECT_GE(parts[0]["ts"].get<double>(), whole[0]["ts"].get<double>());
  EXPECT_EQ(parts[0]["args"]["Input Shapes"], "1000;1000;1000");
  EXPECT_EQ(aclmdlRIDestroy(graph), ACL_SUCCESS);
}

TEST_F(Profile, HasCollectives) {
  HcclRootInfo info;
  HcclComm comm = nullptr;
  ASSERT_EQ(HcclGetRootInfo(&info), HCCL_SUCCESS);
  ASSERT_EQ(HcclCommInitRootInfo(1, &info, 0, &comm), HCCL_SUCCESS);
  float send[10] = {3};
  float received[10] = {};
  const nlohmann::json events = Profiled([&] {
    EXPECT_EQ(HcclAllReduce(send, received, 10, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm, stream()),
              HCCL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(stream()), ACL_SUCCESS);
  });
  EXPECT_EQ(received[0], 3);
  const auto tasks = Spans(events, "communication");
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_EQ(tasks[0]["name"], "HcclAllReduce");
  EXPECT_EQ(tasks[0]["args"]["Count"], 10);
  EXPECT_EQ(tasks[0]["args"]["Bytes"], 40);
  EXPECT_EQ(tasks[0]["args"]["Ranks"], 1);
  EXPECT_EQ(HcclCommDestroy(comm), HCCL_SUCCESS);
}

TEST_F(Profile, RecordsNothingWhenNoneIsTaken) {
  SimpleCall call(1000);
  ASSERT_TRUE(call.Run(stream()));
  ASSERT_TRUE(call.Run(stream()));
  const long before = AllocationsMade();
  ASSERT_TRUE(call.Run(stream()));
  EXPECT_EQ(AllocationsMade(), before);
  EXPECT_FALSE(profile::IsOn());
  EXPECT_TRUE(Spans(Profiled([] {}), "operator").empty());
  // Nor afterwards.
  const long after = AllocationsMade();
  ASSERT_TRUE(call.Run(stream()));
  EXPECT_EQ(AllocationsMade(), after);
  EXPECT_FALSE(profile::IsOn());
}

TEST_F(Profile, GathersWhatStartAndStopEnclose) {
  const Folder folder;
  const Config config;
  SimpleCall call(1000);
  ASSERT_EQ(aclprofInit(folder.path().c_str(), folder.path().size()), ACL_SUCCESS);
  for (int i = 1; i <= 2; ++i) {
    EXPECT_EQ(aclprofWarmup(config), ACL_SUCCESS);
    EXPECT_TRUE(call.Run(stream()));  // not recorded
    EXPECT_EQ(aclprofStart(config), ACL_SUCCESS);
    EXPECT_TRUE(call.Run(stream()));
    EXPECT_EQ(aclprofStop(config), ACL_SUCCESS);
    EXPECT_EQ(Spans(EventsOf(TraceIn(folder)), "operator").size(), static_cast<size_t>(i));
  }
  EXPECT_EQ(aclprofFinalize(), ACL_SUCCESS);
  std::ifstream start(TraceIn(folder).substr(0, TraceIn(folder).size() - 23) + "start_info");
  const nlohmann::json info = nlohmann::json::parse(start, nullptr, false);
  ASSERT_TRUE(info.is_object());
  EXPECT_TRUE(info.contains("collectionTimeBegin") && info.contains("clockMonotonicRaw"));
}

struct Refusal {
  const char* what;
  std::function<aclError()> call;
  aclError code;
  std::vector<std::string> parts;
};

void ExpectRefused(const std::vector<Refusal>& refusals) {
  for (const Refusal& one : refusals) {
    TakeErrorMessage();
    EXPECT_EQ(one.call(), one.code) << one.what;
    const std::string message = TakeErrorMessage();
    for (const std::string& part : one.parts) EXPECT_NE(message.find(part), std::string::npos) << message;
  }
}

TEST_F(Profile, RefusesWhatIsOutOfOrder) {
  const Folder folder;
  const std::string& path = folder.path();
  const Config config;
  const Config other(1);
  ExpectRefused({
      {"start",
       [&] { return aclprofStart(config); },
       ACL_ERROR_PROF_NOT_RUN,
       {"aclprofStart", "aclprofInit first"}},
      {"warm-up", [&] { return aclprofWarmup(config); }, ACL_ERROR_PROF_NOT_RUN, {"aclprofWarmup"}},
      {"stop",
       [&] { return aclprofStop(config); },
       ACL_ERROR_PROF_NOT_RUN,
       {"aclprofStop", "aclprofStart first"}},
      {"finalize", [] { return aclprofFinalize(); }, ACL_ERROR_PROF_NOT_RUN, {"aclprofFinalize"}},
      {"null", [] { return aclprofInit(nullptr, 3); }, ACL_ERROR_INVALID_PARAM, {"profilerResultPath"}},
      {"empty",
       [&] { return aclprofInit(path.c_str(), 0); },
       ACL_ERROR_INVALID_PARAM,
       {"length", "1 to 4095"}},
      {"long",
       [&] { return aclprofInit(path.c_str(), path.size() + 9); },
       ACL_ERROR_INVALID_PARAM,
       {"length"}},
      {"nowhere",
       [] { return aclprofInit("/proc/nowhere/profile", 21); },
       ACL_ERROR_PROFILING_FAILURE,
       {"aclprofInit", "/proc/nowhere/profile", "No such file or directory"}},
      {"a file",
       [] { return aclprofInit("/proc/version", 13); },
       ACL_ERROR_PROFILING_FAILURE,
       {"/proc/version", "Not a dir"}},
  });
  ASSERT_EQ(aclprofInit(path.c_str(), path.size()), ACL_SUCCESS);
  ExpectRefused({
      {"init",
       [&] { return aclprofInit(path.c_str(), path.size()); },
       ACL_ERROR_PROF_ALREADY_RUN,
       {"aclprofFinalize first"}},
      {"null", [] { return aclprofStart(nullptr); }, ACL_ERROR_INVALID_PARAM, {"profilerConfig"}},
      {"no config",
       [] { return aclprofStart(reinterpret_cast<const aclprofConfig*>(64)); },
       ACL_ERROR_INVALID_PROFILING_CONFIG,
       {"profilerConfig", "aclprofCreateConfig"}},
  });
  ASSERT_EQ(aclprofStart(config), ACL_SUCCESS);
  ExpectRefused({
      {"start", [&] { return aclprofStart(config); }, ACL_ERROR_PROF_ALREADY_RUN, {"aclprofStop first"}},
      {"other", [&] { return aclprofStop(other); }, ACL_ERROR_INVALID_PROFILING_CONFIG, {"differs"}},
  });
  SimpleCall call(1000);
  EXPECT_TRUE(call.Run(stream()));
  EXPECT_EQ(aclprofStop(config), ACL_SUCCESS);
  ExpectRefused(
      {{"stop", [&] { return aclprofStop(config); }, ACL_ERROR_PROF_NOT_RUN, {"aclprofStart first"}}});
  EXPECT_EQ(aclprofFinalize(), ACL_SUCCESS);
  EXPECT_EQ(Spans(EventsOf(TraceIn(folder)), "operator").size(), 1u);
}

TEST_F(Profile, RefusesDevicesAndSettings) {
  uint32_t devices[] = {0, 7};
  ExpectRefused({
      {"null",
       [] { return aclprofCreateConfig(nullptr, 1, ACL_AICORE_NONE, nullptr, 0) == nullptr ? 1 : 0; },
       1,
       {"deviceIdList"}},
      {"many",
       [&] { return aclprofCreateConfig(devices, 2, ACL_AICORE_NONE, nullptr, 0) == nullptr ? 1 : 0; },
       1,
       {"deviceNums"}},
      {"seven",
       [&] { return aclprofCreateConfig(devices + 1, 1, ACL_AICORE_NONE, nullptr, 0) == nullptr ? 1 : 0; },
       1,
       {"device 7"}},
      {"destroy", [] { return aclprofDestroyConfig(nullptr); }, ACL_ERROR_INVALID_PARAM, {"profilerConfig"}},
      {"type",
       [] { return aclprofSetConfig(ACL_PROF_ARGS_MAX, "1", 1); },
       ACL_ERROR_INVALID_PARAM,
       {"configType", "1 to 16"}},
      {"text",
       [] { return aclprofSetConfig(ACL_PROF_LLC_MODE, nullptr, 1); },
       ACL_ERROR_INVALID_PARAM,
       {"config"}},
      {"step",
       [] { return aclprofGetStepTimestamp(nullptr, ACL_STEP_START, nullptr); },
       ACL_ERROR_INVALID_PARAM,
       {"stepInfo"}},
      {"features",
       [] { return aclprofGetSupportedFeatures(nullptr, nullptr); },
       ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
       {}},
  });
  EXPECT_EQ(aclprofSetConfig(ACL_PROF_SYS_HARDWARE_MEM_FREQ, "50", 2), ACL_SUCCESS);
}

TEST_F(Profile, StepsAreRanges) {
  aclprofStepInfo* const step = aclprofCreateStepInfo();
  ASSERT_NE(step, nullptr);
  const nlohmann::json events = Profiled([&] {
    EXPECT_EQ(aclprofGetStepTimestamp(step, ACL_STEP_START, stream()), ACL_SUCCESS);
    EXPECT_EQ(aclprofGetStepTimestamp(step, ACL_STEP_END, stream()), ACL_SUCCESS);
  });
  EXPECT_EQ(Spans(events, "range").size(), 1u);
  aclprofDestroyStepInfo(step);
}

TEST_F(Profile, OnAFullDiskIsRefusedAndLeavesNothingHalf) {
  const ChildResult result = InChild([&] {
    const Folder folder;
    const Config config;
    aclrtStream own = nullptr;
    SimpleCall call(1000);
    if (aclrtCreateStream(&own) != 0 || aclprofInit(folder.path().c_str(), folder.path().size()) != 0)
      return 1;
    if (aclprofStart(config) != 0 || !call.Run(own)) return 2;
    rlimit limit = {256, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
    if (aclprofStop(config) != ACL_ERROR_PROFILING_FAILURE) return 3;
    if (TakeErrorMessage().find("File too large") == std::string::npos) return 4;
    if (std::filesystem::exists(TraceIn(folder)) || std::filesystem::exists(TraceIn(folder) + ".part"))
      return 5;
    limit.rlim_cur = RLIM_INFINITY;
    setrlimit(RLIMIT_FSIZE, &limit);
    if (aclprofStart(config) != 0 || !call.Run(own) || aclprofStop(config) != 0) return 6;
    return aclprofFinalize() == 0 && Spans(EventsOf(TraceIn(folder)), "operator").size() == 2 ? 0 : 7;
  });
  EXPECT_TRUE(result.Succeeded()) << result.code << result.err;
}

TEST_F(Profile, AForkedChildIsNoPartOfIt) {
  SimpleCall call(1000);
  const nlohmann::json events = Profiled([&] {
    EXPECT_TRUE(call.Run(stream()));
    const ChildResult child = InChild([&] {
      if (profile::IsOn() || aclprofFinalize() != ACL_ERROR_PROF_NOT_RUN) return 1;
      aclrtStream own = nullptr;
      SimpleCall other(10);
      if (aclrtCreateStream(&own) != 0 || !other.Run(own)) return 2;
      // It may take its own.
      const nlohmann::json of_child = Profiled([&] { other.Run(own); });
      return Spans(of_child, "operator").size() == 1 ? 0 : 3;
    });
    EXPECT_TRUE(child.Succeeded()) << child.code << child.out << child.err;
  });
  EXPECT_EQ(Spans(events, "operator").size(), 1u);
}

TEST_F(Profile, ManyThreadsWhileOthersStartAndStop) {
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  aclrtContext context = nullptr;
  aclrtGetCurrentContext(&context);
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      aclrtSetCurrentContext(context);
      aclrtStream own = nullptr;
      EXPECT_EQ(aclrtCreateStream(&own), ACL_SUCCESS);
      SimpleCall call(100);
      while (!done) {
        EXPECT_TRUE(call.Run(own));
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
      EXPECT_EQ(aclrtDestroyStream(own), ACL_SUCCESS);
    });
  }
  for (int i = 0; i < 10; ++i) Profiled([] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
  done = true;
  for (std::thread& one : threads) one.join();
}

}  // namespace
}  // namespace portacl::testing
