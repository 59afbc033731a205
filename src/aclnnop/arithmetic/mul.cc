// aclnnMul, aclnnMuls and their in-place forms: the product of two operands.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/arithmetic/mul.cc"
#include "base/foreach_target.h"

#include "engine/map/integers-inl.h"
#include "engine/map/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace products {

using namespace engine::HWY_NAMESPACE;

template <class D, class V>
HWY_INLINE void MultiplyParts(V a, V b, V a_imaginary, V b_imaginary, V& real, V& imaginary) {
  real = hn::Sub(hn::Mul(a, b), hn::Mul(a_imaginary, b_imaginary));
  imaginary = hn::Add(hn::Mul(a, b_imaginary), hn::Mul(a_imaginary, b));
}

using ProductLanes =
    LaneTypes<float, double, int8_t, uint8_t, int16_t, int32_t, int64_t, Complex<float>, Complex<double>>;

struct Product : Elementwise<Product> {
  using Parameters = engine::Scalars;
  using Lanes = ProductLanes;
  static constexpr int kInputs = 2;
  static constexpr bool kHasFastPath = true;
  explicit Product(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    return Multiply(d, a, b);
  }
  template <class D, class V>
  HWY_INLINE void OfParts(D, V a, V b, V a_imaginary, V b_imaginary, V& real, V& imaginary) const {
    MultiplyParts<D>(a, b, a_imaginary, b_imaginary, real, imaginary);
  }
};

// Multiplies by a number.
struct Scaled : Elementwise<Scaled> {
  using Parameters = engine::Scalars;
  using Lanes = ProductLanes;
  static constexpr int kInputs = 1;
  static constexpr bool kHasFastPath = true;
  explicit Scaled(const Parameters& parameters) : scalars(parameters) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    return Multiply(d, a, hn::Set(d, scalars.Get<hn::TFromD<D>>(0)));
  }
  template <class D, class V>
  HWY_INLINE void OfParts(D d, V a, V a_imaginary, V& real, V& imaginary) const {
    using T = hn::TFromD<D>;
    MultiplyParts<D>(a, hn::Set(d, scalars.Get<T>(0)), a_imaginary, hn::Set(d, scalars.Get<T>(0, 1)), real,
                     imaginary);
  }

  engine::Scalars scalars;
};

// Computes logical and.
struct Both : Elementwise<Both> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<Bool>;
  static constexpr int kInputs = 2;
  explicit Both(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::And(a, b);
  }
};

}  // namespace products
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/arithmetic/mul_functions.h"
#include "aclnnop/binary_checks.h"
#include "aclnnop/jobs/mul.h"
#include "aclnnop/phase1.h"

namespace portacl {
namespace {

constexpr auto kProduct = PORTACL_VALUE_KERNELS(products::Product);
constexpr auto kScaled = PORTACL_VALUE_KERNELS(products::Scaled);
constexpr auto kBoth = PORTACL_VALUE_KERNELS(products::Both);

enum Tensors { kSelf, kOther, kOut };
constexpr int kOutOfScalar = kOther;
enum Attributes { kScalar };

constexpr auto TensorChecks(int out) {
  return List(NotNull(kSelf), NotNull(kOther), NotNull(out),
              DtypesIn(kArithmeticDtypes, {kSelf, kOther, out}), Promotes({kSelf, kOther}),
              OnProducts(products::kBeforeAscend950, PromotedCastsTo(out)));
}
constexpr auto kChecks =
    Join(TensorChecks(kOut), BroadcastChecks(kSelf, kOther, kOut), ComputableChecks({kSelf, kOther}, kOut));
// The in-place form and the form with a scalar do not check ranks.
constexpr auto kInPlaceChecks = Join(TensorChecks(kSelf), BroadcastsInto({kSelf, kOther}, kSelf),
                                     ComputableChecks({kSelf, kOther}, kSelf));

constexpr auto ScalarChecks(int out) {
  return Join(
      List(NotNull(kSelf), ScalarNotNull(kScalar), NotNull(out), DtypesIn(kArithmeticDtypes, {kSelf, out}),
           PromotesScalarBy(ScalarRule::kMuls, kSelf, {kScalar}, out)),
      Ascend950Checks(kArithmeticDtypes, {kSelf}, {kScalar}),
      List(OnProducts(products::kAscend950, PromotedCastsTo(out)), SameShape(kSelf, out)),
      ComputableChecks({kSelf}, out, {kScalar}));
}
constexpr auto kMulsChecks = ScalarChecks(kOutOfScalar);
constexpr auto kInPlaceMulsChecks = ScalarChecks(kSelf);

void SetProduct(const OperatorCall& call, Executor& executor) {
  SetMapJob(call, {kSelf, kOther}, call.Output(), ProductKernels(call.promoted), engine::Scalars(), executor);
}

void SetScaled(const OperatorCall& call, Executor& executor) {
  engine::Scalars scalars;
  SetMapScalar(call, kScaled, call.Scalar(kScalar), scalars, 0);
  SetMapJob(call, {kSelf}, call.Output(), kScaled, scalars, executor);
}

}  // namespace

const engine::KernelTable& ProductKernels(aclDataType promoted) noexcept {
  return promoted == ACL_BOOL ? kBoth : kProduct;
}
const engine::KernelTable& ScaledKernels() noexcept { return kScaled; }

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnMul) { return RunPhase1(call, kChecks, workspaceSize, executor, SetProduct); }

PORTACL_PHASE_1(aclnnInplaceMul) {
  return RunPhase1(call, kInPlaceChecks, workspaceSize, executor, SetProduct);
}

PORTACL_PHASE_1(aclnnMuls) { return RunPhase1(call, kMulsChecks, workspaceSize, executor, SetScaled); }

PORTACL_PHASE_1(aclnnInplaceMuls) {
  return RunPhase1(call, kInPlaceMulsChecks, workspaceSize, executor, SetScaled);
}

#endif  // HWY_ONCE
