// Shared code of rowwise operators: the axes that a row spans, and checks of dims.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aclnnop/phase1.h"
#include "base/errors.h"
#include "contract/arguments.h"
#include "engine/rowwise/rowwise.h"
#include "plan/move_plan.h"

namespace portacl {

// Returns the set of the one axis that a dim names. Empty for a shape without dims: its row has one element.
inline uint32_t AxisSet(int64_t dim, const Shape& shape) {
  return shape.rank == 0 ? 0 : 1u << WrappedDim(dim, shape.rank);
}
// Returns the set of the last `count` axes.
inline uint32_t LastAxes(int count, const Shape& shape) {
  return ((1u << count) - 1) << (shape.rank - count);
}

// Checks that the dims of an optional tensor can be merged to as many as a loop over numbers of rows can
// walk.
template <int tensor>
aclnnStatus NumbersMerge(const Check& check, OperatorCall& call) noexcept {
  if (!call.IsGiven(tensor) || MergedDims(call.Tensor(tensor)).shape.rank <= kMaxLoopRank) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, tensor).Add(" has more than ").Add(kMaxLoopRank);
  return FailAclnn(check.code,
                   message.Add(" dims that cannot be taken together, accepted: at most so many."));
}

// Returns the dtype of the computation for rows of this dtype.
inline aclDataType ComputedInRows(aclDataType dtype) { return dtype == ACL_DOUBLE ? ACL_DOUBLE : ACL_FLOAT; }

// Sets the executor's job: applies one formula to all rows.
template <class Parameters>
void SetRowwiseJob(engine::RowwiseJobMaker& rows, const engine::RowwiseKernels& kernels,
                   const Parameters& parameters, Executor& executor) noexcept {
  const engine::RowwiseJob* const jobs[] = {&rows.Make(kernels, parameters, &executor.workspace_size)};
  executor.SetJob([&] { return engine::MakeRowJobs(executor, jobs, 1, rows.touched()); });
}

}  // namespace portacl
