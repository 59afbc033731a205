// Where threads sleep whose stream waits for a value in memory, or for an event that is recorded outside of a graph.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

namespace portacl {

// Sets up what the two functions below need, so that a task has nothing to set up when it runs.
void PrepareValueChanges() noexcept;

// Wakes all that sleep: something changed that one of them may wait for.
void TellOfValueChange() noexcept;

// How often somebody has told of a change: who finds another number than before looks again.
uint64_t ValueChanges() noexcept;

// Sleeps while holds() is false, until somebody tells of a change, but looks again by itself: a value may come from
// anywhere. `holds` is called with no change under way.
class ValueWait {
 public:
  // Sleeps once, and longer from time to time; returns at once when holds() is true.
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
