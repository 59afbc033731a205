// aclnnMaximum and aclnnMinimum: elementwise maximum and minimum of two tensors.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/arithmetic/maximum.cc"
#include "base/foreach_target.h"

#include "engine/map/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace extremes {

using namespace engine::HWY_NAMESPACE;

// Returns NaN if either operand is NaN. -0 is less than 0.
template <bool kIsGreater>
struct Extreme : Elementwise<Extreme<kIsGreater>> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<float, double, int8_t, uint8_t, int16_t, int32_t, int64_t, Bool>;
  static constexpr int kInputs = 2;
  static constexpr bool kTakes16BitFloats = true;
  explicit Extreme(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    if constexpr (std::is_floating_point_v<hn::TFromD<D>>) {
      const V of_equals = kIsGreater ? hn::And(a, b) : hn::Or(a, b);
      const V of_others = hn::IfThenElse(kIsGreater ? hn::Lt(a, b) : hn::Lt(b, a), b, a);
      const V extreme = hn::IfThenElse(hn::Eq(a, b), of_equals, of_others);
      return hn::IfThenElse(hn::Eq(b, b), extreme, b);
    } else {
      return kIsGreater ? hn::Max(a, b) : hn::Min(a, b);
    }
  }
};
using Greater = Extreme<true>;
using Lesser = Extreme<false>;

}  // namespace extremes
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/arithmetic/maximum_functions.h"
#include "aclnnop/binary_checks.h"
#include "aclnnop/jobs/list_kernels.h"
#include "aclnnop/phase1.h"
#include "base/data_type.h"

namespace portacl {
namespace {

constexpr auto kGreater = PORTACL_VALUE_KERNELS(extremes::Greater);
constexpr auto kLesser = PORTACL_VALUE_KERNELS(extremes::Lesser);

enum Tensors { kSelf, kOther, kOut };

bool AreIntegersOfOneDtype(const OperatorCall& call) noexcept {
  const aclDataType dtype = call.Tensor(kSelf).dtype;
  return IsInteger(dtype) && dtype == call.Tensor(kOther).dtype && IsInteger(call.Tensor(kOut).dtype);
}

// Ascend 950 casts integers to the output's dtype first, and compares the cast values.
constexpr auto kChecks =
    Join(List(NotNull(kSelf), NotNull(kOther), NotNull(kOut),
              DtypesIn(kRealArithmeticDtypes, {kSelf, kOther, kOut}), PromotesByRank(kSelf, kOther)),
         Ascend950Checks(kRealArithmeticDtypes, {kSelf, kOther}), List(PromotedCastsTo(kOut)),
         BroadcastChecks(kSelf, kOther, kOut), ComputableChecks({kSelf, kOther}, kOut),
         List(OnProducts(products::kAscend950, If(AreIntegersOfOneDtype, PromotesToDtypeOf(kOut)))));

void SetGreater(const OperatorCall& call, Executor& executor) {
  SetMapJob(call, {kSelf, kOther}, kOut, kGreater, engine::Scalars(), executor);
}
void SetLesser(const OperatorCall& call, Executor& executor) {
  SetMapJob(call, {kSelf, kOther}, kOut, kLesser, engine::Scalars(), executor);
}

}  // namespace

const engine::KernelTable& GreaterKernels() noexcept { return kGreater; }
const engine::KernelTable& LesserKernels() noexcept { return kLesser; }

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnMaximum) { return RunPhase1(call, kChecks, workspaceSize, executor, SetGreater); }

PORTACL_PHASE_1(aclnnMinimum) { return RunPhase1(call, kChecks, workspaceSize, executor, SetLesser); }

#endif  // HWY_ONCE
