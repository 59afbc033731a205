// The settings of checks for errors that only an NPU would not forgive: PORTACL_CHECK.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "base/checked_parts.h"

namespace portacl::sanitizer {

struct Settings {
  uint32_t parts = 0;
  bool stops = false;  // at the first finding; else they are collected
};

// Parses 1, report, 0 and names of parts, separated by commas. Returns false for anything else.
bool ParseSettings(std::string_view text, Settings* settings) noexcept;

// Tells whether the first finding ends the program.
void SetStopsAtFirst(bool stops) noexcept;
bool StopsAtFirst() noexcept;

// Returns memory, sync and so on.
const char* NameOf(Part part) noexcept;

}  // namespace portacl::sanitizer
