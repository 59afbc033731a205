// Whether the calls of a program are recorded, and how: PORTACL_RECORD and its kin.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace portacl::record {

// Whether calls are recorded now. It becomes true once, at the library's first call, and false where the recording ends early.
extern constinit std::atomic<bool> is_recording;

// Every hook asks this first, so that a program that is not recorded pays for one test of a global.
inline bool IsOn() noexcept { return __builtin_expect(is_recording.load(std::memory_order_relaxed), 0); }

enum class Keep { kAll, kSample, kSummary };

inline constexpr uint64_t kNoLimit = ~uint64_t{0};

struct RecordingSettings {
  std::string path;
  Keep keep = Keep::kAll;
  uint64_t limit = uint64_t{8} << 30;  // bytes of the file
};

// What an environment variable is refused for.
struct RefusedVariable {
  const char* name = nullptr;  // nullptr: none is
  const char* value = nullptr;
  const char* accepted = nullptr;
};

// Bytes of "500M", "8G" or "none"; false for other texts.
bool ParseLimit(std::string_view text, uint64_t* limit) noexcept;

// Reads PORTACL_RECORD, PORTACL_RECORD_KEEP and PORTACL_RECORD_LIMIT at the first call, and begins where they ask for it. Later calls
// return the same.
RefusedVariable StartRecording() noexcept;

// Those in force.
const RecordingSettings& SettingsInForce() noexcept;

}  // namespace portacl::record
