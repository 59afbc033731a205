// The settings of recording: PORTACL_RECORD and related variables.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace portacl::record {

// Tells whether calls are recorded now. It becomes true once, at the library's first call, and false if the
// recording ends early.
extern constinit std::atomic<bool> is_recording;

// Every hook tests this first, so that a program that is not recorded pays for one test of a global.
inline bool IsOn() noexcept { return __builtin_expect(is_recording.load(std::memory_order_relaxed), 0); }

enum class Keep { kAll, kSample, kSummary };

inline constexpr uint64_t kNoLimit = ~uint64_t{0};

struct RecordingSettings {
  std::string path;
  Keep keep = Keep::kAll;
  uint64_t limit = uint64_t{8} << 30;  // bytes of the file
};

// An environment variable with a refused value.
struct RefusedVariable {
  const char* name = nullptr;  // nullptr: none
  const char* value = nullptr;
  const char* accepted = nullptr;
};

// Parses bytes as "500M", "8G" or "none"; returns false for other texts.
bool ParseLimit(std::string_view text, uint64_t* limit) noexcept;

// Reads PORTACL_RECORD, PORTACL_RECORD_KEEP and PORTACL_RECORD_LIMIT at the first call, and starts recording
// if requested. Later calls return the same result.
RefusedVariable StartRecording() noexcept;

// Returns the settings in force.
const RecordingSettings& SettingsInForce() noexcept;

}  // namespace portacl::record
