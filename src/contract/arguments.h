// Checks of lists of tensors, arrays and dims, and the parts of messages that operators' own checks use.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "contract/checks.h"

namespace portacl {

// ---- messages ----

// Starts a message with the operator's name and ": ".
Text StartMessage(const OperatorCall& call);
// Add the argument's name, self, or tensors[3] for a list's entry; then its shape or its dtype.
Text& AddArgument(Text& text, const OperatorCall& call, int tensor, int entry = 0);
Text& AddArgumentShape(Text& text, const OperatorCall& call, int tensor, int entry = 0);
Text& AddArgumentDtype(Text& text, const OperatorCall& call, int tensor, int entry = 0);
// Reports "parameter NAME has the value V, accepted: LOW to HIGH." and returns the check's code.
aclnnStatus RefuseInteger(const Check& check, const OperatorCall& call, const char* name, int64_t value,
                          int64_t low, int64_t high);
// Reports a shape that differs from the accepted one.
aclnnStatus RefuseShape(const Check& check, const OperatorCall& call, int tensor, const Shape& accepted,
                        int entry = 0);
// Reports an array with a refused value. `wrong` continues the sentence, such as " has a negative value".
aclnnStatus RefuseArray(const Check& check, const OperatorCall& call, int attribute, const char* wrong,
                        const char* accepted);

// ---- dims ----

// Wraps a negative dim, which counts from the end. A shape without dims counts as one dim.
inline int WrappedDim(int64_t dim, int rank) {
  return static_cast<int>(dim < 0 ? dim + std::max(rank, 1) : dim);
}
inline bool IsDim(int64_t dim, int rank) { return dim >= -std::max(rank, 1) && dim < std::max(rank, 1); }

namespace check {
aclnnStatus ArrayNotNull(const Check& check, OperatorCall& call) noexcept;
aclnnStatus EntriesNotNull(const Check& check, OperatorCall& call) noexcept;
aclnnStatus DimIn(const Check& check, OperatorCall& call) noexcept;
aclnnStatus DimsIn(const Check& check, OperatorCall& call) noexcept;
aclnnStatus DimsDistinct(const Check& check, OperatorCall& call) noexcept;
aclnnStatus ShapeIsResult(const Check& check, OperatorCall& call) noexcept;
aclnnStatus ArraySizeIs(const Check& check, OperatorCall& call) noexcept;
aclnnStatus MovesBytes(const Check& check, OperatorCall& call) noexcept;
}  // namespace check

// ---- checks ----

// 161001 when the array attribute is null.
constexpr Check ArrayNotNull(int attribute) {
  return {.run = check::ArrayNotNull, .operands = {attribute}, .code = ACLNN_ERR_PARAM_NULLPTR};
}
// 161001 when one of the list's entries is null.
constexpr Check EntriesNotNull(int list) {
  return {.run = check::EntriesNotNull, .operands = {list}, .code = ACLNN_ERR_PARAM_NULLPTR};
}
// 161002 when the integer attribute is no dim of the tensor; negative dims count from the end. A tensor
// without dims counts as one dim, unless `strict`.
constexpr Check DimIn(int attribute, int tensor, bool strict = false) {
  return {.run = check::DimIn, .operands = {attribute, tensor}, .low = strict ? 1 : 0};
}
// DimsIn: 161002 when a value of the array is no dim of the tensor. DimsDistinct: 161002 when a dim occurs
// twice.
constexpr Check DimsIn(int attribute, int tensor) {
  return {.run = check::DimsIn, .operands = {attribute, tensor}};
}
constexpr Check DimsDistinct(int attribute, int tensor) {
  return {.run = check::DimsDistinct, .operands = {attribute, tensor}};
}
// 161002 when the tensor's shape is not call.broadcast. A check of the operator's own has stored the result's
// shape there.
constexpr Check ShapeIsResult(int tensor) { return {.run = check::ShapeIsResult, .operands = {tensor}}; }
// Like ShapeIsResult, but accepts any shape of one element where the result has one.
constexpr Check ShapeIsResultOrOne(int tensor) {
  return {.run = check::ShapeIsResult, .operands = {tensor}, .low = 1};
}
// 161002 when the array's size differs from the other array's.
constexpr Check ArraySizeIs(int attribute, int other) {
  return {.run = check::ArraySizeIs, .operands = {attribute, other}};
}
// 561103 when the elements of one of the tensors do not take whole bytes.
constexpr Check MovesBytes(Operands operands) {
  return {.run = check::MovesBytes, .operands = operands, .code = ACLNN_ERR_INNER_NULLPTR};
}

// Wraps a check that only one operator uses.
constexpr Check Custom(aclnnStatus (*run)(const Check& check, OperatorCall& call) noexcept,
                       aclnnStatus code = ACLNN_ERR_PARAM_INVALID) {
  return {.run = run, .code = code};
}

}  // namespace portacl
