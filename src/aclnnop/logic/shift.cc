// aclnnLeftShift, aclnnLeftShifts and aclnnRightShift: shift integers. Counts are clamped to the numbers'
// width minus 1.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/logic/shift.cc"
#include "base/foreach_target.h"

#include "engine/map/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace shifts {

using namespace engine::HWY_NAMESPACE;

// Dtypes without lanes of their own give a result that wraps.
using ShiftLanes = LaneTypes<int8_t, uint8_t, int16_t, int32_t, int64_t, uint64_t>;

// Clamps a count to [0, bits - 1]. Scalar 0 is bits - 1.
template <class D, class V>
HWY_INLINE V Clamped(D d, V count, const engine::Scalars& scalars) {
  const V highest = hn::Set(d, scalars.Get<hn::TFromD<D>>(0));
  return hn::Min(hn::Max(count, hn::Zero(d)), highest);
}

// Shifts each element by its own count. No instruction set does this for bytes: bytes at even positions are
// shifted in the low halves of wider lanes, and those at odd positions in the high halves. Right shifts keep
// the sign of signed numbers.
template <bool kIsLeft, class D, class V>
HWY_INLINE V Shifted([[maybe_unused]] D d, V a, V count) {
  if constexpr (sizeof(hn::TFromD<D>) > 1) {
    if constexpr (kIsLeft) return hn::Shl(a, count);
    return hn::Shr(a, count);
  } else {
#if HWY_TARGET == HWY_SCALAR
    using T = hn::TFromD<D>;
    const int value = hn::GetLane(a);
    const int shift = hn::GetLane(count);
    return hn::Set(d, static_cast<T>(kIsLeft ? value << shift : value >> shift));
#else
    const hn::RepartitionToWide<D> wide;
    const hn::RepartitionToWide<hn::RebindToUnsigned<D>> bits;
    const auto low = hn::Set(bits, uint16_t{0xFF});
    const auto odd_count = hn::BitCast(wide, hn::ShiftRight<8>(hn::BitCast(bits, count)));
    const auto even_count = hn::BitCast(wide, hn::And(hn::BitCast(bits, count), low));
    const auto pairs = hn::BitCast(wide, a);
    if constexpr (kIsLeft) {
      const auto even = hn::And(hn::BitCast(bits, hn::Shl(pairs, even_count)), low);
      const auto odd =
          hn::BitCast(bits, hn::Shl(hn::BitCast(wide, hn::AndNot(low, hn::BitCast(bits, a))), odd_count));
      return hn::BitCast(d, hn::Or(even, odd));
    } else {
      const auto even = hn::BitCast(bits, hn::Shr(hn::ShiftLeft<8>(pairs), even_count));
      const auto odd = hn::BitCast(bits, hn::Shr(pairs, odd_count));
      return hn::BitCast(d, hn::Or(hn::ShiftRight<8>(even), hn::AndNot(low, odd)));
    }
#endif
  }
}

struct Left : Elementwise<Left> {
  using Parameters = engine::Scalars;
  using Lanes = ShiftLanes;
  static constexpr int kInputs = 2;
  explicit Left(const Parameters& parameters) : scalars(parameters) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V count) const {
    return Shifted<true>(d, a, Clamped(d, count, scalars));
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
    return Shifted<false>(d, a, Clamped(d, count, scalars));
  }

  engine::Scalars scalars;
};

// Shifts left by scalar 0, and then masks with scalar 1.
struct LeftByScalar : Elementwise<LeftByScalar> {
  using Parameters = engine::Scalars;
  using Lanes = ShiftLanes;
  static constexpr int kInputs = 1;
  explicit LeftByScalar(const Parameters& parameters) : scalars(parameters) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    using T = hn::TFromD<D>;
    return hn::And(Shifted<true>(d, a, hn::Set(d, scalars.Get<T>(0))), hn::Set(d, scalars.Get<T>(1)));
  }

  engine::Scalars scalars;
};

}  // namespace shifts
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>
#include <cstring>

#include "aclnnop/logic/shift_functions.h"
#include "aclnnop/phase1.h"

namespace portacl {
namespace {

constexpr auto kLeft = PORTACL_VALUE_KERNELS(shifts::Left);
constexpr auto kRight = PORTACL_VALUE_KERNELS(shifts::Right);
constexpr auto kLeftByScalar = PORTACL_VALUE_KERNELS(shifts::LeftByScalar);

enum Tensors { kSelf, kShiftBits, kOut };
enum ScalarTensors { kScalarSelf, kScalarOut };
enum Attributes { kCount };
enum ScalarIndices { kHighest };
enum LeftByScalarIndices { kShift, kKept };

constexpr DtypeRule kShifted = Everywhere(kIntegers | kUnsignedSince16Bits);

constexpr auto Shapes() {
  return List(NotNull(kSelf), NotNull(kShiftBits), NotNull(kOut),
              DtypesIn(kShifted, {kSelf, kShiftBits, kOut}), RankAtMost(8, {kSelf, kShiftBits, kOut}),
              Broadcasts({kSelf, kShiftBits}), ShapeIsBroadcast(kOut));
}
// Promotes the dtypes only where there is something to compute.
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

// Returns the greatest count of the promoted dtype: its bits minus 1.
engine::Scalars HighestOf(const OperatorCall& call, const engine::KernelTable& kernels) {
  aclScalar highest;
  highest.dtype = ACL_INT32;
  const auto bits = static_cast<int32_t>(8 * aclDataTypeSize(call.promoted) - 1);
  std::memcpy(highest.value, &bits, sizeof bits);
  engine::Scalars scalars;
  SetMapScalar(call, kernels, highest, scalars, kHighest);
  return scalars;
}

// Clamps a count to [0, bits - 1] of the promoted dtype.
int32_t ClampedCount(const aclScalar& count, aclDataType promoted) {
  aclScalar converted;
  converted.dtype = promoted;
  const ScalarValue value = ConvertScalar(count, promoted);
  std::memcpy(converted.value, value.bytes, sizeof converted.value);
  int64_t shift;
  std::memcpy(&shift, ConvertScalar(converted, ACL_INT64).bytes, sizeof shift);
  const auto highest = static_cast<int64_t>(8 * aclDataTypeSize(promoted) - 1);
  if (promoted == ACL_UINT64 && shift < 0) shift = highest;
  return static_cast<int32_t>(std::clamp(shift, int64_t{0}, highest));
}

// The promoted dtype may be wider than both tensors'. If out is no wider than self, its bits depend only on
// self's low bits, so the shift is computed in out's dtype.
void ShiftByScalar(OperatorCall call, const aclScalar& count, Executor& executor) {
  const int32_t shift = ClampedCount(count, call.promoted);
  const aclDataType self = call.Tensor(kScalarSelf).dtype;
  const aclDataType out = call.Tensor(kScalarOut).dtype;
  if (aclDataTypeSize(out) <= aclDataTypeSize(self)) call.promoted = out;
  const auto bits = static_cast<int32_t>(8 * aclDataTypeSize(call.promoted));
  engine::Scalars scalars;
  const auto set = [&](int index, int32_t number) {
    aclScalar scalar;
    scalar.dtype = ACL_INT32;
    std::memcpy(scalar.value, &number, sizeof number);
    SetMapScalar(call, kLeftByScalar, scalar, scalars, index);
  };
  set(kShift, std::min(shift, bits - 1));
  set(kKept, shift < bits ? -1 : 0);
  SetMapJob(call, {kScalarSelf}, kScalarOut, kLeftByScalar, scalars, executor);
}

aclnnStatus Shift(OperatorCall& call, std::span<const Check> checks, const engine::KernelTable& kernels,
                  uint64_t* workspaceSize, aclOpExecutor** executor) {
  return RunPhase1(call, checks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
    SetMapJob(checked, {kSelf, kShiftBits}, kOut, kernels, HighestOf(checked, kernels), fresh);
  });
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnLeftShift) { return Shift(call, kLeftChecks, kLeft, workspaceSize, executor); }

PORTACL_PHASE_1(aclnnRightShift) { return Shift(call, kRightChecks, kRight, workspaceSize, executor); }

PORTACL_PHASE_1(aclnnLeftShifts) {
  return RunPhase1(
      call, kLeftsChecks, workspaceSize, executor,
      [&](const OperatorCall& checked, Executor& fresh) { ShiftByScalar(checked, *given.shiftBits, fresh); });
}

#endif  // HWY_ONCE
