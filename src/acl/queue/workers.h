// The threads that run streams: as many as streams have work at the same time, started when first needed,
// ended when idle for a while.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

#include "acl/queue/linked_list.h"

namespace portacl {

// A stream as workers see it.
class Runnable : public Linked {
 public:
  static constexpr uint64_t kAll = std::numeric_limits<uint64_t>::max();  // tasks

  // How far a thread may run a stream's queue.
  enum class RunLimit { kOneTask, kNoHostFunctions, kEverything };  // the last only for workers

  // Runs a stream that waited for a worker until `mark` tasks are done; then another thread continues it.
  // Throws nothing, except the exception that unwinds a worker ended by user code; the stream is then handed
  // over.
  virtual void RunReady(RunLimit limit, uint64_t mark) = 0;

  // Tells whether only a worker may run the next task of a stream that waits for one.
  bool NeedsWorker() const noexcept { return needs_worker_; }

 protected:
  ~Runnable() = default;

  bool needs_worker_ = false;  // constant while the stream waits for a worker
};

namespace workers {

// Submits a stream that has work; one worker will run it. Every waiting stream has its own idle or starting
// worker, so that no stream waits for another one's host functions. If no thread can be created, the calling
// thread runs the tasks that it may (see Task::Affinity) before this returns. No lock may be held.
void Ready(Runnable* stream) noexcept;

// Withdraws a submitted stream, if no worker has begun with it; the caller then runs it.
bool TryDequeue(const Runnable* stream) noexcept;

// Guarantees that at least one worker exists until Unreserve. Returns false if there is none and none can be
// created. Work that no submitting thread may do needs this guarantee.
bool Reserve() noexcept;
void Unreserve() noexcept;

// Announces that the calling worker will return to the list of ready streams without blocking. Called while
// the stream that it ran is still locked, so that the next submission to that stream finds the worker and
// does not start another one.
void Returning() noexcept;

// The number of workers.
int Count() noexcept;

}  // namespace workers
}  // namespace portacl
