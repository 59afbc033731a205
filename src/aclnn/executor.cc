// Phase 2 and the lifetime of executors (see executor.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnn/executor.h"

#include "acl/errors.h"
#include "acl/handle_table.h"
#include "acl/queue/stream.h"
#include "acl/settings/configuration.h"
#include "acl/stream/found_stream.h"
#include "acl/stream/timeouts.h"
#include "aclnn/aclnn_base.h"
#include "aclnn/opdev/op_errno.h"

namespace portacl {
namespace {

HandleTable<Executor, 0x45> executors;

// A call up to this size runs at once when its stream is idle: one thread needs some 100 us for it. Handing it to a
// worker that sleeps costs the caller 20 us on a virtual machine, the worker comes up to 100 us later, and two threads
// have then begun to compete for what one of them could have computed by itself.
constexpr int64_t kSmallElements = 1048576;

// The checks of phase 2 on a live executor, in CANN's order; 0 when it may run.
aclnnStatus CheckPhase2(const ExecutorState& executor, const char* api, const void* workspace,
                        uint64_t workspace_size) noexcept {
  if (std::strcmp(executor.api, api) != 0) {
    return FailAclnn(ACLNN_ERR_INNER, Text(api, ": parameter executor comes from ", executor.api,
                                           "GetWorkspaceSize, expected one from ", api, "GetWorkspaceSize."));
  }
  if (workspace == nullptr && (workspace_size > 0 || executor.workspace_size > 0)) {
    return FailAclnn(ACLNN_ERR_PARAM_NULLPTR,
                     Text(api, ": parameter workspace is a null pointer, expected the address of ",
                          workspace_size > 0 ? workspace_size : executor.workspace_size, " bytes."));
  }
  if (workspace_size < executor.workspace_size) {
    return FailAclnn(ACLNN_ERR_PARAM_INVALID,
                     Text(api, ": parameter workspaceSize has the value ", workspace_size,
                          ", accepted: at least ", executor.workspace_size, "."));
  }
  for (int i = 0; i < executor.operand_count; ++i) {
    const ExecutorOperand& operand = executor.operands[i];
    if (operand.touched && operand.address == nullptr) {
      return FailAclnn(ACLNN_ERR_PARAM_NULLPTR,
                       Text(api, ": the data address of ", operand.name,
                            " is a null pointer, expected the address of its storage."));
    }
  }
  return ACL_SUCCESS;
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
  executor->workspace_size = 0;
  executor->workspace = nullptr;
  executor->input_count = 0;
  executor->operand_count = 0;
  executor->output = 0;
  executor->elements = 0;
  executor->repeatable = false;
  executor->run = nullptr;
  return executor;
}

aclOpExecutor* PublishExecutor(Executor* executor) noexcept {
  return static_cast<aclOpExecutor*>(executors.Publish(executor));
}

void ReleaseExecutor(Executor* executor) noexcept { executors.Recycle(executor); }

Task::Outcome Executor::Run(Stream& stream) noexcept {
  const int64_t limit = ExecutionTimeout();
  if (limit == 0) {
    run(*this);
    return Outcome::kDone;
  }
  const auto start = std::chrono::steady_clock::now();
  run(*this);
  if (std::chrono::steady_clock::now() - start > std::chrono::microseconds(limit)) {
    stream.NoteFailure(
        {ACL_ERROR_RT_AICORE_TIMEOUT,
         "an operator took longer than aclrtSetOpExecuteTimeOut allows; its results are complete."});
  }
  return Outcome::kDone;
}

void Executor::Finish(StreamList&) noexcept { executors.Recycle(this); }

aclnnStatus RunExecutor(const char* api, void* workspace, uint64_t workspace_size, aclOpExecutor* executor,
                        aclrtStream stream) noexcept {
  const ApiScope scope(api);
  if (executor == nullptr) {
    return FailAclnn(
        ACLNN_ERR_PARAM_NULLPTR,
        Text(api, ": parameter executor is a null pointer, expected one from ", api, "GetWorkspaceSize."));
  }
  Executor* found = executors.Find(executor);
  const bool repeatable = found != nullptr && found->repeatable;
  if (!repeatable) found = executors.Take(executor);
  if (found == nullptr) {
    return FailAclnn(ACLNN_ERR_INNER,
                     Text(api, ": parameter executor has the value ", static_cast<const void*>(executor),
                          ", which is no executor or one that was used already. Accepted: an executor from ",
                          api, "GetWorkspaceSize, once."));
  }
  aclnnStatus status = CheckPhase2(*found, api, workspace, workspace_size);
  FoundStream queue;
  if (status == ACL_SUCCESS) {
    queue = FindStream(stream);
    if (!queue) status = FailUnknownStream(api, stream);
  }
  Executor* to_run = status == ACL_SUCCESS && found->run != nullptr ? found : nullptr;
  if (to_run != nullptr && repeatable) {
    to_run = executors.Acquire();
    if (to_run == nullptr) {
      status = FailAclnn(ACLNN_ERR_INNER_CREATE_EXECUTOR,
                         Text(api, ": no memory to queue one more run of a repeatable executor."));
    } else {
      static_cast<ExecutorState&>(*to_run) = *found;
    }
  }
  if (to_run != found && !repeatable) executors.Recycle(found);
  if (to_run != nullptr) {
    to_run->workspace = workspace;
    to_run->place = to_run->elements <= kSmallElements ? Task::Place::kAnywhere : Task::Place::kWorker;
    const bool blocking = CurrentConfiguration().launch_blocking;
    if (queue.Submit(to_run, blocking ? Stream::Wait::kLaunchBlocking : Stream::Wait::kNo) !=
        Stream::Submission::kQueued) {
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

// The live executor of a handle; when there is none, reports it and sets *status: 561103 for null, else
// 561000 (decision C6).
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

// What an index counts.
enum class Operand { kInput, kOutput, kAny };

// The index decides which operand gets the address; `tensor` must only be there (decision R6).
aclnnStatus SetAddress(const char* api, aclOpExecutor* executor, Operand counted, size_t index,
                       const aclTensor* tensor, void* address) noexcept {
  aclnnStatus status = ACL_SUCCESS;
  Executor* found = FindExecutor(api, executor, &status);
  if (found == nullptr) return status;
  if (tensor == nullptr) {
    return FailAclnn(ACLNN_ERR_INNER_NULLPTR,
                     Text(api, ": parameter tensor is a null pointer, expected the operand's tensor."));
  }
  const bool is_output = counted == Operand::kOutput;
  const int first = is_output ? found->output : 0;
  const int last = is_output                    ? found->output + 1
                   : counted == Operand::kInput ? found->input_count
                                                : found->operand_count;
  if (index >= static_cast<size_t>(last - first)) {
    return FailAclnn(ACLNN_ERR_PARAM_INVALID, Text(api, ": parameter index has the value ", index,
                                                   ", accepted: 0 to ", last - first - 1, "."));
  }
  found->operands[first + static_cast<int>(index)].address = address;
  return ACL_SUCCESS;
}

// No operator of this library has a list among its operands, so once the arguments are there the answer is
// that of an index that names none.
aclnnStatus SetListAddress(const char* api, const aclOpExecutor* executor, size_t irIndex,
                           size_t relativeIndex, const aclTensorList* tensors) noexcept {
  aclnnStatus status = ACL_SUCCESS;
  const Executor* found = FindExecutor(api, executor, &status);
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
  return FailAclnn(ACLNN_ERR_PARAM_INVALID, Text(api, ": parameter irIndex has the value ", irIndex, ", but ",
                                                 found->api, " has no list of tensors among its operands."));
}

}  // namespace

aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor* executor) {
  aclnnStatus status = ACL_SUCCESS;
  if (FindExecutor("aclDestroyAclOpExecutor", executor, &status) == nullptr) return status;
  if (Executor* taken = executors.Take(executor)) executors.Recycle(taken);
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
                                         aclTensorList* tensors, void*) {
  return SetListAddress("aclSetDynamicInputTensorAddr", executor, irIndex, relativeIndex, tensors);
}

aclnnStatus aclSetDynamicOutputTensorAddr(aclOpExecutor* executor, size_t irIndex, const size_t relativeIndex,
                                          aclTensorList* tensors, void*) {
  return SetListAddress("aclSetDynamicOutputTensorAddr", executor, irIndex, relativeIndex, tensors);
}

aclnnStatus aclSetDynamicTensorAddr(aclOpExecutor* executor, size_t irIndex, const size_t relativeIndex,
                                    aclTensorList* tensors, void*) {
  return SetListAddress("aclSetDynamicTensorAddr", executor, irIndex, relativeIndex, tensors);
}

// CANN exports each of the six under a second name as well.
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
                                         aclTensorList* tensors, void*) {
  return SetListAddress("AclSetDynamicInputTensorAddr", executor, irIndex, relativeIndex, tensors);
}

aclnnStatus AclSetDynamicOutputTensorAddr(aclOpExecutor* executor, size_t irIndex, const size_t relativeIndex,
                                          aclTensorList* tensors, void*) {
  return SetListAddress("AclSetDynamicOutputTensorAddr", executor, irIndex, relativeIndex, tensors);
}

aclnnStatus AclSetDynamicTensorAddr(aclOpExecutor* executor, size_t irIndex, const size_t relativeIndex,
                                    aclTensorList* tensors, void*) {
  return SetListAddress("AclSetDynamicTensorAddr", executor, irIndex, relativeIndex, tensors);
}

// aclInit and aclFinalize do all the work; CANN's programs may call this pair as well, in any combination.
aclnnStatus aclnnInit(const char*) { return ACL_SUCCESS; }
aclnnStatus aclnnFinalize(void) { return ACL_SUCCESS; }
