// Phase 1 of activations and their gradients: attributes as numbers, parts of their lists of checks, product
// sets.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "aclnnop/binary_checks.h"
#include "aclnnop/phase1.h"
#include "contract/arguments.h"

namespace portacl {

inline constexpr DtypeRule kActivatedAndDouble = WithBf16SinceAtlasA2(kFloatAndHalf | kDouble);
// BF16 on every product but Atlas training and inference products; not without a device.
inline constexpr DtypeRule kBf16On200I =
    kBf16SinceAtlasA2.On(ProductSet{Product::kAtlas200I500A2}, kFloatHalfAndBf16);

// The products that CANN's pages list, besides products::kWithout200I500A2 and kSinceAtlasA2.
inline constexpr ProductSet kDocumentedWithTraining =
    products::kSinceAtlasA2 | ProductSet{Product::kAtlasTraining};
inline constexpr ProductSet kDocumentedWithInference =
    products::kSinceAtlasA2 | ProductSet{Product::kAtlasInference};
inline constexpr ProductSet kDocumentedBefore950WithTraining =
    products::kAtlasA2AndA3 | ProductSet{Product::kAtlasTraining};
inline constexpr ProductSet kDocumentedBefore950 =
    kDocumentedBefore950WithTraining | ProductSet{Product::kAtlasInference};

// Returns the attributes in order as float32, whatever the dtype of the computation: a scalar's value, 0 or 1
// for a bool. CANN's activations narrow their scalars to float32 even for DOUBLE. Dtypes without such a value
// count as 0; lists of checks refuse them. Returns up to eight numbers, which formulas read through
// Activation::Number.
engine::Scalars FloatsOf(const OperatorCall& call) noexcept;

// Reports "parameter NAME has the value V, accepted: ACCEPTED." and returns the check's code.
aclnnStatus RefuseNumber(const Check& check, const OperatorCall& call, int attribute, float value,
                         const char* accepted) noexcept;

// Sets the job of a formula of these inputs and the attributes.
template <const engine::KernelTable& kKernels, int... kInputs>
void SetActivation(const OperatorCall& call, Executor& executor) noexcept {
  SetMapJob(call, {kInputs...}, call.Output(), kKernels, FloatsOf(call), executor);
}

// Checks that the scalars cast to FLOAT. The list has checked self's dtype before.
constexpr auto ScalarsCastToFloat(Operands scalars) {
  return List(PromotesTo(ACL_FLOAT), ScalarsCastToPromoted(scalars));
}

// Ends the list of a function of one tensor. out has self's shape, at most 8 dims, and self's dtype or, with
// kCast, any dtype to which self's casts.
enum class OutDtype { kSame, kCast };
constexpr auto OfOneTensor(int self, int out, OutDtype rule, Operands scalars = {}) {
  return Join(List(rule == OutDtype::kSame ? SameDtype(self, out) : CastsTo(self, out), RankAtMost(8, {self}),
                   SameShape(self, out), PromotesToDtypeOf(self)),
              ComputableChecks({self}, out, scalars));
}
// Ends such a list as OfOneTensor does, for any number of dims. The list has checked out's dtype before.
constexpr auto OfOneTensorOfAnyRank(int self, int out, Operands scalars = {}) {
  return Join(List(SameShape(self, out), PromotesToDtypeOf(self)), ComputableChecks({self}, out, scalars));
}

}  // namespace portacl
