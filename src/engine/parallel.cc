// Parallel loops on oneTBB (see parallel.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/parallel.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>
#include <pthread.h>

#include <atomic>
#include <memory>
#include <mutex>

#include "engine/float_environment.h"

namespace portacl::engine {
namespace {

std::atomic<bool> is_forked_child{false};

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
    pthread_atfork(nullptr, nullptr, [] { is_forked_child.store(true, std::memory_order_relaxed); });
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
  if (blocks > 1 && threads > 1 && !is_forked_child.load(std::memory_order_relaxed)) {
    std::atomic<int64_t> next{0};
    // oneTBB hands the caller's control words to its workers and leaves the sticky flags changed: give it the
    // default environment, and the caller its own back.
    const DefaultFloatEnvironment environment;
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
  }
  for (int64_t block = done; block < blocks; ++block) body(context, block);
}

}  // namespace portacl::engine
