// Converts tensors to operands of grouped matrix products.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "aclnnop/jobs/op_list.h"
#include "contract/checks.h"
#include "engine/gemm/grouped.h"

namespace portacl::grouped {

inline bool Is4Bits(aclDataType dtype) { return dtype == ACL_INT4 || dtype == ACL_INT32; }

// Returns a view by the strides alone, whatever the format is.
StridedView Lying(const StridedView& tensor) noexcept;
// Views packed elements of 4 bits, with dims and strides in elements. Eight of them may form an INT32 word
// along the contiguous dim.
StridedView InElements(const StridedView& tensor) noexcept;
// Tells whether InElements can view the tensor: its words must be adjacent. The tensor needs at least one
// dim.
bool WordsLieTogether(const StridedView& tensor) noexcept;

// Makes an operand. Columns are the last dim, rows the one before; groups come before these. The only tensor
// of a list serves all entries.
engine::GroupedOperand OperandOf(const OperatorCall& call, int argument, int entry, bool has_rows,
                                 bool has_groups) noexcept;

// Sets weights of 8 bits, or of 4 bits viewed as elements. The tensor's dims are [groups,] terms and columns.
void SetWeights(engine::GroupedPart& part, const OperatorCall& call, int argument, int entry) noexcept;
// Sets the scales of such weights: [groups, columns] or [groups, groups of terms, columns]. 64-bit words hold
// a scale in their lower half.
void SetScales(engine::GroupedPart& part, const OperatorCall& call, int argument) noexcept;

// Sets a group list that the job reads when it runs.
void SetList(engine::GroupedProducts& products, const OperatorCall& call, int argument,
             engine::GroupedProducts::List kind) noexcept;

// The arguments of rows that become INT8 before they are multiplied.
struct RowsToQuantise {
  int x;             // [rows, terms]
  int smooth;        // [terms], multiplied before, or null
  int step;          // given steps, or null: they are computed
  bool step_by_row;  // the given steps are [rows], else [1]
};
// Adds the op that quantises the rows, and sets what the product takes from them: its kind, rows, depth and left operand.
// Returns their steps.
engine::GroupedOperand QuantiseRows(OpList& ops, const OperatorCall& call, const RowsToQuantise& rows,
                                    engine::GroupedPart& part) noexcept;

// 561103 where any entry of the arguments `first` to `last` is a view that reaches outside its storage and is
// neither dense nor transposed.
aclnnStatus CheckLies(const OperatorCall& call, int first, int last) noexcept;

}  // namespace portacl::grouped
