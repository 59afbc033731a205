// The profiler of programs (acl/acl_prof.h), and the reports of parts of a program to it
// (profiling/aprof_pub.h).
// SPDX-License-Identifier: Apache-2.0
#include "acl/acl_prof.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <vector>

#include "acl/device/memory_account.h"
#include "acl/settings/configuration.h"
#include "base/errors.h"
#include "base/process/cancellation.h"
#include "base/process/fork.h"
#include "base/process/no_destructor.h"
#include "profile/recorder.h"
#include "profile/trace.h"
#include "profiling/aprof_pub.h"

using namespace portacl;

struct aclprofConfig {
  std::vector<uint32_t> devices;
  aclprofAicoreMetrics metrics = ACL_AICORE_NONE;
  uint64_t data_types = 0;

  bool operator==(const aclprofConfig&) const = default;
};

struct aclprofStepInfo {
  uint64_t begin = 0;
  uint32_t thread = 0;
};

namespace portacl {
namespace {

struct Session {
  std::mutex mutex;
  bool is_ready = false;  // between aclprofInit and aclprofFinalize
  bool is_started = false;
  std::string folder;    // of aclprofInit
  std::string results;   // PROF_... in `folder`, from the first aclprofStart on
  aclprofConfig config;  // of aclprofStart
  int64_t wall = 0;      // begin of the results since 1970, and by profile::Now
  uint64_t monotonic = 0;
  uint32_t count = 0;  // of results in this process
  std::vector<profile::Event> events;
  std::set<const void*> configs;  // living configurations, and steps
};

void AfterFork();

Session& TheSession() noexcept {
  static NoDestructor<Session> session;
  static const bool noticed = CallInForkedChild(AfterFork);
  (void)noticed;
  return *session;
}

// Forgets the profile in a forked child; it belongs to the parent.
void AfterFork() { new (&TheSession()) Session; }

const char* Reason(int error) noexcept {
  const char* const name = strerrordesc_np(error);
  return name == nullptr ? "unknown error" : name;
}

aclError FailOutput(const char* api, std::string_view path, int error) noexcept {
  return Fail(ACL_ERROR_PROFILING_FAILURE, MessageClass::kAclInner,
              Text(api, ": the profile cannot be written to ", path, " (", Reason(error),
                   "), accepted: a folder in which there is room for files."));
}

aclError FailState(const char* api, aclError status, std::string_view is,
                   std::string_view expected) noexcept {
  return Fail(status, MessageClass::kAclInner, Text(api, ": ", is, ", expected: ", expected, "."));
}

aclError FailNoMemory(const char* api) noexcept {
  return Fail(ACL_ERROR_BAD_ALLOC, MessageClass::kAclInner,
              Text(api, ": not enough memory for the profile."));
}

// Returns 0 or errno.
int MakeFolder(const std::string& path) noexcept {
  return mkdir(path.c_str(), 0750) == 0 || errno == EEXIST ? 0 : errno;
}

int WriteWhole(const std::string& path, std::string_view text) {
  profile::WholeFile file(path, path + ".part");
  file.Write(text);
  return file.Finish();
}

void RemoveResults(const Session& session) noexcept {
  try {
    for (const uint32_t device : session.config.devices)
      rmdir((session.results + "/device_" + std::to_string(device)).c_str());
    unlink((session.results + "/host/start_info").c_str());
    for (const char* one : {"/host/data", "/host", ""}) rmdir((session.results + one).c_str());
  } catch (...) {
    // empty folders stay
  }
}

// Makes PROF_000001_20260102030405006_AAAAAAAA with the files that clients look for. Returns 0 or errno, and
// then leaves nothing behind.
int MakeResults(Session& session) {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  tm local = {};
  localtime_r(&now.tv_sec, &local);
  char name[80];
  std::snprintf(name, sizeof name, "/PROF_%06u_%04d%02d%02d%02d%02d%02d%03ld_P%07dA",
                ++session.count % 1000000, local.tm_year + 1900, local.tm_mon + 1, local.tm_mday,
                local.tm_hour, local.tm_min, local.tm_sec, now.tv_nsec / 1000000, static_cast<int>(getpid()));
  session.results = session.folder + name;
  if (mkdir(session.results.c_str(), 0750) != 0) {
    const int error = errno;
    session.results.clear();
    return error;
  }
  int error = MakeFolder(session.results + "/host");
  if (error == 0) error = MakeFolder(session.results + "/host/data");
  for (const uint32_t device : session.config.devices) {
    if (error == 0) error = MakeFolder(session.results + "/device_" + std::to_string(device));
  }
  session.monotonic = profile::Now();
  session.wall = profile::SinceEpoch() + static_cast<int64_t>(session.monotonic);
  if (error == 0) {
    error = WriteWhole(session.results + "/host/start_info",
                       "{\"collectionTimeBegin\": \"" + std::to_string(session.wall / 1000) +
                           "\", \"clockMonotonicRaw\": \"" + std::to_string(session.monotonic) + "\"}\n");
  }
  if (error != 0) {
    RemoveResults(session);
    session.results.clear();
  }
  return error;
}

// Ends recording and writes all results. A failure keeps those of earlier stops.
aclError StopLocked(const char* api, Session& session) {
  const CancellationDeferred deferred;
  session.is_started = false;
  profile::Stop(profile::User::kAclprof);
  try {
    const std::vector<profile::Event> more = profile::Take(profile::User::kAclprof);
    session.events.insert(session.events.end(), more.begin(), more.end());
    profile::Release(profile::User::kAclprof);
    const std::string path = session.results + "/host/data/portacl_trace.json";
    profile::WholeFile file(path, path + ".part");
    profile::WriteTrace(session.events, file);
    if (const int error = file.Finish()) return FailOutput(api, path, error);
    return ACL_SUCCESS;
  } catch (const std::bad_alloc&) {
    profile::Release(profile::User::kAclprof);
    return FailNoMemory(api);
  }
}

aclError CheckConfig(const char* api, const aclprofConfig* config, Session& session) noexcept {
  if (config == nullptr) return FailNullPointer(api, "profilerConfig", "one of aclprofCreateConfig");
  if (session.configs.count(config) > 0) return ACL_SUCCESS;
  return Fail(ACL_ERROR_INVALID_PROFILING_CONFIG, MessageClass::kAclValue,
              Text(api, ": parameter profilerConfig has the value ", static_cast<const void*>(config),
                   ", accepted: one of aclprofCreateConfig that was not destroyed."));
}

}  // namespace
}  // namespace portacl

aclError aclprofInit(const char* profilerResultPath, size_t length) {
  const char* const api = "aclprofInit";
  if (profilerResultPath == nullptr)
    return FailNullPointer(api, "profilerResultPath", "the path of a folder");
  if (length == 0 || strnlen(profilerResultPath, length) != length || length >= 4096) {
    return Fail(ACL_ERROR_INVALID_PARAM, MessageClass::kAclValue,
                Text(api, ": parameter length has the value ", length,
                     ", accepted: the length of profilerResultPath, which is 1 to 4095."));
  }
  Session& session = TheSession();
  std::lock_guard lock(session.mutex);
  if (session.is_ready)
    return FailState(api, ACL_ERROR_PROF_ALREADY_RUN, "it was called already", "aclprofFinalize first");
  try {
    session.folder.assign(profilerResultPath, length);
    if (const int error = MakeFolder(session.folder)) return FailOutput(api, session.folder, error);
    struct stat file_status = {};
    if (stat(session.folder.c_str(), &file_status) != 0) return FailOutput(api, session.folder, errno);
    if (!S_ISDIR(file_status.st_mode)) return FailOutput(api, session.folder, ENOTDIR);
    if (access(session.folder.c_str(), W_OK | X_OK) != 0) return FailOutput(api, session.folder, errno);
    if (const int error = profile::MakeAbsolute(session.folder))
      return FailOutput(api, session.folder, error);
  } catch (const std::bad_alloc&) {
    return FailNoMemory(api);
  }
  session.is_ready = true;
  return ACL_SUCCESS;
}

aclError aclprofWarmup(const aclprofConfig* profilerConfig) {
  const char* const api = "aclprofWarmup";
  Session& session = TheSession();
  std::lock_guard lock(session.mutex);
  if (aclError status = CheckConfig(api, profilerConfig, session)) return status;
  if (!session.is_ready)
    return FailState(api, ACL_ERROR_PROF_NOT_RUN, "no profile is prepared", "aclprofInit first");
  return ACL_SUCCESS;
}

aclError aclprofStart(const aclprofConfig* profilerConfig) {
  const char* const api = "aclprofStart";
  Session& session = TheSession();
  std::lock_guard lock(session.mutex);
  if (aclError status = CheckConfig(api, profilerConfig, session)) return status;
  if (!session.is_ready)
    return FailState(api, ACL_ERROR_PROF_NOT_RUN, "no profile is prepared", "aclprofInit first");
  if (session.is_started)
    return FailState(api, ACL_ERROR_PROF_ALREADY_RUN, "a profile is taken already", "aclprofStop first");
  try {
    session.config = *profilerConfig;
    if (session.results.empty()) {
      if (const int error = MakeResults(session)) return FailOutput(api, session.folder, error);
    }
  } catch (const std::bad_alloc&) {
    return FailNoMemory(api);
  }
  session.is_started = true;
  profile::Start(profile::User::kAclprof);
  for (const uint32_t device : session.config.devices) RecordDeviceMemory(static_cast<int32_t>(device));
  return ACL_SUCCESS;
}

aclError aclprofStop(const aclprofConfig* profilerConfig) {
  const char* const api = "aclprofStop";
  Session& session = TheSession();
  std::lock_guard lock(session.mutex);
  if (aclError status = CheckConfig(api, profilerConfig, session)) return status;
  if (!session.is_started)
    return FailState(api, ACL_ERROR_PROF_NOT_RUN, "no profile is taken", "aclprofStart first");
  if (*profilerConfig != session.config) {
    return Fail(
        ACL_ERROR_INVALID_PROFILING_CONFIG, MessageClass::kAclValue,
        Text(api, ": parameter profilerConfig differs from that of aclprofStart, accepted: the same."));
  }
  return StopLocked(api, session);
}

aclError aclprofFinalize(void) {
  const char* const api = "aclprofFinalize";
  Session& session = TheSession();
  std::lock_guard lock(session.mutex);
  if (!session.is_ready)
    return FailState(api, ACL_ERROR_PROF_NOT_RUN, "no profile is prepared", "aclprofInit first");
  const aclError status = session.is_started ? StopLocked(api, session) : ACL_SUCCESS;
  session.is_ready = false;
  session.results.clear();
  std::vector<profile::Event>().swap(session.events);
  return status;
}

aclprofConfig* aclprofCreateConfig(uint32_t* deviceIdList, uint32_t deviceNums,
                                   aclprofAicoreMetrics aicoreMetrics, const aclprofAicoreEvents*,
                                   uint64_t dataTypeConfig) {
  const char* const api = "aclprofCreateConfig";
  if (deviceIdList == nullptr && deviceNums > 0) {
    FailNullPointer(api, "deviceIdList", "the numbers of devices");
    return nullptr;
  }
  const int devices = CurrentConfiguration().device_count();
  if (deviceNums > static_cast<uint32_t>(devices)) {
    Fail(ACL_ERROR_INVALID_PARAM, MessageClass::kAclValue,
         Text(api, ": parameter deviceNums has the value ", deviceNums, ", accepted: 0 to ", devices, "."));
    return nullptr;
  }
  for (uint32_t i = 0; i < deviceNums; ++i) {
    if (deviceIdList[i] < static_cast<uint32_t>(devices)) continue;
    Fail(ACL_ERROR_INVALID_PARAM, MessageClass::kAclValue,
         Text(api, ": parameter deviceIdList names device ", deviceIdList[i], ", accepted: 0 to ",
              devices - 1, "."));
    return nullptr;
  }
  try {
    auto config = std::make_unique<aclprofConfig>();
    config->devices.assign(deviceIdList, deviceIdList + deviceNums);
    config->metrics = aicoreMetrics;
    config->data_types = dataTypeConfig;
    Session& session = TheSession();
    std::lock_guard lock(session.mutex);
    session.configs.insert(config.get());
    return config.release();
  } catch (const std::bad_alloc&) {
    FailNoMemory(api);
    return nullptr;
  }
}

aclError aclprofDestroyConfig(const aclprofConfig* profilerConfig) {
  Session& session = TheSession();
  std::lock_guard lock(session.mutex);
  if (aclError status = CheckConfig("aclprofDestroyConfig", profilerConfig, session)) return status;
  session.configs.erase(profilerConfig);
  delete profilerConfig;
  return ACL_SUCCESS;
}

aclError aclprofSetConfig(aclprofConfigType configType, const char* config, size_t configLength) {
  const char* const api = "aclprofSetConfig";
  if (config == nullptr) return FailNullPointer(api, "config", "the text of a setting");
  if (configType <= ACL_PROF_ARGS_MIN || configType >= ACL_PROF_ARGS_MAX) {
    return FailValue(api, "configType", static_cast<int>(configType), "1 to 16", ACL_ERROR_INVALID_PARAM);
  }
  if (configLength == 0 || strnlen(config, configLength) != configLength) {
    return Fail(ACL_ERROR_INVALID_PARAM, MessageClass::kAclValue,
                Text(api, ": parameter configLength has the value ", configLength,
                     ", accepted: the length of config, which is not empty."));
  }
  return ACL_SUCCESS;
}

aclprofStepInfo* aclprofCreateStepInfo(void) {
  try {
    auto step = std::make_unique<aclprofStepInfo>();
    Session& session = TheSession();
    std::lock_guard lock(session.mutex);
    session.configs.insert(step.get());
    return step.release();
  } catch (const std::bad_alloc&) {
    FailNoMemory("aclprofCreateStepInfo");
    return nullptr;
  }
}

void aclprofDestroyStepInfo(aclprofStepInfo* stepinfo) {
  Session& session = TheSession();
  std::lock_guard lock(session.mutex);
  if (session.configs.erase(stepinfo) > 0) delete stepinfo;
}

aclError aclprofGetStepTimestamp(aclprofStepInfo* stepInfo, aclprofStepTag tag, aclrtStream) {
  const char* const api = "aclprofGetStepTimestamp";
  if (stepInfo == nullptr) return FailNullPointer(api, "stepInfo", "one of aclprofCreateStepInfo");
  if (tag != ACL_STEP_START && tag != ACL_STEP_END) {
    return FailValue(api, "tag", static_cast<int>(tag), "0 (ACL_STEP_START) or 1 (ACL_STEP_END)",
                     ACL_ERROR_INVALID_PARAM);
  }
  if (tag == ACL_STEP_START) {
    stepInfo->begin = profile::Now();
    stepInfo->thread = profile::ThreadNumber();
  } else if (profile::IsOn() && stepInfo->begin != 0) {
    profile::Range("step", stepInfo->begin, stepInfo->thread);
  }
  return ACL_SUCCESS;
}

aclError aclprofMarkEx(const char* msg, size_t msgLen, aclrtStream) {
  if (msg == nullptr) return FailNullPointer("aclprofMarkEx", "msg", "a text");
  if (profile::IsOn()) profile::Mark({msg, strnlen(msg, msgLen)});
  return ACL_SUCCESS;
}

aclError aclprofGetSupportedFeatures(size_t*, void**) {
  return FailUnsupported("aclprofGetSupportedFeatures", "there are no counters of a device to tell of");
}

aclError aclprofGetSupportedFeaturesV2(size_t*, void**) {
  return FailUnsupported("aclprofGetSupportedFeaturesV2", "there are no counters of a device to tell of");
}

aclError aclprofRegisterDeviceCallback(void) { return ACL_SUCCESS; }

// Parts of a program report only what the runtime records itself, so that nothing is registered.

int32_t MsprofRegisterCallback(uint32_t, ProfCommandHandle handle) {
  if (handle == nullptr) return FailNullPointer("MsprofRegisterCallback", "handle", "a function");
  return MSPROF_ERROR_NONE;
}

int32_t MsprofReportApi(uint32_t, const MsprofApi*) { return MSPROF_ERROR_NONE; }

int32_t MsprofReportCompactInfo(uint32_t, const VOID_PTR, uint32_t) { return MSPROF_ERROR_NONE; }

int32_t MsprofReportAdditionalInfo(uint32_t, const VOID_PTR, uint32_t) { return MSPROF_ERROR_NONE; }

uint64_t MsprofGetHashId(const char* hashInfo, size_t length) {
  if (hashInfo == nullptr) return 0;
  uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a, 64 bits
  for (size_t i = 0; i < length; ++i) {
    hash = (hash ^ static_cast<unsigned char>(hashInfo[i])) * 0x100000001b3u;
  }
  return hash;
}

uint64_t MsprofSysCycleTime(void) { return profile::Now(); }
