// Comes before the sources of the library without the checks' hooks (check_costs.cc): to these, no program is ever checked.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#define IsOn IsOnAsBuilt
#include "check/settings.h"
#undef IsOn

namespace portacl::sanitizer {
constexpr bool IsOn(uint32_t = 0) noexcept { return false; }
}  // namespace portacl::sanitizer

#define KeepsCalls KeepsCallsAsBuilt
#include "check/calls.h"
#undef KeepsCalls

namespace portacl::sanitizer {
constexpr bool KeepsCalls() noexcept { return false; }
}  // namespace portacl::sanitizer
