// aclnnComplex, aclnnPolar and aclnnAngleV2: complex numbers from their parts or from modulus and angle, and their angle.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/arithmetic/complex_parts.cc"
#include "base/foreach_target.h"

#include "engine/functions/functions-inl.h"
#include "engine/map/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace complex_parts {

using namespace engine::HWY_NAMESPACE;

struct TimesCosine : Elementwise<TimesCosine> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<float>;
  static constexpr int kInputs = 2;
  explicit TimesCosine(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V modulus, V angle) const {
    return hn::Mul(modulus, functions::Cos(d, angle));
  }
};

struct TimesSine : Elementwise<TimesSine> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<float>;
  static constexpr int kInputs = 2;
  explicit TimesSine(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V modulus, V angle) const {
    return hn::Mul(modulus, functions::Sin(d, angle));
  }
};

struct AngleOfParts : Elementwise<AngleOfParts> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<float>;
  static constexpr int kInputs = 2;
  explicit AngleOfParts(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V imaginary, V real) const {
    return functions::Atan2(d, imaginary, real);
  }
};

// Computes the angle of a real number: pi below 0, NaN for NaN, else 0.
struct AngleOfReal : Elementwise<AngleOfReal> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<float>;
  static constexpr int kInputs = 1;
  explicit AngleOfReal(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V pi = hn::Set(d, 0x1.921fb6p1f);
    const V angle = hn::IfThenElseZero(hn::Lt(x, hn::Zero(d)), pi);
    return hn::IfThenElse(hn::IsNaN(x), x, angle);
  }
};

}  // namespace complex_parts
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/arithmetic/complex_parts_functions.h"
#include "aclnnop/binary_checks.h"
#include "aclnnop/jobs/moves.h"
#include "aclnnop/map_list.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "contract/arguments.h"
#include "plan/views.h"

namespace portacl {
namespace {

constexpr auto kTimesCosine = PORTACL_VALUE_KERNELS(complex_parts::TimesCosine);
constexpr auto kTimesSine = PORTACL_VALUE_KERNELS(complex_parts::TimesSine);
constexpr auto kAngleOfParts = PORTACL_VALUE_KERNELS(complex_parts::AngleOfParts);
constexpr auto kAngleOfReal = PORTACL_VALUE_KERNELS(complex_parts::AngleOfReal);

constexpr DtypeSet kFloat{ACL_FLOAT};
constexpr DtypeSet kComplex64{ACL_COMPLEX64};

// Selects real or imaginary parts, which are every second number of the storage.
enum class Part : uint8_t { kReal, kImaginary };
StridedView PartOf(const aclTensor& tensor, Part part, aclDataType dtype) {
  StridedView view = PlainView(tensor);
  view.dtype = dtype;
  view.offset = 2 * view.offset + (part == Part::kImaginary ? 1 : 0);
  for (int dim = 0; dim < view.shape.rank; ++dim) view.strides.dim[dim] *= 2;
  view.Describe();
  return view;
}

// ---- Complex, Polar ----

enum Tensors { kFirst, kSecond, kOut };

aclDataType ComplexOf(aclDataType part) {
  return part == ACL_FLOAT16 ? ACL_COMPLEX32 : part == ACL_FLOAT ? ACL_COMPLEX64 : ACL_COMPLEX128;
}

aclnnStatus OutIsOfParts(const Check& check, OperatorCall& call) noexcept {
  const aclDataType accepted = ComplexOf(call.Tensor(kFirst).dtype);
  if (call.Tensor(kOut).dtype == accepted) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentDtype(message.Add("parameter "), call, kOut).Add(" does not go with ");
  AddArgumentDtype(message, call, kFirst);
  AddDtypeName(message.Add(", accepted: "), accepted);
  return FailAclnn(check.code, message.Add("."));
}

constexpr auto kFormats = List(OnProducts(products::kAscend950, SameFormat({kFirst, kSecond})),
                               OnProducts(products::kAscend950, NotPrivate({kFirst, kSecond})));
constexpr DtypeSet kParts = kFloatAndHalf | kDouble;
constexpr auto kComplexChecks =
    Join(List(NotNull(kFirst), NotNull(kSecond), NotNull(kOut), SizesRepresentable({kOut}),
              DoneIfEmpty({kFirst, kSecond}), DtypesIn(kParts, {kFirst}), SameDtype(kFirst, kSecond),
              Custom(OutIsOfParts)),
         BroadcastChecks(kFirst, kSecond, kOut), kFormats, List(InsideStorage({kFirst, kSecond})));
constexpr auto kPolarChecks =
    Join(List(NotNull(kFirst), NotNull(kSecond), NotNull(kOut), DtypesIn(kFloat, {kFirst, kSecond}),
              DtypesIn(kComplex64, {kOut})),
         BroadcastChecks(kFirst, kSecond, kOut), kFormats,
         List(SizesRepresentable({kOut}), DoneIfEmpty({kFirst, kSecond}), InsideStorage({kFirst, kSecond})));

void SetComplex(const OperatorCall& call, Executor& executor) {
  const aclDataType dtype = call.Tensor(kFirst).dtype;
  MoveList moves(executor, 2);
  for (const auto& [part, source] : {std::pair{Part::kReal, kFirst}, std::pair{Part::kImaginary, kSecond}})
    moves.Copy(PlainView(call.Tensor(source)), source, PartOf(call.Tensor(kOut), part, dtype), kOut);
  moves.SetJob();
}

void SetPolar(const OperatorCall& given, Executor& executor) {
  OperatorCall call = given;
  call.promoted = ACL_FLOAT;
  const MappedView modulus{PlainView(call.Tensor(kFirst)), kFirst};
  const MappedView angle{PlainView(call.Tensor(kSecond)), kSecond};
  MapList maps(call, executor, 2);
  maps.Add({modulus, angle}, {PartOf(call.Tensor(kOut), Part::kReal, ACL_FLOAT), kOut}, kTimesCosine);
  maps.Add({modulus, angle}, {PartOf(call.Tensor(kOut), Part::kImaginary, ACL_FLOAT), kOut}, kTimesSine);
  maps.SetJob();
}

// ---- AngleV2 ----

enum AngleTensors { kX, kAngle };

constexpr DtypeSet kAngles = kFloatAndHalf | kIntegersAndBool | kComplex64;
constexpr DtypeRule kAngleDtypes = ByGeneration(kAngles, kAngles, kAngles | kBf16);

aclnnStatus AngleIsOfX(const Check& check, OperatorCall& call) noexcept {
  const aclDataType x = call.Tensor(kX).dtype;
  const aclDataType accepted = kFloatHalfAndBf16.Contains(x) ? x : ACL_FLOAT;
  if (call.Tensor(kAngle).dtype == accepted) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentDtype(message.Add("parameter "), call, kAngle).Add(" does not go with ");
  AddArgumentDtype(message, call, kX);
  AddDtypeName(message.Add(", accepted: "), accepted);
  return FailAclnn(check.code, message.Add("."));
}

constexpr auto kAngleChecks =
    List(NotNull(kX), NotNull(kAngle), DtypesIn(kAngleDtypes, {kX}), Custom(AngleIsOfX),
         WithCode(ACLNN_ERR_INNER_TILING_ERROR, RankAtMost(8, {kX})),
         WithCode(ACLNN_ERR_INNER_TILING_ERROR, SameShape(kX, kAngle)), SizesRepresentable({kAngle}),
         DoneIfEmpty({kX}), InsideStorage({kX}));

void SetAngle(const OperatorCall& given, Executor& executor) {
  OperatorCall call = given;
  call.promoted = ACL_FLOAT;
  const aclTensor& x = call.Tensor(kX);
  const MappedView angle{PlainView(call.Tensor(kAngle)), kAngle};
  MapList maps(call, executor, 1);
  if (x.dtype == ACL_COMPLEX64) {
    maps.Add({{PartOf(x, Part::kImaginary, ACL_FLOAT), kX}, {PartOf(x, Part::kReal, ACL_FLOAT), kX}}, angle,
             kAngleOfParts);
  } else {
    maps.Add({{PlainView(x), kX}}, angle, kAngleOfReal);
  }
  maps.SetJob();
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnComplex) { return RunPhase1(call, kComplexChecks, workspaceSize, executor, SetComplex); }
PORTACL_PHASE_1(aclnnPolar) { return RunPhase1(call, kPolarChecks, workspaceSize, executor, SetPolar); }
PORTACL_PHASE_1(aclnnAngleV2) { return RunPhase1(call, kAngleChecks, workspaceSize, executor, SetAngle); }

#endif  // HWY_ONCE
