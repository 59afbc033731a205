// Parallel loops on oneTBB (see parallel.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/parallel.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>
#include <pthread.h>
#include <time.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>

namespace portacl::engine {
namespace {

// In a forked child and while the process ends the calling thread does everything: the task library's threads
// do not survive the one, and the library itself is torn down in the course of the other.
std::atomic<bool> alone{false};
std::atomic<int> loops_in_task_library{0};

// Whether the task library may be used; if so, and only then, LeaveTaskLibrary follows.
bool EnterTaskLibrary() noexcept {
  loops_in_task_library.fetch_add(1);
  if (!alone.load()) return true;
  loops_in_task_library.fetch_sub(1);
  return false;
}

void LeaveTaskLibrary() noexcept { loops_in_task_library.fetch_sub(1); }

void InForkedChild() {
  alone.store(true);
  loops_in_task_library.store(0);
}

void AtExit() {
  alone.store(true);
  const timespec nap{0, 100'000};
  while (loops_in_task_library.load() > 0) nanosleep(&nap, nullptr);
}

// When this code is loaded, the task library below it has been: exit runs this handler before it tears that
// down. Not at the first loop, which may come when the process is ending already.
const bool registered_at_exit = std::atexit(AtExit) == 0;

struct Arena {
  explicit Arena(int size) : threads(size), arena(size) {}
  int threads;
  tbb::task_arena arena;
};

// The arena of the configured thread count. A change of the count (a new aclInit) makes another one; old ones
// are kept, since work of theirs may still run.
struct Arenas {
  std::mutex mutex;
  std::unique_ptr<Arena> all[64];
  int count = 0;
  std::atomic<Arena*> current{nullptr};
};

Arenas& AllArenas() {
  static auto* arenas = [] {
    pthread_atfork(nullptr, nullptr, InForkedChild);
    return new Arenas;
  }();
  return *arenas;
}

// nullptr when no arena can be had.
Arena* ArenaOf(int threads) {
  Arenas& arenas = AllArenas();
  Arena* current = arenas.current.load(std::memory_order_acquire);
  if (current != nullptr && current->threads == threads) return current;
  std::lock_guard lock(arenas.mutex);
  for (int i = 0; i < arenas.count; ++i) {
    if (arenas.all[i]->threads == threads) {
      arenas.current.store(arenas.all[i].get(), std::memory_order_release);
      return arenas.all[i].get();
    }
  }
  if (arenas.count == 64) return nullptr;
  arenas.all[arenas.count] = std::make_unique<Arena>(threads);
  arenas.current.store(arenas.all[arenas.count].get(), std::memory_order_release);
  return arenas.all[arenas.count++].get();
}

}  // namespace

void ForEachBlock(int64_t blocks, int threads, void (*body)(const void* context, int64_t block),
                  const void* context) noexcept {
  int64_t done = 0;
  if (blocks > 1 && threads > 1 && EnterTaskLibrary()) {
    std::atomic<int64_t> next{0};
    try {
      if (Arena* arena = ArenaOf(threads)) {
        arena->arena.execute([&] {
          tbb::this_task_arena::isolate([&] {
            // Every task takes blocks until none is left: the threads that come share the work, however many
            // they are, and a block that was taken is always finished by its taker.
            const int64_t takers = blocks < threads ? blocks : threads;
            tbb::parallel_for(
                tbb::blocked_range<int64_t>(0, takers, 1),
                [&](const tbb::blocked_range<int64_t>&) {
                  for (int64_t block; (block = next.fetch_add(1, std::memory_order_relaxed)) < blocks;)
                    body(context, block);
                },
                tbb::simple_partitioner());
          });
        });
      }
    } catch (...) {
      // No thread or no memory for tasks: what is left is done below.
    }
    done = next.load(std::memory_order_relaxed);
    LeaveTaskLibrary();
  }
  for (int64_t block = done; block < blocks; ++block) body(context, block);
}

}  // namespace portacl::engine
