// aclnnGlu, aclnnSwiGlu, aclnnGeGlu and their gradients, aclnnClippedSwiglu, aclnnSituGlu: one half of a tensor times a
// function of the other half. A and B below are the two halves.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <type_traits>

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/activations/gated.cc"
#include "base/foreach_target.h"

#include "aclnnop/jobs/activation_formulas-inl.h"
#include "engine/functions/functions-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace gated {

// Computes A * logistic(B). With a gradient in place of A, this is A's gradient.
struct Glu : Activation<Glu, 2, LaneTypes<float, double>> {
  static constexpr bool kTakes16BitFloats = true;
  using Activation::Activation;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    if constexpr (std::is_same_v<hn::TFromD<D>, double>) {
      return hn::Mul(a, functions::Sigmoid(d, b));
    } else {
      return functions::InDoubles(
          d, a, b, [](auto wide, auto x, auto y) HWY_ATTR { return hn::Mul(x, LogisticInDouble(wide, y)); });
    }
  }
};

// Computes B's gradient.
struct GluGate : Activation<GluGate, 3, LaneTypes<float, double>> {
  static constexpr bool kTakes16BitFloats = true;
  using Activation::Activation;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V gradient, V a, V b) const {
    if constexpr (std::is_same_v<hn::TFromD<D>, double>) {
      const V slope = hn::Mul(functions::Sigmoid(d, b), functions::Sigmoid(d, hn::Neg(b)));
      return hn::Mul(hn::Mul(gradient, a), slope);
    } else {
      return functions::InDoubles(d, gradient, a, b, [](auto wide, auto g, auto x, auto y) HWY_ATTR {
        auto s = y;
        auto rest = y;
        LogisticInDouble(wide, y, s, rest);
        return hn::Mul(hn::Mul(g, x), hn::Mul(s, rest));
      });
    }
  }
};

// Computes A * logistic(A) * B. With a gradient in place of B, this is B's gradient.
struct SwiGlu : Activation<SwiGlu, 2> {
  static constexpr bool kTakes16BitFloats = true;
  static constexpr int kFunctionOf = 0;
  using Activation::Activation;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    return WithFunction(d, a, b, Function(d, a));
  }
  template <class D, class V>
  HWY_INLINE V Function(D d, const V& a) const {
    return functions::SigmoidOfUsual(d, a);
  }
  template <class D, class V>
  HWY_INLINE V WithFunction(D d, V a, V b, V sigmoid) const {
    return hn::Mul(SiluFrom(d, a, sigmoid), b);
  }
};

// Computes A's gradient.
struct SwiGluGate : Activation<SwiGluGate, 3> {
  static constexpr bool kTakes16BitFloats = true;
  static constexpr int kFunctionOf = 1;
  using Activation::Activation;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V gradient, V a, V b) const {
    return WithFunction(d, gradient, a, b, Function(d, a));
  }
  template <class D, class V>
  HWY_INLINE V Function(D d, const V& a) const {
    return Decay(d, a);
  }
  template <class D, class V>
  HWY_INLINE V WithFunction(D d, V gradient, V a, V b, V decay) const {
    return SiluGradientFrom(d, hn::Mul(gradient, b), a, decay);
  }
};

// Computes A * gelu(B), and B's gradient.
template <GeluForm kForm>
struct GeGlu : Activation<GeGlu<kForm>, 2> {
  static constexpr bool kTakes16BitFloats = true;
  using Activation<GeGlu, 2>::Activation;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    return functions::InDoubles(
        d, a, b, [](auto wide, auto x, auto y) HWY_ATTR { return hn::Mul(x, GeluInDouble<kForm>(wide, y)); });
  }
};
using GeGluByErf = GeGlu<GeluForm::kErf>;
using GeGluByTanh = GeGlu<GeluForm::kTanh>;

template <GeluForm kForm>
struct GeGluGate : Activation<GeGluGate<kForm>, 3> {
  static constexpr bool kTakes16BitFloats = true;
  using Activation<GeGluGate, 3>::Activation;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V gradient, V a, V b) const {
    return functions::InDoubles(d, gradient, a, b, [](auto wide, auto g, auto x, auto y) HWY_ATTR {
      return hn::Mul(hn::Mul(g, x), GeluSlopeInDouble<kForm>(wide, y));
    });
  }
};
using GeGluGateByErf = GeGluGate<GeluForm::kErf>;
using GeGluGateByTanh = GeGluGate<GeluForm::kTanh>;

// Computes a * logistic(alpha * a) * (b + bias), where a is A up to the limit, and b is B within -limit and
// limit. Numbers: alpha, limit, bias. NaN passes the limits.
struct ClippedSwiGlu : Activation<ClippedSwiGlu, 2> {
  static constexpr bool kTakes16BitFloats = true;
  using Activation::Activation;

  template <class D, class V>
  static HWY_INLINE V AtMost(D, V x, V limit) {
    return hn::IfThenElse(hn::Lt(limit, x), limit, x);
  }
  template <class D, class V>
  static HWY_INLINE V Between(D d, V x, V limit) {
    const V low = hn::Neg(limit);
    return hn::IfThenElse(hn::Lt(x, low), low, AtMost(d, x, limit));
  }

  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    const V limit = Set(d, 1);
    const V kept = AtMost(d, a, limit);
    const V gated = hn::Mul(kept, functions::Sigmoid(d, hn::Mul(Set(d, 0), kept)));
    return hn::Mul(gated, hn::Add(Between(d, b, limit), Set(d, 2)));
  }
};

// Computes A * logistic(A) up to the limit, times B within the limits.
struct SwiGluClipped : Activation<SwiGluClipped, 2> {
  static constexpr bool kTakes16BitFloats = true;
  using Activation::Activation;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    const V limit = Set(d, 1);
    const V gated = hn::Mul(a, functions::Sigmoid(d, a));
    return hn::Mul(ClippedSwiGlu::AtMost(d, gated, limit), ClippedSwiGlu::Between(d, b, limit));
  }
};

// Computes beta * tanh(a / beta) * logistic(a) * b. Numbers: beta.
struct SituGlu : Activation<SituGlu, 2> {
  using Activation::Activation;

  template <class D, class V>
  static HWY_INLINE V Bent(D d, V x, V bound) {
    return hn::Mul(bound, functions::Tanh(d, hn::Div(x, bound)));
  }
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    const V gate = hn::Mul(Bent(d, a, Set(d, 0)), functions::Sigmoid(d, a));
    return hn::Mul(gate, b);
  }
};

// Computes that with linearBeta * tanh(b / linearBeta) in place of b. Numbers: beta, linearBeta.
struct SituGluBent : Activation<SituGluBent, 2> {
  using Activation::Activation;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    const V gate = hn::Mul(SituGlu::Bent(d, a, Set(d, 0)), functions::Sigmoid(d, a));
    return hn::Mul(gate, SituGlu::Bent(d, b, Set(d, 1)));
  }
};

struct Product : Activation<Product, 2> {
  static constexpr bool kTakes16BitFloats = true;
  using Activation::Activation;

  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Mul(a, b);
  }
};

}  // namespace gated
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/activations/activation.h"
#include "aclnnop/activations/gated_functions.h"
#include "aclnnop/jobs/activation_kernels.h"
#include "aclnnop/map_list.h"
#include "base/errors.h"
#include "contract/arguments.h"
#include "plan/views.h"

namespace portacl {
namespace {

constexpr auto kGlu = PORTACL_VALUE_KERNELS(gated::Glu);
constexpr auto kGluGate = PORTACL_VALUE_KERNELS(gated::GluGate);
constexpr auto kSwiGlu = PORTACL_VALUE_KERNELS(gated::SwiGlu);
constexpr auto kSwiGluGate = PORTACL_VALUE_KERNELS(gated::SwiGluGate);
constexpr auto kGeGluByErf = PORTACL_VALUE_KERNELS(gated::GeGluByErf);
constexpr auto kGeGluByTanh = PORTACL_VALUE_KERNELS(gated::GeGluByTanh);
constexpr auto kGeGluGateByErf = PORTACL_VALUE_KERNELS(gated::GeGluGateByErf);
constexpr auto kGeGluGateByTanh = PORTACL_VALUE_KERNELS(gated::GeGluGateByTanh);
constexpr auto kProduct = PORTACL_VALUE_KERNELS(gated::Product);
constexpr auto kClippedSwiGlu = PORTACL_VALUE_KERNELS(gated::ClippedSwiGlu);
constexpr auto kSwiGluClipped = PORTACL_VALUE_KERNELS(gated::SwiGluClipped);
constexpr auto kSituGlu = PORTACL_VALUE_KERNELS(gated::SituGlu);
constexpr auto kSituGluBent = PORTACL_VALUE_KERNELS(gated::SituGluBent);

// dim is the first attribute of every operator here.
enum Attributes { kDim, kApproximate, kActivateLeft };

// Returns one half of a tensor along dim, as an operand of a map.
MappedView Half(const OperatorCall& call, int tensor, int half) {
  MappedView view{PlainView(call.Tensor(tensor)), call.OperandOf(tensor)};
  const int dim = WrappedDim(call.attributes[kDim].integer, view.tensor.shape.rank);
  const int64_t length = view.tensor.shape[dim] / 2;
  Narrow(view.tensor, dim, half * length, length);
  return view;
}
MappedView Whole(const OperatorCall& call, int tensor) {
  return {PlainView(call.Tensor(tensor)), call.OperandOf(tensor)};
}

// Check the dim that is halved. check.operands: the whole tensor, then the tensor of half the length.
aclnnStatus LengthIsEven(const Check& check, OperatorCall& call) noexcept {
  const int tensor = check.operands.index[0];
  const Shape& shape = call.Tensor(tensor).shape;
  const int dim = WrappedDim(call.attributes[kDim].integer, shape.rank);
  int64_t length = shape[dim];
  // CANN takes the elements of dim and of all dims after it.
  if (check.low != 0) {
    for (int i = dim + 1; i < shape.rank; ++i) length *= shape[i] & 1;
  }
  if (length % 2 == 0) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, tensor)
      .Add(" has an odd number of elements along dim ")
      .Add(dim);
  return FailAclnn(check.code, message.Add(", accepted: an even number."));
}
aclnnStatus ShapeIsHalf(const Check& check, OperatorCall& call) noexcept {
  Shape half = call.Tensor(check.operands.index[0]).shape;
  half.dim[WrappedDim(call.attributes[kDim].integer, half.rank)] /= 2;
  const int tensor = check.operands.index[1];
  return call.Tensor(tensor).shape == half ? ACL_SUCCESS : RefuseShape(check, call, tensor, half);
}
constexpr Check LengthIsEven(int whole) { return {.run = LengthIsEven, .operands = {whole}}; }
constexpr Check ShapeIsHalf(int whole, int half) { return {.run = ShapeIsHalf, .operands = {whole, half}}; }

// Ends the lists: every loop is over halves.
constexpr auto EndOfGated(Operands inputs, Operands outputs) {
  return List(SizesRepresentable(outputs), DoneIfEmpty(inputs), InsideStorage(inputs),
              FunctionsThere(kDouble, WhyFunctionsAreMissing));
}

// ---- aclnnGlu ----
enum OneToHalf { kSelf, kOut };
constexpr auto kGluChecks =
    Join(List(NotNull(kSelf), NotNull(kOut), DtypesIn(kActivatedAndDouble, {kSelf, kOut}),
              RankAtMost(8, {kSelf, kOut}), RankAtLeast(1, {kSelf}), DimIn(kDim, kSelf), LengthIsEven(kSelf),
              ShapeIsHalf(kSelf, kOut), PromotesToDtypeOf(kSelf)),
         EndOfGated({kSelf}, {kOut}));

void SetGlu(const OperatorCall& call, Executor& executor) {
  MapList maps(call, executor, 1);
  maps.Add({Half(call, kSelf, 0), Half(call, kSelf, 1)}, Whole(call, kOut), kGlu);
  maps.SetJob();
}

// ---- aclnnGluBackward and aclnnSwiGluGrad ----
enum HalfToOne { kGradient, kOperand, kResult };
constexpr auto kGluBackwardChecks =
    Join(List(NotNull(kOperand), NotNull(kGradient), NotNull(kResult),
              DtypesIn(kActivatedAndDouble, {kOperand}), SameDtype(kOperand, kGradient),
              SameDtype(kOperand, kResult), RankAtMost(8, {kOperand, kGradient, kResult}),
              RankAtLeast(1, {kOperand}), DimIn(kDim, kOperand), LengthIsEven(kOperand),
              ShapeIsHalf(kOperand, kGradient), SameShape(kOperand, kResult), PromotesToDtypeOf(kOperand)),
         EndOfGated({kOperand}, {kResult}));

void SetGluBackward(const OperatorCall& call, Executor& executor) {
  MapList maps(call, executor, 2);
  maps.Add({Whole(call, kGradient), Half(call, kOperand, 1)}, Half(call, kResult, 0), kGlu);
  maps.Add({Whole(call, kGradient), Half(call, kOperand, 0), Half(call, kOperand, 1)}, Half(call, kResult, 1),
           kGluGate);
  maps.SetJob();
}

// ---- aclnnSwiGlu: CANN generates its phase 1, which checks products and shapes late ----
constexpr DtypeRule kSwiGluDtypes = SinceAtlasA2(kFloatHalfAndBf16, kFloatAndHalf);
constexpr ProductSet kWithSwiGlu = kDocumentedWithInference;

aclnnStatus NoKernel(const Check& check, OperatorCall& call) noexcept {
  return FailAclnn(check.code,
                   StartMessage(call).Add("there is no kernel for this product, accepted: Atlas A2, "
                                          "Atlas A3, Ascend 950 and Atlas inference."));
}
constexpr aclnnStatus kNoSuchKernel = ACLNN_ERR_INNER_FIND_KERNEL_ERROR;
constexpr aclnnStatus kTiling = ACLNN_ERR_INNER_TILING_ERROR;

constexpr Check ElementsAreEven(int whole) {
  return {.run = LengthIsEven, .operands = {whole}, .low = 1, .code = kTiling};
}
constexpr auto kSwiGluChecks =
    Join(List(NotNull(kSelf), NotNull(kOut), DtypesIn(kSwiGluDtypes, {kSelf}), SameDtype(kSelf, kOut),
              OnProducts(~kWithSwiGlu, Custom(NoKernel, kNoSuchKernel)), DoneIfEmpty({kOut}),
              WithCode(kTiling, RankAtLeast(1, {kSelf})), WithCode(kTiling, DimIn(kDim, kSelf)),
              ElementsAreEven(kSelf), LengthIsEven(kSelf), ShapeIsHalf(kSelf, kOut), RankAtMost(8, {kSelf}),
              PromotesToDtypeOf(kSelf)),
         EndOfGated({kSelf}, {kOut}));
constexpr auto kSwiGluGradChecks =
    Join(List(NotNull(kGradient), NotNull(kOperand), NotNull(kResult), DtypesIn(kSwiGluDtypes, {kGradient}),
              SameDtype(kGradient, kOperand), SameDtype(kOperand, kResult),
              OnProducts(~kWithSwiGlu, Custom(NoKernel, kNoSuchKernel)), DoneIfEmpty({kResult}),
              WithCode(kTiling, RankAtLeast(1, {kOperand})), WithCode(kTiling, RankAtMost(8, {kOperand})),
              WithCode(kTiling, DimIn(kDim, kOperand)), WithCode(kTiling, LengthIsEven(kOperand)),
              WithCode(kTiling, ShapeIsHalf(kOperand, kGradient)), SameShape(kOperand, kResult),
              PromotesToDtypeOf(kOperand)),
         EndOfGated({kOperand}, {kResult}));

void SetSwiGlu(const OperatorCall& call, Executor& executor) {
  MapList maps(call, executor, 1);
  maps.Add({Half(call, kSelf, 0), Half(call, kSelf, 1)}, Whole(call, kOut), kSwiGlu);
  maps.SetJob();
}
void SetSwiGluGrad(const OperatorCall& call, Executor& executor) {
  MapList maps(call, executor, 2);
  maps.Add({Whole(call, kGradient), Half(call, kOperand, 0), Half(call, kOperand, 1)}, Half(call, kResult, 0),
           kSwiGluGate);
  maps.Add({Half(call, kOperand, 0), Whole(call, kGradient)}, Half(call, kResult, 1), kSwiGlu);
  maps.SetJob();
}

// ---- aclnnGeGlu. approximate: 0 selects erf, 1 tanh ----
enum GeGluTensors { kGated, kProductOut, kGeluOut };
bool IsCut(const OperatorCall& call) noexcept {
  return call.Tensor(kGated).shape.rank > 0 && !call.Tensor(kGated).shape.IsEmpty();
}
aclnnStatus DoneIfValue(const Check&, OperatorCall& call) noexcept {
  if (call.Tensor(kGated).shape.rank == 0) call.work = OperatorCall::Work::kNothing;
  return ACL_SUCCESS;
}
constexpr auto kGeGluChecks =
    Join(List(NotNull(kGated), NotNull(kProductOut), NotNull(kGeluOut),
              DtypesIn(kBf16SinceAtlasA2, {kGated, kProductOut, kGeluOut}),
              If(IsCut, SameDtype(kGated, kProductOut)), If(IsCut, SameDtype(kGated, kGeluOut)),
              RankAtMost(8, {kGated, kProductOut, kGeluOut}), DimIn(kDim, kGated),
              IntegerIn(kApproximate, 0, 1), Custom(DoneIfValue), LengthIsEven(kGated),
              ShapeIsHalf(kGated, kProductOut), ShapeIsHalf(kGated, kGeluOut), PromotesToDtypeOf(kGated)),
         EndOfGated({kGated}, {kProductOut, kGeluOut}));

bool IsTanh(const OperatorCall& call) { return call.attributes[kApproximate].integer == 1; }
// Returns the half to which GELU is applied. aclnnGeGlu has no such attribute and takes the second one.
int ActivatedHalf(const OperatorCall& call) {
  return call.attributes.size() > kActivateLeft && call.attributes[kActivateLeft].integer != 0 ? 0 : 1;
}

void SetGeGlu(const OperatorCall& call, Executor& executor) {
  const int activated = ActivatedHalf(call);
  MapList maps(call, executor, 2);
  maps.Add({Half(call, kGated, 1 - activated), Half(call, kGated, activated)}, Whole(call, kProductOut),
           IsTanh(call) ? kGeGluByTanh : kGeGluByErf);
  maps.Add({Half(call, kGated, activated)}, Whole(call, kGeluOut), GeluKernels(IsTanh(call)));
  maps.SetJob();
}

enum GeGluGradient { kGeGluGradient, kGeGluOperand, kGelu, kGeGluResult };
constexpr auto kGeGluBackwardChecks = Join(
    List(NotNull(kGeGluGradient), NotNull(kGeGluOperand), NotNull(kGelu), NotNull(kGeGluResult),
         DtypesIn(kBf16SinceAtlasA2, {kGeGluGradient}), SameDtype(kGeGluGradient, kGeGluOperand),
         SameDtype(kGeGluGradient, kGelu), SameDtype(kGeGluGradient, kGeGluResult),
         SameShape(kGeGluGradient, kGelu), SameShape(kGeGluOperand, kGeGluResult), DimIn(kDim, kGeGluOperand),
         IntegerIn(kApproximate, 0, 1), RankAtLeast(1, {kGeGluOperand}), LengthIsEven(kGeGluOperand),
         ShapeIsHalf(kGeGluOperand, kGeGluGradient), PromotesToDtypeOf(kGeGluOperand)),
    EndOfGated({kGeGluGradient, kGeGluOperand}, {kGeGluResult}),
    List(LoopRankFits({kGeGluOperand, kGeGluResult}), LoopRankFits({kGeGluGradient, kGelu})));

void SetGeGluBackward(const OperatorCall& call, Executor& executor) {
  const int activated = ActivatedHalf(call);
  MapList maps(call, executor, 2);
  maps.Add({Whole(call, kGeGluGradient), Whole(call, kGelu)}, Half(call, kGeGluResult, 1 - activated),
           kProduct);
  maps.Add({Whole(call, kGeGluGradient), Half(call, kGeGluOperand, 1 - activated),
            Half(call, kGeGluOperand, activated)},
           Half(call, kGeGluResult, activated), IsTanh(call) ? kGeGluGateByTanh : kGeGluGateByErf);
  maps.SetJob();
}

// ---- aclnnClippedSwiglu ----
//
// Halves lie along dim or, interleaved, are the even and the odd elements of dim and all dims after it.
enum ClippedTensors { kClippedX, kGroupIndex, kClippedOut };
enum ClippedAttributes { kAlpha = 1, kLimit, kBias, kInterleaved, kClampMode };

constexpr DtypeRule kClippedV2Dtypes = ByGeneration(kNoDtype, kNoDtype, kFloatHalfAndBf16);

bool IsInterleaved(const OperatorCall& call) noexcept { return call.attributes[kInterleaved].integer != 0; }
bool HasClampMode(const OperatorCall& call) noexcept { return call.attributes.size() > kClampMode; }
bool IsClippedLast(const OperatorCall& call) noexcept {
  return HasClampMode(call) && call.attributes[kClampMode].integer == 1;
}

aclnnStatus NoGroups(const Check& check, OperatorCall& call) noexcept {
  if (!call.IsGiven(kGroupIndex)) return ACL_SUCCESS;
  return FailAclnn(
      check.code,
      StartMessage(call).Add("parameter groupIndexOptional is given, which is not supported, accepted: a "
                             "null pointer."));
}
aclnnStatus LimitIsPositive(const Check& check, OperatorCall& call) noexcept {
  if (call.attributes[kLimit].wide > 0) return ACL_SUCCESS;
  return FailAclnn(check.code, StartMessage(call).Add("parameter limit is not above 0, accepted: above 0."));
}

// Merges the dims from `dim` on into one. Returns false where their elements do not follow each other.
bool TakeTogether(StridedView& view, int dim) {
  int64_t length = 1;
  for (int i = dim; i < view.shape.rank; ++i) length *= view.shape[i];
  int64_t stride = 1;
  int64_t reached = 1;
  for (int i = view.shape.rank - 1; i >= dim; --i) {
    if (view.shape[i] == 1) continue;
    if (reached == 1) stride = view.strides[i];
    if (view.strides[i] != stride * reached) return false;
    reached *= view.shape[i];
  }
  view.shape.rank = view.strides.rank = dim + 1;
  view.shape.dim[dim] = length;
  view.strides.dim[dim] = stride;
  return true;
}
template <int tensor>
aclnnStatus PairsFollow(const Check& check, OperatorCall& call) noexcept {
  StridedView view = PlainView(call.Tensor(tensor));
  if (TakeTogether(view, WrappedDim(call.attributes[kDim].integer, view.shape.rank))) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, tensor)
      .Add(" has elements that do not follow each other");
  return FailAclnn(check.code, message.Add(" from dim on, accepted where interleaved: dense ones."));
}

template <const DtypeRule& kRule>
constexpr auto ClippedChecks() {
  return Join(
      List(NotNull(kClippedX), NotNull(kClippedOut), DtypesIn(kRule, {kClippedX}),
           SameDtype(kClippedX, kClippedOut), WithCode(kTiling, RankAtLeast(1, {kClippedX})),
           WithCode(kTiling, RankAtMost(8, {kClippedX})), WithCode(kTiling, DimIn(kDim, kClippedX)),
           WithCode(kTiling, LengthIsEven(kClippedX)), WithCode(kTiling, ShapeIsHalf(kClippedX, kClippedOut)),
           Custom(LimitIsPositive, kTiling), If(HasClampMode, WithCode(kTiling, IntegerIn(kClampMode, 0, 1))),
           Custom(NoGroups, ACLNN_ERR_INNER_NULLPTR), PromotesToDtypeOf(kClippedX)),
      EndOfGated({kClippedX}, {kClippedOut}),
      List(If(IsInterleaved, Custom(PairsFollow<kClippedX>, ACLNN_ERR_INNER_NULLPTR)),
           If(IsInterleaved, Custom(PairsFollow<kClippedOut>, ACLNN_ERR_INNER_NULLPTR))));
}
constexpr auto kClippedChecks = ClippedChecks<kNoneBeforeAtlasA2>();
constexpr auto kClippedV2Checks = ClippedChecks<kClippedV2Dtypes>();

MappedView Pair(const OperatorCall& call, int which) {
  if (!IsInterleaved(call)) return Half(call, kClippedX, which);
  MappedView view = Whole(call, kClippedX);
  const int dim = WrappedDim(call.attributes[kDim].integer, view.tensor.shape.rank);
  TakeTogether(view.tensor, dim);
  Narrow(view.tensor, dim, which, view.tensor.shape[dim] / 2, 2);
  return view;
}

// Returns attributes that are doubles, rounded to FLOAT.
engine::Scalars NumbersOf(const OperatorCall& call, std::initializer_list<int> attributes) {
  engine::Scalars scalars;
  size_t at = 0;
  for (const int attribute : attributes) {
    const auto value = static_cast<float>(call.attributes[static_cast<size_t>(attribute)].wide);
    std::memcpy(scalars.bytes[0] + at++ * sizeof value, &value, sizeof value);
  }
  return scalars;
}

void SetClipped(const OperatorCall& call, Executor& executor) {
  MappedView out = Whole(call, kClippedOut);
  if (IsInterleaved(call))
    TakeTogether(out.tensor, WrappedDim(call.attributes[kDim].integer, out.tensor.shape.rank));
  MapList maps(call, executor, 1);
  maps.Add({Pair(call, 0), Pair(call, 1)}, out, IsClippedLast(call) ? kSwiGluClipped : kClippedSwiGlu,
           NumbersOf(call, {kAlpha, kLimit, kBias}));
  maps.SetJob();
}

// ---- aclnnSituGlu ----
enum SituAttributes { kBeta = 1, kLinearBeta, kGateIsLeft };

constexpr auto kSituChecks =
    Join(List(NotNull(kSelf), NotNull(kOut), DtypesIn(kNoneBeforeAtlasA2, {kSelf}), SameDtype(kSelf, kOut),
              WithCode(kTiling, RankAtLeast(1, {kSelf})), WithCode(kTiling, RankAtMost(8, {kSelf})),
              WithCode(kTiling, DimIn(kDim, kSelf)), WithCode(kTiling, LengthIsEven(kSelf)),
              WithCode(kTiling, ShapeIsHalf(kSelf, kOut)), PromotesToDtypeOf(kSelf)),
         EndOfGated({kSelf}, {kOut}));

void SetSituGlu(const OperatorCall& call, Executor& executor) {
  const int gate = call.attributes[kGateIsLeft].integer != 0 ? 0 : 1;
  const bool bends = call.attributes[kLinearBeta].wide > 0;
  MapList maps(call, executor, 1);
  maps.Add({Half(call, kSelf, gate), Half(call, kSelf, 1 - gate)}, Whole(call, kOut),
           bends ? kSituGluBent : kSituGlu, NumbersOf(call, {kBeta, kLinearBeta}));
  maps.SetJob();
}

}  // namespace

const engine::KernelTable& GeGluKernels(bool tanh) noexcept { return tanh ? kGeGluByTanh : kGeGluByErf; }

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnGlu) { return RunPhase1(call, kGluChecks, workspaceSize, executor, SetGlu); }

PORTACL_PHASE_1(aclnnGluBackward) {
  return RunPhase1(call, kGluBackwardChecks, workspaceSize, executor, SetGluBackward);
}

PORTACL_PHASE_1(aclnnSwiGlu) { return RunPhase1(call, kSwiGluChecks, workspaceSize, executor, SetSwiGlu); }

PORTACL_PHASE_1(aclnnSwiGluGrad) {
  return RunPhase1(call, kSwiGluGradChecks, workspaceSize, executor, SetSwiGluGrad);
}

PORTACL_PHASE_1(aclnnGeGlu) { return RunPhase1(call, kGeGluChecks, workspaceSize, executor, SetGeGlu); }

PORTACL_PHASE_1(aclnnGeGluV3) { return RunPhase1(call, kGeGluChecks, workspaceSize, executor, SetGeGlu); }

PORTACL_PHASE_1(aclnnGeGluBackward) {
  return RunPhase1(call, kGeGluBackwardChecks, workspaceSize, executor, SetGeGluBackward);
}

PORTACL_PHASE_1(aclnnGeGluV3Backward) {
  return RunPhase1(call, kGeGluBackwardChecks, workspaceSize, executor, SetGeGluBackward);
}

PORTACL_PHASE_1(aclnnClippedSwiglu) {
  return RunPhase1(call, kClippedChecks, workspaceSize, executor, SetClipped);
}

PORTACL_PHASE_1(aclnnClippedSwigluV2) {
  return RunPhase1(call, kClippedV2Checks, workspaceSize, executor, SetClipped);
}

PORTACL_PHASE_1(aclnnSituGlu) { return RunPhase1(call, kSituChecks, workspaceSize, executor, SetSituGlu); }

#endif  // HWY_ONCE
