// aclnnAdds, aclnnAddV3, aclnnSubs, aclnnRsubs and their in-place forms: sums and differences of a tensor and
// a scalar. One of them is scaled.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/arithmetic/add_scalar.cc"
#include "base/foreach_target.h"

#include "aclnnop/arithmetic/sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace sums {

// Computes alpha * a + number.
struct Line : Elementwise<Line> {
  using Parameters = engine::Scalars;
  using Lanes = WideLanes;
  static constexpr int kInputs = 1;
  static constexpr bool kHasFastPath = true;
  explicit Line(const Parameters& parameters) : scalars(parameters) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    using T = hn::TFromD<D>;
    return Scaled(d, hn::Set(d, scalars.Get<T>(0)), a, hn::Set(d, scalars.Get<T>(1)));
  }
  template <class D, class V>
  HWY_INLINE void OfParts(D d, V a, V a_imaginary, V& real, V& imaginary) const {
    using T = hn::TFromD<D>;
    ScaledParts(d, hn::Set(d, scalars.Get<T>(0)), hn::Set(d, scalars.Get<T>(0, 1)), a, a_imaginary,
                hn::Set(d, scalars.Get<T>(1)), hn::Set(d, scalars.Get<T>(1, 1)), real, imaginary);
  }

  engine::Scalars scalars;
};

// Computes a + alpha * number. Integers use lanes of any width.
struct Shifted : Elementwise<Shifted> {
  using Parameters = engine::Scalars;
  using Lanes =
      LaneTypes<float, double, int8_t, uint8_t, int16_t, int32_t, int64_t, Complex<float>, Complex<double>>;
  static constexpr int kInputs = 1;
  explicit Shifted(const Parameters& parameters) : scalars(parameters) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    using T = hn::TFromD<D>;
    if constexpr (std::is_floating_point_v<T>) {
      return functions::Fma(d, hn::Set(d, scalars.Get<T>(0)), hn::Set(d, scalars.Get<T>(1)), a);
    } else {
      const auto alpha = static_cast<uint64_t>(scalars.Get<T>(0));
      return hn::Add(a, hn::Set(d, static_cast<T>(alpha * static_cast<uint64_t>(scalars.Get<T>(1)))));
    }
  }
  template <class D, class V>
  HWY_INLINE void OfParts(D d, V a, V a_imaginary, V& real, V& imaginary) const {
    using T = hn::TFromD<D>;
    ScaledParts(d, hn::Set(d, scalars.Get<T>(0)), hn::Set(d, scalars.Get<T>(0, 1)),
                hn::Set(d, scalars.Get<T>(1)), hn::Set(d, scalars.Get<T>(1, 1)), a, a_imaginary, real,
                imaginary);
  }

  engine::Scalars scalars;
};

}  // namespace sums
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "acl/settings/configuration.h"
#include "aclnnop/arithmetic/add_scalar_functions.h"
#include "aclnnop/binary_checks.h"
#include "aclnnop/jobs/list_kernels.h"
#include "aclnnop/jobs/sums.h"
#include "aclnnop/phase1.h"

namespace portacl {
namespace {

constexpr auto kLine = PORTACL_VALUE_KERNELS(sums::Line);
constexpr auto kShifted = PORTACL_VALUE_KERNELS(sums::Shifted);

enum Tensors { kSelf, kOut };
enum Attributes { kScalar, kAlpha };

constexpr DtypeSet kOfAddV3{ACL_FLOAT, ACL_INT32, ACL_FLOAT16, ACL_BF16, ACL_INT8};
constexpr DtypeRule kAddV3Dtypes = Everywhere(kOfAddV3);

constexpr auto ScalarChecks(const DtypeRule& dtypes, const Check& scalar_fits, ScalarRule rule,
                            const Check& alpha_fits, const DtypeRule& promoted, int out) {
  return Join(List(NotNull(kSelf), ScalarNotNull(kScalar), ScalarNotNull(kAlpha), NotNull(out),
                   DtypesIn(dtypes, {kSelf}), scalar_fits,
                   PromotesScalarBy(rule, kSelf, {kScalar, kAlpha}, out), alpha_fits),
              Ascend950Checks(promoted, {kSelf}, {kScalar}),
              List(PromotedCastsTo(out), RankAtMost(8, {kSelf}), SameShape(kSelf, out)),
              ComputableChecks({kSelf}, out, {kScalar, kAlpha}));
}

constexpr Check kAnyScalar = ScalarNotNull(kScalar);

// ---- aclnnAdds, aclnnSubs ----
constexpr auto AddsChecks(int out) {
  return ScalarChecks(kArithmeticDtypes, kAnyScalar, ScalarRule::kAdds, AlphaFits(kAlpha), kArithmeticDtypes,
                      out);
}
constexpr auto kAddsChecks = AddsChecks(kOut);
constexpr auto kInPlaceAddsChecks = AddsChecks(kSelf);
constexpr auto kRsubsChecks =
    ScalarChecks(kRsubDtypes, ScalarDtypesIn(kRsubDtypes, {kScalar}), ScalarRule::kRsubs,
                 ScalarsCastToPromoted({kAlpha}), kRsubDtypes, kOut);
constexpr auto AddV3Checks(const DtypeRule& dtypes, const Check& scalar_fits, ScalarRule rule, int out) {
  return Join(
      List(ScalarNotNull(kScalar), NotNull(kSelf), ScalarNotNull(kAlpha), NotNull(out),
           DtypesIn(dtypes, {kSelf}), scalar_fits, PromotesScalarBy(rule, kSelf, {kScalar, kAlpha}, out),
           AlphaFits(kAlpha), PromotedCastsTo(out), RankAtMost(8, {kSelf}), SameShape(kSelf, out)),
      ComputableChecks({kSelf}, out, {kScalar, kAlpha}));
}
constexpr auto kAddV3Checks = AddV3Checks(kAddV3Dtypes, kAnyScalar, ScalarRule::kAddV3, kOut);
constexpr auto kInPlaceAddV3Checks = AddV3Checks(kAddV3Dtypes, kAnyScalar, ScalarRule::kAddV3, kSelf);
// Checks of tensors that CANN's aclnnAddV3 refuses. They are computed as aclnnAdds computes them.
constexpr auto kWideAddV3Checks =
    AddV3Checks(kArithmeticDtypes, ScalarDtypesIn(kRsubDtypes, {kScalar}), ScalarRule::kAdds, kOut);

// torch_npu passes every CPU number to aclnnAddV3, whatever the tensor's dtype. Programs that use
// portacl.torch therefore get all dtypes. Others get CANN's list.
bool IsWideAddV3(const aclTensor* other) {
  return other != nullptr && !kOfAddV3.Contains(other->dtype) && CurrentConfiguration().add_v3_is_wide;
}

// Sets self + alpha * scalar, or the difference.
template <bool kSubtracts>
void SetShifted(const OperatorCall& call, Executor& executor) {
  const aclScalar& alpha = call.Scalar(kAlpha);
  const bool is_line = !IsIntegral(call.promoted) && IsOne(alpha);
  const engine::KernelTable& kernels = is_line ? kLine : kShifted;
  engine::Scalars scalars;
  SetMapScalar(call, kernels, alpha, scalars, 0);
  SetMapScalar(call, kernels, call.Scalar(kScalar), scalars, 1);
  if (kSubtracts) Negate(call, kernels, scalars, 1);
  SetMapJob(call, {kSelf}, call.Output(), kernels, scalars, executor);
}

// Sets scalar + alpha * tensor, or the difference. Rounds the scalars to the dtype of the computation, as
// PyTorch does.
template <bool kSubtracts>
void SetLine(const OperatorCall& call, Executor& executor) {
  const aclDataType cast = kSubtracts ? call.promoted : ACL_DT_UNDEFINED;
  engine::Scalars scalars;
  SetMapScalar(call, kLine, call.Scalar(kAlpha), scalars, 0, cast);
  SetMapScalar(call, kLine, call.Scalar(kScalar), scalars, 1, cast);
  if (kSubtracts) Negate(call, kLine, scalars, 0);
  SetMapJob(call, {kSelf}, call.Output(), kLine, scalars, executor);
}

}  // namespace

const engine::KernelTable& LineKernels() noexcept { return kLine; }

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnAdds) {
  return RunPhase1(call, kAddsChecks, workspaceSize, executor, SetShifted<false>);
}

PORTACL_PHASE_1(aclnnInplaceAdds) {
  return RunPhase1(call, kInPlaceAddsChecks, workspaceSize, executor, SetShifted<false>);
}

PORTACL_PHASE_1(aclnnSubs) { return RunPhase1(call, kAddsChecks, workspaceSize, executor, SetShifted<true>); }

PORTACL_PHASE_1(aclnnInplaceSubs) {
  return RunPhase1(call, kInPlaceAddsChecks, workspaceSize, executor, SetShifted<true>);
}

PORTACL_PHASE_1(aclnnRsubs) { return RunPhase1(call, kRsubsChecks, workspaceSize, executor, SetLine<true>); }

PORTACL_PHASE_1(aclnnAddV3) {
  if (IsWideAddV3(given.other))
    return RunPhase1(call, kWideAddV3Checks, workspaceSize, executor, SetLine<false>);
  return RunPhase1(call, kAddV3Checks, workspaceSize, executor, SetLine<false>);
}

PORTACL_PHASE_1(aclnnInplaceAddV3) {
  return RunPhase1(call, kInPlaceAddV3Checks, workspaceSize, executor, SetLine<false>);
}

#endif  // HWY_ONCE
