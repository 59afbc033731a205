// The checks of phase 1 as data. An operator lists them in CANN's order, and the checker runs them in that
// order.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "aclnn/executor.h"
#include "aclnn/opdev/op_errno.h"
#include "aclnn/tensor.h"
#include "base/isa.h"
#include "contract/dtype_rule.h"
#include "contract/product_set.h"
#include "contract/scalar_promotion.h"

namespace portacl {

// A tensor argument of phase 1, or a list of tensors.
struct TensorArgument {
  const char* name = nullptr;
  const aclTensor* tensor = nullptr;
  const aclTensorList* list = nullptr;
  bool is_list = false;

  constexpr TensorArgument() = default;
  constexpr TensorArgument(const char* argument_name, const aclTensor* value)
      : name(argument_name), tensor(value) {}
  constexpr TensorArgument(const char* argument_name, std::nullptr_t) : name(argument_name) {}
  constexpr TensorArgument(const char* argument_name, const aclTensorList* value)
      : name(argument_name), list(value), is_list(true) {}
};

// A host argument of phase 1, such as a scalar, an array or a bool.
struct Attribute {
  const char* name;
  int64_t integer = 0;  // also a bool's value, and a dtype's number
  float real = 0.0f;    // no double: widening a subnormal would set a flag for the caller
  double wide = 0;      // value of a double
  const aclScalar* scalar = nullptr;
  const aclIntArray* array = nullptr;
  const char* text = nullptr;

  Attribute(const char* attribute_name, int64_t value) : name(attribute_name), integer(value) {}
  Attribute(const char* attribute_name, int value) : name(attribute_name), integer(value) {}
  Attribute(const char* attribute_name, float value) : name(attribute_name), real(value) {}
  Attribute(const char* attribute_name, double value) : name(attribute_name), wide(value) {}
  // A template, so that a pointer does not convert to bool.
  template <std::same_as<bool> Bool>
  Attribute(const char* attribute_name, Bool value) : name(attribute_name), integer(value ? 1 : 0) {}
  Attribute(const char* attribute_name, aclDataType value) : name(attribute_name), integer(value) {}
  Attribute(const char* attribute_name, const aclScalar* value) : name(attribute_name), scalar(value) {}
  Attribute(const char* attribute_name, const aclIntArray* value) : name(attribute_name), array(value) {}
  Attribute(const char* attribute_name, const char* value) : name(attribute_name), text(value) {}

  aclDataType dtype() const { return static_cast<aclDataType>(integer); }
};

// A call of phase 1: its arguments, and the values that the checks derive from them. `api` is the operator's
// name, which is also the name of phase 2.
struct OperatorCall {
  const char* api;
  std::span<const TensorArgument> tensors;  // in parameter order
  std::span<const Attribute> attributes;
  bool in_place = false;  // the first tensor is the output; else the last ones are
  int output_count = 1;   // how many of the tensor arguments are outputs

  Product product = Product::kNoDevice;
  // The instruction set and the number of threads for the call's jobs.
  Isa isa{};
  int threads = 1;
  aclDataType promoted = ACL_DT_UNDEFINED;  // set by Promotes and other checks, where their comments say so
  Shape broadcast{};                        // set by Broadcasts; [0] when there are no terms

  // The work of a call that passes its checks. Any value but kCompute ends the list of checks.
  enum class Work : uint8_t {
    kCompute,
    kNothing,  // set by DoneIfEmpty: success, nothing is written
    kNoTerms   // set by NoTermsIfEmpty: the inputs are empty, the output gets the sum of no terms
  };
  Work work = Work::kCompute;

  // Tells whether the tensor is not null. An optional tensor has no NotNull in the operator's list. Checks of
  // several tensors skip null ones.
  bool IsGiven(int index) const { return tensors[static_cast<size_t>(index)].tensor != nullptr; }
  const aclTensor& Tensor(int index) const { return *tensors[static_cast<size_t>(index)].tensor; }
  const char* Name(int index) const { return tensors[static_cast<size_t>(index)].name; }
  const aclScalar& Scalar(int index) const { return *attributes[static_cast<size_t>(index)].scalar; }
  // Returns the index of the output, or of the first output.
  int Output() const { return in_place ? 0 : static_cast<int>(tensors.size()) - output_count; }

  // Entries of a list. A single tensor has one entry, a null list none.
  bool IsList(int index) const { return tensors[static_cast<size_t>(index)].is_list; }
  int Count(int index) const {
    const TensorArgument& argument = tensors[static_cast<size_t>(index)];
    if (!argument.is_list) return 1;
    return argument.list == nullptr ? 0 : static_cast<int>(argument.list->values.size());
  }
  const aclTensor* Entry(int index, int entry) const {
    const TensorArgument& argument = tensors[static_cast<size_t>(index)];
    return argument.is_list ? argument.list->values[static_cast<size_t>(entry)] : argument.tensor;
  }
  // Returns the executor's operand for an entry.
  int OperandOf(int index, int entry = 0) const {
    for (int i = 0; i < index; ++i) entry += Count(i);
    return entry;
  }
  const std::vector<int64_t>& Array(int index) const {
    return attributes[static_cast<size_t>(index)].array->values;
  }
};

// Indices of operands in the order of OperatorCall::tensors.
struct Operands {
  static constexpr int kMost = 5;

  int8_t index[kMost] = {};
  int8_t count = 0;

  constexpr Operands() = default;
  constexpr Operands(std::initializer_list<int> indices) {
    for (int i : indices) index[count++] = static_cast<int8_t>(i);
  }
  constexpr const int8_t* begin() const { return index; }
  constexpr const int8_t* end() const { return index + count; }
};

// Reduction values as CANN numbers them. Only the KL divergence has BATCHMEAN.
enum Reduction : int64_t {
  kReductionNone = 0,
  kReductionMean = 1,
  kReductionSum = 2,
  kReductionBatchMean = 3
};

// A condition on a call, evaluated when the check's turn comes.
using Condition = bool (*)(const OperatorCall& call) noexcept;

// A check. `run` returns 0, or reports a message and returns the code. An operator may list checks of its
// own.
struct Check {
  aclnnStatus (*run)(const Check& check, OperatorCall& call) noexcept = nullptr;
  Operands operands{};
  int64_t low = 0;
  int64_t high = 0;
  const DtypeRule* rule = nullptr;
  DtypeSet dtypes{};

  // Restricts the check by the attribute `reduction`: all calls, those without a reduction, or those with
  // one.
  enum class For : uint8_t { kAll, kNone, kReduced };
  For calls = For::kAll;
  int8_t reduction = 0;

  // Further conditions, which must all hold: the product, an integer attribute that equals a number, any
  // function of the call.
  int8_t selector = -1;
  ProductSet products = products::kAll;
  ScalarRule scalar_rule = ScalarRule::kAsTensors;
  aclnnStatus code = ACLNN_ERR_PARAM_INVALID;
  Operands attributes{};
  int64_t selected = 0;
  Condition condition = nullptr;
  const char* (*reason)() noexcept = nullptr;  // used by FunctionsThere

  bool Applies(const OperatorCall& call) const {
    if (!products.Contains(call.product)) return false;
    if (selector >= 0 && call.attributes[static_cast<size_t>(selector)].integer != selected) return false;
    if (condition != nullptr && !condition(call)) return false;
    if (calls == For::kAll) return true;
    const bool none = call.attributes[static_cast<size_t>(reduction)].integer == kReductionNone;
    return none == (calls == For::kNone);
  }
};

// Restricts a check to calls without a reduction, or to calls with one.
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

// Restricts a check to these products.
constexpr Check OnProducts(ProductSet products, Check check) {
  check.products = products;
  return check;
}
// Restricts a check to calls whose integer attribute, such as a mode, has this value.
constexpr Check IfEqual(int attribute, int64_t value, Check check) {
  check.selector = static_cast<int8_t>(attribute);
  check.selected = value;
  return check;
}
// Restricts a check to calls for which the condition holds when the check's turn comes.
constexpr Check If(Condition condition, Check check) {
  check.condition = condition;
  return check;
}
// Replaces a check's code.
constexpr Check WithCode(aclnnStatus code, Check check) {
  check.code = code;
  return check;
}

// The functions that run each kind of check, declared here so that the lists below can be constants.
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
aclnnStatus AnyGiven(const Check& check, OperatorCall& call) noexcept;
aclnnStatus AnyScalarGiven(const Check& check, OperatorCall& call) noexcept;
aclnnStatus ScalarDtypesIn(const Check& check, OperatorCall& call) noexcept;
aclnnStatus PromotesScalarBy(const Check& check, OperatorCall& call) noexcept;
aclnnStatus PromotesByRank(const Check& check, OperatorCall& call) noexcept;
aclnnStatus PromotesTo(const Check& check, OperatorCall& call) noexcept;
aclnnStatus PromotesToDtypeOf(const Check& check, OperatorCall& call) noexcept;
aclnnStatus PromotesToFloat(const Check& check, OperatorCall& call) noexcept;
aclnnStatus ReplacesPromoted(const Check& check, OperatorCall& call) noexcept;
aclnnStatus PromotedNotIn(const Check& check, OperatorCall& call) noexcept;
aclnnStatus PromotedIs(const Check& check, OperatorCall& call) noexcept;
aclnnStatus CastsToPromoted(const Check& check, OperatorCall& call) noexcept;
aclnnStatus ScalarsCastToPromoted(const Check& check, OperatorCall& call) noexcept;
aclnnStatus AlphaFits(const Check& check, OperatorCall& call) noexcept;
aclnnStatus FixedCastsTo(const Check& check, OperatorCall& call) noexcept;
aclnnStatus NotAllBool(const Check& check, OperatorCall& call) noexcept;
aclnnStatus RankAtLeast(const Check& check, OperatorCall& call) noexcept;
aclnnStatus RankIs(const Check& check, OperatorCall& call) noexcept;
aclnnStatus RankAtMostUnlessContiguous(const Check& check, OperatorCall& call) noexcept;
aclnnStatus ShapeIsBroadcastOrValue(const Check& check, OperatorCall& call) noexcept;
aclnnStatus NotPrivate(const Check& check, OperatorCall& call) noexcept;
aclnnStatus SameFormat(const Check& check, OperatorCall& call) noexcept;
aclnnStatus PromotedImplemented(const Check& check, OperatorCall& call) noexcept;
aclnnStatus FunctionsThere(const Check& check, OperatorCall& call) noexcept;
}  // namespace check

// WithCode replaces the named code, except in OneElement, SizesRepresentable, FormatKept, NoTermsIfEmpty,
// DtypeImplemented and Converts.
//
// 161001 when the tensor is null.
constexpr Check NotNull(int tensor) {
  return {.run = check::NotNull, .operands = {tensor}, .code = ACLNN_ERR_PARAM_NULLPTR};
}
// 161001 when the scalar attribute is null.
constexpr Check ScalarNotNull(int attribute) {
  return {.run = check::ScalarNotNull, .operands = {attribute}, .code = ACLNN_ERR_PARAM_NULLPTR};
}
// AnyGiven: 161001 when all of the tensors are null. AnyScalarGiven: 161001 when all of the scalar attributes
// are null.
constexpr Check AnyGiven(Operands tensors) {
  return {.run = check::AnyGiven, .operands = tensors, .code = ACLNN_ERR_PARAM_NULLPTR};
}
constexpr Check AnyScalarGiven(Operands attributes) {
  return {.run = check::AnyScalarGiven, .code = ACLNN_ERR_PARAM_NULLPTR, .attributes = attributes};
}
// 161002 when the integer attribute is outside low..high.
constexpr Check IntegerIn(int attribute, int64_t low, int64_t high) {
  return {.run = check::IntegerIn, .operands = {attribute}, .low = low, .high = high};
}
// 161002 when the dtype attribute is not in the product's list.
constexpr Check DtypeIn(const DtypeRule& rule, int attribute) {
  return {.run = check::DtypeIn, .operands = {attribute}, .rule = &rule};
}
// 161002 when the tensor's dtype and the scalar's do not promote as two tensors' dtypes would. Sets
// call.promoted.
constexpr Check PromotesScalar(int tensor, int attribute) {
  return {.run = check::PromotesScalar, .operands = {tensor, attribute}};
}
// 161002 when dtypes do not promote. Promotes the first two, then each further one, as first argument, with
// the result so far.
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
// Like the function above, with one list for every product. The message then names no product.
constexpr Check DtypesIn(DtypeSet dtypes, Operands operands) {
  return {.run = check::DtypesIn, .operands = operands, .dtypes = dtypes};
}
// 161002 when the first tensor's dtype cannot be cast to the second's.
constexpr Check CastsTo(int from, int to) { return {.run = check::CastsTo, .operands = {from, to}}; }
// 161002 when the second tensor's dtype is not the first's.
constexpr Check SameDtype(int a, int b) { return {.run = check::SameDtype, .operands = {a, b}}; }
// 161002 when the real attribute is negative or NaN; -0 and infinity pass.
constexpr Check NotNegative(int attribute) { return {.run = check::NotNegative, .operands = {attribute}}; }
// 161002 when the rank of one of the tensors exceeds `most`.
constexpr Check RankAtMost(int most, Operands operands) {
  return {.run = check::RankAtMost, .operands = operands, .high = most};
}
// 161002 when the shapes do not broadcast, taken in order. Sets call.broadcast.
constexpr Check Broadcasts(Operands operands) { return {.run = check::Broadcasts, .operands = operands}; }
// 161002 when the tensor's shape differs from call.broadcast.
constexpr Check ShapeIsBroadcast(int tensor) {
  return {.run = check::ShapeIsBroadcast, .operands = {tensor}};
}
// 161002 when the tensor's shape does not broadcast to call.broadcast: the tensor may be expanded, but may
// not enlarge the result.
constexpr Check ExpandsToBroadcast(int tensor) {
  return {.run = check::ExpandsToBroadcast, .operands = {tensor}};
}
// 161002 when the shapes of the two tensors differ.
constexpr Check SameShape(int a, int b) { return {.run = check::SameShape, .operands = {a, b}}; }
// 161002 when the tensor is not 0-dim. A tensor of shape [1] is refused too.
constexpr Check IsScalar(int tensor) { return {.run = check::IsScalar, .operands = {tensor}}; }
// `code` when the tensor does not have exactly one element. Any rank is accepted.
constexpr Check OneElement(int tensor, aclnnStatus code) {
  return {.run = check::OneElement, .operands = {tensor}, .low = code};
}
// 161002 when the tensor's shape is neither [] nor [1].
constexpr Check IsValue(int tensor) { return {.run = check::IsValue, .operands = {tensor}}; }

// Scalars. Each of these checks skips a null scalar.
//
// 161002 when the dtype of one of the scalars is not in the product's list, or not in the only list.
constexpr Check ScalarDtypesIn(const DtypeRule& rule, Operands attributes) {
  return {.run = check::ScalarDtypesIn, .rule = &rule, .attributes = attributes};
}
constexpr Check ScalarDtypesIn(DtypeSet dtypes, Operands attributes) {
  return {.run = check::ScalarDtypesIn, .dtypes = dtypes, .attributes = attributes};
}
// 161002 when the rule gives no dtype for the tensor, the scalar and the output. Sets call.promoted.
// `attributes` are the scalar and, for the rules that use it, alpha or the other bound. One of two bounds may
// be null.
constexpr Check PromotesScalarBy(ScalarRule rule, int tensor, Operands attributes, int out) {
  return {.run = check::PromotesScalarBy,
          .operands = {tensor, out},
          .scalar_rule = rule,
          .attributes = attributes};
}
// 161002 when one of the scalars' dtypes cannot be cast to the promoted one.
constexpr Check ScalarsCastToPromoted(Operands attributes) {
  return {.run = check::ScalarsCastToPromoted, .attributes = attributes};
}
// 161002 when the promoted dtype is bool and alpha is neither integer nor bool, or when alpha's dtype cannot
// be cast to the promoted one.
constexpr Check AlphaFits(int attribute) { return {.run = check::AlphaFits, .attributes = {attribute}}; }

// The promoted dtype.
//
// 161002 when the two dtypes do not promote. On Ascend 950 the dtype of a tensor without dims yields to that
// of a tensor with dims (PromoteByRank). Sets call.promoted.
constexpr Check PromotesByRank(int a, int b) { return {.run = check::PromotesByRank, .operands = {a, b}}; }
// Never fail. Set call.promoted to a given dtype, to a tensor's, or to a tensor's with FLOAT in place of
// integers and bool.
constexpr Check PromotesTo(aclDataType dtype) { return {.run = check::PromotesTo, .low = dtype}; }
constexpr Check PromotesToDtypeOf(int tensor) {
  return {.run = check::PromotesToDtypeOf, .operands = {tensor}};
}
constexpr Check PromotesToFloat(int tensor) { return {.run = check::PromotesToFloat, .operands = {tensor}}; }
// Never fails. Replaces a promoted dtype that is in the list with `dtype`.
constexpr Check ReplacesPromoted(DtypeSet replaced, aclDataType dtype) {
  return {.run = check::ReplacesPromoted, .low = dtype, .dtypes = replaced};
}
// PromotedIn for operands with a scalar: the message names the scalar too.
constexpr Check PromotedIn(const DtypeRule& rule, Operands operands, Operands attributes) {
  return {.run = check::PromotedIn, .operands = operands, .rule = &rule, .attributes = attributes};
}
// 161002 when the dtype that the operands promote to is in the list.
constexpr Check PromotedNotIn(DtypeSet refused, Operands operands, Operands attributes = {}) {
  return {.run = check::PromotedNotIn, .operands = operands, .dtypes = refused, .attributes = attributes};
}
// 161002 when the tensor's dtype is not the promoted one.
constexpr Check PromotedIs(int tensor) { return {.run = check::PromotedIs, .operands = {tensor}}; }
// 161002 when the dtype of one of the tensors cannot be cast to the promoted one.
constexpr Check CastsToPromoted(Operands operands) {
  return {.run = check::CastsToPromoted, .operands = operands};
}

// Other dtypes, shapes and formats.
//
// 161002 when this dtype cannot be cast to the tensor's.
constexpr Check FixedCastsTo(aclDataType dtype, int tensor) {
  return {.run = check::FixedCastsTo, .operands = {tensor}, .low = dtype};
}
// 161002 when all of the tensors and scalars are bool.
constexpr Check NotAllBool(Operands operands, Operands attributes = {}) {
  return {.run = check::NotAllBool, .operands = operands, .attributes = attributes};
}
// RankAtLeast: 161002 when the rank of one of the tensors is smaller. RankIs: 161002 when it differs.
constexpr Check RankAtLeast(int least, Operands operands) {
  return {.run = check::RankAtLeast, .operands = operands, .low = least};
}
constexpr Check RankIs(int rank, Operands operands) {
  return {.run = check::RankIs, .operands = operands, .low = rank};
}
// 161002 when the rank of one of the tensors is greater and any of them is not contiguous.
constexpr Check RankAtMostUnlessContiguous(int most, Operands operands) {
  return {.run = check::RankAtMostUnlessContiguous, .operands = operands, .high = most};
}
// 161002 when the tensor's shape differs from call.broadcast, unless both are [] or [1].
constexpr Check ShapeIsBroadcastOrValue(int tensor) {
  return {.run = check::ShapeIsBroadcastOrValue, .operands = {tensor}};
}
// 161002 when one of the tensors has a private format.
constexpr Check NotPrivate(Operands operands) { return {.run = check::NotPrivate, .operands = operands}; }
// 161002 when the formats of the tensors differ from the first one's.
constexpr Check SameFormat(Operands operands) { return {.run = check::SameFormat, .operands = operands}; }

// The following checks run after those of CANN's own list.
//
// 561103 when the first tensor has the shape call.broadcast and a format other than ND, and the second tensor
// has another format. CANN then would have to copy between formats, and refuses.
constexpr Check FormatKept(int input, int output) {
  return {.run = check::FormatKept, .operands = {input, output}};
}
// 161002 for sizes that no storage can have: negative dims, element counts beyond int64, and byte offsets
// beyond int64 in contiguous tensors and in the given outputs.
constexpr Check SizesRepresentable(Operands outputs) {
  return {.run = check::SizesRepresentable, .operands = outputs};
}
// Ends with success and no work when one of the tensors is empty.
constexpr Check DoneIfEmpty(Operands operands) { return {.run = check::DoneIfEmpty, .operands = operands}; }
// Ends with success when one of the tensors is empty: the output, given last, gets the sum of no terms.
// 561103 when the output does not have exactly one element: CANN then would have to copy a single value to
// it, and refuses.
constexpr Check NoTermsIfEmpty(Operands inputs_and_output) {
  return {.run = check::NoTermsIfEmpty, .operands = inputs_and_output};
}
// 561103 when a non-contiguous input's view reaches outside its storage. Contiguous inputs are trusted, as in
// CANN.
constexpr Check InsideStorage(Operands operands) {
  return {.run = check::InsideStorage, .operands = operands, .code = ACLNN_ERR_INNER_NULLPTR};
}
// 561103 when the operator is not computed in a tensor's dtype, although CANN's promotion and cast rules accept
// it.
constexpr Check DtypeImplemented(Operands operands, DtypeSet dtypes) {
  return {.run = check::DtypeImplemented, .operands = operands, .dtypes = dtypes};
}
// 561103 when the dtypes of the two tensors differ and there is no conversion between them, or when they are
// equal and elements do not take whole bytes.
constexpr Check Converts(int from, int to, DtypeSet dtypes) {
  return {.run = check::Converts, .operands = {from, to}, .dtypes = dtypes};
}

// 561103 when the operator is not computed in the promoted dtype, although CANN's rules accept it.
constexpr Check PromotedImplemented(DtypeSet dtypes, Operands operands, Operands attributes = {}) {
  return {.run = check::PromotedImplemented,
          .operands = operands,
          .dtypes = dtypes,
          .code = ACLNN_ERR_INNER_NULLPTR,
          .attributes = attributes};
}
// 561103 when a scalar's dtype cannot be converted to the tensors' dtypes.
constexpr Check ScalarsImplemented(DtypeSet dtypes, Operands attributes) {
  return {.run = check::ScalarDtypesIn,
          .dtypes = dtypes,
          .code = ACLNN_ERR_INNER_NULLPTR,
          .attributes = attributes};
}
// 561103 when the promoted dtype is in the list and this machine lacks the functions to compute in it.
// `why_missing` then returns the words that follow "since" in the message. It returns an empty text where the
// functions exist.
constexpr Check FunctionsThere(DtypeSet computed, const char* (*why_missing)() noexcept) {
  return {.run = check::FunctionsThere,
          .dtypes = computed,
          .code = ACLNN_ERR_INNER_NULLPTR,
          .reason = why_missing};
}

// The two checks of a tensor that must have the shape to which the operands broadcast: an output, or an
// operand written in place.
constexpr std::array<Check, 2> BroadcastsInto(Operands operands, int tensor) {
  return {Broadcasts(operands), ShapeIsBroadcast(tensor)};
}

// Joins lists of checks: the operators of a family share parts of theirs.
template <size_t... kSizes>
constexpr auto Join(const std::array<Check, kSizes>&... lists) {
  std::array<Check, (kSizes + ... + 0)> all{};
  size_t count = 0;
  const auto append = [&](const auto& list) {
    for (const Check& check : list) all[count++] = check;
  };
  (append(lists), ...);
  return all;
}
template <class... Checks>
constexpr std::array<Check, sizeof...(Checks)> List(const Checks&... checks) {
  return {checks...};
}

// Runs the checks in order. Stops at the first failure, or when there is nothing to compute.
aclnnStatus RunChecks(std::span<const Check> checks, OperatorCall& call) noexcept;

}  // namespace portacl
