// Products of one rank, and checks that operators of products and communication share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "aclnnop/jobs/dense_op_list.h"
#include "contract/arguments.h"
#include "contract/checks.h"
#include "engine/gemm/grouped.h"

namespace portacl::communication {

inline constexpr DtypeSet kHalves{ACL_FLOAT16, ACL_BF16};
inline constexpr ProductSet kInference{Product::kAtlasInference};
// FLOAT16 and BF16 since Atlas A2.
inline constexpr DtypeRule kHalvesSinceAtlasA2 = SinceAtlasA2(kHalves);
// FLOAT16 and BF16 since Atlas A2, and FLOAT16 on Atlas inference products.
inline constexpr DtypeRule kHalvesAndInference = SinceAtlasA2(kHalves).On(kInference, DtypeSet(ACL_FLOAT16));

namespace check {
aclnnStatus IsSum(const Check& check, OperatorCall& call) noexcept;
aclnnStatus StopsOnFailure(const Check& check, OperatorCall& call) noexcept;
}  // namespace check

// 161002 when the attribute, a text, is not "sum"; 161001 when it is null.
constexpr Check IsSum(int attribute) { return {.run = check::IsSum, .low = attribute}; }
// Accepts any text that begins with "sum".
constexpr Check BeginsWithSum(int attribute) { return {.run = check::IsSum, .low = attribute, .high = 1}; }
// 161002 when the attribute, a stream's mode, is not 1.
constexpr Check StopsOnFailure(int attribute) { return {.run = check::StopsOnFailure, .low = attribute}; }

// Returns the number of rows of a tensor whose last dim is columns, or -1 if it has no number.
int64_t RowsOf(const Shape& shape) noexcept;

// Dense rows of a buffer as an operand of a product.
engine::GroupedOperand DenseRows(engine::BufferRef buffer, aclDataType dtype, int64_t columns) noexcept;
// A tensor of rows as a left operand: a dense copy where it is not dense.
engine::GroupedOperand LeftOf(const OperatorCall& call, dense::DenseOpList& ops, int tensor);
// One number for all columns, or one for each.
engine::GroupedOperand NumbersOf(const OperatorCall& call, int tensor) noexcept;

// Adds a product, or the products of groups, to a list. `sizes` has the number of rows of each group (INT64). The right
// operand and the addend have a step from group to group. MultiplyGroups returns a buffer with the number of all rows.
void Multiply(dense::DenseOpList& ops, const engine::GroupedPart& part);
engine::BufferRef MultiplyGroups(dense::DenseOpList& ops, const engine::GroupedPart& part, int64_t groups,
                                 engine::BufferRef sizes);
// Adds rows to FLOAT sums and rounds once: to = sums + added.
void AddRows(dense::DenseOpList& ops, const engine::NumberRows& sums, const engine::NumberRows& added,
             const engine::NumberRows& to, int64_t rows, int64_t columns);

}  // namespace portacl::communication
