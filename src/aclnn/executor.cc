// Phase 2 and the lifetime of executors (see executor.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnn/executor.h"

#include "acl/errors.h"
#include "acl/handle_table.h"
#include "acl/stream.h"
#include "aclnn/aclnn_base.h"
#include "aclnn/opdev/op_errno.h"

namespace portacl {
namespace {

HandleTable<Executor, 0x45> executors;

// The checks of phase 2 on a live executor, in CANN's order; 0 when it may run.
aclnnStatus CheckPhase2(const Executor& executor, const char* api, const void* workspace,
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

}  // namespace

Executor* AcquireExecutor(const char* api) noexcept {
  Executor* executor = executors.Acquire();
  if (executor == nullptr) return nullptr;
  executor->api = api;
  executor->workspace_size = 0;
  executor->workspace = nullptr;
  executor->operand_count = 0;
  executor->run = nullptr;
  return executor;
}

aclOpExecutor* PublishExecutor(Executor* executor) noexcept {
  return static_cast<aclOpExecutor*>(executors.Publish(executor));
}

void ReleaseExecutor(Executor* executor) noexcept { executors.Recycle(executor); }

aclnnStatus RunExecutor(const char* api, void* workspace, uint64_t workspace_size, aclOpExecutor* executor,
                        aclrtStream stream) noexcept {
  const ApiScope scope(api);
  if (executor == nullptr) {
    return FailAclnn(
        ACLNN_ERR_PARAM_NULLPTR,
        Text(api, ": parameter executor is a null pointer, expected one from ", api, "GetWorkspaceSize."));
  }
  Executor* taken = executors.Take(executor);
  if (taken == nullptr) {
    return FailAclnn(ACLNN_ERR_INNER,
                     Text(api, ": parameter executor has the value ", static_cast<const void*>(executor),
                          ", which is no executor or one that was used already. Accepted: an executor from ",
                          api, "GetWorkspaceSize, once."));
  }
  aclnnStatus status = CheckPhase2(*taken, api, workspace, workspace_size);
  Stream* queue = nullptr;
  if (status == ACL_SUCCESS) {
    queue = FindStream(stream);
    if (queue == nullptr) {
      status = FailAclnn(
          ACLNN_ERR_RUNTIME_ERROR,
          stream == nullptr
              ? Text(api,
                     ": parameter stream is a null pointer (the default stream) and no device is set on this "
                     "thread, expected an earlier aclrtSetDevice.")
              : Text(api, ": parameter stream has the value ", static_cast<const void*>(stream),
                     ", which is no stream, accepted: a stream made by aclrtCreateStream and not yet "
                     "destroyed."));
    }
  }
  if (status == ACL_SUCCESS && taken->run != nullptr) {
    taken->workspace = workspace;
    queue->Submit(
        [](void* argument) {
          const auto* ready = static_cast<const Executor*>(argument);
          ready->run(*ready);
        },
        taken);
  }
  executors.Recycle(taken);
  return status;
}

}  // namespace portacl

using namespace portacl;

aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor* executor) {
  if (executor == nullptr) {
    return FailAclnn(
        ACLNN_ERR_INNER_NULLPTR,
        Text("aclDestroyAclOpExecutor: parameter executor is a null pointer, expected a live executor."));
  }
  Executor* taken = executors.Take(executor);
  if (taken == nullptr) {
    return FailAclnn(ACLNN_ERR_INNER, Text("aclDestroyAclOpExecutor: parameter executor has the value ",
                                           static_cast<const void*>(executor),
                                           ", which is no executor or one that was used already."));
  }
  executors.Recycle(taken);
  return ACL_SUCCESS;
}

// aclInit and aclFinalize do all the work; CANN's programs may call this pair as well, in any combination.
aclnnStatus aclnnInit(const char*) { return ACL_SUCCESS; }
aclnnStatus aclnnFinalize(void) { return ACL_SUCCESS; }
