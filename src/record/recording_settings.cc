// Reads the settings of recording (see recording_settings.h).
// SPDX-License-Identifier: Apache-2.0
#include "record/recording_settings.h"

#include <charconv>
#include <cstdlib>
#include <mutex>
#include <optional>

#include "base/process/no_destructor.h"

namespace portacl::record {

constinit std::atomic<bool> is_recording{false};

namespace {

RecordingSettings& TheSettings() {
  static NoDestructor<RecordingSettings> settings;
  return *settings;
}

std::optional<Keep> KeepOf(std::string_view text) noexcept {
  if (text == "all") return Keep::kAll;
  if (text == "sample") return Keep::kSample;
  if (text == "summary") return Keep::kSummary;
  return std::nullopt;
}

const char* VariableOf(const char* name) noexcept {
  const char* const value = std::getenv(name);
  return value == nullptr || value[0] == '\0' ? nullptr : value;
}

RefusedVariable Read() {
  RecordingSettings settings;
  const char* const path = VariableOf("PORTACL_RECORD");
  if (path == nullptr) return {};
  settings.path = path;
  if (const char* const text = VariableOf("PORTACL_RECORD_KEEP")) {
    const std::optional<Keep> keep = KeepOf(text);
    if (!keep) return {"PORTACL_RECORD_KEEP", text, "all, sample and summary"};
    settings.keep = *keep;
  }
  if (const char* const text = VariableOf("PORTACL_RECORD_LIMIT")) {
    if (!ParseLimit(text, &settings.limit)) {
      return {"PORTACL_RECORD_LIMIT", text,
              "a number of bytes above 0, which may end in K, M, G or T, and none"};
    }
  }
  TheSettings() = settings;
  is_recording.store(true, std::memory_order_relaxed);
  return {};
}

RefusedVariable refused;

void ReadOnce() noexcept {
  try {
    refused = Read();
  } catch (...) {
    // without memory nothing is recorded
  }
}

}  // namespace

bool ParseLimit(std::string_view text, uint64_t* limit) noexcept {
  if (text == "none") {
    *limit = kNoLimit;
    return true;
  }
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || number == 0) return false;
  int shift = 0;
  if (end - rest == 1) {
    const size_t unit = std::string_view("KMGT").find(*rest);
    if (unit == std::string_view::npos) return false;
    shift = 10 * static_cast<int>(unit + 1);
  } else if (rest != end) {
    return false;
  }
  if (number > kNoLimit >> shift) return false;
  *limit = number << shift;
  return true;
}

RefusedVariable StartRecording() noexcept {
  static std::once_flag once;
  std::call_once(once, ReadOnce);
  return refused;
}

const RecordingSettings& SettingsInForce() noexcept { return TheSettings(); }

}  // namespace portacl::record
