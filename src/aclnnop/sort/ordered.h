// Checks and the op shared by operators that sort, select or rank elements along a dim.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "aclnnop/jobs/op_list.h"
#include "contract/arguments.h"

namespace portacl {

// Dtypes of aclnnKthvalue and aclnnArgsort. Atlas A2 and later products add BF16. Ascend 950 adds the unsigned dtypes, too.
inline constexpr DtypeSet kOrderedNumbers = kIntegers | kFloatAndHalf;
inline constexpr DtypeRule kOrderedDtypes =
    ByGeneration(kOrderedNumbers, kOrderedNumbers | kBf16, kOrderedNumbers | kBf16 | kUnsignedSince16Bits);
inline constexpr DtypeSet kIndexDtype{ACL_INT64};

// A tensor without dims counts as having one dim of one element.
inline int64_t LengthOf(const StridedView& tensor, int dim) noexcept {
  return tensor.shape.rank == 0 ? 1 : tensor.shape[dim];
}

// 161002 when the integer attribute is not in `low` to self's length along the dim that attribute `dim`
// gives.
aclnnStatus FitsDim(const Check& check, OperatorCall& call, int attribute, int dim, int64_t low) noexcept;

// Adds the op that reads the rows of tensor 0 along `dim`. `values` and `indices` are positions of the call's
// tensors, or -1. These have self's shape with another length along dim, or without dim. Tensors of one
// element may have any shape.
void AddOrdered(const OperatorCall& call, int dim, int values, int indices, const engine::SortRows& rows,
                OpList& ops) noexcept;

}  // namespace portacl
