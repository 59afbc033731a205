// The threads that run streams: as many as streams have something to do at the same time, started when first
// needed, ended when idle for a while.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

#include "acl/queue/linked_list.h"

namespace portacl {

// What workers run: a stream, as far as they know it.
class Runnable : public Linked {
 public:
  static constexpr uint64_t kAll = std::numeric_limits<uint64_t>::max();  // tasks

  // How far a thread may run a stream's queue.
  enum class Reach { kOneTask, kNoUserCode, kEverything };  // the last only for workers

  // Runs a stream that waited for a worker until `mark` tasks are done; then another thread goes on. Throws nothing
  // but what unwinds a worker that user code ended; the stream is handed over then.
  virtual void RunReady(Reach reach, uint64_t mark) = 0;

  // Whether only a worker may run the next task of a stream that waits for one.
  bool NeedsWorker() const noexcept { return needs_worker_; }

 protected:
  ~Runnable() = default;

  bool needs_worker_ = false;  // stays as it is while the stream waits for a worker
};

namespace workers {

// Hands over a stream that has something to do; one worker will run it. Every stream that waits has an idle
// or starting worker of its own, so that no stream waits for another one's host functions. When no thread can
// be started, the calling thread runs what it may (see Task::Place) before this returns. No lock may be held.
void Ready(Runnable* stream) noexcept;

// Takes back a stream that was handed over, if no worker has begun with it; the caller runs it then.
bool TakeBack(const Runnable* stream) noexcept;

// Promises that at least one worker exists until Unreserve; false when there is none and none can be started.
// Work that no submitting thread may do needs this promise.
bool Reserve() noexcept;
void Unreserve() noexcept;

// The calling worker will be back at the list of ready streams without blocking any more. Called while the
// stream that it ran is still locked, so that who submits next to that stream finds the worker and does not
// start another one.
void Returning() noexcept;

// How many workers there are.
int Count() noexcept;

}  // namespace workers
}  // namespace portacl
