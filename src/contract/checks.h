// The checks of phase 1 as data: an operator lists them in CANN's order, the checker runs them in the list's
// order.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>

#include "aclnn/executor.h"
#include "aclnn/tensor.h"
#include "contract/dtype_rule.h"

namespace portacl {

// A tensor argument of phase 1.
struct TensorArgument {
  const char* name;
  const aclTensor* tensor;
};

// A host argument of phase 1.
struct Attribute {
  const char* name;
  int64_t integer = 0;
  float real = 0.0f;
  const aclScalar* scalar = nullptr;

  Attribute(const char* attribute_name, int64_t value) : name(attribute_name), integer(value) {}
  Attribute(const char* attribute_name, float value) : name(attribute_name), real(value) {}
  Attribute(const char* attribute_name, aclDataType value) : name(attribute_name), integer(value) {}
  Attribute(const char* attribute_name, const aclScalar* value) : name(attribute_name), scalar(value) {}

  aclDataType dtype() const { return static_cast<aclDataType>(integer); }
};

// One call of phase 1: its arguments, and what the checks derive from them. `api` is the operator's name,
// that of phase 2.
struct OperatorCall {
  const char* api;
  std::span<const TensorArgument> tensors;  // in parameter order
  std::span<const Attribute> attributes;
  bool in_place = false;  // the first tensor is the output, else the last one

  Product product = Product::kNoDevice;
  aclDataType promoted = ACL_DT_UNDEFINED;  // set by Promotes
  Shape broadcast{};                        // set by Broadcasts; [0] when there are no terms

  // What a call that passes is to do. Anything but kCompute ends the list of checks.
  enum class Work : uint8_t {
    kCompute,
    kNothing,  // set by DoneIfEmpty: success, nothing is written
    kNoTerms   // set by NoTermsIfEmpty: the inputs are empty, the output gets the sum of no terms
  };
  Work work = Work::kCompute;

  const aclTensor& Tensor(int index) const { return *tensors[static_cast<size_t>(index)].tensor; }
  const char* Name(int index) const { return tensors[static_cast<size_t>(index)].name; }
};

// Indices of operands, as listed in TensorArgument order.
struct Operands {
  int8_t index[kMaxOperands] = {};
  int8_t count = 0;

  constexpr Operands() = default;
  constexpr Operands(std::initializer_list<int> indices) {
    for (int i : indices) index[count++] = static_cast<int8_t>(i);
  }
  constexpr const int8_t* begin() const { return index; }
  constexpr const int8_t* end() const { return index + count; }
};

// Reduction values as CANN numbers them. BATCHMEAN exists for the KL divergence alone.
enum Reduction : int64_t {
  kReductionNone = 0,
  kReductionMean = 1,
  kReductionSum = 2,
  kReductionBatchMean = 3
};

// One check. `run` returns 0, or reports a message and returns the code. An operator may list checks of its
// own.
struct Check {
  aclnnStatus (*run)(const Check& check, OperatorCall& call) noexcept;
  Operands operands{};
  int64_t low = 0;
  int64_t high = 0;
  const DtypeRule* rule = nullptr;
  DtypeSet dtypes{};

  // Which calls it is for: all, or those whose integer attribute `reduction` is none, or is not.
  enum class For : uint8_t { kAll, kNone, kReduced };
  For calls = For::kAll;
  int8_t reduction = 0;

  bool Applies(const OperatorCall& call) const {
    if (calls == For::kAll) return true;
    const bool none = call.attributes[static_cast<size_t>(reduction)].integer == kReductionNone;
    return none == (calls == For::kNone);
  }
};

// The check for calls alone whose reduction is none, and for the others alone.
constexpr Check IfNone(int reduction, Check check) {
  check.calls = Check::For::kNone;
  check.reduction = static_cast<int8_t>(reduction);
  return check;
}
constexpr Check IfReduced(int reduction, Check check) {
  check.calls = Check::For::kReduced;
  check.reduction = static_cast<int8_t>(reduction);
  return check;
}

// How each kind of check runs; named here so that the lists below can be constants.
namespace check {
aclnnStatus NotNull(const Check& check, OperatorCall& call) noexcept;
aclnnStatus ScalarNotNull(const Check& check, OperatorCall& call) noexcept;
aclnnStatus IntegerIn(const Check& check, OperatorCall& call) noexcept;
aclnnStatus DtypeIn(const Check& check, OperatorCall& call) noexcept;
aclnnStatus PromotesScalar(const Check& check, OperatorCall& call) noexcept;
aclnnStatus Promotes(const Check& check, OperatorCall& call) noexcept;
aclnnStatus PromotedCastsTo(const Check& check, OperatorCall& call) noexcept;
aclnnStatus PromotedIn(const Check& check, OperatorCall& call) noexcept;
aclnnStatus DtypesIn(const Check& check, OperatorCall& call) noexcept;
aclnnStatus CastsTo(const Check& check, OperatorCall& call) noexcept;
aclnnStatus SameDtype(const Check& check, OperatorCall& call) noexcept;
aclnnStatus NotNegative(const Check& check, OperatorCall& call) noexcept;
aclnnStatus RankAtMost(const Check& check, OperatorCall& call) noexcept;
aclnnStatus Broadcasts(const Check& check, OperatorCall& call) noexcept;
aclnnStatus ShapeIsBroadcast(const Check& check, OperatorCall& call) noexcept;
aclnnStatus ExpandsToBroadcast(const Check& check, OperatorCall& call) noexcept;
aclnnStatus SameShape(const Check& check, OperatorCall& call) noexcept;
aclnnStatus IsScalar(const Check& check, OperatorCall& call) noexcept;
aclnnStatus OneElement(const Check& check, OperatorCall& call) noexcept;
aclnnStatus IsValue(const Check& check, OperatorCall& call) noexcept;
aclnnStatus FormatKept(const Check& check, OperatorCall& call) noexcept;
aclnnStatus SizesRepresentable(const Check& check, OperatorCall& call) noexcept;
aclnnStatus DoneIfEmpty(const Check& check, OperatorCall& call) noexcept;
aclnnStatus NoTermsIfEmpty(const Check& check, OperatorCall& call) noexcept;
aclnnStatus InsideStorage(const Check& check, OperatorCall& call) noexcept;
aclnnStatus DtypeImplemented(const Check& check, OperatorCall& call) noexcept;
aclnnStatus Converts(const Check& check, OperatorCall& call) noexcept;
}  // namespace check

// 161001 when the tensor is null.
constexpr Check NotNull(int tensor) { return {.run = check::NotNull, .operands = {tensor}}; }
// 161001 when the scalar attribute is null.
constexpr Check ScalarNotNull(int attribute) {
  return {.run = check::ScalarNotNull, .operands = {attribute}};
}
// 161002 when the integer attribute is outside low..high.
constexpr Check IntegerIn(int attribute, int64_t low, int64_t high) {
  return {.run = check::IntegerIn, .operands = {attribute}, .low = low, .high = high};
}
// 161002 when the dtype attribute is not in the product's list.
constexpr Check DtypeIn(const DtypeRule& rule, int attribute) {
  return {.run = check::DtypeIn, .operands = {attribute}, .rule = &rule};
}
// 161002 when the tensor's dtype and the scalar's do not promote, as if both were tensors'; leaves call.promoted.
constexpr Check PromotesScalar(int tensor, int attribute) {
  return {.run = check::PromotesScalar, .operands = {tensor, attribute}};
}
// 161002 when dtypes do not promote: the first two, then each further one, as first argument, with the result
// so far.
constexpr Check Promotes(Operands operands) { return {.run = check::Promotes, .operands = operands}; }
// 161002 when the promoted dtype cannot be cast to the tensor's.
constexpr Check PromotedCastsTo(int tensor) { return {.run = check::PromotedCastsTo, .operands = {tensor}}; }
// 161002 when the dtype that the operands promote to is not in the product's list.
constexpr Check PromotedIn(const DtypeRule& rule, Operands operands) {
  return {.run = check::PromotedIn, .operands = operands, .rule = &rule};
}
// 161002 when the dtype of one of the tensors is not in the product's list.
constexpr Check DtypesIn(const DtypeRule& rule, Operands operands) {
  return {.run = check::DtypesIn, .operands = operands, .rule = &rule};
}
// 161002 when the first tensor's dtype cannot be cast to the second's.
constexpr Check CastsTo(int from, int to) { return {.run = check::CastsTo, .operands = {from, to}}; }
// 161002 when the second tensor's dtype is not the first's.
constexpr Check SameDtype(int a, int b) { return {.run = check::SameDtype, .operands = {a, b}}; }
// 161002 when the real attribute is negative or NaN; -0 and infinity pass.
constexpr Check NotNegative(int attribute) { return {.run = check::NotNegative, .operands = {attribute}}; }
// 161002 when the rank of one of the tensors is greater.
constexpr Check RankAtMost(int most, Operands operands) {
  return {.run = check::RankAtMost, .operands = operands, .high = most};
}
// 161002 when the shapes do not broadcast, taken in order; leaves the result in call.broadcast.
constexpr Check Broadcasts(Operands operands) { return {.run = check::Broadcasts, .operands = operands}; }
// 161002 when the tensor's shape differs from call.broadcast.
constexpr Check ShapeIsBroadcast(int tensor) {
  return {.run = check::ShapeIsBroadcast, .operands = {tensor}};
}
// 161002 when the tensor's shape does not broadcast to call.broadcast itself: it may expand but not enlarge
// it.
constexpr Check ExpandsToBroadcast(int tensor) {
  return {.run = check::ExpandsToBroadcast, .operands = {tensor}};
}
// 161002 when the shapes of the two tensors differ.
constexpr Check SameShape(int a, int b) { return {.run = check::SameShape, .operands = {a, b}}; }
// 161002 when the tensor is not 0-dim: one element in one dim is refused too.
constexpr Check IsScalar(int tensor) { return {.run = check::IsScalar, .operands = {tensor}}; }
// `code` when the tensor has not exactly one element, whatever its rank.
constexpr Check OneElement(int tensor, aclnnStatus code) {
  return {.run = check::OneElement, .operands = {tensor}, .low = code};
}
// 161002 when the tensor's shape is neither [] nor [1].
constexpr Check IsValue(int tensor) { return {.run = check::IsValue, .operands = {tensor}}; }

// The rest follows CANN's own list.
//
// 561103 when the first tensor has the shape call.broadcast and a format other than ND, and the second
// another format: CANN then copies between formats, which it does not do.
constexpr Check FormatKept(int input, int output) {
  return {.run = check::FormatKept, .operands = {input, output}};
}
// 161002 for sizes that no storage can have: negative dims, element counts beyond int64, and byte offsets
// beyond int64 of contiguous tensors and of the given outputs.
constexpr Check SizesRepresentable(Operands outputs) {
  return {.run = check::SizesRepresentable, .operands = outputs};
}
// Success without work when one of the tensors is empty.
constexpr Check DoneIfEmpty(Operands operands) { return {.run = check::DoneIfEmpty, .operands = operands}; }
// Success when one of the tensors is empty: the output, given last, gets the sum of no terms. 561103 when the
// output has not exactly one element: CANN then copies a single value to it, which it does not do.
constexpr Check NoTermsIfEmpty(Operands inputs_and_output) {
  return {.run = check::NoTermsIfEmpty, .operands = inputs_and_output};
}
// 561103 when a non-contiguous input's view reaches outside its storage. Contiguous inputs are trusted, as in
// CANN.
constexpr Check InsideStorage(Operands operands) {
  return {.run = check::InsideStorage, .operands = operands};
}
// 561103 when a tensor's dtype is not among those implemented, although CANN's promotion and cast rules let
// it pass.
constexpr Check DtypeImplemented(Operands operands, DtypeSet dtypes) {
  return {.run = check::DtypeImplemented, .operands = operands, .dtypes = dtypes};
}
// 561103 when the dtypes of the two tensors differ and are not both among those that convert to each other, or are the
// same and not of whole bytes.
constexpr Check Converts(int from, int to, DtypeSet dtypes) {
  return {.run = check::Converts, .operands = {from, to}, .dtypes = dtypes};
}

// Runs the checks in order and stops at the first failure, or when there is nothing to compute.
aclnnStatus RunChecks(std::span<const Check> checks, OperatorCall& call) noexcept;

}  // namespace portacl
