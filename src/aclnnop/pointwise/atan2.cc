// aclnnAtan2 and aclnnInplaceAtan2: the angle of a point.
// SPDX-License-Identifier: Apache-2.0
#include "acl/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/pointwise/atan2.cc"
#include <hwy/foreach_target.h>

#include "engine/functions/functions-inl.h"
#include "engine/map/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace angles {

using namespace engine::HWY_NAMESPACE;

struct Angle : Elementwise<Angle> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<float, double>;
  static constexpr int kInputs = 2;
  explicit Angle(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V y, V x) const {
    return functions::Atan2(d, y, x);
  }
};

}  // namespace angles
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/operator_facts.h"
#include "aclnnop/phase1.h"
#include "aclnnop/pointwise/atan2_functions.h"

namespace portacl {
namespace {

constexpr auto kAngle = PORTACL_VALUE_KERNELS(angles::Angle);

enum Tensors { kSelf, kOther, kOut };

// The output is of any dtype that there are conversions to.
constexpr auto Checks(int out) {
  return List(NotNull(kSelf), NotNull(kOther), NotNull(out), DtypesIn(kRealArithmeticDtypes, {kSelf, kOther}),
              RankAtMost(8, {kSelf, kOther}), Broadcasts({kSelf, kOther}), ShapeIsBroadcast(out),
              SizesRepresentable({out}), DoneIfEmpty({kSelf, kOther}), InsideStorage({kSelf, kOther}),
              Promotes({kSelf, kOther}), ReplacesPromoted(kIntegersAndBool, ACL_FLOAT),
              DtypeImplemented({out}, kConvertible), FunctionsThere(kDouble, WhyFunctionsAreMissing));
}
constexpr auto kChecks = Checks(kOut);
constexpr auto kInplaceChecks = Checks(kSelf);

constexpr DtypeRule kDocumented = kRealArithmeticDtypes.OnlyOn(products::kWithout200I500A2);

aclnnStatus SetAngles(OperatorCall& call, std::span<const Check> checks, uint64_t* workspaceSize,
                      aclOpExecutor** executor) {
  return RunPhase1(call, checks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
    SetMapJob(checked, {kSelf, kOther}, checked.in_place ? kSelf : kOut, kAngle, {}, fresh);
  });
}

}  // namespace

namespace facts {
extern const OperatorFacts atan2;
}

const OperatorFacts facts::atan2 = {"aclnnAtan2",          "aclnnop/aclnn_atan2.h", kDocumented,
                                    kRealArithmeticDtypes, /*by_promotion=*/false,  /*inputs_only=*/true};

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnAtan2) { return SetAngles(call, kChecks, workspaceSize, executor); }

PORTACL_PHASE_1(aclnnInplaceAtan2) { return SetAngles(call, kInplaceChecks, workspaceSize, executor); }

#endif  // HWY_ONCE
