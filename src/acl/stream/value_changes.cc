// Sleeping until a value changes (see value_changes.h).
// SPDX-License-Identifier: Apache-2.0
#include "acl/stream/value_changes.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <new>

#include "base/process/cancellation.h"
#include "base/process/fork.h"
#include "base/process/no_destructor.h"

namespace portacl {
namespace {

// A stream that writes a value wakes all waiters at once. Values from elsewhere (a copy, the program itself)
// are found by polling at intervals.
struct Changes {
  std::mutex mutex;
  std::condition_variable changed;
  std::atomic<uint64_t> count{0};
};

void AfterFork();

Changes& TheChanges() noexcept {
  static NoDestructor<Changes> changes;
  static const bool registered = CallInForkedChild(AfterFork);
  (void)registered;
  return *changes;
}

// Waiting threads do not exist in the child.
void AfterFork() {
  Changes* changes = &TheChanges();
  new (changes) Changes;
}

}  // namespace

void PrepareValueChanges() noexcept { TheChanges(); }

void TellOfValueChange() noexcept {
  Changes& changes = TheChanges();
  changes.count.fetch_add(1, std::memory_order_acq_rel);
  { std::lock_guard lock(changes.mutex); }  // a thread that has looked but not yet fallen asleep holds it
  changes.changed.notify_all();
}

uint64_t ValueChanges() noexcept { return TheChanges().count.load(std::memory_order_acquire); }

void ValueWait::Pause(bool (*holds)(const void*) noexcept, const void* asked) noexcept {
  Changes& changes = TheChanges();
  const CancellationDeferred deferred;
  std::unique_lock lock(changes.mutex);
  if (holds(asked)) return;
  changes.changed.wait_for(lock, pause_);
  pause_ = std::min(2 * pause_, kLongestPause);
}

}  // namespace portacl
