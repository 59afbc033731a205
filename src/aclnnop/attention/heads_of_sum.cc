// aclnnTransformBiasRescaleQkv: adds a bias to a joint projection and splits it into heads of query, key and
// value.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/attention/heads_of_sum.cc"
#include "base/foreach_target.h"

#include "engine/map/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace heads_of_sum {

namespace hn = hwy::HWY_NAMESPACE;

// Computes (x + bias) / divisor.
struct Quotient : engine::HWY_NAMESPACE::Elementwise<Quotient> {
  using Parameters = engine::Scalars;
  static constexpr int kInputs = 2;
  static constexpr bool kTakes16BitFloats = true;
  explicit Quotient(const Parameters& parameters) : divisor(parameters.Get<float>(0)) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V bias) const {
    return hn::Div(hn::Add(x, bias), hn::Set(d, divisor));
  }

  float divisor;
};

}  // namespace heads_of_sum
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <cmath>
#include <cstring>

#include "aclnnop/attention/heads_of_sum_functions.h"
#include "aclnnop/map_list.h"
#include "base/errors.h"
#include "contract/arguments.h"
#include "plan/views.h"

namespace portacl {
namespace {

constexpr auto kQuotient = PORTACL_VALUE_KERNELS(heads_of_sum::Quotient);

enum Tensors { kProjected, kBias, kQuery, kKey, kValue };
constexpr int kParts = 3;

int64_t HeadCount(const OperatorCall& call) { return call.attributes[0].integer; }

aclnnStatus HeadsFit(const Check& check, OperatorCall& call) noexcept {
  const int64_t heads = HeadCount(call);
  const int64_t length = call.Tensor(kProjected).shape[2];
  if (heads > 0 && length % kParts == 0 && length / kParts % heads == 0) return ACL_SUCCESS;
  Text message = StartMessage(call).Add("parameter numHeads has the value ").Add(heads);
  AddArgumentShape(message.Add(" where there is "), call, kProjected);
  return FailAclnn(check.code,
                   message.Add(", accepted: a number above 0, of which the last dim is 3 times a multiple."));
}
aclnnStatus BiasFits(const Check& check, OperatorCall& call) noexcept {
  const Shape accepted{call.Tensor(kProjected).shape[2]};
  return call.Tensor(kBias).shape == accepted ? ACL_SUCCESS : RefuseShape(check, call, kBias, accepted);
}
template <int tensor>
aclnnStatus HasHeads(const Check& check, OperatorCall& call) noexcept {
  const Shape& projected = call.Tensor(kProjected).shape;
  const Shape accepted{projected[0], HeadCount(call), projected[1], projected[2] / kParts / HeadCount(call)};
  return call.Tensor(tensor).shape == accepted ? ACL_SUCCESS : RefuseShape(check, call, tensor, accepted);
}

constexpr Check kChecks[] = {
    NotNull(kProjected),
    NotNull(kBias),
    NotNull(kQuery),
    NotNull(kKey),
    NotNull(kValue),
    DtypesIn(kNoneBeforeAtlasA2, {kProjected}),
    SameDtype(kProjected, kBias),
    SameDtype(kProjected, kQuery),
    SameDtype(kProjected, kKey),
    SameDtype(kProjected, kValue),
    RankIs(3, {kProjected}),
    Custom(HeadsFit),
    Custom(BiasFits),
    Custom(HasHeads<kQuery>),
    Custom(HasHeads<kKey>),
    Custom(HasHeads<kValue>),
    PromotesToDtypeOf(kProjected),
    SizesRepresentable({kQuery, kKey, kValue}),
    DoneIfEmpty({kProjected}),
    InsideStorage({kProjected, kBias}),
};

void SetHeads(const OperatorCall& call, Executor& executor) {
  const int64_t heads = HeadCount(call);
  const int64_t part = call.Tensor(kProjected).shape[2] / kParts;
  MapList maps(call, executor, kParts);
  for (int i = 0; i < kParts; ++i) {
    MappedView projected{PlainView(call.Tensor(kProjected)), call.OperandOf(kProjected)};
    Narrow(projected.tensor, 2, i * part, part);
    SplitDim(projected.tensor, 2, part / heads);
    const int order[] = {0, 2, 1, 3};
    Permute(projected.tensor, order);
    MappedView bias{PlainView(call.Tensor(kBias)), call.OperandOf(kBias)};
    Narrow(bias.tensor, 0, i * part, part);
    SplitDim(bias.tensor, 0, part / heads);
    InsertDim(bias.tensor, 1, 1, 0);
    const int64_t width = part / heads;
    const float divisor = i == 0 ? static_cast<float>(std::sqrt(static_cast<double>(width))) : 1.0f;
    engine::Scalars scalars;
    std::memcpy(scalars.bytes[0], &divisor, sizeof divisor);
    const int result = kQuery + i;
    maps.Add({projected, bias}, {PlainView(call.Tensor(result)), call.OperandOf(result)}, kQuotient, scalars);
  }
  maps.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnTransformBiasRescaleQkv) {
  return RunPhase1(call, kChecks, workspaceSize, executor, SetHeads);
}

#endif  // HWY_ONCE
