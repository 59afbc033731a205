// What activations and their gradients share in phase 1: attributes as numbers, parts of their lists of checks, products.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "aclnnop/binary_checks.h"
#include "aclnnop/phase1.h"
#include "contract/arguments.h"

namespace portacl {

inline constexpr DtypeRule kActivatedAndDouble = WithBf16SinceAtlasA2(kFloatAndHalf | kDouble);
// BF16 but on Atlas training and inference products, and without a device.
inline constexpr DtypeRule kBf16On200I =
    kBf16SinceAtlasA2.On(ProductSet{Product::kAtlas200I500A2}, kFloatHalfAndBf16);

// Which products CANN's pages list, beside products::kWithout200I500A2 and kSinceAtlasA2.
inline constexpr ProductSet kDocumentedWithTraining =
    products::kSinceAtlasA2 | ProductSet{Product::kAtlasTraining};
inline constexpr ProductSet kDocumentedWithInference =
    products::kSinceAtlasA2 | ProductSet{Product::kAtlasInference};
inline constexpr ProductSet kDocumentedBefore950WithTraining =
    products::kAtlasA2AndA3 | ProductSet{Product::kAtlasTraining};
inline constexpr ProductSet kDocumentedBefore950 =
    kDocumentedBefore950WithTraining | ProductSet{Product::kAtlasInference};

// The attributes in their order as float32, one after the other, whatever is computed in: a scalar's value, 0 or 1 for a bool.
// What has no such value counts as 0; lists of checks refuse it. Up to eight. CANN's activations narrow their scalars to float32, for DOUBLE too. Formulas read them by Activation::Number.
engine::Scalars FloatsOf(const OperatorCall& call) noexcept;

// Reports "parameter NAME has the value V, accepted: ACCEPTED." and returns the check's code.
aclnnStatus RefuseNumber(const Check& check, const OperatorCall& call, int attribute, float value,
                         const char* accepted) noexcept;

// The job of a formula of these inputs and the attributes.
template <const engine::KernelTable& kKernels, int... kInputs>
void SetActivation(const OperatorCall& call, Executor& executor) noexcept {
  SetMapJob(call, {kInputs...}, call.Output(), kKernels, FloatsOf(call), executor);
}

// The scalars are numbers that cast to FLOAT; whether self is in a list is asked before.
constexpr auto ScalarsCastToFloat(Operands scalars) {
  return List(PromotesTo(ACL_FLOAT), ScalarsCastToPromoted(scalars));
}

// The end of the list of a function of one tensor: out has self's shape and, of at most 8 dims, self's dtype or any that it
// casts to.
enum class OutDtype { kSame, kCast };
constexpr auto OfOneTensor(int self, int out, OutDtype rule, Operands scalars = {}) {
  return Join(List(rule == OutDtype::kSame ? SameDtype(self, out) : CastsTo(self, out), RankAtMost(8, {self}),
                   SameShape(self, out), PromotesToDtypeOf(self)),
              ComputableChecks({self}, out, scalars));
}
// The same of any number of dims, where out's dtype was asked for before.
constexpr auto OfOneTensorOfAnyRank(int self, int out, Operands scalars = {}) {
  return Join(List(SameShape(self, out), PromotesToDtypeOf(self)), ComputableChecks({self}, out, scalars));
}

}  // namespace portacl
