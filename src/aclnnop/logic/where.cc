// aclnnSWhere, aclnnInplaceMaskedFillScalar, aclnnInplaceMaskedFillTensor, aclnnThreshold and
// aclnnInplaceThreshold: select elements by a condition.
// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/logic/where.cc"
#include "base/foreach_target.h"

#include "engine/map/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace selection {

using namespace engine::HWY_NAMESPACE;

// Two tensors of one dtype are selected as integers of its size. Tensors of two dtypes are selected in the
// promoted dtype. 16 bytes are a complex number.
using ChoiceLanes = LaneTypes<float, double, int8_t, int16_t, int32_t, int64_t, Complex<double>>;
using BitLanes = LaneTypes<int8_t, int16_t, int32_t, int64_t>;

template <class D, class V>
HWY_INLINE V Selected(D d, V condition, V a, V b) {
  return hn::IfThenElse(hn::Eq(condition, hn::Zero(d)), b, a);
}

struct Choose : Elementwise<Choose> {
  using Parameters = engine::Scalars;
  using Lanes = ChoiceLanes;
  static constexpr int kInputs = 3;
  explicit Choose(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V condition, V a, V b) const {
    return Selected(d, condition, a, b);
  }
  template <class D, class V>
  HWY_INLINE void OfParts(D d, V condition, V a, V b, V, V a_imaginary, V b_imaginary, V& real,
                          V& imaginary) const {
    real = Selected(d, condition, a, b);
    imaginary = Selected(d, condition, a_imaginary, b_imaginary);
  }
};

struct Fill : Elementwise<Fill> {
  using Parameters = engine::Scalars;
  using Lanes = BitLanes;
  static constexpr int kInputs = 2;
  explicit Fill(const Parameters& parameters) : scalars(parameters) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V mask, V a) const {
    return Selected(d, mask, hn::Set(d, scalars.Get<hn::TFromD<D>>(0)), a);
  }

  engine::Scalars scalars;
};

// Scalars: the threshold, and the replacement for numbers that are not above it. NaN stays NaN.
struct KeepAbove : Elementwise<KeepAbove> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<float, int8_t, uint8_t, int16_t, int32_t, int64_t>;
  static constexpr int kInputs = 1;
  static constexpr bool kTakes16BitFloats = true;
  explicit KeepAbove(const Parameters& parameters) : scalars(parameters) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    using T = hn::TFromD<D>;
    const V threshold = hn::Set(d, scalars.Get<T>(0));
    const V value = hn::Set(d, scalars.Get<T>(1));
    if constexpr (std::is_floating_point_v<T>) {
      return hn::IfThenElse(hn::Le(a, threshold), value, a);
    } else {
      return hn::IfThenElse(hn::Lt(threshold, a), a, value);
    }
  }

  engine::Scalars scalars;
};

}  // namespace selection
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <cstring>
#include <initializer_list>

#include "aclnn/opdev/op_errno.h"
#include "aclnnop/jobs/where.h"
#include "aclnnop/logic/where_functions.h"
#include "aclnnop/mapped_view.h"
#include "aclnnop/phase1.h"

namespace portacl {
namespace {

constexpr auto kChoose = PORTACL_VALUE_KERNELS(selection::Choose);
constexpr auto kFill = PORTACL_VALUE_KERNELS(selection::Fill);
constexpr auto kKeepAbove = PORTACL_VALUE_KERNELS(selection::KeepAbove);

// Returns the integer dtype of this dtype's size, or the dtype itself where there is none.
aclDataType BitsOf(aclDataType dtype) {
  switch (aclDataTypeSize(dtype)) {
    case 1:
      return ACL_INT8;
    case 2:
      return ACL_INT16;
    case 4:
      return ACL_INT32;
    case 8:
      return ACL_INT64;
    default:
      return dtype;
  }
}

// Operands of one map, read and written as integers of the same size, if they have one dtype.
class AsBits {
 public:
  AsBits(std::initializer_list<engine::ViewOperand> operands, aclDataType promoted) : promoted_(promoted) {
    const aclDataType dtype = operands.begin()->view->dtype;
    bool have_one_dtype = true;
    size_t count = 0;
    for (const engine::ViewOperand& operand : operands) {
      operands_[count++] = operand;
      have_one_dtype = have_one_dtype && operand.view->dtype == dtype;
    }
    if (!have_one_dtype) return;
    promoted_ = BitsOf(dtype);
    for (size_t i = 0; i < count; ++i) {
      views_[i] = *operands_[i].view;
      views_[i].dtype = promoted_;
      operands_[i].view = &views_[i];
    }
  }
  AsBits(const AsBits&) = delete;
  AsBits& operator=(const AsBits&) = delete;

  const engine::ViewOperand& operator[](size_t i) const { return operands_[i]; }
  engine::FormulaSettings SettingsFor(const OperatorCall& call) const {
    return {call.isa, call.threads, promoted_};
  }

 private:
  static constexpr size_t kMost = 3;

  aclDataType promoted_;
  engine::ViewOperand operands_[kMost] = {};
  StridedView views_[kMost];
};

// ---- aclnnSWhere ----
enum WhereTensors { kCondition, kSelf, kOther, kOut };

constexpr DtypeRule kSelectedDtypes =
    Everywhere(kArithmetic | kBf16 | kUnsignedSince16Bits)
        .On({Product::kAtlasTraining, Product::kNoDevice}, kArithmetic | kUnsignedSince16Bits);

bool BothAreBool(const OperatorCall& call) noexcept { return call.promoted == ACL_BOOL; }

constexpr Check kWhereChecks[] = {
    NotNull(kSelf),
    NotNull(kOther),
    NotNull(kCondition),
    NotNull(kOut),
    DtypesIn(kSelectedDtypes, {kSelf, kOther, kOut}),
    DtypesIn(DtypeSet{ACL_BOOL, ACL_UINT8}, {kCondition}),
    RankAtMost(8, {kSelf, kOther, kCondition}),
    Broadcasts({kCondition, kSelf, kOther}),
    ShapeIsBroadcast(kOut),
    SizesRepresentable({kOut}),
    DoneIfEmpty({kCondition, kSelf, kOther}),
    WithCode(ACLNN_ERR_INNER_NULLPTR, Promotes({kSelf, kOther})),
    If(BothAreBool, DtypeImplemented({kOut}, kBool)),
    InsideStorage({kCondition, kSelf, kOther}),
};

// ---- aclnnInplaceMaskedFillScalar, aclnnInplaceMaskedFillTensor ----
enum MaskTensors { kFilled, kMask, kValue };
enum Attributes { kScalarValue };

constexpr DtypeRule kFillDtypes =
    WithBf16SinceAtlasA2(kFloatAndHalf | DtypeSet{ACL_INT8, ACL_INT32, ACL_INT64, ACL_BOOL});

constexpr auto DtypesOfMask() { return List(DtypesIn(kFillDtypes, {kFilled}), DtypesIn(kBool, {kMask})); }
constexpr auto ShapesOfMask() {
  return List(Broadcasts({kFilled, kMask}), ShapeIsBroadcast(kFilled), SizesRepresentable({kFilled}),
              DoneIfEmpty({kFilled, kMask}), InsideStorage({kFilled, kMask}), PromotesToDtypeOf(kFilled));
}
constexpr auto kFillScalarChecks = Join(List(NotNull(kFilled), NotNull(kMask), ScalarNotNull(kScalarValue)),
                                        DtypesOfMask(), List(RankAtMost(8, {kFilled, kMask})), ShapesOfMask(),
                                        List(ScalarsImplemented(kConvertible, {kScalarValue})));
constexpr auto kFillTensorChecks =
    Join(List(NotNull(kFilled), NotNull(kMask), NotNull(kValue)), DtypesOfMask(),
         List(DtypesIn(kFillDtypes, {kValue}), RankAtMost(8, {kFilled, kMask}), IsScalar(kValue)),
         ShapesOfMask(), List(InsideStorage({kValue})));

// ---- aclnnThreshold ----
enum ThresholdTensors { kThresholdSelf, kThresholdOut };
enum ThresholdAttributes { kThreshold, kReplacement };

constexpr DtypeRule kThresholdDtypes = WithBf16SinceAtlasA2(kFloatAndHalf | kIntegers);

constexpr auto ThresholdChecks(int out) {
  return List(
      NotNull(kThresholdSelf), NotNull(out), ScalarNotNull(kThreshold), ScalarNotNull(kReplacement),
      DtypesIn(kThresholdDtypes, {kThresholdSelf}),
      OnProducts(products::kBeforeAscend950, CastsTo(kThresholdSelf, out)), RankAtMost(8, {kThresholdSelf}),
      Broadcasts({kThresholdSelf}), SameShape(kThresholdSelf, out), SizesRepresentable({out}),
      DoneIfEmpty({kThresholdSelf}), InsideStorage({kThresholdSelf}), PromotesToDtypeOf(kThresholdSelf),
      OnProducts(products::kBeforeAscend950, ReplacesPromoted(DtypeSet{ACL_INT16}, ACL_INT32)),
      DtypeImplemented({out}, kConvertible), ScalarsImplemented(kConvertible, {kThreshold, kReplacement}));
}
constexpr auto kThresholdChecks = ThresholdChecks(kThresholdOut);
constexpr auto kInplaceThresholdChecks = ThresholdChecks(kThresholdSelf);

aclnnStatus ApplyThreshold(OperatorCall& call, std::span<const Check> checks, uint64_t* workspaceSize,
                           aclOpExecutor** executor) {
  return RunPhase1(call, checks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
    engine::Scalars scalars;
    SetMapScalar(checked, kKeepAbove, checked.Scalar(0), scalars, kThreshold, checked.promoted);
    SetMapScalar(checked, kKeepAbove, checked.Scalar(1), scalars, kReplacement, checked.promoted);
    SetMapJob(checked, {kThresholdSelf}, checked.in_place ? kThresholdSelf : kThresholdOut, kKeepAbove,
              scalars, fresh);
  });
}

}  // namespace

void SetMaskedFillJob(const OperatorCall& call, const engine::ViewOperand& filled,
                      const engine::ViewOperand& mask, const engine::ViewOperand& value,
                      Executor& executor) noexcept {
  executor.SetJob([&] {
    const AsBits bits({filled, value}, filled.view->dtype);
    const engine::ViewOperand inputs[] = {mask, bits[1], bits[0]};
    return engine::MakeMapJob(bits.SettingsFor(call), inputs, bits[0], kChoose, {}, {ACL_BOOL});
  });
}

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnSWhere) {
  return RunPhase1(
      call, kWhereChecks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
        fresh.SetJob([&] {
          const AsBits bits(
              {TensorOperand(checked, kSelf), TensorOperand(checked, kOther), TensorOperand(checked, kOut)},
              checked.promoted);
          const engine::ViewOperand inputs[] = {TensorOperand(checked, kCondition), bits[0], bits[1]};
          return engine::MakeMapJob(bits.SettingsFor(checked), inputs, bits[2], kChoose, {}, {ACL_BOOL});
        });
      });
}

PORTACL_PHASE_1(aclnnInplaceMaskedFillScalar) {
  return RunPhase1(
      call, kFillScalarChecks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
        const ScalarValue converted = ConvertScalar(*given.value, checked.promoted);
        engine::Scalars scalars;
        std::memcpy(scalars.bytes[0], converted.bytes, sizeof converted.bytes);
        fresh.SetJob([&] {
          const AsBits bits({TensorOperand(checked, kFilled)}, checked.promoted);
          const engine::ViewOperand inputs[] = {TensorOperand(checked, kMask), bits[0]};
          return engine::MakeMapJob(bits.SettingsFor(checked), inputs, bits[0], kFill, scalars, {ACL_BOOL});
        });
      });
}

PORTACL_PHASE_1(aclnnInplaceMaskedFillTensor) {
  return RunPhase1(call, kFillTensorChecks, workspaceSize, executor,
                   [](const OperatorCall& checked, Executor& fresh) {
                     SetMaskedFillJob(checked, TensorOperand(checked, kFilled), TensorOperand(checked, kMask),
                                      TensorOperand(checked, kValue), fresh);
                   });
}

PORTACL_PHASE_1(aclnnThreshold) { return ApplyThreshold(call, kThresholdChecks, workspaceSize, executor); }

PORTACL_PHASE_1(aclnnInplaceThreshold) {
  return ApplyThreshold(call, kInplaceThresholdChecks, workspaceSize, executor);
}

#endif  // HWY_ONCE
