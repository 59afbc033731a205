// A task of a stream.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/queue/linked_list.h"

namespace portacl {

class Stream;

// A stream is in at most one list: of those that wait for a worker, or of those that wait for one recording
// of an event.
using StreamList = LinkedList<Stream>;

// Tasks live in pooled slots and contain their own links, so that queueing needs no heap.
class Task {
 public:
  // The threads that may run it.
  enum class Affinity : uint8_t {
    kAnywhere,       // cheap: also on a thread that only submits
    kWorker,         // takes a while: on a worker, unless none can be created
    kReservedWorker  // user code, or blocks: only on a worker; workers::Reserve comes before Submit
  };
  enum class Outcome { kDone, kParked };

  // Called when the task has its position in the queue, under the stream's lock. Only here is it made visible
  // to other threads, so that tasks that they then submit to the stream come after it.
  virtual void Publish() noexcept {}

  // Does the work; no lock is held. kParked: the stream stays at this task, without using a thread, until
  // Stream::Resume is called, which may happen before this returns. Throws nothing, except that user code may
  // end its worker: the exception that unwinds the thread is passed on, and the task is done.
  virtual Outcome Run(Stream& stream) = 0;

  // Called under the stream's lock when the stream is destroyed by force at this task. Returns true if nobody
  // else will call Stream::Resume for it any more.
  virtual bool Interrupt(Stream& /*stream*/) noexcept { return false; }

  // Called last: the task counts as done, whether it ran or was dropped by force, and its slot is returned.
  // The stream's lock is held, so that both are visible at once. Adds the streams that can continue because
  // this task is done. Without a preceding Publish the task was never queued: its stream was destroyed.
  virtual void Finish(StreamList& can_go_on) noexcept = 0;

  Affinity affinity = Affinity::kAnywhere;

 protected:
  ~Task() = default;

 private:
  friend class Stream;
  Task* next_ = nullptr;
};

}  // namespace portacl
