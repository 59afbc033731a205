// The channels of batch norms whose batch is split, and kernels that compute in float64.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aclnnop/jobs/dense_op_list.h"
#include "engine/isa_table.h"
#include "engine/rowwise/rowwise.h"

namespace portacl {

constexpr engine::RowwiseKernels OfDouble(const engine::IsaTable<engine::RowwiseFunction>& kernel) {
  return {{}, {}, {}, kernel};
}

// Returns the number of channels, which is the length of dim 1, or -1 if there is no dim 1.
inline int64_t Channels(const OperatorCall& call, int tensor) {
  const Shape& shape = call.Tensor(tensor).shape;
  return shape.rank >= 2 ? shape[1] : -1;
}

}  // namespace portacl
