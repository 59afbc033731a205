// Tensors as grouped products take them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "contract/checks.h"
#include "engine/gemm/grouped.h"

namespace portacl::grouped {

inline bool Is4Bits(aclDataType dtype) { return dtype == ACL_INT4 || dtype == ACL_INT32; }

// As strides say, whatever the format.
StridedView Lying(const StridedView& tensor) noexcept;
// Elements of 4 bits, which may come as words of eight of them along the dim that lies side by side: dims and steps in elements.
StridedView InElements(const StridedView& tensor) noexcept;
// Whether it can be had in elements, which are apart from each other where words are. Of at least one dim.
bool WordsLieTogether(const StridedView& tensor) noexcept;

// Columns are the last dim, rows the one before, groups what comes before these. A list with one tensor has it for all entries.
engine::GroupedOperand OperandOf(const OperatorCall& call, int argument, int entry, bool has_rows,
                                 bool has_groups) noexcept;

// Weights of 8 bits, or of 4 in elements, from a tensor whose dims are [groups,] terms and columns.
void SetWeights(engine::GroupedPart& part, const OperatorCall& call, int argument, int entry) noexcept;
// The numbers that such weights are multiplied by, [groups, columns] or [groups, groups of terms, columns]; words as their lower half.
void SetScales(engine::GroupedPart& part, const OperatorCall& call, int argument) noexcept;

// A list of groups that is read when the work runs.
void SetList(engine::GroupedProducts& products, const OperatorCall& call, int argument,
             engine::GroupedProducts::List kind) noexcept;

// 561103 where a view reaches outside its storage and is neither dense nor transposed, of any
// entry of the arguments from `first` to `last`.
aclnnStatus CheckLies(const OperatorCall& call, int first, int last) noexcept;

}  // namespace portacl::grouped
