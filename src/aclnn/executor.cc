// Phase 2 and the lifetime of executors (see executor.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnn/executor.h"

#include <bit>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "acl/device/peer_access.h"
#include "acl/memory/memory.h"
#include "acl/queue/stream.h"
#include "acl/settings/configuration.h"
#include "acl/stream/capture.h"
#include "acl/stream/failing_task.h"
#include "acl/stream/found_stream.h"
#include "acl/stream/thread_limit.h"
#include "acl/stream/timeouts.h"
#include "aclnn/aclnn_base.h"
#include "aclnn/opdev/op_errno.h"
#include "base/errors.h"
#include "base/handle_table.h"
#include "profile/recorder.h"
#include "record/recorded_calls.h"
#include "record/recording_settings.h"
#include "sanitizer/calls.h"
#include "sanitizer/checked_call.h"
#include "sanitizer/handles.h"
#include "sanitizer/order.h"
#include "sanitizer/settings.h"

namespace portacl {
namespace {

HandleTable<Executor, 0x45> executors;

// Collects the fields that checks of programs read.
ExecutorView ViewOf(const ExecutorState& executor, void* workspace) noexcept {
  return {&executor,        executor.operand_count,  executor.addresses,
          executor.touched, executor.workspace_size, workspace};
}

// A call up to this size runs at once when its stream is idle: one thread needs some 100 us for it. Handing
// it to a sleeping worker costs the caller 20 us on a virtual machine, and the worker starts up to 100 us
// later. By then one thread alone would have finished.
constexpr int64_t kSmallElements = 1048576;

// A slot keeps at most so many bytes when its executor is done.
constexpr size_t kMostKept = size_t{1} << 20;

// Adds an operand's name: self, or tensors[3] for a list's entry.
void AddOperandName(Text& text, const ExecutorState& executor, int operand) noexcept {
  const ExecutorParameter* parameter = executor.parameters;
  while (operand >= parameter->first + parameter->count) ++parameter;
  text.Add(parameter->name);
  if (parameter->is_list) text.Add('[').Add(operand - parameter->first).Add(']');
}

// Reports that phase 2 of a live executor failed. In a stream that stops on failure the call succeeds and the
// stream fails instead (see failing_task.h), with a code that its synchronisation may return.
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

// Checks in CANN's order whether a live executor may run. If it may not, *status is the code that phase 2
// returns.
bool CheckPhase2(const ExecutorState& executor, const char* api, const void* workspace,
                 uint64_t workspace_size, aclrtStream stream, aclnnStatus* status) noexcept {
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
  return true;
}

// The checks for checked programs are functions of their own, so that phase 2 of other programs keeps its
// small stack frame.

// Checks that the operands lie in memory that the stream's device may use.
[[gnu::cold, gnu::noinline]] void CheckDevices(const char* api, const ExecutorState& executor,
                                               const Stream& stream) noexcept {
  for (int i = 0; i < executor.operand_count; ++i) {
    if (!executor.touched[i]) continue;
    const MemoryFacts facts = FactsOfMemory(executor.addresses[i]);
    if (facts.kind != MemoryKind::kDevice || facts.device == stream.device()) continue;
    if (HasPeerAccess(stream.device(), facts.device)) continue;
    Text operand;
    AddOperandName(operand, executor, i);
    sanitizer::MemoryOfAnotherDevice(api, operand.c_str(), executor.addresses[i], facts.device,
                                     stream.device());
  }
}

sanitizer::CallInSlot InSlot(const Executor& executor) noexcept {
  return {&executor,           executor.api,          executor.addresses,
          executor.touched,    executor.workspace,    executor.workspace_size,
          executor.repeatable, executor.job.IsThere()};
}

[[gnu::cold, gnu::noinline]] void TellOfPhase2(const char* api, const Executor& executor,
                                               const void* workspace, uint64_t workspace_size) noexcept {
  sanitizer::Phase2Begins(api, InSlot(executor), workspace, workspace_size);
}

[[gnu::cold, gnu::noinline]] void TellOfWork(const char* api, Executor& executor,
                                             const FoundStream& queue) noexcept {
  StartWork(static_cast<ExecutorState*>(&executor));
  if (sanitizer::IsOn(sanitizer::kHandles)) CheckDevices(api, executor, *queue.stream);
  if (!sanitizer::IsOn(sanitizer::kSync)) return;
  sanitizer::Queue(static_cast<Task*>(&executor), api, NameForChecks(*queue.stream, queue.handle),
                   sanitizer::AccessesOf(InSlot(executor)));
}

record::CallWork WorkOf(const Executor& executor, const Stream& stream, bool computes) noexcept {
  return {&executor, executor.addresses, executor.touched, stream.device(), stream.id(), computes};
}

// Records a call that has nothing to compute: it is not queued.
[[gnu::cold, gnu::noinline]] void RecordNothingDone(const Executor& executor, const Stream& stream) noexcept {
  record::RunningCall(WorkOf(executor, stream, /*computes=*/false)).Finish({});
}

// Hands on what a job says to the stream, and to the caller's tensors.
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
    tensor->view = tensor->storage = shape;
    tensor->strides = RowMajorStrides(shape);
    tensor->Describe();
  }

 private:
  const ExecutorState& executor_;
  Stream& stream_;
};

void RunJob(const ExecutorState& executor, Stream& stream) noexcept {
  const EventsOf events(executor, stream);
  executor.job.Run({executor.api, executor.addresses, executor.workspace, executor.memory, &events});
}

// Does the work, and reports when it took longer than the program allows.
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

// Does the work, with the contents of its tensors recorded before and after. Recording has no time limit.
[[gnu::cold, gnu::noinline]] void RunRecorded(const Executor& executor, Stream& stream) noexcept {
  record::RunningCall running(WorkOf(executor, stream, /*computes=*/true));
  DoWork(executor, stream);
  try {
    std::vector<record::LaterShape> shapes;
    for (int i = 0; executor.sets_shapes && i < kMaxShaped; ++i) {
      std::unique_lock<std::mutex> lock;
      const aclTensor* const tensor = executor.shaped[i].Get(&lock);
      if (tensor == nullptr) continue;
      shapes.push_back({tensor, {tensor->view.dim, tensor->view.dim + tensor->view.rank}});
    }
    running.Finish(shapes);
  } catch (...) {
    // without memory the call is not recorded
  }
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
  if (sanitizer::IsOn()) ForgetNotes(static_cast<ExecutorState*>(executor));
  if (sanitizer::KeepsCalls()) sanitizer::CallGoes(executor);
  if (record::IsOn()) record::RecordedCallGoes(executor);
  if (executor->sets_shapes) {
    for (ShapedTensor& one : executor->own_shaped_) one.Forget();
  }
  executor->Shrink();
  executors.Recycle(executor);
}

bool Executor::Grow(size_t bytes) noexcept {
  if (bytes <= kept_bytes_) return true;
  if (bytes > size_t{1} << 62) return false;
  bytes = std::bit_ceil(bytes);
  void* const grown = std::realloc(kept_, bytes);
  if (grown == nullptr) return false;
  kept_ = static_cast<std::byte*>(grown);
  kept_bytes_ = bytes;
  return true;
}

bool Executor::ReserveOperands(int count) noexcept {
  operand_bytes_ = 0;
  if (count <= kFewOperands) return true;
  const auto n = static_cast<size_t>(count);
  operand_bytes_ = (n * (sizeof(void*) + sizeof(bool)) + 63) / 64 * 64;
  if (!Grow(operand_bytes_)) return false;
  addresses = reinterpret_cast<void**>(kept_);
  touched = reinterpret_cast<bool*>(addresses + n);
  return true;
}

std::byte* Executor::ReserveMemory(size_t bytes) noexcept {
  out_of_memory = bytes > size_t{1} << 62 || !Grow(operand_bytes_ + bytes);
  if (out_of_memory) return nullptr;
  if (operand_bytes_ > 0) {
    addresses = reinterpret_cast<void**>(kept_);
    touched = reinterpret_cast<bool*>(addresses + operand_count);
  }
  memory = kept_ + operand_bytes_;
  memory_bytes = bytes;
  return memory;
}

void Executor::RefuseSize(const char* parameter, int64_t parameter_size) noexcept {
  out_of_memory = true;
  too_large = parameter;
  size = parameter_size;
}

void Executor::RefuseSize(int parameter, int64_t parameter_size) noexcept {
  RefuseSize(parameters[parameter].name, parameter_size);
}

void Executor::ShapeLater(int index, aclTensor* tensor) noexcept {
  own_shaped_[index].Expect(tensor);
  sets_shapes = true;
}

bool Executor::Copy(const Executor& other) noexcept {
  const size_t bytes = other.operand_bytes_ + other.memory_bytes;
  if (!Grow(bytes)) return false;
  static_cast<ExecutorState&>(*this) = other;
  if (bytes > 0) std::memcpy(kept_, other.kept_, bytes);
  operand_bytes_ = other.operand_bytes_;
  addresses = operand_bytes_ > 0 ? reinterpret_cast<void**>(kept_) : few_addresses;
  touched = operand_bytes_ > 0 ? reinterpret_cast<bool*>(addresses + operand_count) : few_touched;
  memory = kept_ + operand_bytes_;
  shaped = own_shaped_;
  sets_shapes = other.sets_shapes;
  for (int i = 0; i < kMaxShaped && sets_shapes; ++i) own_shaped_[i].Expect(other.own_shaped_[i]);
  return true;
}

Task::Outcome Executor::Run(Stream& stream) noexcept {
  if (sanitizer::IsOn()) workspace = BeforeWork(ViewOf(*this, workspace));
  if (record::IsOn()) {
    RunRecorded(*this, stream);
  } else {
    DoWork(*this, stream);
  }
  return Outcome::kDone;
}

void Executor::Finish(StreamList&) noexcept { ReleaseExecutor(this); }

void Executor::Shrink() noexcept {
  if (kept_bytes_ <= kMostKept) return;
  std::free(kept_);
  kept_ = nullptr;
  kept_bytes_ = 0;
}

namespace {

// An operator in a graph: its executor, with the addresses as they were at the capture.
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
  const std::string* const operands_;  // in the format of a profile
};

// Phase 2 on a captured stream. Takes over the executor.
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
    if (status == ACL_SUCCESS) return ACL_SUCCESS;  // the end of the capture reports the failure
    return FailAclnn(ACLNN_ERR_RUNTIME_ERROR,
                     Text(api, ": the stream is captured and refused the work with ", status, "."));
  }
  RecordedFacts facts{.api = executor->api, .elements = executor->job.Elements()};
  std::unique_ptr<RecordedTask> task;
  try {
    for (int i = 0; i < executor->operand_count; ++i) {
      if (executor->touched[i]) facts.addresses.push_back(executor->addresses[i]);
    }
    if (sanitizer::IsOn(sanitizer::kSync)) facts.accesses = sanitizer::AccessesOf(InSlot(*executor));
    task.reset(new RecordedOperator(executor, operands));
  } catch (...) {
    ReleaseExecutor(executor);
    return FailAclnn(ACLNN_ERR_INNER_CREATE_EXECUTOR, Text(api, ": no memory to record the work."));
  }
  if (sanitizer::IsOn()) StartWork(static_cast<ExecutorState*>(executor));
  status = Record(api, queue, std::move(task), std::move(facts));
  if (status == ACL_SUCCESS) return ACL_SUCCESS;
  return FailAclnn(ACLNN_ERR_RUNTIME_ERROR,
                   Text(api, ": the stream is captured and refused the work with ", status, "."));
}

}  // namespace

aclnnStatus RunExecutor(const char* api, void* workspace, uint64_t workspace_size, aclOpExecutor* executor,
                        aclrtStream stream) noexcept {
  const ApiScope scope(api);
  profile::Call call(api);
  if (executor == nullptr) {
    return FailAclnn(
        ACLNN_ERR_PARAM_NULLPTR,
        Text(api, ": parameter executor is a null pointer, expected one from ", api, "GetWorkspaceSize."));
  }
  Executor* found = executors.Find(executor);
  const bool repeatable = found != nullptr && found->repeatable;
  if (!repeatable) found = executors.Take(executor);
  if (found == nullptr) {
    if (sanitizer::KeepsCalls()) sanitizer::Phase2FindsNone(api, executor);
    return FailAclnn(ACLNN_ERR_INNER,
                     Text(api, ": parameter executor has the value ", static_cast<const void*>(executor),
                          ", which is no executor or one that was used already. Accepted: an executor from ",
                          api, "GetWorkspaceSize, once."));
  }
  if (sanitizer::KeepsCalls()) TellOfPhase2(api, *found, workspace, workspace_size);
  if (profile::IsOn()) call.Describe(profile::OperandsOf(found));
  aclnnStatus status = ACL_SUCCESS;
  FoundStream queue;
  bool may_run = CheckPhase2(*found, api, workspace, workspace_size, stream, &status);
  if (may_run) {
    queue = FindStream(stream);
    may_run = static_cast<bool>(queue);
    if (!may_run) status = FailUnknownStream(api, stream);
  }
  Executor* to_run = may_run && found->job.IsThere() ? found : nullptr;
  if (record::IsOn() && may_run && to_run == nullptr) RecordNothingDone(*found, *queue.stream);
  if (sanitizer::IsOn() && to_run != nullptr) CheckLaunch(ViewOf(*found, workspace));
  if (to_run != nullptr && repeatable) {
    to_run = executors.Acquire();
    if (to_run != nullptr && !to_run->Copy(*found)) {
      ReleaseExecutor(to_run);
      to_run = nullptr;
    }
    if (to_run != nullptr && sanitizer::KeepsCalls()) sanitizer::CallIsCopied(found, to_run);
    if (to_run != nullptr && record::IsOn()) record::RecordedCallIsCopied(found, to_run);
    if (to_run == nullptr) {
      status = FailPhase2(stream, ACLNN_ERR_INNER_CREATE_EXECUTOR,
                          Text(api, ": no memory to queue one more run of a repeatable executor."));
    }
  }
  if (sanitizer::IsOn() && to_run != nullptr && to_run != found)
    CopyNotes(static_cast<ExecutorState*>(found), static_cast<ExecutorState*>(to_run));
  if (to_run != found && !repeatable) ReleaseExecutor(found);
  if (to_run != nullptr) {
    to_run->workspace = workspace;
    if (IsCaptured(queue)) return RecordExecutor(api, queue, to_run, call.arguments());
    to_run->place = to_run->job.Elements() <= kSmallElements ? Task::Place::kAnywhere : Task::Place::kWorker;
    const bool blocking = CurrentConfiguration().launch_blocking;
    const Stream::Wait wait = to_run->sets_shapes ? Stream::Wait::kUntilDone
                              : blocking          ? Stream::Wait::kLaunchBlocking
                                                  : Stream::Wait::kNo;
    if (sanitizer::IsOn()) TellOfWork(api, *to_run, queue);
    switch (queue.Submit(to_run, wait)) {
      case Stream::Submission::kQueued:
        break;
      case Stream::Submission::kWaitsForSelf:
        status = FailAclnn(ACLNN_ERR_RUNTIME_ERROR,
                           Text(api, ": a function that the stream itself waits for cannot wait for the ",
                                "shape of the result; expected a call from elsewhere."));
        break;
      default:
        status = FailUnknownStream(api, stream);
    }
  }
  return status;
}

int LiveExecutors() noexcept {
  int count = 0;
  executors.ForEachLive([&count](void*, Executor&) { ++count; });
  return count;
}

}  // namespace portacl

using namespace portacl;

namespace {

// Returns the live executor of a handle. When there is none, reports it and sets *status: 561103 for null,
// else 561000.
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

// Selects the operands that an index counts.
enum class Operand { kInput, kOutput, kAny };

// Sets the address of the operand at `index`. `tensor` only has to be non-null.
aclnnStatus SetAddress(const char* api, aclOpExecutor* executor, Operand counted, size_t index,
                       const aclTensor* tensor, void* address) noexcept {
  aclnnStatus status = ACL_SUCCESS;
  Executor* found = FindExecutor(api, executor, &status);
  if (found == nullptr) return status;
  if (tensor == nullptr) {
    return FailAclnn(ACLNN_ERR_INNER_NULLPTR,
                     Text(api, ": parameter tensor is a null pointer, expected the operand's tensor."));
  }
  const int first = counted == Operand::kOutput ? found->first_output : 0;
  const int last = counted == Operand::kOutput  ? first + found->output_count
                   : counted == Operand::kInput ? found->input_count
                                                : found->operand_count;
  if (index >= static_cast<size_t>(last - first)) {
    return FailAclnn(ACLNN_ERR_PARAM_INVALID, Text(api, ": parameter index has the value ", index,
                                                   ", accepted: 0 to ", last - first - 1, "."));
  }
  found->addresses[first + static_cast<int>(index)] = address;
  return ACL_SUCCESS;
}

// irIndex is the position of a list among the counted parameters. relativeIndex is the position of an entry
// in the list.
aclnnStatus SetListAddress(const char* api, aclOpExecutor* executor, Operand counted, size_t irIndex,
                           size_t relativeIndex, const aclTensorList* tensors, void* address) noexcept {
  aclnnStatus status = ACL_SUCCESS;
  Executor* found = FindExecutor(api, executor, &status);
  if (found == nullptr) return status;
  if (tensors == nullptr) {
    return FailAclnn(ACLNN_ERR_INNER_NULLPTR,
                     Text(api, ": parameter tensors is a null pointer, expected the operand's list."));
  }
  if (relativeIndex >= tensors->values.size()) {
    return FailAclnn(
        ACLNN_ERR_PARAM_INVALID,
        Text(api, ": parameter relativeIndex has the value ", relativeIndex,
             ", accepted: less than the size of the list, which is ", tensors->values.size(), "."));
  }
  const int first = counted == Operand::kOutput ? found->first_output_parameter : 0;
  int last = found->parameter_count;
  if (counted == Operand::kInput) {
    while (last > 0 && found->parameters[last - 1].first >= found->input_count) --last;
  } else if (counted == Operand::kOutput) {
    last = first;
    while (last < found->parameter_count &&
           found->parameters[last].first < found->first_output + found->output_count)
      ++last;
  }
  const ExecutorParameter* const parameter = irIndex < static_cast<size_t>(last - first)
                                                 ? &found->parameters[static_cast<size_t>(first) + irIndex]
                                                 : nullptr;
  if (parameter == nullptr || !parameter->is_list) {
    return FailAclnn(ACLNN_ERR_PARAM_INVALID,
                     Text(api, ": parameter irIndex has the value ", irIndex, ", but ", found->api,
                          " has no list of tensors there, accepted: the position of one."));
  }
  if (relativeIndex >= static_cast<size_t>(parameter->count)) {
    return FailAclnn(ACLNN_ERR_PARAM_INVALID,
                     Text(api, ": parameter relativeIndex has the value ", relativeIndex, ", accepted: 0 to ",
                          parameter->count - 1, ", the entries of ", parameter->name, " in phase 1."));
  }
  found->addresses[parameter->first + static_cast<int>(relativeIndex)] = address;
  return ACL_SUCCESS;
}

}  // namespace

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

aclnnStatus aclSetInputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                  void* addr) {
  return SetAddress("aclSetInputTensorAddr", executor, Operand::kInput, index, tensor, addr);
}

aclnnStatus aclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                   void* addr) {
  return SetAddress("aclSetOutputTensorAddr", executor, Operand::kOutput, index, tensor, addr);
}

aclnnStatus aclSetTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor, void* addr) {
  return SetAddress("aclSetTensorAddr", executor, Operand::kAny, index, tensor, addr);
}

aclnnStatus aclSetDynamicInputTensorAddr(aclOpExecutor* executor, size_t irIndex, const size_t relativeIndex,
                                         aclTensorList* tensors, void* addr) {
  return SetListAddress("aclSetDynamicInputTensorAddr", executor, Operand::kInput, irIndex, relativeIndex,
                        tensors, addr);
}

aclnnStatus aclSetDynamicOutputTensorAddr(aclOpExecutor* executor, size_t irIndex, const size_t relativeIndex,
                                          aclTensorList* tensors, void* addr) {
  return SetListAddress("aclSetDynamicOutputTensorAddr", executor, Operand::kOutput, irIndex, relativeIndex,
                        tensors, addr);
}

aclnnStatus aclSetDynamicTensorAddr(aclOpExecutor* executor, size_t irIndex, const size_t relativeIndex,
                                    aclTensorList* tensors, void* addr) {
  return SetListAddress("aclSetDynamicTensorAddr", executor, Operand::kAny, irIndex, relativeIndex, tensors,
                        addr);
}

// CANN exports each of the six functions under a second name as well.
aclnnStatus AclSetInputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                  void* addr) {
  return SetAddress("AclSetInputTensorAddr", executor, Operand::kInput, index, tensor, addr);
}

aclnnStatus AclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                   void* addr) {
  return SetAddress("AclSetOutputTensorAddr", executor, Operand::kOutput, index, tensor, addr);
}

aclnnStatus AclSetTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor, void* addr) {
  return SetAddress("AclSetTensorAddr", executor, Operand::kAny, index, tensor, addr);
}

aclnnStatus AclSetDynamicInputTensorAddr(aclOpExecutor* executor, size_t irIndex, const size_t relativeIndex,
                                         aclTensorList* tensors, void* addr) {
  return SetListAddress("AclSetDynamicInputTensorAddr", executor, Operand::kInput, irIndex, relativeIndex,
                        tensors, addr);
}

aclnnStatus AclSetDynamicOutputTensorAddr(aclOpExecutor* executor, size_t irIndex, const size_t relativeIndex,
                                          aclTensorList* tensors, void* addr) {
  return SetListAddress("AclSetDynamicOutputTensorAddr", executor, Operand::kOutput, irIndex, relativeIndex,
                        tensors, addr);
}

aclnnStatus AclSetDynamicTensorAddr(aclOpExecutor* executor, size_t irIndex, const size_t relativeIndex,
                                    aclTensorList* tensors, void* addr) {
  return SetListAddress("AclSetDynamicTensorAddr", executor, Operand::kAny, irIndex, relativeIndex, tensors,
                        addr);
}

// Empty: aclInit and aclFinalize do all the work. CANN's programs may call this pair as well, in any
// combination.
aclnnStatus aclnnInit(const char*) { return ACL_SUCCESS; }
aclnnStatus aclnnFinalize(void) { return ACL_SUCCESS; }
