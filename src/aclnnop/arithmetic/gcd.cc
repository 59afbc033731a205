// aclnnGcd: greatest common divisors of integers.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/arithmetic/gcd.cc"
#include "base/foreach_target.h"

#include <type_traits>
#include <utility>

#include "engine/map/integers-inl.h"
#include "engine/map/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace divisors {

using namespace engine::HWY_NAMESPACE;

// Computes the divisor of the unsigned magnitudes. If it is that of the least number, it wraps to the least number.
struct Gcd : Elementwise<Gcd> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<int32_t, int64_t>;
  static constexpr int kInputs = 2;
  explicit Gcd(const Parameters&) {}

  template <class T>
  static T OfTwo(T a, T b) {
    using U = std::make_unsigned_t<T>;
    const auto magnitude = [](T x) { return x < 0 ? U{0} - static_cast<U>(x) : static_cast<U>(x); };
    U large = magnitude(a);
    U small = magnitude(b);
    while (small != 0) large = std::exchange(small, large % small);
    return static_cast<T>(large);
  }

  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    return EachLane(
        d, [](hn::TFromD<D> x, hn::TFromD<D> y) { return OfTwo(x, y); }, a, b);
  }
};

}  // namespace divisors
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/arithmetic/gcd_functions.h"
#include "aclnnop/binary_checks.h"
#include "aclnnop/phase1.h"

namespace portacl {
namespace {

constexpr auto kGcd = PORTACL_VALUE_KERNELS(divisors::Gcd);

enum Tensors { kSelf, kOther, kOut };

constexpr DtypeSet kOfA2{ACL_INT32, ACL_INT16, ACL_INT64};
constexpr DtypeRule kPromoted = ByGeneration(kOfA2, kOfA2, kOfA2 | DtypeSet{ACL_INT8, ACL_UINT8})
                                    .On({Product::kAtlasTraining, Product::kNoDevice}, DtypeSet{ACL_INT32});
constexpr auto kChecks = Join(List(NotNull(kSelf), NotNull(kOther), NotNull(kOut), Promotes({kSelf, kOther}),
                                   PromotedIn(kPromoted, {kSelf, kOther}), DtypesIn(kIntegers, {kOut})),
                              BroadcastChecks(kSelf, kOther, kOut), ComputableChecks({kSelf, kOther}, kOut));

void SetGcd(const OperatorCall& call, Executor& executor) {
  SetMapJob(call, {kSelf, kOther}, kOut, kGcd, {}, executor);
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnGcd) { return RunPhase1(call, kChecks, workspaceSize, executor, SetGcd); }

#endif  // HWY_ONCE
