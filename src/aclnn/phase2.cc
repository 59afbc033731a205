// Phase 2 and the lifetime of executors (see executor.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnn/executor.h"

#include <memory>
#include <mutex>
#include <utility>

#include "acl/queue/stream.h"
#include "acl/queue/workers.h"
#include "acl/settings/configuration.h"
#include "acl/stream/capture.h"
#include "acl/stream/failing_task.h"
#include "acl/stream/found_stream.h"
#include "acl/stream/thread_limit.h"
#include "acl/stream/timeouts.h"
#include "aclnn/aclnn_base.h"
#include "aclnn/call_watch.h"
#include "aclnn/live_executor.h"
#include "aclnn/opdev/op_errno.h"
#include "aclnn/rank_group.h"
#include "base/errors.h"
#include "base/handle_table.h"
#include "base/sanitizer_hooks.h"
#include "profile/recorder.h"

namespace portacl {
namespace {

HandleTable<Executor, 0x45> executors;

// A call up to this size runs in the calling thread if its stream is idle. One thread needs some 100 us for it. Waking a worker costs
// the caller 20 us on a virtual machine. The worker starts up to 100 us later, and then competes for work that one thread could have done.
constexpr int64_t kSmallElements = 1048576;

// Reports that phase 2 of a live executor failed. In a stream that stops on failure the call succeeds and the stream fails instead
// (see failing_task.h). Its code is then one that a synchronisation of the stream may return.
[[gnu::cold, gnu::noinline]] aclnnStatus FailPhase2(aclrtStream stream, aclnnStatus status,
                                                    const Text& message) noexcept {
  const bool is_parameter = status == ACLNN_ERR_PARAM_NULLPTR || status == ACLNN_ERR_PARAM_INVALID;
  Text told = message;
  told.Add(" (").Add(status).Add(")");
  return FailsInStream(FindStream(stream),
                       is_parameter ? ACL_ERROR_RT_PARAM_INVALID : ACL_ERROR_RT_INTERNAL_ERROR, told)
             ? ACL_SUCCESS
             : FailAclnn(status, message);
}

aclnnStatus FailUnknownStream(const char* api, aclrtStream stream) noexcept {
  return FailAclnn(
      ACLNN_ERR_RUNTIME_ERROR,
      stream == nullptr
          ? Text(api,
                 ": parameter stream is a null pointer (the default stream) and no device is set on this "
                 "thread, expected an earlier aclrtSetDevice.")
          : Text(api, ": parameter stream has the value ", static_cast<const void*>(stream),
                 ", which is no stream, accepted: a stream made by aclrtCreateStream and not yet "
                 "destroyed."));
}

// Makes the checks of phase 2 on a live executor, in CANN's order. Returns true and the stream in *queue if it may run, else false and
// the code of phase 2 in *status. Inline, like Submit, because a call of either costs a hundredth of a small operator's two phases.
[[gnu::always_inline]] inline bool CheckPhase2(const ExecutorState& executor, const char* api,
                                               const void* workspace, uint64_t workspace_size,
                                               aclrtStream stream, FoundStream* queue,
                                               aclnnStatus* status) noexcept {
  const auto fail = [&](aclnnStatus code, const Text& message) {
    *status = FailPhase2(stream, code, message);
    return false;
  };
  if (std::strcmp(executor.api, api) != 0) {
    return fail(ACLNN_ERR_INNER, Text(api, ": parameter executor comes from ", executor.api,
                                      "GetWorkspaceSize, expected one from ", api, "GetWorkspaceSize."));
  }
  if (workspace == nullptr && (workspace_size > 0 || executor.workspace_size > 0)) {
    return fail(ACLNN_ERR_PARAM_NULLPTR,
                Text(api, ": parameter workspace is a null pointer, expected the address of ",
                     workspace_size > 0 ? workspace_size : executor.workspace_size, " bytes."));
  }
  if (workspace_size < executor.workspace_size) {
    return fail(ACLNN_ERR_PARAM_INVALID, Text(api, ": parameter workspaceSize has the value ", workspace_size,
                                              ", accepted: at least ", executor.workspace_size, "."));
  }
  for (int i = 0; i < executor.operand_count; ++i) {
    if (executor.touched[i] && executor.addresses[i] == nullptr) {
      Text message(api, ": the data address of ");
      AddOperandName(message, executor, i);
      return fail(ACLNN_ERR_PARAM_NULLPTR,
                  message.Add(" is a null pointer, expected the address of its storage."));
    }
  }
  *queue = FindStream(stream);
  if (*queue) return true;
  *status = FailUnknownStream(api, stream);
  return false;
}

// Forwards what a job reports: a failure to the stream, a shape to the caller's tensor.
class EventsOf final : public JobEvents {
 public:
  EventsOf(const ExecutorState& executor, Stream& stream) noexcept : executor_(executor), stream_(stream) {}

  void Fail(aclError status, const Text& text) const noexcept override {
    stream_.NoteFailure(Stream::Failure(status, text));
  }
  void SetShape(int index, const Shape& shape) const noexcept override {
    std::unique_lock<std::mutex> lock;
    aclTensor* const tensor = executor_.shaped[index].Get(&lock);
    if (tensor == nullptr) return;
    tensor->shape = tensor->storage = shape;
    tensor->strides = RowMajorStrides(shape);
    tensor->Describe();
  }

 private:
  const ExecutorState& executor_;
  Stream& stream_;
};

// Exchanges data with the other ranks of the executor's communicators, and reports a failure to the stream.
class RanksOf final : public JobRanks {
 public:
  RanksOf(const Executor& executor, Stream& stream) noexcept : executor_(executor), stream_(stream) {}

  bool Perform(int step, const RankExchange& exchange) const noexcept override {
    if (has_failed_) return false;
    Text why;
    const aclError status = executor_.ranks[exchange.group]->Perform(
        executor_.first_exchange[exchange.group] + static_cast<uint64_t>(step), exchange, &why);
    // Through the exchange the stream has synchronised with the other ranks, which may be threads of this process.
    if (sanitizer::IsOn(sanitizer::kSync)) sanitizer::hooks->StreamWaitsForAll(&stream_);
    if (status == ACL_SUCCESS) return true;
    has_failed_ = true;
    stream_.NoteFailure(Stream::Failure(status, Text(executor_.api, ": ", why.view())));
    return false;
  }
  bool HasFailed() const noexcept override { return has_failed_; }

 private:
  const Executor& executor_;
  Stream& stream_;
  mutable bool has_failed_ = false;
};

void RunJob(const Executor& executor, Stream& stream) noexcept {
  const EventsOf events(executor, stream);
  if (!executor.Communicates()) {
    executor.job.Run({executor.api, executor.addresses, executor.workspace, executor.memory, &events});
    return;
  }
  const RanksOf ranks(executor, stream);
  executor.job.Run({executor.api, executor.addresses, executor.workspace, executor.memory, &events, &ranks});
}

// Runs the job. Reports if it took longer than aclrtSetOpExecuteTimeOut allows.
void DoWork(const Executor& executor, Stream& stream) noexcept {
  const int64_t limit = ExecutionTimeout();
  if (limit == 0) {
    RunJob(executor, stream);
    return;
  }
  const auto start = std::chrono::steady_clock::now();
  RunJob(executor, stream);
  if (std::chrono::steady_clock::now() - start > std::chrono::microseconds(limit)) {
    stream.NoteFailure(
        {ACL_ERROR_RT_AICORE_TIMEOUT,
         "an operator took longer than aclrtSetOpExecuteTimeOut allows; its results are complete."});
  }
}

[[gnu::cold, gnu::noinline]] void DoWatchedWork(Executor& executor, Stream& stream) noexcept {
  const watch::Work watched(executor, stream);
  DoWork(executor, stream);
}

}  // namespace

Executor* AcquireExecutor(const char* api) noexcept {
  Executor* executor = executors.Acquire();
  if (executor == nullptr) return nullptr;
  executor->api = api;
  executor->isa = CurrentConfiguration().isa;
  executor->threads = ThreadLimit();
  executor->workspace_size = 0;
  executor->workspace = nullptr;
  executor->input_count = 0;
  executor->operand_count = 0;
  executor->first_output = 0;
  executor->output_count = 0;
  executor->parameter_count = 0;
  executor->first_output_parameter = 0;
  executor->addresses = executor->few_addresses;
  executor->touched = executor->few_touched;
  executor->memory = nullptr;
  executor->memory_bytes = 0;
  executor->out_of_memory = false;
  executor->too_large = nullptr;
  executor->size = 0;
  executor->shaped = executor->own_shaped_;
  executor->sets_shapes = false;
  executor->repeatable = false;
  executor->job.Clear();
  return executor;
}

aclOpExecutor* PublishExecutor(Executor* executor) noexcept {
  return static_cast<aclOpExecutor*>(executors.Publish(executor));
}

void ReleaseExecutor(Executor* executor) noexcept {
  watch::Goes(*executor);
  if (executor->sets_shapes) {
    for (ShapedTensor& one : executor->own_shaped_) one.Forget();
  }
  for (std::shared_ptr<RankGroup>& one : executor->ranks) one.reset();
  executor->Shrink();
  executors.Recycle(executor);
}

Task::Outcome Executor::Run(Stream& stream) noexcept {
  if (watch::IsOn()) {
    DoWatchedWork(*this, stream);
  } else {
    DoWork(*this, stream);
  }
  return Outcome::kDone;
}

bool Executor::Interrupt(Stream&) noexcept {
  for (const std::shared_ptr<RankGroup>& one : ranks) {
    if (one != nullptr) one->Interrupt();
  }
  return false;
}

void Executor::Finish(StreamList&) noexcept {
  if (affinity == Affinity::kReservedWorker) workers::Unreserve();
  ReleaseExecutor(this);
}

namespace {

// An operator in a graph: its executor, with the addresses that it had when it was captured.
class RecordedOperator final : public RecordedTask {
 public:
  RecordedOperator(Executor* executor, const std::string* operands) noexcept
      : executor_(executor), operands_(operands) {}
  ~RecordedOperator() override { ReleaseExecutor(executor_); }
  Progress Run(Stream& stream, Scratch& scratch) noexcept override {
    if (executor_->workspace_size > 0) {
      executor_->workspace = scratch.Room(executor_->workspace_size);
      if (executor_->workspace == nullptr) {
        stream.NoteFailure({ACL_ERROR_RT_MEMORY_ALLOCATION,
                            Text("no memory for the workspace of ", executor_->api, " in a graph.")});
        return Progress::kDone;
      }
    }
    const profile::Part part(executor_->api, stream.device(), stream.id(), operands_);
    executor_->Run(stream);
    return Progress::kDone;
  }

 private:
  Executor* const executor_;
  const std::string* const operands_;  // as profiles describe them
};

// Adds the operator to the captured stream's graph. Takes ownership of the executor.
[[gnu::cold, gnu::noinline]] aclnnStatus RecordExecutor(const char* api, const FoundStream& queue,
                                                        Executor* executor,
                                                        const std::string* operands) noexcept {
  aclError status = ACL_SUCCESS;
  if (executor->sets_shapes) {
    status =
        RefuseInCapture(api, queue, ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT,
                        "the shape of a result depends on values, for which phase 2 would wait; accepted: "
                        "a stream that is not captured. The capture is invalidated");
    ReleaseExecutor(executor);
    if (status == ACL_SUCCESS) return ACL_SUCCESS;  // the end of the capture reports it
    return FailAclnn(ACLNN_ERR_RUNTIME_ERROR,
                     Text(api, ": the stream is captured and refused the work with ", status, "."));
  }
  RecordedInfo info{.api = executor->api, .elements = executor->job.Elements()};
  std::unique_ptr<RecordedTask> task;
  try {
    for (int i = 0; i < executor->operand_count; ++i) {
      if (executor->touched[i]) info.addresses.push_back(executor->addresses[i]);
    }
    watch::IsCaptured(*executor, &info);
    task.reset(new RecordedOperator(executor, operands));
  } catch (...) {
    ReleaseExecutor(executor);
    return FailAclnn(ACLNN_ERR_INNER_CREATE_EXECUTOR, Text(api, ": no memory to record the work."));
  }
  status = Record(api, queue, std::move(task), std::move(info));
  if (status == ACL_SUCCESS) return ACL_SUCCESS;
  return FailAclnn(ACLNN_ERR_RUNTIME_ERROR,
                   Text(api, ": the stream is captured and refused the work with ", status, "."));
}

// Makes a job that communicates ready to be queued, whose exchanges are numbered in the order of calls, whatever
// their streams are. It waits for other ranks without limit, so that a worker is reserved for it. Returns false,
// and the code of phase 2 in *status, if that cannot be; the executor is then gone.
[[gnu::cold, gnu::noinline]] bool PrepareExchanges(const char* api, const FoundStream& queue,
                                                   aclrtStream stream, Executor* executor,
                                                   aclnnStatus* status) noexcept {
  const auto fail = [&](const Text& message) {
    ReleaseExecutor(executor);
    *status = FailPhase2(stream, ACLNN_ERR_INNER, message);
    return false;
  };
  if (IsCaptured(queue)) {
    const aclError refused = RefuseInCapture(
        api, queue, ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT,
        "it exchanges data with other ranks, which a graph does not do for operators; accepted: "
        "a stream that is not captured, or a product and a collective of hccl/hccl.h. The capture "
        "is invalidated");
    ReleaseExecutor(executor);
    // Else the end of the capture reports it.
    *status = refused == ACL_SUCCESS
                  ? aclnnStatus{ACL_SUCCESS}
                  : FailAclnn(ACLNN_ERR_RUNTIME_ERROR,
                              Text(api, ": the stream is captured and refused the work with ", refused, "."));
    return false;
  }
  for (const std::shared_ptr<RankGroup>& one : executor->ranks) {
    const Text why = one == nullptr ? Text() : one->WhyNot();
    if (!why.view().empty()) return fail(Text(api, ": ", why.view()));
  }
  if (!workers::Reserve()) return fail(Text(api, ": no thread can be started that waits for other ranks."));
  executor->affinity = Task::Affinity::kReservedWorker;
  for (int i = 0; i < Executor::kMostGroups; ++i) {
    if (executor->ranks[i] != nullptr)
      executor->first_exchange[i] = executor->ranks[i]->TakeNumbers(executor->exchanges[i]);
  }
  return true;
}

// Submits the work to a stream. Takes ownership of the executor.
[[gnu::always_inline]] inline aclnnStatus Submit(const char* api, const FoundStream& queue,
                                                 aclrtStream stream, Executor* executor,
                                                 const std::string* operands) noexcept {
  if (executor->Communicates()) [[unlikely]] {
    aclnnStatus status = ACL_SUCCESS;
    if (!PrepareExchanges(api, queue, stream, executor, &status)) return status;
  } else {
    if (IsCaptured(queue)) return RecordExecutor(api, queue, executor, operands);
    executor->affinity =
        executor->job.Elements() <= kSmallElements ? Task::Affinity::kAnywhere : Task::Affinity::kWorker;
  }
  const bool blocking = CurrentConfiguration().launch_blocking;
  const Stream::Wait wait = executor->sets_shapes ? Stream::Wait::kUntilDone
                            : blocking            ? Stream::Wait::kLaunchBlocking
                                                  : Stream::Wait::kNo;
  watch::IsQueued(api, *executor, queue);
  switch (queue.Submit(executor, wait)) {
    case Stream::Submission::kQueued:
      return ACL_SUCCESS;
    case Stream::Submission::kWaitsForSelf:
      return FailAclnn(ACLNN_ERR_RUNTIME_ERROR,
                       Text(api, ": a function that the stream itself waits for cannot wait for the ",
                            "shape of the result; expected a call from elsewhere."));
    default:
      return FailUnknownStream(api, stream);
  }
}

// Copies a repeatable executor for one run. Returns nullptr, and the code of phase 2 in *status, if there is no memory.
[[gnu::noinline]] Executor* CopyForOneRun(const char* api, const Executor& executor, aclrtStream stream,
                                          aclnnStatus* status) noexcept {
  Executor* const copy = executors.Acquire();
  if (copy != nullptr && copy->Copy(executor)) {
    watch::IsCopied(executor, *copy);
    return copy;
  }
  if (copy != nullptr) ReleaseExecutor(copy);
  *status = FailPhase2(stream, ACLNN_ERR_INNER_CREATE_EXECUTOR,
                       Text(api, ": no memory to queue one more run of a repeatable executor."));
  return nullptr;
}

[[gnu::cold, gnu::noinline]] aclnnStatus FailNoExecutor(const char* api,
                                                        const aclOpExecutor* handle) noexcept {
  if (handle == nullptr) {
    return FailAclnn(
        ACLNN_ERR_PARAM_NULLPTR,
        Text(api, ": parameter executor is a null pointer, expected one from ", api, "GetWorkspaceSize."));
  }
  watch::FindsNone(api, handle);
  return FailAclnn(ACLNN_ERR_INNER,
                   Text(api, ": parameter executor has the value ", static_cast<const void*>(handle),
                        ", which is no executor or one that was used already. Accepted: an executor from ",
                        api, "GetWorkspaceSize, once."));
}

}  // namespace

aclnnStatus RunExecutor(const char* api, void* workspace, uint64_t workspace_size, aclOpExecutor* executor,
                        aclrtStream stream) noexcept {
  const ApiScope scope(api);
  profile::Call profiled(api);
  Executor* found = executors.Find(executor);
  const bool repeatable = found != nullptr && found->repeatable;
  if (!repeatable) found = executors.Take(executor);
  if (found == nullptr) return FailNoExecutor(api, executor);
  watch::Begins(api, *found, workspace, workspace_size, profiled);
  aclnnStatus status = ACL_SUCCESS;
  FoundStream queue;
  Executor* to_run = nullptr;
  if (CheckPhase2(*found, api, workspace, workspace_size, stream, &queue, &status)) {
    if (!found->job.IsThere()) {
      watch::HasNothingToDo(*found, *queue.stream);
    } else {
      watch::Launches(*found, workspace);
      to_run = repeatable ? CopyForOneRun(api, *found, stream, &status) : found;
    }
  }
  if (to_run != found && !repeatable) ReleaseExecutor(found);
  if (to_run == nullptr) return status;
  to_run->workspace = workspace;
  return Submit(api, queue, stream, to_run, profiled.arguments());
}

Executor* FindExecutor(const char* api, const aclOpExecutor* executor, aclnnStatus* status) noexcept {
  Executor* found = executors.Find(executor);
  if (found != nullptr) return found;
  *status = executor == nullptr
                ? FailAclnn(ACLNN_ERR_INNER_NULLPTR,
                            Text(api, ": parameter executor is a null pointer, expected a live executor."))
                : FailAclnn(ACLNN_ERR_INNER, Text(api, ": parameter executor has the value ",
                                                  static_cast<const void*>(executor),
                                                  ", which is no executor or one that was used already."));
  return nullptr;
}

int LiveExecutors() noexcept {
  int count = 0;
  executors.ForEachLive([&count](void*, Executor&) { ++count; });
  return count;
}

}  // namespace portacl

using namespace portacl;

aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor* executor) {
  aclnnStatus status = ACL_SUCCESS;
  if (FindExecutor("aclDestroyAclOpExecutor", executor, &status) == nullptr) return status;
  if (Executor* taken = executors.Take(executor)) ReleaseExecutor(taken);
  return ACL_SUCCESS;
}

aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor* executor) {
  aclnnStatus status = ACL_SUCCESS;
  Executor* found = FindExecutor("aclSetAclOpExecutorRepeatable", executor, &status);
  if (found != nullptr) found->repeatable = true;
  return status;
}

// Do nothing, since aclInit and aclFinalize do all the work. Programs may call this pair as well, in any combination.
aclnnStatus aclnnInit(const char*) { return ACL_SUCCESS; }
aclnnStatus aclnnFinalize(void) { return ACL_SUCCESS; }
