// What operators that sort, select or rank elements along a dim share: their checks, and their step.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "aclnnop/jobs/step_list.h"
#include "contract/arguments.h"

namespace portacl {

// Kthvalue's and Argsort's numbers. BF16 and the unsigned ones are there on newer products.
inline constexpr DtypeSet kOrderedNumbers = kIntegers | kFloatAndHalf;
inline constexpr DtypeRule kOrderedDtypes =
    ByGeneration(kOrderedNumbers, kOrderedNumbers | kBf16, kOrderedNumbers | kBf16 | kUnsignedSince16Bits);
inline constexpr DtypeSet kPlaceDtype{ACL_INT64};

// Of a tensor without dims, whose one dim has one element.
inline int64_t LengthOf(const StridedView& tensor, int dim) noexcept {
  return tensor.view.rank == 0 ? 1 : tensor.view[dim];
}

// 161002 when the integer attribute is not in low .. self's length along the dim that another one names.
aclnnStatus FitsDim(const Check& check, OperatorCall& call, int attribute, int dim, int64_t low) noexcept;

// The step that reads the rows of tensor 0 along `dim`. The tensors `values` and `places`, or -1, are those of the call; they have
// self's shape with another length along dim, or without it, or are any of one element where so many are written.
void AddOrdered(const OperatorCall& call, int dim, int values, int places, const engine::SortRows& rows,
                StepList& steps) noexcept;

}  // namespace portacl
