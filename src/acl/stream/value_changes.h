// Sleeping of threads whose stream waits for a value in memory, or for an event that is recorded outside of a
// graph.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

namespace portacl {

// Prepares the two functions below, so that a running task has nothing to set up.
void PrepareValueChanges() noexcept;

// Wakes all sleepers: something changed that one of them may wait for.
void TellOfValueChange() noexcept;

// The number of calls of TellOfValueChange. A waiter that sees a new number looks again.
uint64_t ValueChanges() noexcept;

// Sleeps while holds() is false, until TellOfValueChange, but also polls at intervals: a value may come from
// anywhere. `holds` is not called during a change.
class ValueWait {
 public:
  // Sleeps once, for a time that grows from call to call; returns at once if holds() is true.
  template <class Holds>
  void Sleep(const Holds& holds) noexcept {
    Pause([](const void* asked) noexcept { return (*static_cast<const Holds*>(asked))(); }, &holds);
  }

 private:
  static constexpr std::chrono::steady_clock::duration kFirstPause = std::chrono::microseconds(50);
  static constexpr std::chrono::steady_clock::duration kLongestPause = std::chrono::milliseconds(2);

  void Pause(bool (*holds)(const void*) noexcept, const void* asked) noexcept;

  std::chrono::steady_clock::duration pause_ = kFirstPause;
};

}  // namespace portacl
