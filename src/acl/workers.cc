// The worker threads (see workers.h).
// SPDX-License-Identifier: Apache-2.0
#include "acl/workers.h"

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <utility>

#include "acl/fork.h"
#include "acl/immortal.h"
#include "acl/stream.h"

namespace portacl::workers {
namespace {

// How long a worker without work stays: longer than the pauses of a training loop, short enough that a
// program which is done with its streams soon has none.
constexpr auto kLinger = std::chrono::seconds(2);

struct Pool {
  std::mutex mutex;
  std::condition_variable wake;
  StreamList ready;     // streams that wait for a worker
  int ready_count = 0;  // never more than `idle`, unless threads cannot be had
  int idle = 0;         // workers that run no stream: waiting, starting, returning
  int threads = 0;
  int reserved = 0;
};

thread_local bool is_worker = false;
thread_local bool takes_next = false;  // a returning worker without a stream to come back for
thread_local bool is_helping = false;

void AfterFork();

Pool& ThePool() {
  static Immortal<Pool> pool;
  static const bool registered = CallInForkedChild(AfterFork);
  (void)registered;
  return *pool;
}

// The child has no workers, and nobody holds the mutex or waits for the condition there.
void AfterFork() {
  Pool* pool = &ThePool();
  new (pool) Pool;
  is_worker = takes_next = is_helping = false;
}

void* WorkerMain(void*) {
  pthread_setname_np(pthread_self(), "portacl-stream");
  is_worker = true;
  Pool& pool = ThePool();
  std::unique_lock lock(pool.mutex);
  for (;;) {
    if (Stream* stream = pool.ready.Pop()) {
      --pool.ready_count;
      --pool.idle;
      lock.unlock();
      stream->RunReady(Stream::Reach::kEverything);  // ends with Returning
      lock.lock();
      takes_next = false;
      continue;
    }
    if (pool.wake.wait_for(lock, kLinger) == std::cv_status::timeout && pool.ready.empty() &&
        (pool.reserved == 0 || pool.threads > 1)) {
      --pool.idle;
      --pool.threads;
      return nullptr;
    }
  }
}

// Starts one more worker; false when there is none to be had. The pool's mutex is held.
bool StartLocked(Pool& pool) noexcept {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  // Signals are for the program's own threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const bool started = pthread_create(&thread, &attributes, WorkerMain, nullptr) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (started) {
    ++pool.idle;
    ++pool.threads;
  }
  return started;
}

// Without enough threads: runs the ready streams here, each as far as it may.
void Help(Pool& pool) noexcept {
  is_helping = true;
  for (;;) {
    Stream* stream = nullptr;
    {
      std::lock_guard lock(pool.mutex);
      stream = pool.ready.PopIf([](const Stream& one) { return !one.NeedsWorker(); });
      if (stream == nullptr) break;
      --pool.ready_count;
    }
    stream->RunReady(Stream::Reach::kNoUserCode);
  }
  is_helping = false;
}

}  // namespace

void Ready(Stream* stream) noexcept {
  Pool& pool = ThePool();
  {
    std::lock_guard lock(pool.mutex);
    pool.ready.Append(stream);
    if (++pool.ready_count <= pool.idle) {
      // A returning worker runs the stream itself: it is awake, and has the data at hand.
      if (!std::exchange(takes_next, false)) pool.wake.notify_one();
      return;
    }
    // A worker that cannot have company comes back to the list when it is done with its own stream.
    if (StartLocked(pool) || is_worker || is_helping) return;
  }
  Help(pool);
}

bool TakeBack(const Stream* stream) noexcept {
  Pool& pool = ThePool();
  std::lock_guard lock(pool.mutex);
  if (!pool.ready.Remove(stream)) return false;
  --pool.ready_count;
  return true;
}

bool Reserve() noexcept {
  Pool& pool = ThePool();
  std::lock_guard lock(pool.mutex);
  if (pool.threads == 0 && !StartLocked(pool)) return false;
  ++pool.reserved;
  return true;
}

void Unreserve() noexcept {
  Pool& pool = ThePool();
  std::lock_guard lock(pool.mutex);
  --pool.reserved;
}

void Returning() noexcept {
  Pool& pool = ThePool();
  std::lock_guard lock(pool.mutex);
  ++pool.idle;
  takes_next = true;
}

int Count() noexcept {
  Pool& pool = ThePool();
  std::lock_guard lock(pool.mutex);
  return pool.threads;
}

bool OnWorker() noexcept { return is_worker; }

}  // namespace portacl::workers
