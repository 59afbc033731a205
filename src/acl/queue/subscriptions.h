// The threads that process streams' callbacks, and the callbacks that are due.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>

#include "acl/queue/linked_list.h"

namespace portacl {

class Stream;

// A callback that waits for its thread, as the registry knows it.
class DueCallback : public Linked {
 public:
  // Runs the callback in the subscribed thread. Throws nothing but a ThreadUnwinding.
  virtual void Process() = 0;
  // Called instead of Process when nobody will process the callback; a stream that waits for it continues.
  virtual void Drop() noexcept = 0;

  Stream* stream = nullptr;  // that posted it; it may be destroyed meanwhile, unless the callback blocks it

 protected:
  ~DueCallback() = default;
};

// A thread that is subscribed to the callbacks of one or more streams.
struct Subscriber {
  int streams = 0;
  int inside = 0;  // number of threads in aclrtProcessReport for it
  LinkedList<DueCallback> due;
  std::condition_variable posted;
};

// Lock order: a stream's lock may be held when this one is taken, never vice versa.
struct Reports {
  std::mutex mutex;
  std::map<uint64_t, Subscriber> by_thread;
  std::map<const Stream*, uint64_t> by_stream;

  Subscriber* OfStream(const Stream* stream) noexcept;
  Subscriber* OfThread(uint64_t thread) noexcept;
  // Programs name threads by pthread_self or by the kernel's number; *thread receives the one that matched.
  Subscriber* OfCallingThread(uint64_t* thread) noexcept;
  void EraseIfUnused(uint64_t thread) noexcept;

  // Ends the subscription to a stream that has one. Unprocessed callbacks stay due.
  void End(const Stream* stream) noexcept;
};

Reports& TheReports();

// Tells whether the calling thread is subscribed to a stream's callbacks. A stream's lock may be held.
bool IsSubscribed() noexcept;

// Ends a subscription together with its stream's life. Unprocessed callbacks are dropped.
void ForgetSubscription(Stream* stream) noexcept;

}  // namespace portacl
