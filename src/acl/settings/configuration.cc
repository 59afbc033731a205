// Reads and keeps the configuration (see configuration.h).
// SPDX-License-Identifier: Apache-2.0
#include "acl/settings/configuration.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "acl/settings/cgroup.h"
#include "acl/settings/configuration_file.h"
#include "acl/settings/host_memory.h"
#include "base/errors.h"
#include "base/float_environment.h"
#include "base/process/fork.h"
#include "base/process/no_destructor.h"
#include "base/process/unwinding.h"
#include "base/sanitizer_hooks.h"
#include "profile/to_file.h"
#include "record/recording_settings.h"

namespace portacl {

constinit std::atomic<const Configuration*> configuration::in_force{nullptr};

namespace {

constexpr int kMaxThreads = 4096;

struct State {
  std::mutex mutex;
  aclError implicit_status = ACL_SUCCESS;
  // Every configuration that was ever in force. They are kept, because callers hold references and names.
  std::vector<std::unique_ptr<const Configuration>> all;
};

State& TheState() {
  static NoDestructor<State> state;
  static const bool guarded = GuardAcrossFork(state->mutex, ForkRank::kConfiguration);
  (void)guarded;
  return *state;
}

aclError BadVariable(const char* name, const char* value, const Text& accepted) {
  return Fail(
      ACL_ERROR_INVALID_PARAM, MessageClass::kConfiguration,
      Text("Environment variable ", name, " has the value [", value, "], accepted: ", accepted.view(), "."));
}

// Counts the CPUs that the scheduler lets this process use.
int AffinityCount() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1L, sysconf(_SC_NPROCESSORS_ONLN));
}

int DefaultThreadCount() {
  const int affinity = AffinityCount();
  const int quota = CgroupCpus(kMaxThreads);
  return quota > 0 ? std::min(affinity, quota) : affinity;
}

aclError ReadSoc(Configuration& configuration) {
  const char* name = std::getenv("PORTACL_SOC");
  if (name == nullptr || name[0] == '\0') name = kDefaultSocName.data();
  configuration.soc = FindSocProfile(name);
  if (configuration.soc == nullptr || std::strlen(name) >= sizeof configuration.soc_name) {
    Text known;
    for (const SocProfile& profile : SocProfiles()) {
      for (const char* one : profile.names) known.Add(known.view().empty() ? "" : ", ").Add(one);
      for (const char* one : profile.prefixes) known.Add(known.view().empty() ? "" : ", ").Add(one).Add("*");
    }
    return BadVariable("PORTACL_SOC", name, known);
  }
  std::strcpy(configuration.soc_name, name);
  return ACL_SUCCESS;
}

aclError ReadIsa(Configuration& configuration) {
  constexpr TermPairs kAllPairs[] = {TermPairs::kDot, TermPairs::kAmx};
  const std::span<const Isa> supported = SupportedIsas();
  configuration.isa = supported.back();
  const char* name = std::getenv("PORTACL_ISA");
  if (name == nullptr || name[0] == '\0') {
    for (const TermPairs pairs : kAllPairs) {
      if (MachineHas(pairs)) configuration.pairs = pairs;
    }
    return ACL_SUCCESS;
  }
  const std::optional<Isa> isa = IsaFromName(name);
  const std::optional<TermPairs> pairs = TermPairsFromName(name);
  if (pairs.has_value() && MachineHas(*pairs)) {
    configuration.pairs = *pairs;
    return ACL_SUCCESS;
  }
  if (!isa.has_value() || std::find(supported.begin(), supported.end(), *isa) == supported.end()) {
    Text known;
    for (Isa one : supported) known.Add(known.view().empty() ? "" : ", ").Add(IsaName(one));
    for (const TermPairs one : kAllPairs) {
      if (MachineHas(one)) known.Add(", ").Add(TermPairsName(one));
    }
    if (isa.has_value() || pairs.has_value())
      known.Add(" (this machine or build cannot run ").Add(name).Add(")");
    return BadVariable("PORTACL_ISA", name, known);
  }
  configuration.isa = *isa;
  return ACL_SUCCESS;
}

aclError ReadIndexErrors(Configuration& configuration) {
  const char* value = std::getenv("PORTACL_INDEX_ERRORS");
  if (value == nullptr || value[0] == '\0' || std::strcmp(value, "raise") == 0) return ACL_SUCCESS;
  if (std::strcmp(value, "ignore") != 0)
    return BadVariable("PORTACL_INDEX_ERRORS", value, Text("raise or ignore"));
  configuration.index_errors_raise = false;
  return ACL_SUCCESS;
}

aclError ReadCount(const char* variable, int most, int& value) {
  const char* text = std::getenv(variable);
  if (text == nullptr || text[0] == '\0') return ACL_SUCCESS;
  const char* end = text + std::strlen(text);
  int parsed = 0;
  const auto result = std::from_chars(text, end, parsed);
  if (result.ec != std::errc() || result.ptr != end || parsed < 1 || parsed > most) {
    return BadVariable(variable, text, Text("an integer from 1 to ", most));
  }
  value = parsed;
  return ACL_SUCCESS;
}

// Reads a number of bytes, or of units of 1024 of them: "512M", "16G".
aclError ReadDeviceMemory(int devices, Configuration& configuration) {
  constexpr char kVariable[] = "PORTACL_DEVICE_MEMORY";
  const char* text = std::getenv(kVariable);
  if (text == nullptr || text[0] == '\0') {
    size_t memory = ReadHostMemory().total;
    if (const size_t limit = CgroupMemory(); limit > 0 && (memory == 0 || limit < memory)) memory = limit;
    configuration.device_memory = memory / 2 / static_cast<size_t>(devices);
    return ACL_SUCCESS;
  }
  const char* end = text + std::strlen(text);
  size_t bytes = 0;
  const auto [rest, error] = std::from_chars(text, end, bytes);
  constexpr std::string_view kUnits = "KMGT";
  const size_t unit = rest == end ? 0 : kUnits.find(*rest) + 1;  // npos + 1 is 0, too
  const bool is_whole = rest == end || (unit > 0 && rest + 1 == end);
  if (error != std::errc() || !is_whole || bytes == 0 || bytes > SIZE_MAX >> (10 * unit)) {
    return BadVariable(kVariable, text,
                       Text("a number of bytes above 0, with K, M, G or T behind it for units of 1024"));
  }
  configuration.device_memory = bytes << (10 * unit);
  configuration.limits_device_memory = true;
  return ACL_SUCCESS;
}

// A list such as "0,2,3" selects and renumbers devices. As in CANN it ends at the first entry that is no
// device or not greater than its predecessor, so that a list beginning with one leaves no device.
aclError ReadDevices(Configuration& configuration) {
  int count = 1;
  if (aclError status = ReadCount("PORTACL_DEVICE_COUNT", kMostDevices, count)) return status;
  if (aclError status = ReadDeviceMemory(count, configuration)) return status;
  std::vector<int>& visible = configuration.visible_devices;
  visible.clear();
  const char* list = std::getenv("ASCEND_RT_VISIBLE_DEVICES");
  if (list == nullptr || list[0] == '\0') {
    for (int device = 0; device < count; ++device) visible.push_back(device);
    return ACL_SUCCESS;
  }
  const char* const end = list + std::strlen(list);
  for (const char* at = list; at < end; ++at) {
    int device = -1;
    const auto parsed = std::from_chars(at, end, device);
    if (parsed.ec != std::errc() || (parsed.ptr != end && *parsed.ptr != ',')) break;
    if (device < 0 || device >= count || (!visible.empty() && device <= visible.back())) break;
    visible.push_back(device);
    at = parsed.ptr;
  }
  return ACL_SUCCESS;
}

aclError ReadEnvironment(Configuration& configuration) {
  configuration.num_threads = DefaultThreadCount();
  if (aclError status = ReadSoc(configuration)) return status;
  if (aclError status = ReadIsa(configuration)) return status;
  if (aclError status = ReadCount("PORTACL_NUM_THREADS", kMaxThreads, configuration.num_threads))
    return status;
  if (aclError status = ReadDevices(configuration)) return status;
  const char* blocking = std::getenv("ASCEND_LAUNCH_BLOCKING");
  configuration.launch_blocking = blocking != nullptr && std::strcmp(blocking, "1") == 0;
  if (aclError status = ReadIndexErrors(configuration)) return status;
  const char* add_v3 = std::getenv("PORTACL_ADD_V3");
  configuration.add_v3_is_wide = add_v3 != nullptr && std::strcmp(add_v3, "all") == 0;
  if (const char* refused = sanitizer::StartChecks()) {
    return BadVariable("PORTACL_CHECK", refused, Text(sanitizer::kAcceptedSettings));
  }
  Text value;
  Text accepted;
  if (!profile::StartFile(&value, &accepted)) return BadVariable("PORTACL_PROFILE", value.c_str(), accepted);
  if (const record::RefusedVariable refused = record::StartRecording(); refused.name != nullptr) {
    return BadVariable(refused.name, refused.value, Text(refused.accepted));
  }
  configuration.log = LogConfigurationFromEnvironment();
  return ACL_SUCCESS;
}

aclError BadKey(const char* path, const char* key, const std::string& value, const char* accepted) {
  return Fail(ACL_ERROR_INVALID_PARAM, MessageClass::kConfiguration,
              Text("Configuration file ", path, ": key ", key, " has the value ", value,
                   ", accepted: ", accepted, "."));
}

// A number may be written as a JSON number or as a string of digits.
bool AsInteger(const std::string& text, int& number) {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  return result.ec == std::errc() && result.ptr == text.data() + text.size();
}

// Returns the meaning of errno, untranslated whatever the program's locale.
const char* ErrorName(int error) {
  const char* name = strerrordesc_np(error);
  return name == nullptr ? "unknown error" : name;
}

aclError ApplyFile(const char* path, Configuration& configuration) {
  std::string content;
  if (!ReadFile(path, content)) return FailUnreadableFile(path);
  ConfigurationFile file;
  if (!ParseConfigurationFile(content, file)) {
    return Fail(ACL_ERROR_INVALID_PARAM, MessageClass::kConfiguration,
                Text("aclInit: the configuration file [", path, "] is not a JSON object."));
  }
  int number = -1;
  if (file.err_msg_mode.has_value()) {
    if (!AsInteger(*file.err_msg_mode, number) || number < 0 || number > 1) {
      return BadKey(path, "err_msg_mode", *file.err_msg_mode, "\"0\" (per thread) or \"1\" (per process)");
    }
    configuration.process_wide_messages = number == 1;
  }
  if (file.has_default_device_object) {
    const std::string device = file.default_device.value_or("[absent]");
    if (!AsInteger(device, number) || number < 0 || number >= configuration.device_count()) {
      return BadKey(path, "defaultDevice.default_device", device, "the number of an existing device");
    }
    configuration.default_device = number;
  }
  return ACL_SUCCESS;
}

void PutInForce(State& state, const Configuration& configuration) {
  const Configuration* kept = nullptr;
  for (const auto& one : state.all) {
    if (*one == configuration) kept = one.get();
  }
  if (kept == nullptr) {
    state.all.push_back(std::make_unique<const Configuration>(configuration));
    kept = state.all.back().get();
  }
  SetLogConfiguration(kept->log);
  SetProcessWideMessages(kept->process_wide_messages);
  configuration::in_force.store(kept, std::memory_order_release);
}

}  // namespace

aclError FailUnreadableFile(const char* path) noexcept {
  return Fail(ACL_ERROR_INVALID_FILE, MessageClass::kConfiguration,
              Text("aclInit: the configuration file [", path, "] given as configPath cannot be read: ",
                   ErrorName(errno), ". Accepted: a readable JSON file, or a null pointer."));
}

aclError LoadConfiguration(const char* config_path) noexcept {
  const DefaultFloatEnvironment environment;  // reading numbers sets floating-point flags
  EnsureUnwinding();                          // every program comes here, even without aclInit
  try {
    Configuration configuration;
    if (aclError status = ReadEnvironment(configuration)) return status;
    if (config_path != nullptr) {
      if (aclError status = ApplyFile(config_path, configuration)) return status;
    }
    State& state = TheState();
    std::lock_guard lock(state.mutex);
    PutInForce(state, configuration);
    state.implicit_status = ACL_SUCCESS;
    return ACL_SUCCESS;
  } catch (const std::exception&) {
    return Fail(ACL_ERROR_BAD_ALLOC, MessageClass::kAclInner,
                Text("aclInit: not enough memory to read the configuration."));
  }
}

const Configuration& CurrentConfiguration(aclError* status) noexcept {
  State& state = TheState();
  const Configuration* current = configuration::in_force.load(std::memory_order_acquire);
  if (current == nullptr) {
    const aclError loaded = LoadConfiguration(nullptr);
    std::lock_guard lock(state.mutex);
    current = configuration::in_force.load(std::memory_order_acquire);
    if (current == nullptr) {
      static const Configuration* const fallback = [] {
        static NoDestructor<Configuration> configuration;
        configuration->soc = FindSocProfile(kDefaultSocName);
        std::strcpy(configuration->soc_name, kDefaultSocName.data());
        configuration->isa = SupportedIsas().back();
        configuration->num_threads = 1;
        configuration->device_memory = ReadHostMemory().total / 2;
        return &*configuration;
      }();
      state.implicit_status = loaded;
      configuration::in_force.store(fallback, std::memory_order_release);
      current = fallback;
    }
  }
  if (status != nullptr) {
    std::lock_guard lock(state.mutex);
    *status = state.implicit_status;
  }
  return *current;
}

void ForgetConfiguration() noexcept {
  State& state = TheState();
  std::lock_guard lock(state.mutex);
  configuration::in_force.store(nullptr, std::memory_order_release);
  state.implicit_status = ACL_SUCCESS;
}

}  // namespace portacl
