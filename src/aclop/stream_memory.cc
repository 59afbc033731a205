// Frees memory in stream order (see stream_memory.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclop/stream_memory.h"

#include <atomic>
#include <utility>

#include "acl/acl_rt.h"
#include "acl/queue/stream.h"
#include "base/handle_table.h"
#include "base/sanitizer_hooks.h"

namespace portacl {
namespace {

class FreeingTask final : public Task {
 public:
  Outcome Run(Stream& stream) noexcept override {
    // The stream's earlier work is done, as for a host function.
    if (sanitizer::IsOn(sanitizer::kSync)) sanitizer::hooks->HostWaited(&stream);
    Free();
    if (sanitizer::IsOn(sanitizer::kSync)) sanitizer::hooks->HostFunctionEnds(&stream);
    return Outcome::kDone;
  }
  void Finish(StreamList&) noexcept override;

  void Free() noexcept {
    for (void* block : blocks) aclrtFree(block);
    blocks.clear();
  }

  std::vector<void*> blocks;
  FreeingTask* next_dropped = nullptr;
};

HandleTable<FreeingTask, 0x66> freeing_tasks;
std::atomic<FreeingTask*> dropped{nullptr};

// Keeps a task that did not run, because nothing is freed under the stream's lock.
void FreeingTask::Finish(StreamList&) noexcept {
  if (blocks.empty()) {
    freeing_tasks.Recycle(this);
    return;
  }
  next_dropped = dropped.load(std::memory_order_relaxed);
  while (!dropped.compare_exchange_weak(next_dropped, this, std::memory_order_release,
                                        std::memory_order_relaxed)) {
  }
}

}  // namespace

void FreeInOrder(const char* api, const FoundStream& queue, std::vector<void*> blocks) noexcept {
  if (blocks.empty()) return;
  FreeingTask* const task = freeing_tasks.Acquire();
  if (task == nullptr) {
    aclrtSynchronizeStream(queue.asked);
    for (void* block : blocks) aclrtFree(block);
    return;
  }
  task->blocks = std::move(blocks);
  queue.SubmitFor(api, task);
}

void FreeDropped() noexcept {
  FreeingTask* task = dropped.exchange(nullptr, std::memory_order_acquire);
  while (task != nullptr) {
    FreeingTask* const next = task->next_dropped;
    task->Free();
    freeing_tasks.Recycle(task);
    task = next;
  }
}

}  // namespace portacl
