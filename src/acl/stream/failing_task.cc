// Failures at a position in a stream (see failing_task.h).
// SPDX-License-Identifier: Apache-2.0
#include "acl/stream/failing_task.h"

#include "acl/stream/capture.h"
#include "base/handle_table.h"

namespace portacl {
namespace {

class FailingTask final : public Task {
 public:
  Outcome Run(Stream& stream) noexcept override {
    stream.NoteFailure(failure);
    return Outcome::kDone;
  }
  void Finish(StreamList&) noexcept override;

  Stream::Failure failure;
};

HandleTable<FailingTask, 0x64> failing_tasks;

void FailingTask::Finish(StreamList&) noexcept { failing_tasks.Recycle(this); }

}  // namespace

bool FailsInStream(const FoundStream& queue, aclError status, const Text& message) noexcept {
  bool stops = false;
  if (!queue || !queue.stream->IfStill(queue.handle, [&] { stops = queue.stream->StopsOnFailureLocked(); }) ||
      !stops) {
    return false;
  }
  if (MayBeCaptured() && InvalidatesCapture(queue, message)) return true;
  FailingTask* const task = failing_tasks.Acquire();
  if (task == nullptr) return false;
  task->failure = Stream::Failure(status, message);
  return queue.Submit(task) == Stream::Submission::kQueued;
}

}  // namespace portacl
