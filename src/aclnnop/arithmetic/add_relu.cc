// aclnnAddRelu and aclnnInplaceAddRelu: the ReLU of a sum, max(self + alpha * other, 0).
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/arithmetic/add_relu.cc"
#include "base/foreach_target.h"

#include "aclnnop/arithmetic/sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace sums {

// Integers wrap in their own width before they are compared. NaN stays, -0 becomes 0.
struct ReluOfSum : Elementwise<ReluOfSum> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<float, int8_t, uint8_t, int16_t, int32_t, int64_t>;
  static constexpr int kInputs = 2;
  static constexpr bool kTakes16BitFloats = true;
  explicit ReluOfSum(const Parameters& parameters) : scalars(parameters) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    using T = hn::TFromD<D>;
    const V sum = Scaled(d, hn::Set(d, scalars.Get<T>(0)), b, a);
    if constexpr (std::is_floating_point_v<T>) {
      return hn::IfThenZeroElse(hn::Le(sum, hn::Zero(d)), sum);
    } else {
      return hn::IfThenElseZero(hn::Gt(sum, hn::Zero(d)), sum);
    }
  }

  engine::Scalars scalars;
};

}  // namespace sums
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <cmath>
#include <cstring>

#include "aclnnop/arithmetic/add_relu_functions.h"
#include "aclnnop/binary_checks.h"
#include "aclnnop/phase1.h"

namespace portacl {
namespace {

constexpr auto kReluOfSum = PORTACL_VALUE_KERNELS(sums::ReluOfSum);

enum Tensors { kSelf, kOther, kOut };
enum Attributes { kAlpha };

constexpr DtypeRule kDtypes = WithBf16SinceAtlasA2(kFloatAndHalf | kIntegers);
constexpr auto Checks(int out) {
  return Join(List(NotNull(kSelf), NotNull(kOther), ScalarNotNull(kAlpha), NotNull(out),
                   DtypesIn(kDtypes, {kSelf, kOther}), Promotes({kSelf, kOther}),
                   ScalarsCastToPromoted({kAlpha}), PromotedCastsTo(out)),
              BroadcastChecks(kSelf, kOther, out), ComputableChecks({kSelf, kOther}, out, {kAlpha}));
}
constexpr auto kChecks = Checks(kOut);
constexpr auto kInPlaceChecks = Join(InPlaceFirstChecks(kSelf, kOther), Checks(kSelf));

// Tells whether alpha is NaN. CANN takes it as 1, since it only asks whether alpha is above or below 1.
bool IsNan(const aclScalar& scalar) {
  const ScalarValue value = ConvertScalar(scalar, ACL_DOUBLE);
  double number = 0;
  std::memcpy(&number, value.bytes, sizeof number);
  return std::isnan(number);
}

void SetReluOfSum(const OperatorCall& call, Executor& executor) {
  engine::Scalars scalars;
  aclScalar alpha = call.Scalar(kAlpha);
  if (IsNan(alpha)) {
    constexpr float kOne = 1.0f;
    alpha.dtype = ACL_FLOAT;
    std::memcpy(alpha.value, &kOne, sizeof kOne);
  }
  // CANN reads alpha as a float for INT32, too.
  const aclDataType cast = call.promoted == ACL_INT32 ? ACL_FLOAT : ACL_DT_UNDEFINED;
  SetMapScalar(call, kReluOfSum, alpha, scalars, 0, cast);
  SetMapJob(call, {kSelf, kOther}, call.Output(), kReluOfSum, scalars, executor);
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnAddRelu) { return RunPhase1(call, kChecks, workspaceSize, executor, SetReluOfSum); }
PORTACL_PHASE_1(aclnnInplaceAddRelu) {
  return RunPhase1(call, kInPlaceChecks, workspaceSize, executor, SetReluOfSum);
}

#endif  // HWY_ONCE
