// aclnnAddr and aclnnInplaceAddr: beta times a matrix plus alpha times the outer product of two vectors.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/arithmetic/addr.cc"
#include "base/foreach_target.h"

#include "engine/map/integers-inl.h"
#include "engine/map/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace outer {

using namespace engine::HWY_NAMESPACE;

struct ScaledProduct : Elementwise<ScaledProduct> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<float, double, int32_t, int64_t>;
  static constexpr int kInputs = 2;
  explicit ScaledProduct(const Parameters& parameters) : scalars(parameters) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    return Multiply(d, Multiply(d, hn::Set(d, scalars.Get<hn::TFromD<D>>(1)), a), b);
  }

  engine::Scalars scalars;
};

// Computes beta * c + alpha * a * b.
struct ScaledSum : Elementwise<ScaledSum> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<float, double, int32_t, int64_t>;
  static constexpr int kInputs = 3;
  explicit ScaledSum(const Parameters& parameters) : product(parameters), scalars(parameters) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V c, V a, V b) const {
    return hn::Add(Multiply(d, hn::Set(d, scalars.Get<hn::TFromD<D>>(0)), c), product(d, a, b));
  }

  ScaledProduct product;
  engine::Scalars scalars;
};

struct Either : Elementwise<Either> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<Bool>;
  static constexpr int kInputs = 3;
  explicit Either(const Parameters& parameters) : scalars(parameters) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V c, V a, V b) const {
    using T = hn::TFromD<D>;
    return hn::Or(hn::And(hn::Set(d, scalars.Get<T>(0)), c),
                  hn::And(hn::Set(d, scalars.Get<T>(1)), hn::And(a, b)));
  }

  engine::Scalars scalars;
};

}  // namespace outer
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <cstring>

#include "aclnnop/arithmetic/addr_functions.h"
#include "aclnnop/binary_checks.h"
#include "aclnnop/map_list.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "contract/arguments.h"
#include "plan/views.h"

namespace portacl {
namespace {

constexpr auto kScaledProduct = PORTACL_VALUE_KERNELS(outer::ScaledProduct);
constexpr auto kScaledSum = PORTACL_VALUE_KERNELS(outer::ScaledSum);
constexpr auto kEither = PORTACL_VALUE_KERNELS(outer::Either);

enum Tensors { kSelf, kVec1, kVec2, kOut };
enum Attributes { kBeta, kAlpha };

const aclScalar* ScalarOf(const OperatorCall& call, int attribute) {
  return call.attributes[static_cast<size_t>(attribute)].scalar;
}
bool IsIntegral(aclDataType dtype) { return kIntegersAndBool.Contains(dtype); }

// Checks beta and alpha: BOOL is accepted only with BOOL tensors, and integer tensors accept only integers.
aclnnStatus FactorsFit(const Check& check, OperatorCall& call) noexcept {
  const bool are_integral = IsIntegral(call.Tensor(kSelf).dtype) && IsIntegral(call.Tensor(kVec1).dtype) &&
                            IsIntegral(call.Tensor(kVec2).dtype);
  for (const int attribute : {kBeta, kAlpha}) {
    const aclScalar* const scalar = ScalarOf(call, attribute);
    if (scalar == nullptr) continue;
    const bool is_odd_bool = scalar->dtype == ACL_BOOL && call.promoted != ACL_BOOL;
    if (!is_odd_bool && (!are_integral || IsIntegral(scalar->dtype))) continue;
    Text message = StartMessage(call);
    message.Add("parameter ")
        .Add(call.attributes[static_cast<size_t>(attribute)].name)
        .Add(" has the dtype ");
    AddDtypeName(message, scalar->dtype);
    return FailAclnn(check.code, message.Add(is_odd_bool ? ", accepted: BOOL with tensors of BOOL alone."
                                                         : ", accepted: integers, as the tensors are."));
  }
  return ACL_SUCCESS;
}

aclnnStatus SetResult(const Check&, OperatorCall& call) noexcept {
  call.broadcast = Shape{call.Tensor(kVec1).shape[0], call.Tensor(kVec2).shape[0]};
  return ACL_SUCCESS;
}

constexpr DtypeRule kDtypes = WithBf16SinceAtlasA2(kRealArithmetic);
constexpr auto Checks(const Check& rank_of_self, int out) {
  return Join(
      List(NotNull(kSelf), NotNull(kVec1), NotNull(kVec2), NotNull(out),
           DtypesIn(kDtypes, {kSelf, kVec1, kVec2, out}), ScalarDtypesIn(kDtypes, {kBeta, kAlpha}),
           Promotes({kVec2, kVec1, kSelf}), Custom(FactorsFit), RankIs(1, {kVec1, kVec2}), rank_of_self,
           Custom(SetResult), ExpandsToBroadcast(kSelf), SizesRepresentable({out}),
           DoneIfEmpty({kVec1, kVec2}), ShapeIsResult(out)),
      List(InsideStorage({kSelf, kVec1, kVec2}), DtypeImplemented({kSelf, kVec1, kVec2, out}, kConvertible)));
}
constexpr auto kChecks = Checks(RankAtMost(2, {kSelf}), kOut);
constexpr auto kInPlaceChecks = Checks(RankIs(2, {kSelf}), kSelf);

bool IsZero(const aclScalar& scalar) {
  const ScalarValue value = ConvertScalar(scalar, ACL_DOUBLE);
  double number = 0;
  std::memcpy(&number, value.bytes, sizeof number);
  return number == 0;
}

void SetOuter(const OperatorCall& call, Executor& executor) {
  aclScalar one;
  one.dtype = ACL_BOOL;
  one.value[0] = 1;
  const aclScalar& beta = ScalarOf(call, kBeta) != nullptr ? *ScalarOf(call, kBeta) : one;
  const aclScalar& alpha = ScalarOf(call, kAlpha) != nullptr ? *ScalarOf(call, kAlpha) : one;
  const bool is_product = call.promoted != ACL_BOOL && IsZero(beta);
  const engine::KernelTable& kernels = call.promoted == ACL_BOOL ? kEither
                                       : is_product              ? kScaledProduct
                                                                 : kScaledSum;
  engine::Scalars scalars;
  SetMapScalar(call, kernels, beta, scalars, 0);
  SetMapScalar(call, kernels, alpha, scalars, 1);
  MappedView self{PlainView(call.Tensor(kSelf)), kSelf};
  MappedView column{PlainView(call.Tensor(kVec1)), kVec1};
  InsertDim(column.tensor, 1, 1, 0);
  const MappedView row{PlainView(call.Tensor(kVec2)), kVec2};
  const MappedView out{PlainView(call.Tensor(call.Output())), call.Output()};
  MapList maps(call, executor, 1);
  if (is_product) {
    maps.Add({column, row}, out, kernels, scalars);
  } else {
    maps.Add({self, column, row}, out, kernels, scalars);
  }
  maps.SetJob();
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnAddr) { return RunPhase1(call, kChecks, workspaceSize, executor, SetOuter); }
PORTACL_PHASE_1(aclnnInplaceAddr) {
  return RunPhase1(call, kInPlaceChecks, workspaceSize, executor, SetOuter);
}

#endif  // HWY_ONCE
