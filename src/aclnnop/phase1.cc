// Phase 1 as every operator runs it (see phase1.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/phase1.h"

#include <cstring>

#include "acl/device/device.h"
#include "acl/errors.h"
#include "acl/settings/configuration.h"
#include "acl/stream/thread_limit.h"
#include "aclnn/opdev/op_errno.h"
#include "engine/cache_size.h"
#include "engine/move/move.h"

namespace portacl {

aclnnStatus phase1::Begin(OperatorCall& call, std::span<const Check> checks, const uint64_t* workspaceSize,
                          aclOpExecutor* const* executor, Executor** acquired) noexcept {
  const ApiScope scope(call.api);
  if (workspaceSize == nullptr || executor == nullptr) {
    return FailAclnn(ACLNN_ERR_PARAM_NULLPTR,
                     Text(call.api, ": parameter ", workspaceSize == nullptr ? "workspaceSize" : "executor",
                          " is a null pointer, expected the address of a result."));
  }
  Executor* fresh = AcquireExecutor(call.api);
  if (fresh == nullptr) {
    return FailAclnn(ACLNN_ERR_INNER_CREATE_EXECUTOR, Text(call.api, ": no memory for an executor."));
  }
  call.product = CurrentProduct();
  const aclnnStatus status = RunChecks(checks, call);
  if (status != ACL_SUCCESS) {
    ReleaseExecutor(fresh);
    return status;
  }
  fresh->operand_count = static_cast<int>(call.tensors.size());
  // Every operator here has one output.
  fresh->output = call.in_place ? 0 : fresh->operand_count - 1;
  fresh->input_count = fresh->operand_count - (call.in_place ? 0 : 1);
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

namespace {

// Binds the call's tensors to a formula's inputs; fills `tensors` with them.
void BindInputs(const OperatorCall& call, Operands inputs, engine::Formula& formula,
                const aclTensor** tensors) noexcept {
  const Isa isa = JobIsa();
  formula.input_count = inputs.count;
  for (int k = 0; k < inputs.count; ++k) {
    const aclTensor& tensor = call.Tensor(inputs.index[k]);
    tensors[k] = &tensor;
    formula.argument[k] = inputs.index[k];
    formula.type[k] = engine::ElementTypeOf(tensor.dtype);
    formula.load[k] = engine::FindLoad(isa, tensor.dtype, call.promoted);
  }
}

}  // namespace

engine::ElementwiseJob MakeElementwiseJob(const OperatorCall& call, const Shape& shape, Operands inputs,
                                          int output) noexcept {
  engine::ElementwiseJob job;
  const aclTensor* tensors[kMaxLoopOperands];
  BindInputs(call, inputs, job.formula, tensors);
  const aclTensor& result = call.Tensor(output);
  tensors[inputs.count] = &result;
  job.threads = ThreadLimit();
  job.plan = PlanElementwise(shape, {tensors, static_cast<size_t>(inputs.count) + 1});
  job.stream = job.plan.BytesWalked() > engine::LastLevelCacheBytes();
  job.takes_every_second = engine::KernelsTakeEverySecond(JobIsa());
  job.formula.gather =
      engine::FindGather(JobIsa(), job.stream ? engine::GatherSource::kMemory : engine::GatherSource::kCache);
  job.result = {engine::FindStore(JobIsa(), result.dtype), engine::FindScatter(JobIsa(), job.stream),
                engine::ElementTypeOf(result.dtype), static_cast<int8_t>(output)};
  return job;
}

engine::ReductionJob MakeReductionJob(const OperatorCall& call, const Shape& shape, const Shape& kept,
                                      Operands inputs, int output, float factor,
                                      Executor& executor) noexcept {
  engine::ReductionJob job;
  const aclTensor* tensors[kMaxLoopOperands];
  BindInputs(call, inputs, job.formula, tensors);
  const aclTensor& result = call.Tensor(output);
  job.plan = PlanReduction(shape, kept, {tensors, static_cast<size_t>(inputs.count)}, result);
  job.from_memory = job.plan.terms.BytesWalked() > engine::LastLevelCacheBytes();
  job.formula.gather = engine::FindGather(
      JobIsa(), job.from_memory ? engine::GatherSource::kMemoryAskedAhead : engine::GatherSource::kCache);
  job.terms = engine::FindTermSums(JobIsa());
  job.store = engine::FindSumStore(result.dtype);
  job.output_argument = static_cast<int8_t>(output);
  job.threads = ThreadLimit();
  job.factor = static_cast<double>(factor);
  executor.workspace_size = job.plan.workspace_bytes();
  return job;
}

void SetMoveJob(const OperatorCall& call, int source, int destination, Executor& executor) noexcept {
  executor.SetJob([&] {
    engine::MoveJob job;
    job.move = engine::MakeMove(call.Tensor(source), call.Tensor(destination), JobIsa(), ThreadLimit());
    job.source = static_cast<int8_t>(source);
    job.destination = static_cast<int8_t>(destination);
    return job;
  });
}

void SetFillJob(const OperatorCall& call, int destination, const ScalarValue& value,
                Executor& executor) noexcept {
  executor.SetJob([&] {
    const aclTensor merged = MergedDims(call.Tensor(destination));
    aclTensor one;
    one.dtype = merged.dtype;
    engine::MoveJob job;
    job.move = engine::MakeMove(one, merged, JobIsa(), ThreadLimit());
    job.destination = static_cast<int8_t>(destination);
    std::memcpy(job.value, value.bytes, sizeof job.value);
    return job;
  });
}

}  // namespace portacl
