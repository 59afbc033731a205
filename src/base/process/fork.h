// Keeps the library usable in a child process after fork, where only the forking thread continues.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

namespace portacl {

// Locks that any thread may hold for a moment, in the order in which they are nested.
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

// Makes the forking thread lock `mutex`, which must have static lifetime, before a fork, and unlock it in
// parent and child. The guarded data is then consistent in the child, and no missing thread holds the mutex.
// Returns true, so that it can initialise a static.
bool GuardAcrossFork(std::mutex& mutex, ForkRank rank) noexcept;

// Calls `initialise` on the forking thread before each fork, without any of the locks above. It initialises what the library otherwise initialises
// at its first use and what takes longer than a moment: reading the machine's description, loading a library, trying kernels. Another thread may
// be in the middle of that. In the child it would never end, and whoever needs it there would wait forever. Returns true, so that it can
// initialise a variable while the library is loaded.
bool InitialiseBeforeFork(void (*initialise)()) noexcept;

// Notices forks from now on; returns false if the system has no memory for that.
bool NoticeForks() noexcept;

// Tells whether this process was forked by one that had used the library, as far as forks were noticed there.
bool IsForkedChild() noexcept;

// Calls `handler` in a forked child, on its only thread, before fork returns there. Returns true, so that it
// can initialise a static.
bool CallInForkedChild(void (*handler)()) noexcept;

}  // namespace portacl
