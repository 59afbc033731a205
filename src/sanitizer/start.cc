// Reads the environment and turns the checks on (see start.h).
// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/start.h"

#include <cstdlib>
#include <mutex>

#include "base/sanitizer_hooks.h"
#include "sanitizer/device_memory.h"
#include "sanitizer/hooks.h"
#include "sanitizer/report.h"
#include "sanitizer/settings.h"

namespace portacl::sanitizer {
namespace {

const char* refused = nullptr;

void ReadEnvironment() noexcept {
  const char* const text = std::getenv("PORTACL_CHECK");
  Settings settings;
  if (text == nullptr || text[0] == '\0') return;
  if (!ParseSettings(text, &settings)) {
    refused = text;
    return;
  }
  if (settings.parts == 0) return;
  StartReports(settings.stops);
  if ((settings.parts & (kMemory | kInit)) != 0) StartDeviceMemory((settings.parts & kMemory) != 0);
  PutInForce(settings);
}

// When the library is loaded: the runtime, which knows of no checks, then starts them.
[[maybe_unused]] const bool is_registered = (RegisterStart(&Start), true);

}  // namespace

const char* Start() noexcept {
  static std::once_flag once;
  std::call_once(once, ReadEnvironment);
  return refused;
}

}  // namespace portacl::sanitizer
