// What operators over rows share: which axes of a shape their rows span, and their checks of dims.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "acl/errors.h"
#include "aclnnop/phase1.h"
#include "contract/arguments.h"
#include "engine/row/row.h"
#include "plan/move_plan.h"

namespace portacl {

// The axis that a dim names, as a set of one; none for a shape without dims, whose rows have one element.
inline uint32_t AxisSet(int64_t dim, const Shape& shape) {
  return shape.rank == 0 ? 0 : 1u << WrappedDim(dim, shape.rank);
}
// The last `count` axes.
inline uint32_t LastAxes(int count, const Shape& shape) {
  return ((1u << count) - 1) << (shape.rank - count);
}

// The code when a tensor that may be null has more dims than rows of numbers are walked along, and they cannot be taken together.
template <int tensor>
aclnnStatus NumbersMerge(const Check& check, OperatorCall& call) noexcept {
  if (!call.IsGiven(tensor) || MergedDims(call.Tensor(tensor)).view.rank <= kMaxLoopRank) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, tensor).Add(" has more than ").Add(kMaxLoopRank);
  return FailAclnn(check.code,
                   message.Add(" dims that cannot be taken together, accepted: at most so many."));
}

// What rows of operands of this dtype are computed in.
inline aclDataType ComputedInRows(aclDataType dtype) { return dtype == ACL_DOUBLE ? ACL_DOUBLE : ACL_FLOAT; }

// Sets the executor's job: rows of one formula.
template <class Parameters>
void SetRowJob(engine::RowJobMaker& rows, const engine::RowKernels& kernels, const Parameters& parameters,
               Executor& executor) noexcept {
  const engine::RowJob* const jobs[] = {&rows.Make(kernels, parameters, &executor.workspace_size)};
  executor.SetJob([&] { return engine::MakeRowJobs(executor, jobs, 1, rows.touched()); });
}

}  // namespace portacl
