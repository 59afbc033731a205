// The configuration in force. Each aclInit that initialises reads it from the environment and from its JSON
// file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "acl/acl_base.h"
#include "acl/settings/soc_profile.h"
#include "base/isa.h"
#include "base/log.h"
#include "base/term_pairs.h"

namespace portacl {

// The upper limit of PORTACL_DEVICE_COUNT.
inline constexpr int kMostDevices = 1024;

struct Configuration {
  const SocProfile* soc = nullptr;
  char soc_name[64] = {};
  Isa isa = Isa::kPortable;
  TermPairs pairs = TermPairs::kNone;  // the best that may be used
  int num_threads = 1;
  // The numbers of the devices that the program sees as 0, 1, 2, ...: all of PORTACL_DEVICE_COUNT, or those
  // that ASCEND_RT_VISIBLE_DEVICES names.
  std::vector<int> visible_devices{0};
  // The bytes of each device. PORTACL_DEVICE_MEMORY sets it, which then is also a limit. Otherwise it is half
  // of the memory that the machine and the cgroup allow this process, divided by PORTACL_DEVICE_COUNT.
  size_t device_memory = 0;
  bool limits_device_memory = false;
  int default_device = -1;  // from the JSON file; -1: none
  bool launch_blocking = false;
  bool index_errors_raise = true;  // a bad index fails the stream
  bool add_v3_is_wide = false;     // aclnnAddV3 takes the dtypes of aclnnAdds
  bool process_wide_messages = false;
  LogConfiguration log;

  int device_count() const noexcept { return static_cast<int>(visible_devices.size()); }

  bool operator==(const Configuration&) const = default;
};

// Reads the environment and, if config_path is not null, the JSON file. On success puts the configuration in
// force and returns 0. Otherwise returns 100003 (the file cannot be read) or 100000 (a value is not
// accepted), and reports a message that names the variable or key, the value and what is accepted. The
// configuration in force is then unchanged.
aclError LoadConfiguration(const char* config_path) noexcept;

// Reports that the JSON file cannot be read, with the reason in errno, and returns 100003.
aclError FailUnreadableFile(const char* path) noexcept;

// Returns the configuration in force. A program that never calls aclInit gets the environment's at its first
// call. If the environment itself is not acceptable, the default is in force, and *status (if given) says
// why. Objects live for the whole process, so that the reference stays valid after a later aclInit.
const Configuration& CurrentConfiguration(aclError* status) noexcept;

namespace configuration {
extern std::atomic<const Configuration*> in_force;  // nullptr until the first query
}  // namespace configuration

inline const Configuration& CurrentConfiguration() noexcept {
  const Configuration* const current = configuration::in_force.load(std::memory_order_acquire);
  return current != nullptr ? *current : CurrentConfiguration(nullptr);
}

// Called after aclFinalize: the next call that needs a configuration reads the environment again.
void ForgetConfiguration() noexcept;

}  // namespace portacl
