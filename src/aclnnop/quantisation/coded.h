// Shared code of operators whose tensors hold codes of few bits: storage of the codes, and operands for the
// ops of engine/quantise.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "aclnnop/jobs/dense_op_list.h"
#include "engine/quantise/quantise.h"

namespace portacl::quantisation {

using namespace dense;
using engine::Factors;
using engine::Numbers;
using engine::Quantiser;

inline constexpr DtypeSet kHalfAndBf16{ACL_FLOAT16, ACL_BF16};
inline constexpr DtypeSet kFloat8s{ACL_HIFLOAT8, ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN};
inline constexpr DtypeSet kIntegerCodes{ACL_INT8, ACL_INT4, ACL_INT32};
inline constexpr DtypeSet kInt8{ACL_INT8};
inline constexpr int64_t kInWord = 8;  // 4-bit codes in an INT32

inline bool IsOn950(const OperatorCall& call) noexcept { return call.product == Product::kAscend950; }
// Tells whether kernels multiply by reciprocals: those of products before Ascend 950.
inline bool IsBefore950(const OperatorCall& call) noexcept { return !IsOn950(call); }

inline std::string_view TextOf(const OperatorCall& call, int attribute) {
  const char* const text = call.attributes[static_cast<size_t>(attribute)].text;
  return text == nullptr ? std::string_view() : std::string_view(text);
}
inline bool IsNull(const OperatorCall& call, int attribute) {
  return call.attributes[static_cast<size_t>(attribute)].text == nullptr;
}
inline double RealOf(const OperatorCall& call, int attribute) {
  return call.attributes[static_cast<size_t>(attribute)].wide;
}

// Returns the dtype of a tensor's codes: INT32 holds eight of INT4.
aclDataType CodesOf(const StridedView& tensor) noexcept;
// Checks that `codes` has the shape that codes of a tensor of this shape have.
ShapeChecks& HasCodesOf(ShapeChecks& checks, const OperatorCall& call, const Shape& shape, int codes);

// 561103 for a tensor of 4-bit elements that is not contiguous in whole bytes.
aclnnStatus LiesPacked(const OperatorCall& call, const Check& check, int tensor) noexcept;
template <int tensor>
aclnnStatus LiesPackedIn(const Check& check, OperatorCall& call) noexcept {
  return call.IsGiven(tensor) ? LiesPacked(call, check, tensor) : ACL_SUCCESS;
}
template <int tensor>
constexpr Check Packed() {
  return Custom(LiesPackedIn<tensor>, ACLNN_ERR_INNER_NULLPTR);
}

// The names are round, floor, ceil and trunc.
bool IsRounding(std::string_view name) noexcept;
engine::Rounding RoundingOf(std::string_view name) noexcept;

// Return the tensor as an operand (`Numbers`) of a listed op, in its own dtype. If the tensor is not given,
// `is_there` is false.
Numbers NumbersIn(DenseOpList& ops, const OperatorCall& call, int tensor);
Numbers NumbersOut(DenseOpList& ops, const OperatorCall& call, int tensor, bool keeps = false);
// Returns codes as numbers.
Numbers CodesIn(DenseOpList& ops, const OperatorCall& call, int tensor);
// Sets the destination and the dtype of a quantiser's codes.
void SetCodes(DenseOpList& ops, const OperatorCall& call, int tensor, Quantiser& quantiser,
              bool keeps = false);

// Returns a factor that is one number, or one for each column.
Factors OneOrColumns(const Numbers& numbers, const OperatorCall& call, int tensor, int64_t columns);

template <class Step>
void AddRows(DenseOpList& ops, Step& step, std::initializer_list<engine::BufferRef> buffers) {
  step.isa = ops.isa();
  step.threads = ops.threads();
  ops.Compute(step, buffers, step.rows * step.columns);
}
inline engine::BufferRef BufferOf(const Numbers& numbers) {
  return numbers.is_there ? numbers.buffer : engine::BufferRef{engine::BufferRef::kWorkspace, 0};
}

}  // namespace portacl::quantisation
