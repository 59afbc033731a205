// What keeps the library usable in a child process after fork, where only the forking thread goes on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

namespace portacl {

// Locks that may be held for a moment by any thread, in the order in which one is taken inside another.
enum class ForkRank {
  kInit,
  kDevices,
  kConfiguration,
  kVirtualMemory,
  kCaptures,
  kMemory,
  kDeviceMemory,
  kInitCallbacks,
  kCompileOptions,
  kReports,
  kMessages,
  kLog,
  kThreadEnd,
  kModules,
  kTensors,
  kCheckedNotes,
  kCheckedCalls,
  kCheckedHandles,
  kCount
};

// Has `mutex`, which must live as long as the process, taken by the forking thread before a fork and freed in
// parent and child: what it guards is then whole in the child, and it is not held by a thread that is gone.
// Returns true, so that it can initialise a static.
bool GuardAcrossFork(std::mutex& mutex, ForkRank rank) noexcept;

// From now on forks are noticed; false when the system has no memory for that.
bool NoticeForks() noexcept;

// Whether this process was forked by one that had used the library, as far as forks were noticed there.
bool IsForkedChild() noexcept;

// Has `handler` called in a forked child, by its only thread, before fork returns there.
// Returns true, so that it can initialise a static.
bool CallInForkedChild(void (*handler)()) noexcept;

}  // namespace portacl
