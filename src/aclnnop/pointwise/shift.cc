// aclnnLeftShift, aclnnLeftShifts and aclnnRightShift: shifts of integers. A count beyond the width of the
// numbers is the highest one that is not.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/aclnn_left_shift.h"
#include "aclnnop/aclnn_right_shift.h"

#include "acl/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/pointwise/shift.cc"
#include <hwy/foreach_target.h>

#include "engine/map/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace shifts {

using namespace engine::HWY_NAMESPACE;

// Of narrower numbers the result wraps.
using ShiftLanes = LaneTypes<int32_t, int64_t, uint64_t>;

// A count within [0, bits - 1], the highest of which is scalar 0.
template <class D, class V>
HWY_INLINE V Clamped(D d, V count, const engine::Scalars& scalars) {
  const V highest = hn::Set(d, scalars.Get<hn::TFromD<D>>(0));
  return hn::Min(hn::Max(count, hn::Zero(d)), highest);
}

struct Left : Elementwise<Left> {
  using Parameters = engine::Scalars;
  using Lanes = ShiftLanes;
  static constexpr int kInputs = 2;
  explicit Left(const Parameters& parameters) : scalars(parameters) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V count) const {
    return hn::Shl(a, Clamped(d, count, scalars));
  }

  engine::Scalars scalars;
};

struct Right : Elementwise<Right> {
  using Parameters = engine::Scalars;
  using Lanes = ShiftLanes;
  static constexpr int kInputs = 2;
  explicit Right(const Parameters& parameters) : scalars(parameters) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V count) const {
    return hn::Shr(a, Clamped(d, count, scalars));
  }

  engine::Scalars scalars;
};

// The count is scalar 1.
struct LeftByScalar : Elementwise<LeftByScalar> {
  using Parameters = engine::Scalars;
  using Lanes = ShiftLanes;
  static constexpr int kInputs = 1;
  explicit LeftByScalar(const Parameters& parameters) : scalars(parameters) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    return hn::Shl(a, Clamped(d, hn::Set(d, scalars.Get<hn::TFromD<D>>(1)), scalars));
  }

  engine::Scalars scalars;
};

}  // namespace shifts
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <cstring>

#include "aclnnop/operator_facts.h"
#include "aclnnop/phase1.h"

namespace portacl {
namespace {

constexpr auto kLeft = PORTACL_VALUE_KERNELS(shifts::Left);
constexpr auto kRight = PORTACL_VALUE_KERNELS(shifts::Right);
constexpr auto kLeftByScalar = PORTACL_VALUE_KERNELS(shifts::LeftByScalar);

enum Tensors { kSelf, kShiftBits, kOut };
enum ScalarTensors { kScalarSelf, kScalarOut };
enum Attributes { kCount };
enum ScalarPlaces { kHighest, kScalarCount };

constexpr DtypeRule kShifted = Everywhere(kIntegers | kUnsignedSince16Bits);

constexpr auto Shapes() {
  return List(NotNull(kSelf), NotNull(kShiftBits), NotNull(kOut),
              DtypesIn(kShifted, {kSelf, kShiftBits, kOut}), RankAtMost(8, {kSelf, kShiftBits, kOut}),
              Broadcasts({kSelf, kShiftBits}), ShapeIsBroadcast(kOut));
}
// Dtypes are promoted only where there is something to compute.
constexpr auto Promotion() {
  return List(SizesRepresentable({kOut}), DoneIfEmpty({kSelf, kShiftBits}), Promotes({kSelf, kShiftBits}),
              PromotedCastsTo(kOut), InsideStorage({kSelf, kShiftBits}));
}
constexpr auto kRightChecks = Join(Shapes(), Promotion());
constexpr auto kLeftChecks = Join(Shapes(), List(NotPrivate({kSelf, kShiftBits, kOut})), Promotion());

constexpr Check kLeftsChecks[] = {
    NotNull(kScalarSelf),
    ScalarNotNull(kCount),
    NotNull(kScalarOut),
    DtypesIn(kShifted, {kScalarSelf, kScalarOut}),
    ScalarDtypesIn(kShifted, {kCount}),
    RankAtMost(8, {kScalarSelf, kScalarOut}),
    Broadcasts({kScalarSelf}),
    SameShape(kScalarSelf, kScalarOut),
    NotPrivate({kScalarSelf, kScalarOut}),
    SizesRepresentable({kScalarOut}),
    DoneIfEmpty({kScalarSelf}),
    PromotesScalarBy(ScalarRule::kAsTensors, kScalarSelf, {kCount}, kScalarOut),
    PromotedCastsTo(kScalarOut),
    InsideStorage({kScalarSelf}),
};

// The highest count, which is that of bits but one, of the promoted dtype.
engine::Scalars HighestOf(const OperatorCall& call, const engine::KernelTable& kernels) {
  aclScalar highest;
  highest.dtype = ACL_INT32;
  const auto bits = static_cast<int32_t>(8 * aclDataTypeSize(call.promoted) - 1);
  std::memcpy(highest.value, &bits, sizeof bits);
  engine::Scalars scalars;
  SetMapScalar(call, kernels, highest, scalars, kHighest);
  return scalars;
}

aclnnStatus Shift(const char* api, std::span<const TensorArgument> tensors, std::span<const Check> checks,
                  const engine::KernelTable& kernels, uint64_t* workspaceSize, aclOpExecutor** executor) {
  OperatorCall call{api, tensors, {}};
  return RunPhase1(call, checks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
    SetMapJob(checked, {kSelf, kShiftBits}, kOut, kernels, HighestOf(checked, kernels), fresh);
  });
}

}  // namespace

namespace facts {
extern const OperatorFacts left_shift, right_shift;
}

const OperatorFacts facts::left_shift = {"aclnnLeftShift", "aclnnop/aclnn_left_shift.h", kShifted, kShifted,
                                         /*by_promotion=*/false};
const OperatorFacts facts::right_shift = {"aclnnRightShift", "aclnnop/aclnn_right_shift.h", kShifted,
                                          kShifted, /*by_promotion=*/false};

}  // namespace portacl

using namespace portacl;

aclnnStatus aclnnLeftShiftGetWorkspaceSize(const aclTensor* self, const aclTensor* shiftBits, aclTensor* out,
                                           uint64_t* workspaceSize, aclOpExecutor** executor) {
  const TensorArgument tensors[] = {{"self", self}, {"shiftBits", shiftBits}, {"out", out}};
  return Shift("aclnnLeftShift", tensors, kLeftChecks, kLeft, workspaceSize, executor);
}
PORTACL_PHASE_2(aclnnLeftShift)

aclnnStatus aclnnRightShiftGetWorkspaceSize(const aclTensor* input, const aclTensor* shiftBits,
                                            aclTensor* out, uint64_t* workspaceSize,
                                            aclOpExecutor** executor) {
  const TensorArgument tensors[] = {{"input", input}, {"shiftBits", shiftBits}, {"out", out}};
  return Shift("aclnnRightShift", tensors, kRightChecks, kRight, workspaceSize, executor);
}
PORTACL_PHASE_2(aclnnRightShift)

aclnnStatus aclnnLeftShiftsGetWorkspaceSize(const aclTensor* self, const aclScalar* shiftBits, aclTensor* out,
                                            uint64_t* workspaceSize, aclOpExecutor** executor) {
  const TensorArgument tensors[] = {{"self", self}, {"out", out}};
  const Attribute attributes[] = {{"shiftBits", shiftBits}};
  OperatorCall call{"aclnnLeftShifts", tensors, attributes};
  return RunPhase1(call, kLeftsChecks, workspaceSize, executor,
                   [&](const OperatorCall& checked, Executor& fresh) {
                     engine::Scalars scalars = HighestOf(checked, kLeftByScalar);
                     SetMapScalar(checked, kLeftByScalar, *shiftBits, scalars, kScalarCount);
                     SetMapJob(checked, {kScalarSelf}, kScalarOut, kLeftByScalar, scalars, fresh);
                   });
}
PORTACL_PHASE_2(aclnnLeftShifts)

#endif  // HWY_ONCE
