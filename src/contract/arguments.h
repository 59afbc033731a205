// Checks of what movements take besides single tensors, lists of tensors, arrays and dims, and the parts of which messages of
// an operator's own checks are made.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "contract/checks.h"

namespace portacl {

// ---- messages ----

// The operator's name, then ": ".
Text StartMessage(const OperatorCall& call);
// self, or tensors[3] of a list; then its shape, or its dtype.
Text& AddArgument(Text& text, const OperatorCall& call, int tensor, int entry = 0);
Text& AddArgumentShape(Text& text, const OperatorCall& call, int tensor, int entry = 0);
Text& AddArgumentDtype(Text& text, const OperatorCall& call, int tensor, int entry = 0);
// Reports "parameter NAME has the value V, accepted: LOW to HIGH." and returns the check's code.
aclnnStatus RefuseInteger(const Check& check, const OperatorCall& call, const char* name, int64_t value,
                          int64_t low, int64_t high);
// Reports a shape that should be another one.
aclnnStatus RefuseShape(const Check& check, const OperatorCall& call, int tensor, const Shape& accepted,
                        int entry = 0);
// Reports an array whose values are refused: `wrong` is a half sentence such as " has a negative value".
aclnnStatus RefuseArray(const Check& check, const OperatorCall& call, int attribute, const char* wrong,
                        const char* accepted);

// ---- what dims mean ----

// A dim that may count from the end, as one that counts from the start. A shape without dims counts as one dim.
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
// 161002 when the integer attribute is no dim of the tensor, counted from the start or, negative, from the end; one without
// dims counts as one dim, with `strict` as none.
constexpr Check DimIn(int attribute, int tensor, bool strict = false) {
  return {.run = check::DimIn, .operands = {attribute, tensor}, .low = strict ? 1 : 0};
}
// 161002 when one of the array's values is no dim of the tensor; when one dim is there twice.
constexpr Check DimsIn(int attribute, int tensor) {
  return {.run = check::DimsIn, .operands = {attribute, tensor}};
}
constexpr Check DimsDistinct(int attribute, int tensor) {
  return {.run = check::DimsDistinct, .operands = {attribute, tensor}};
}
// 161002 when the tensor's shape is not call.broadcast, into which a check of the operator's own has put the result's.
constexpr Check ShapeIsResult(int tensor) { return {.run = check::ShapeIsResult, .operands = {tensor}}; }
// The same, but any shape of one element will do where the result has one.
constexpr Check ShapeIsResultOrOne(int tensor) {
  return {.run = check::ShapeIsResult, .operands = {tensor}, .low = 1};
}
// 161002 when the array has another number of values than the other array.
constexpr Check ArraySizeIs(int attribute, int other) {
  return {.run = check::ArraySizeIs, .operands = {attribute, other}};
}
// 561103 when an element of one of the tensors does not take whole bytes.
constexpr Check MovesBytes(Operands operands) {
  return {.run = check::MovesBytes, .operands = operands, .code = ACLNN_ERR_INNER_NULLPTR};
}

// A check of the operator's own.
constexpr Check Own(aclnnStatus (*run)(const Check& check, OperatorCall& call) noexcept,
                    aclnnStatus code = ACLNN_ERR_PARAM_INVALID) {
  return {.run = run, .code = code};
}

}  // namespace portacl
