// Comes before the sources of the library without the hooks of checks and profiles (check_costs.cc): to these, no program is ever
// checked, and no profile taken.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#define IsOn IsOnAsBuilt
#define KeepsCalls KeepsCallsAsBuilt
#include "base/checked_parts.h"
#undef KeepsCalls
#undef IsOn

namespace portacl::sanitizer {
constexpr bool IsOn(uint32_t = 0) noexcept { return false; }
constexpr bool KeepsCalls() noexcept { return false; }
}  // namespace portacl::sanitizer

#define IsOn IsOnAsBuilt
#define Call CallAsBuilt
#define Part PartAsBuilt
#include "profile/recorder.h"
#undef Part
#undef Call
#undef IsOn

namespace portacl::profile {
constexpr bool IsOn() noexcept { return false; }
struct Call {
  explicit Call(const char*) noexcept {}
  void Describe(const std::string*) noexcept {}
  const std::string* arguments() const noexcept { return nullptr; }
};
struct Part {
  Part(const char*, int32_t, int32_t, const std::string*) noexcept {}
};
}  // namespace portacl::profile
