// The threads that run streams: as many as streams have something to do at the same time, started when first
// needed, ended when idle for a while.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace portacl {

class Stream;

namespace workers {

// Hands over a stream that has something to do; one worker will run it. Every stream that waits has an idle
// or starting worker of its own, so that no stream waits for another one's host functions. When no thread can
// be started, the calling thread runs what it may (see Task::Place) before this returns. No lock may be held.
void Ready(Stream* stream) noexcept;

// Takes back a stream that was handed over, if no worker has begun with it; the caller runs it then.
bool TakeBack(const Stream* stream) noexcept;

// Promises that at least one worker exists until Unreserve; false when there is none and none can be started.
// Work that no submitting thread may do needs this promise.
bool Reserve() noexcept;
void Unreserve() noexcept;

// The calling worker will be back at the list of ready streams without blocking any more. Called while the
// stream that it ran is still locked, so that who submits next to that stream finds the worker and does not
// start another one.
void Returning() noexcept;

// Whether the calling thread is a worker.
bool OnWorker() noexcept;

// How many workers there are.
int Count() noexcept;

}  // namespace workers
}  // namespace portacl
