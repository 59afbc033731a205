// Parallel loops on a pool of helper threads (see parallel.h).
//
// Why not oneTBB: a library must neither end nor disturb the process that it is a guest in. oneTBB (2021.8
// and later) throws where nothing may be thrown if it cannot create a thread or allocate a task, and the
// process ends. It prints a warning if more threads are requested than it considers right. Its pool does not
// survive a fork. All three were observed. What is needed here is small: a shared counter.
// SPDX-License-Identifier: Apache-2.0
#include "engine/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "base/process/cancellation.h"
#include "base/process/fork.h"
#include "base/process/no_destructor.h"
#include "base/process/thread_start.h"
#include "engine/free_processors.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace portacl::engine {
namespace {

// Further threads have no share of their own.
constexpr int kMostThreadBlocks = 64;

// A range of a loop's blocks, taken one after the other.
struct alignas(64) ThreadBlock {
  std::atomic<int64_t> next;
  int64_t end;
};

// A parallel loop, on the calling thread's stack. Every thread has its own share of the blocks. It gets the
// same one each time a loop of that size runs, because a program that uses the same data again then finds it
// in that processor's cache. A thread that has finished its share continues with the others'.
struct Loop {
  void (*body)(const void* context, int64_t block);
  const void* context;
  int most_helpers;
  int thread_blocks;
  ThreadBlock thread_block[kMostThreadBlocks];  // of the calling thread, helper 0, helper 1, ...

  // Changed under the pool's mutex.
  std::atomic<int> helpers{0};  // inside RunBlocks
  Loop* later = nullptr;
  std::condition_variable left;

  Loop(int64_t blocks, int helpers_wanted, void (*block_body)(const void* context, int64_t block),
       const void* body_context)
      : body(block_body),
        context(body_context),
        most_helpers(helpers_wanted),
        thread_blocks(std::min(helpers_wanted + 1, kMostThreadBlocks)) {
    const int64_t each = blocks / thread_blocks;
    const int64_t more = blocks % thread_blocks;  // number of shares that have one block more
    int64_t begin = 0;
    for (int i = 0; i < thread_blocks; ++i) {
      thread_block[i].next.store(begin, std::memory_order_relaxed);
      begin += each + (i < more ? 1 : 0);
      thread_block[i].end = begin;
    }
  }

  bool HasWork() const {
    for (int i = 0; i < thread_blocks; ++i) {
      if (thread_block[i].next.load(std::memory_order_relaxed) < thread_block[i].end) return true;
    }
    return false;
  }

  void RunBlocks(int first_thread_block) {
    for (int i = 0; i < thread_blocks; ++i) {
      ThreadBlock& from = thread_block[(first_thread_block + i) % thread_blocks];
      // Checks first, so that the counter of a finished share does not grow with every attempt.
      while (from.next.load(std::memory_order_relaxed) < from.end) {
        const int64_t block = from.next.fetch_add(1, std::memory_order_relaxed);
        if (block < from.end) body(context, block);
      }
    }
  }
};

using Clock = std::chrono::steady_clock;

// Controls where a helper may run. Some kernels place a woken thread on its waker's processor until the load
// has been uneven for milliseconds. There the helper only waits for the calling thread, or takes its time.
// Therefore a helper sleeps with that processor excluded, the one on which the last loop was posted. When it
// is awake it may run everywhere again.
class Processors {
 public:
  // Called by the helper before it sleeps.
  void LeaveOut(int processor) {
    if (sched_getaffinity(0, sizeof allowed_, &allowed_) == 0) Narrow(pthread_self(), processor);
  }

  // Called on that processor by a thread that is about to wake the helper: the calling thread may have moved.
  void LeaveOutInstead(pthread_t helper, int processor) {
    if (left_out_ >= 0 && left_out_ != processor) Narrow(helper, processor);
  }

  // Called by the helper when it has been woken.
  void AllowAll() {
    if (left_out_ < 0) return;
    left_out_ = -1;
    cpu_set_t now;
    // Keeps the affinity if somebody else has changed it meanwhile.
    if (sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(&now, &others_))
      sched_setaffinity(0, sizeof allowed_, &allowed_);
  }

 private:
  void Narrow(pthread_t helper, int processor) {
    if (processor < 0 || processor >= CPU_SETSIZE) return;
    cpu_set_t others = allowed_;
    CPU_CLR(processor, &others);
    if (CPU_COUNT(&others) == 0 || pthread_setaffinity_np(helper, sizeof others, &others) != 0) return;
    others_ = others;
    left_out_ = processor;
  }

  cpu_set_t allowed_;
  cpu_set_t others_;
  int left_out_ = -1;  // none
};

int64_t Now(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

// Returns the processor time of a thread so far, or 0 if unknown.
int64_t ProcessorTimeOf(pthread_t thread) {
  clockid_t clock;
  return pthread_getcpuclockid(thread, &clock) == 0 ? Now(clock) : 0;
}

// Changed under the pool's mutex.
struct Helper {
  pthread_t thread;
  Processors processors;
  bool is_asleep = false;
};

struct Pool {
  std::mutex mutex;
  std::condition_variable wake;
  Loop* first = nullptr;  // loops that may still have work, oldest first
  int threads = 0;
  int numbered = 0;  // helpers that have begun
  int asleep = 0;
  Helper helper[kMostThreadBlocks];  // the first ones to begin
  Clock::time_point row_began;       // begin of the current row of closely following loops
  Clock::time_point last_end;        // of a shared loop
  std::atomic<uint32_t> posted{0};   // loops since the start; awake helpers without work poll it
  int processor = -1;                // on which a loop was last seen to be posted
  FreeProcessors free;

  // Returns a loop that a helper may join; the mutex is held.
  Loop* FindLocked() const {
    for (Loop* loop = first; loop != nullptr; loop = loop->later) {
      if (loop->helpers < loop->most_helpers && loop->HasWork()) return loop;
    }
    return nullptr;
  }
};

// Never destroyed, because helpers may use it while the process exits.
Pool& ThePool() {
  static NoDestructor<Pool> pool;
  return *pool;
}

void Pause() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Loops often follow each other closely. A helper therefore polls for the next one for a few microseconds
// before it sleeps, since waking up takes longer than many loops.
constexpr int kLooks = 4000;
constexpr int kLooksAtMutex = 100;

// Waking a helper takes longer than a loop of few blocks: on a virtual machine it costs the caller some 20
// us, and the helper arrives 100 us later. Such loops wake nobody, unless loops have followed each other
// closely for a while. Then more of them will follow and find the helpers awake.
constexpr int64_t kFewBlocks = 32;
constexpr auto kClosely = std::chrono::microseconds(100);
constexpr auto kAWhile = std::chrono::microseconds(100);

// The mutex is never held for long. Mostly two threads want it at once: a helper that has seen a new loop and
// the thread that posts it, or the last helper to leave and the thread that waits for it. A thread that finds
// it locked polls for a while, since falling asleep and being woken takes longer than a short loop.
void LockSoon(std::unique_lock<std::mutex>& lock) {
  for (int look = 0; look < kLooksAtMutex; ++look) {
    if (lock.try_lock()) return;
    Pause();
  }
  lock.lock();
}

void* HelperMain(void*) {
  const CancellationDeferred deferred;
  Pool& pool = ThePool();
  std::unique_lock lock(pool.mutex);
  const int number = pool.numbered++;
  // Helpers beyond kMostThreadBlocks have no entry through which a waker could change their affinity, so that they
  // sleep without excluding a processor.
  const bool has_place = number < kMostThreadBlocks;
  Helper own;
  Helper& self = has_place ? pool.helper[number] : own;
  self.thread = pthread_self();
  // A new thread starts on its creator's processor.
  if (sched_getcpu() == pool.processor) {
    self.processors.LeaveOut(pool.processor);
    self.processors.AllowAll();
  }
  for (;;) {
    if (Loop* loop = pool.FindLocked()) {
      ++loop->helpers;
      lock.unlock();
      loop->RunBlocks(1 + number);
      LockSoon(lock);
      if (--loop->helpers == 0) loop->left.notify_one();
      continue;
    }
    const uint32_t seen = pool.posted.load(std::memory_order_relaxed);
    lock.unlock();
    bool more = false;
    for (int look = 0; look < kLooks && !more; ++look) {
      Pause();
      more = pool.posted.load(std::memory_order_relaxed) != seen;
    }
    LockSoon(lock);
    if (more || pool.posted.load(std::memory_order_relaxed) != seen) continue;
    if (has_place) self.processors.LeaveOut(pool.processor);
    self.is_asleep = true;
    ++pool.asleep;
    pool.wake.wait(lock);
    --pool.asleep;
    self.is_asleep = false;
    self.processors.AllowAll();
  }
}

// Starts helpers until there are `wanted`, or no more can be created. The pool's mutex is held.
void StartHelpersLocked(Pool& pool, int wanted) {
  while (pool.threads < wanted && StartThread(HelperMain)) ++pool.threads;
}

void RunShared(Loop& loop, bool is_long) noexcept {
  Pool& pool = ThePool();
  {
    std::unique_lock lock(pool.mutex, std::defer_lock);
    LockSoon(lock);
    Loop** end = &pool.first;
    while (*end != nullptr) end = &(*end)->later;
    *end = &loop;
    // If all helpers are awake there is nothing to decide.
    if (pool.asleep > 0 || pool.threads < loop.most_helpers) {
      const Clock::time_point now = Clock::now();
      if (now - pool.last_end > kClosely) pool.row_began = now;
      pool.processor = sched_getcpu();
      if (is_long || now - pool.row_began > kAWhile) {
        StartHelpersLocked(pool, loop.most_helpers);
        for (int i = std::min(pool.numbered, kMostThreadBlocks) - 1; i >= 0; --i) {
          Helper& helper = pool.helper[i];
          if (helper.is_asleep) helper.processors.LeaveOutInstead(helper.thread, pool.processor);
        }
        for (int i = std::min(pool.asleep, loop.most_helpers); i > 0; --i) pool.wake.notify_one();
      }
    }
    // Comes last, since helpers that see it lock the mutex.
    pool.posted.fetch_add(1, std::memory_order_relaxed);
  }
  loop.RunBlocks(0);
  // Nobody joins once the loop is off the list. Helpers inside finish their blocks, which takes less time
  // than falling asleep.
  std::unique_lock lock(pool.mutex, std::defer_lock);
  LockSoon(lock);
  Loop** link = &pool.first;
  while (*link != &loop) link = &(*link)->later;
  *link = loop.later;
  if (loop.helpers > 0) {
    lock.unlock();
    for (int look = 0; look < kLooks && loop.helpers.load(std::memory_order_relaxed) > 0; ++look) Pause();
    LockSoon(lock);
    const CancellationDeferred deferred;
    while (loop.helpers > 0) loop.left.wait(lock);
  }
  pool.last_end = Clock::now();
}

// Returns how many helpers of a loop would find a processor.
int64_t UsefulHelpers(int threads) {
  Pool& pool = ThePool();
  if (pool.free.IsToBeCounted(Now(CLOCK_MONOTONIC_COARSE))) {
    const std::unique_lock lock(pool.mutex, std::try_to_lock);
    // Another thread may have counted meanwhile.
    if (lock.owns_lock() && pool.free.IsToBeCounted(Now(CLOCK_MONOTONIC_COARSE))) {
      int64_t of_helpers = 0;
      for (int i = 0; i < std::min(pool.numbered, kMostThreadBlocks); ++i)
        of_helpers += ProcessorTimeOf(pool.helper[i].thread);
      cpu_set_t allowed;
      const int processors = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 0;
      pool.free.Count(Now(CLOCK_MONOTONIC), Now(CLOCK_PROCESS_CPUTIME_ID) - of_helpers, processors);
    }
  }
  return pool.free.HelpersOf(threads);
}

}  // namespace

void ForEachBlock(int64_t blocks, int threads, void (*body)(const void* context, int64_t block),
                  const void* context, BlockLength length) noexcept {
  int64_t helpers = std::min<int64_t>(threads, blocks) - 1;
  // A forked child has no helpers and starts none: they would keep it alive after the thread that forked has
  // ended. If forks go unnoticed, no loop may rely on helpers.
  if (helpers > 0)
    helpers = NoticeForks() && !IsForkedChild() ? std::min(helpers, UsefulHelpers(threads)) : 0;
  if (helpers <= 0) {
    for (int64_t block = 0; block < blocks; ++block) body(context, block);
    return;
  }
  Loop loop(blocks, static_cast<int>(helpers), body, context);
  RunShared(loop, length == BlockLength::kLong || blocks >= kFewBlocks);
}

}  // namespace portacl::engine
