// One piece of work in a stream.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/queue/linked_list.h"

namespace portacl {

class Stream;

// A stream is in at most one: of those that wait for a worker, or of those that wait for one recording of an event.
using StreamList = LinkedList<Stream>;

// Tasks live in pooled slots and carry their own links, so that queueing needs no heap.
class Task {
 public:
  // Which threads may run it.
  enum class Place : uint8_t {
    kAnywhere,       // cheap: also a thread that only submits
    kWorker,         // takes a while: a worker, unless there is none to be had
    kReservedWorker  // user code, or blocks: a worker and nothing else; workers::Reserve comes before Submit
  };
  enum class Outcome { kDone, kParked };

  // The task has got its place in the queue. What other threads can learn of it is told here and nowhere
  // else: the stream's lock is held, so that whoever knows of the task and submits another one to the stream
  // gets a place behind it.
  virtual void Publish() noexcept {}

  // Does the work; no lock is held. kParked: the stream stays at this task, without using a thread, until
  // somebody calls Stream::Resume, which may happen before this returns. Throws nothing, but that user code may end
  // its worker: what unwinds that thread is passed on, and the task is done.
  virtual Outcome Run(Stream& stream) = 0;

  // The stream is destroyed by force while it is at this task; called under the stream's lock. True: nobody
  // else will call Stream::Resume for it any more.
  virtual bool Interrupt(Stream& /*stream*/) noexcept { return false; }

  // The last call: the task now counts as done, whether it ran or was dropped by force, and its slot goes
  // back. Called under the stream's lock, so that nobody sees the one without the other. Adds the streams
  // that can go on because of it. Without Publish before it the task was never queued: its stream is gone.
  virtual void Finish(StreamList& can_go_on) noexcept = 0;

  Place place = Place::kAnywhere;

 protected:
  ~Task() = default;

 private:
  friend class Stream;
  Task* next_ = nullptr;
};

}  // namespace portacl
