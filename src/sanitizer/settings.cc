// Reads the settings of checks (see settings.h).
// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/settings.h"

namespace portacl::sanitizer {

namespace {

constexpr struct {
  Part part;
  const char* name;
} kNames[] = {
    {kMemory, "memory"}, {kSync, "sync"}, {kInit, "init"}, {kHandles, "handles"}, {kProduct, "product"}};

bool stops_at_first = false;

}  // namespace

bool ParseSettings(std::string_view text, Settings* settings) noexcept {
  *settings = {};
  bool is_off = false;
  bool is_said = false;
  while (true) {
    const size_t end = text.find(',');
    const std::string_view word = text.substr(0, end);
    if (word == "0" || word == "1" || word == "report") {
      if (is_said) return false;
      is_said = true;
      is_off = word == "0";
      settings->stops = word == "1";
    } else {
      uint32_t part = 0;
      for (const auto& one : kNames) {
        if (word == one.name) part = one.part;
      }
      if (part == 0) return false;
      settings->parts |= part;
    }
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  if (!is_said) settings->stops = true;
  if (settings->parts == 0) settings->parts = kAllParts;
  if (is_off) *settings = {};
  return true;
}

void SetStopsAtFirst(bool stops) noexcept { stops_at_first = stops; }

bool StopsAtFirst() noexcept { return stops_at_first; }

const char* NameOf(Part part) noexcept {
  for (const auto& one : kNames) {
    if (part == one.part) return one.name;
  }
  return "";
}

}  // namespace portacl::sanitizer
