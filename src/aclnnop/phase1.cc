// Phase 1 as every operator runs it (see phase1.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/phase1.h"

#include "acl/configuration.h"
#include "acl/device.h"
#include "acl/errors.h"
#include "aclnn/opdev/op_errno.h"

namespace portacl {

aclnnStatus phase1::Begin(OperatorCall& call, std::span<const Check> checks, const uint64_t* workspaceSize,
                          aclOpExecutor* const* executor, Executor** acquired) noexcept {
  const ApiScope scope(call.api);
  if (workspaceSize == nullptr || executor == nullptr) {
    return FailAclnn(ACLNN_ERR_PARAM_NULLPTR, Text(call.api, "GetWorkspaceSize: parameter ",
                                                   workspaceSize == nullptr ? "workspaceSize" : "executor",
                                                   " is a null pointer, expected the address of a result."));
  }
  Executor* fresh = AcquireExecutor(call.api);
  if (fresh == nullptr) {
    return FailAclnn(ACLNN_ERR_INNER_CREATE_EXECUTOR,
                     Text(call.api, "GetWorkspaceSize: no memory for an executor."));
  }
  call.product = CurrentProduct();
  const aclnnStatus status = RunChecks(checks, call);
  if (status != ACL_SUCCESS) {
    ReleaseExecutor(fresh);
    return status;
  }
  fresh->operand_count = static_cast<int>(call.tensors.size());
  fresh->input_count = fresh->operand_count - 1;  // every operator here has one output, the last operand
  for (int i = 0; i < fresh->operand_count; ++i) {
    fresh->operands[i] = {call.Name(i), call.Tensor(i).data, /*touched=*/false};
  }
  *acquired = fresh;
  return ACL_SUCCESS;
}

void phase1::End(Executor* acquired, uint64_t* workspaceSize, aclOpExecutor** executor) noexcept {
  *workspaceSize = acquired->workspace_size;
  *executor = PublishExecutor(acquired);
}

Isa JobIsa() noexcept { return CurrentConfiguration().isa; }

engine::ElementwiseJob MakeElementwiseJob(const OperatorCall& call, const Shape& shape,
                                          Operands operands) noexcept {
  engine::ElementwiseJob job;
  const Configuration& configuration = CurrentConfiguration();
  const aclTensor* tensors[kMaxLoopOperands];
  const int output = operands.count - 1;
  for (int k = 0; k <= output; ++k) {
    const aclTensor& tensor = call.Tensor(operands.index[k]);
    tensors[k] = &tensor;
    job.argument[k] = operands.index[k];
    job.is_float32[k] = tensor.dtype == ACL_FLOAT;
    if (k < output) job.load[k] = engine::FindLoad(configuration.isa, tensor.dtype, call.promoted);
  }
  job.store = engine::FindStore(configuration.isa, tensors[output]->dtype);
  job.threads = configuration.num_threads;
  job.plan = PlanElementwise(shape, {tensors, static_cast<size_t>(operands.count)});
  return job;
}

}  // namespace portacl
