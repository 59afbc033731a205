// aclnnAddcmul, aclnnAddcdiv and their in-place forms: a tensor plus the scaled product or quotient of two
// others.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/arithmetic/addcmul.cc"
#include "base/foreach_target.h"

#include "engine/functions/primitives-inl.h"
#include "engine/map/integers-inl.h"
#include "engine/map/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace scaled_sums {

using namespace engine::HWY_NAMESPACE;

struct SumWithProduct : Elementwise<SumWithProduct> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<float, double, int32_t, int64_t>;
  static constexpr int kInputs = 3;
  static constexpr bool kTakes16BitFloats = true;
  explicit SumWithProduct(const Parameters& parameters) : scalars(parameters) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b, V c) const {
    using T = hn::TFromD<D>;
    const V value = hn::Set(d, scalars.Get<T>(0));
    const V product = Multiply(d, b, c);
    if constexpr (std::is_floating_point_v<T>) {
      return functions::Fma(d, value, product, a);
    } else {
      return hn::Add(a, Multiply(d, value, product));
    }
  }

  engine::Scalars scalars;
};

struct SumWithQuotient : Elementwise<SumWithQuotient> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<float, double, int64_t>;
  static constexpr int kInputs = 3;
  static constexpr bool kTakes16BitFloats = true;
  explicit SumWithQuotient(const Parameters& parameters) : scalars(parameters) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b, V c) const {
    using T = hn::TFromD<D>;
    const V value = hn::Set(d, scalars.Get<T>(0));
    if constexpr (std::is_floating_point_v<T>) {
      return functions::Fma(d, value, hn::Div(b, c), a);
    } else {
      const V quotient = EachLane(
          d, [](T x, T y) { return TruncatedQuotient(x, y); }, b, c);
      return hn::Add(a, Multiply(d, value, quotient));
    }
  }

  engine::Scalars scalars;
};

}  // namespace scaled_sums
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/arithmetic/addcmul_functions.h"
#include "aclnnop/binary_checks.h"
#include "aclnnop/jobs/list_kernels.h"
#include "aclnnop/phase1.h"

namespace portacl {
namespace {

constexpr auto kSumWithProduct = PORTACL_VALUE_KERNELS(scaled_sums::SumWithProduct);
constexpr auto kSumWithQuotient = PORTACL_VALUE_KERNELS(scaled_sums::SumWithQuotient);

enum Tensors { kSelf, kTensor1, kTensor2, kOut };
enum Attributes { kValue };

constexpr DtypeRule kAddcmulDtypes = WithBf16SinceAtlasA2(
    DtypeSet{ACL_FLOAT, ACL_INT32, ACL_INT64, ACL_FLOAT16, ACL_INT8, ACL_UINT8, ACL_DOUBLE});
constexpr DtypeRule kAddcdivDtypes =
    WithBf16SinceAtlasA2(DtypeSet{ACL_FLOAT, ACL_INT64, ACL_FLOAT16, ACL_DOUBLE});

constexpr auto FirstChecks(const DtypeRule& dtypes, int out) {
  return List(NotNull(kSelf), NotNull(kTensor1), NotNull(kTensor2), ScalarNotNull(kValue), NotNull(out),
              DtypesIn(dtypes, {kSelf, kTensor1, kTensor2}), Promotes({kTensor1, kTensor2, kSelf}));
}
constexpr auto AddcmulChecks(int out) {
  return Join(FirstChecks(kAddcmulDtypes, out),
              List(PromotedNotIn(DtypeSet{ACL_INT16, ACL_BOOL, ACL_COMPLEX64, ACL_COMPLEX128},
                                 {kSelf, kTensor1, kTensor2}),
                   PromotedCastsTo(out), NotPrivate({kSelf, kTensor1, kTensor2, out}),
                   RankAtMost(8, {kSelf, kTensor1, kTensor2})),
              BroadcastsInto({kSelf, kTensor1, kTensor2}, out),
              ComputableChecks({kSelf, kTensor1, kTensor2}, out, {kValue}));
}
constexpr auto AddcdivChecks(int out) {
  return Join(FirstChecks(kAddcdivDtypes, out),
              List(PromotedCastsTo(out), RankAtMost(8, {kSelf, kTensor1, kTensor2, out})),
              BroadcastsInto({kTensor1, kTensor2, kSelf}, out),
              ComputableChecks({kSelf, kTensor1, kTensor2}, out, {kValue}));
}
constexpr auto kAddcmulChecks = AddcmulChecks(kOut);
constexpr auto kInPlaceAddcmulChecks = AddcmulChecks(kSelf);
constexpr auto kAddcdivChecks = AddcdivChecks(kOut);
constexpr auto kInPlaceAddcdivChecks = AddcdivChecks(kSelf);

void SetScaledSum(const OperatorCall& call, const engine::KernelTable& kernels, Executor& executor) {
  engine::Scalars scalars;
  SetMapScalar(call, kernels, call.Scalar(kValue), scalars, 0);
  SetMapJob(call, {kSelf, kTensor1, kTensor2}, call.Output(), kernels, scalars, executor);
}
void SetSumWithProduct(const OperatorCall& call, Executor& executor) {
  SetScaledSum(call, kSumWithProduct, executor);
}
void SetSumWithQuotient(const OperatorCall& call, Executor& executor) {
  SetScaledSum(call, kSumWithQuotient, executor);
}

}  // namespace

const engine::KernelTable& SumWithProductKernels() noexcept { return kSumWithProduct; }
const engine::KernelTable& SumWithQuotientKernels() noexcept { return kSumWithQuotient; }

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnAddcmul) {
  return RunPhase1(call, kAddcmulChecks, workspaceSize, executor, SetSumWithProduct);
}

PORTACL_PHASE_1(aclnnInplaceAddcmul) {
  return RunPhase1(call, kInPlaceAddcmulChecks, workspaceSize, executor, SetSumWithProduct);
}

PORTACL_PHASE_1(aclnnAddcdiv) {
  return RunPhase1(call, kAddcdivChecks, workspaceSize, executor, SetSumWithQuotient);
}

PORTACL_PHASE_1(aclnnInplaceAddcdiv) {
  return RunPhase1(call, kInPlaceAddcdivChecks, workspaceSize, executor, SetSumWithQuotient);
}

#endif  // HWY_ONCE
