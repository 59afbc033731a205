// Operands of products of codes (engine/gemm/code_product.h): matrices, scales and results of a call.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aclnnop/jobs/dense_op_list.h"
#include "engine/gemm/code_product.h"

namespace portacl::matmul {

inline constexpr DtypeSet kFloat8Codes{ACL_FLOAT8_E4M3FN, ACL_FLOAT8_E5M2};
inline constexpr DtypeSet kHifloat8{ACL_HIFLOAT8};
inline constexpr DtypeSet kFloat4Codes{ACL_FLOAT4_E2M1};
inline constexpr DtypeSet kScalePowers{ACL_FLOAT8_E8M0};
inline constexpr DtypeSet kScaleWords{ACL_UINT64, ACL_INT64};
inline constexpr DtypeSet kScaleFloats{ACL_FLOAT};
inline constexpr int64_t kMxTerms = 32;
inline constexpr int64_t kPairTerms = 2 * kMxTerms;  // terms of a pair of scales

inline int64_t BlocksIn(int64_t length, int64_t block) {
  return length / block + (length % block != 0 ? 1 : 0);
}

// Views a tensor as its strides say, with its dims in another order.
StridedView OrderedView(const OperatorCall& call, int tensor, std::initializer_list<int> order);
// Views codes as lines of terms: a matrix, or with a dim in front a batch. `terms_first` says that the last two dims
// are terms and lines. An INT32 has eight INT4 along the contiguous dim.
StridedView LinesOf(const OperatorCall& call, int tensor, bool terms_first);

// Tells whether codes of 4 bits lie such that a product reads them: along one of the last two dims side by side, and
// in pairs that begin a byte.
bool LiesInBytes(const StridedView& lines) noexcept;

// Returns an operand. Codes of 8 bits that are not side by side are copied through the workspace.
engine::CodeMatrix CodesFrom(dense::DenseOpList& ops, int tensor, const StridedView& lines);

// Returns scales that lie dense in this view of [lines, blocks], or [batches, lines, blocks].
engine::CodeScales ScalesFrom(dense::DenseOpList& ops, int tensor, const StridedView& view, int32_t lines = 1,
                              int32_t blocks = 1);
// Returns pairs of powers, [lines, pairs, 2], or with batches in front.
engine::CodeScales PairsFrom(dense::DenseOpList& ops, int tensor, const StridedView& view);
// Returns a number for each line, or one for all. The call may lack the tensor.
engine::CodeNumbers NumbersFrom(dense::DenseOpList& ops, const OperatorCall& call, int tensor);

// Adds the product as an op.
void AddProduct(dense::DenseOpList& ops, engine::CodeProduct& job);

}  // namespace portacl::matmul
