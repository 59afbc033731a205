// The worker threads (see workers.h).
// SPDX-License-Identifier: Apache-2.0
#include "acl/queue/workers.h"

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <utility>

#include "base/process/cancellation.h"
#include "base/process/fork.h"
#include "base/process/no_destructor.h"
#include "base/process/thread_start.h"

namespace portacl::workers {
namespace {

// How long an idle worker stays: longer than the pauses of a training loop, but short enough that a program
// soon has none after its last stream.
constexpr auto kLinger = std::chrono::seconds(2);

struct Pool {
  std::mutex mutex;
  std::condition_variable wake;
  LinkedList<Runnable> ready;  // streams that wait for a worker
  int ready_count = 0;         // never more than `idle`, unless threads cannot be created
  int idle = 0;                // workers that run no stream: waiting, starting or returning
  int threads = 0;
  int reserved = 0;
  sigset_t signals_of_program;  // signals blocked by the thread that last started a worker
};

thread_local bool is_worker = false;
thread_local bool takes_next = false;  // this worker is returning and has no ready stream yet
thread_local bool is_helping = false;

void AfterFork();

Pool& ThePool() {
  static NoDestructor<Pool> pool;
  static const bool registered = CallInForkedChild(AfterFork);
  (void)registered;
  return *pool;
}

// The child has no workers, and nobody holds the mutex or waits for the condition there. If a host function
// forked on a worker, that thread is no worker in the child: it is the child's first thread, which signals
// must reach.
void AfterFork() {
  Pool* pool = &ThePool();
  const sigset_t signals = pool->signals_of_program;
  new (pool) Pool;
  if (is_worker) pthread_sigmask(SIG_SETMASK, &signals, nullptr);
  is_worker = takes_next = is_helping = false;
}

bool StartLocked(Pool& pool) noexcept;

// Runs streams until there have been none for a while. Throws nothing, except the exception that unwinds a
// thread ended by user code.
void Work(Pool& pool, std::unique_lock<std::mutex>& lock) {
  for (;;) {
    if (Runnable* stream = pool.ready.Pop()) {
      --pool.ready_count;
      --pool.idle;
      lock.unlock();
      stream->RunReady(Runnable::RunLimit::kEverything, Runnable::kAll);  // ends with Returning
      // A child that a host function has forked returns from the function here, and is done. Unless it has
      // started threads of its own it ends like a process whose last thread ends.
      if (!is_worker) return;
      lock.lock();
      takes_next = false;
      continue;
    }
    const CancellationDeferred deferred;
    if (pool.wake.wait_for(lock, kLinger) == std::cv_status::timeout && pool.ready.empty() &&
        (pool.reserved == 0 || pool.threads > 1)) {
      --pool.idle;
      --pool.threads;
      return;
    }
  }
}

PORTACL_CATCHES_UNWINDING void* WorkerMain(void*) {
  pthread_setname_np(pthread_self(), "portacl-stream");
  is_worker = true;
  Pool& pool = ThePool();
  std::unique_lock lock(pool.mutex);
  try {
    Work(pool, lock);
  } catch (const ThreadUnwinding&) {
    if (!is_worker) throw;  // in a child that the host function forked
    // A host function has ended this thread, whose stream is handed over. Another worker replaces it if one
    // is needed. If none can be created, this thread continues to work as long as workers do.
    lock.lock();
    const bool is_missed = pool.ready_count > pool.idle || (pool.reserved > 0 && pool.threads == 1);
    if (!is_missed || StartLocked(pool)) {
      --pool.threads;
    } else {
      ++pool.idle;
      Work(pool, lock);
    }
    throw;
  }
  return nullptr;
}

// Starts one more worker; returns false if no thread can be created. The pool's mutex is held.
bool StartLocked(Pool& pool) noexcept {
  if (!is_worker) pthread_sigmask(SIG_BLOCK, nullptr, &pool.signals_of_program);
  if (!StartThread(WorkerMain)) return false;
  ++pool.idle;
  ++pool.threads;
  return true;
}

// Runs the ready streams on this thread, each as far as allowed, if there are not enough workers.
void Help(Pool& pool) noexcept {
  is_helping = true;
  for (;;) {
    Runnable* stream = nullptr;
    {
      std::lock_guard lock(pool.mutex);
      stream = pool.ready.PopIf([](const Runnable& one) { return !one.NeedsWorker(); });
      if (stream == nullptr) break;
      --pool.ready_count;
    }
    stream->RunReady(Runnable::RunLimit::kNoHostFunctions, Runnable::kAll);
  }
  is_helping = false;
}

}  // namespace

void Ready(Runnable* stream) noexcept {
  Pool& pool = ThePool();
  {
    std::lock_guard lock(pool.mutex);
    pool.ready.Append(stream);
    if (++pool.ready_count <= pool.idle) {
      // A returning worker runs the stream itself: it is awake, and has the data in its cache.
      if (!std::exchange(takes_next, false)) pool.wake.notify_one();
      return;
    }
    // If no worker can be added, this worker takes the stream from the list when its own stream is done.
    if (StartLocked(pool) || is_worker || is_helping) return;
  }
  Help(pool);
}

bool TryDequeue(const Runnable* stream) noexcept {
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

}  // namespace portacl::workers
