// Frees memory in stream order (see stream_memory.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclop/stream_memory.h"

#include <atomic>
#include <new>
#include <utility>
#include <vector>

#include "acl/memory/memory.h"
#include "acl/queue/stream.h"
#include "base/handle_table.h"

namespace portacl {

class FreeingTask final : public Task {
 public:
  Outcome Run(Stream&) noexcept override {
    Free();
    return Outcome::kDone;
  }
  void Finish(StreamList&) noexcept override;

  void Free() noexcept {
    for (void* block : blocks) GiveBackOwnMemory(api, block);
    blocks.clear();
  }

  const char* api = nullptr;
  Stream* stream = nullptr;
  std::vector<void*> blocks;
  FreeingTask* next_dropped = nullptr;
};

namespace {

HandleTable<FreeingTask, 0x66> freeing_tasks;
std::atomic<FreeingTask*> dropped{nullptr};

void Keep(FreeingTask* task) noexcept {
  task->next_dropped = dropped.load(std::memory_order_relaxed);
  while (!dropped.compare_exchange_weak(task->next_dropped, task, std::memory_order_release,
                                        std::memory_order_relaxed)) {
  }
}

// Tells whether a task that came before a dropped one may still run. A stream that is destroyed by force drops
// its queue first, and then waits for the task that it is at.
bool MayStillRun(Stream& stream) noexcept {
  bool is_done = true;
  stream.IfStill(nullptr, [&] { is_done = stream.IsCompleteLocked(); });
  return !is_done;
}

void FreeDropped() noexcept {
  FreeingTask* task = dropped.exchange(nullptr, std::memory_order_acquire);
  while (task != nullptr) {
    FreeingTask* const next = task->next_dropped;
    if (MayStillRun(*task->stream)) {
      Keep(task);
    } else {
      task->Free();
      freeing_tasks.Recycle(task);
    }
    task = next;
  }
}

}  // namespace

// Keeps a task that did not run, because nothing is freed under the stream's lock.
void FreeingTask::Finish(StreamList&) noexcept {
  if (blocks.empty()) {
    freeing_tasks.Recycle(this);
  } else {
    Keep(this);
  }
}

StreamMemory::~StreamMemory() {
  if (task_ != nullptr) {
    task_->Free();
    freeing_tasks.Recycle(task_);
  }
  FreeDropped();
}

void* StreamMemory::Take(size_t bytes) {
  if (task_ == nullptr) {
    task_ = freeing_tasks.Acquire();
    if (task_ == nullptr) throw std::bad_alloc();
    task_->api = api_;
    task_->stream = queue_.stream;
  }
  task_->blocks.reserve(task_->blocks.size() + 1);
  void* const block = TakeOwnMemory(api_, bytes, queue_.stream->device());
  if (block != nullptr) task_->blocks.push_back(block);
  return block;
}

void StreamMemory::FreeInOrder() noexcept {
  if (task_ != nullptr) queue_.Submit(std::exchange(task_, nullptr));
}

}  // namespace portacl
