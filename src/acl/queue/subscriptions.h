// Which thread processes the callbacks of which stream, and those that are due to it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>

#include "acl/queue/linked_list.h"

namespace portacl {

class CallbackTask;
class Stream;

// A thread that is subscribed to the callbacks of one or more streams.
struct Subscriber {
  int streams = 0;
  int inside = 0;  // threads in aclrtProcessReport for it
  LinkedList<CallbackTask> due;
  std::condition_variable posted;
};

// Lock order: a stream's lock may be held when this one is taken, never the other way round.
struct Reports {
  std::mutex mutex;
  std::map<uint64_t, Subscriber> by_thread;
  std::map<const Stream*, uint64_t> by_stream;

  Subscriber* OfStream(const Stream* stream) noexcept;
  Subscriber* OfThread(uint64_t thread) noexcept;
  // Programs name threads by pthread_self or by the kernel's number; *thread receives which it was.
  Subscriber* OfCallingThread(uint64_t* thread) noexcept;
  void EraseIfUnused(uint64_t thread) noexcept;

  // Ends the subscription to a stream that has one. Its callbacks that nobody processed stay due.
  void End(const Stream* stream) noexcept;
};

Reports& TheReports();

// Whether the calling thread is subscribed to a stream's callbacks. A stream's lock may be held.
bool IsSubscribed() noexcept;

// The stream's life ends: a subscription to it ends too. Its callbacks that nobody processed are dropped.
void ForgetSubscription(Stream* stream) noexcept;

}  // namespace portacl
