// aclnnPowTensorScalar, its in-place form and aclnnPowScalarTensor: powers with a scalar exponent or a scalar
// base.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/arithmetic/pow.cc"
#include "base/foreach_target.h"

#include "aclnnop/arithmetic/power-inl.h"
#include "engine/functions/modulo-inl.h"
#include "engine/map/scalar_operand-inl.h"
#include "engine/map/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace powers {

using namespace engine::HWY_NAMESPACE;

using PowerWithScalar = WithEitherScalar<Power>;

struct Square : Elementwise<Square> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<float, double, Complex<float>, Complex<double>>;
  static constexpr int kInputs = 1;
  static constexpr bool kTakes16BitFloats = true;
  explicit Square(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return hn::Mul(x, x);
  }
  template <class D, class V>
  HWY_INLINE void OfParts(D, V x, V x_imaginary, V& real, V& imaginary) const {
    real = hn::Sub(hn::Mul(x, x), hn::Mul(x_imaginary, x_imaginary));
    const V product = hn::Mul(x, x_imaginary);
    imaginary = hn::Add(product, product);
  }
};

// Raises to 3, -1, 1/2, -1/2, 0 or 1, where a shorter formula gives the same bits as the power function.
struct SimplePower : Elementwise<SimplePower> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<float, double>;
  static constexpr int kInputs = 1;
  explicit SimplePower(const Parameters& parameters) : scalars(parameters) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    using T = hn::TFromD<D>;
    const T exponent = scalars.Get<T>(0);
    if (exponent == T{0}) return hn::Set(d, T{1});
    if (exponent == T{1}) return x;
    if (exponent == T{3}) return hn::Mul(hn::Mul(x, x), x);
    if (exponent == T{-1}) return hn::Div(hn::Set(d, T{1}), x);
    // -0 and -infinity count as positive, as in C's pow.
    const V minus_infinity = hn::Neg(functions::Infinity(d));
    const V base = hn::IfThenElse(hn::Or(hn::Eq(x, hn::Zero(d)), hn::Eq(x, minus_infinity)), hn::Abs(x), x);
    return exponent > 0 ? hn::Sqrt(base) : functions::Rsqrt(d, base);
  }

  engine::Scalars scalars;
};

}  // namespace powers
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <cmath>
#include <cstring>

#include "aclnnop/arithmetic/pow_functions.h"
#include "aclnnop/arithmetic/power.h"
#include "aclnnop/binary_checks.h"
#include "aclnnop/jobs/list_kernels.h"
#include "aclnnop/phase1.h"
#include "base/data_type.h"
#include "base/errors.h"

namespace portacl {
namespace {

constexpr auto kPowerWithScalar = PORTACL_VALUE_KERNELS(powers::PowerWithScalar);
constexpr auto kSquare = PORTACL_VALUE_KERNELS(powers::Square);
constexpr auto kSimplePower = PORTACL_VALUE_KERNELS(powers::SimplePower);

// The tensor is the base or the exponent.
enum Tensors { kTensor, kOut };
enum Attributes { kScalar };

double AsDouble(const aclScalar& scalar) {
  const ScalarValue value = ConvertScalar(scalar, ACL_DOUBLE);
  double number = 0;
  std::memcpy(&number, value.bytes, sizeof number);
  return number;
}

// Ascend 950 refuses exponents of integers that are negative or beyond their dtype's range. It refuses finite
// exponents of floating numbers beyond the range.
bool ExponentFits(const aclScalar& exponent, aclDataType promoted) {
  if (IsComplex(promoted) || IsComplex(exponent.dtype)) return true;
  const double value = AsDouble(exponent);
  switch (promoted) {
    case ACL_DOUBLE:
      return true;
    case ACL_FLOAT:
      return std::fabs(value) <= 0x1.fffffep127 || !std::isfinite(value);
    case ACL_BF16:
      return std::fabs(value) <= 0x1.fep127 || !std::isfinite(value);
    case ACL_FLOAT16:
      return std::fabs(value) <= 65504 || !std::isfinite(value);
    default:
      const int bits = static_cast<int>(StorageBits(promoted)) - (promoted == ACL_UINT8 ? 0 : 1);
      return value >= 0 && value < std::ldexp(1.0, promoted == ACL_BOOL ? 1 : bits);
  }
}

aclnnStatus CheckExponent(const Check&, OperatorCall& call) noexcept {
  if (ExponentFits(call.Scalar(kScalar), call.promoted)) return ACL_SUCCESS;
  Text message(call.api, ": parameter exponent has a value that is not allowed for dtype ");
  AddDtypeName(message, call.promoted);
  return FailAclnn(ACLNN_ERR_PARAM_INVALID,
                   message.Add(", accepted: a number in its range, of integers not negative."));
}

constexpr auto ScalarChecks(const Check& first_null, const Check& second_null, ScalarRule rule, int out) {
  return Join(List(first_null, second_null, NotNull(out), DtypesIn(kArithmeticDtypes, {kTensor}),
                   ScalarDtypesIn(kArithmeticDtypes, {kScalar}),
                   PromotesScalarBy(ScalarRule::kAsTensors, kTensor, {kScalar}, out), PromotedCastsTo(out),
                   PromotesScalarBy(rule, kTensor, {kScalar}, out), NotAllBool({kTensor}, {kScalar}),
                   PromotedCastsTo(out), RankAtMost(8, {kTensor}), SameShape(kTensor, out),
                   SizesRepresentable({out}), DoneIfEmpty({kTensor})));
}
bool HasNoShorterWay(const OperatorCall& call) noexcept;

constexpr auto TensorScalarChecks(int out) {
  return Join(ScalarChecks(NotNull(kTensor), ScalarNotNull(kScalar), ScalarRule::kPowTensorScalar, out),
              List(OnProducts(products::kAscend950, Check{.run = CheckExponent})),
              ComputableChecks({kTensor}, out, {kScalar}), List(If(HasNoShorterWay, kPowerFunctionsThere)));
}
constexpr auto kTensorScalarChecks = TensorScalarChecks(kOut);
constexpr auto kInPlaceTensorScalarChecks = TensorScalarChecks(kTensor);
constexpr auto kScalarTensorChecks =
    Join(ScalarChecks(ScalarNotNull(kScalar), NotNull(kTensor), ScalarRule::kPowScalarTensor, kOut),
         ComputableChecks({kTensor}, kOut, {kScalar}), List(kPowerFunctionsThere));

// Returns the kernel of a shorter formula for a floating or complex power, or nullptr if there is none.
const engine::KernelTable* ShortKernels(aclDataType promoted, const aclScalar& exponent) {
  if (IsInteger(promoted) || IsComplex(exponent.dtype)) return nullptr;
  const double value = AsDouble(exponent);
  if (value == 2.0) return &kSquare;
  const bool is_simple = value == 3.0 || value == -1.0 || value == 0.5 || value == -0.5;
  const bool is_none = promoted == ACL_DOUBLE && (value == 0.0 || value == 1.0);
  return (is_simple && !IsComplex(promoted)) || is_none ? &kSimplePower : nullptr;
}
bool HasNoShorterWay(const OperatorCall& call) noexcept {
  return ShortKernels(call.promoted, call.Scalar(kScalar)) == nullptr;
}

void SetTensorScalar(const OperatorCall& call, Executor& executor) {
  const aclScalar& exponent = call.Scalar(kScalar);
  const engine::KernelTable& kernels = PowerByKernels(call.promoted, exponent);
  engine::Scalars scalars;
  SetMapScalar(call, kernels, exponent, scalars, 0);
  SetMapJob(call, {kTensor}, call.Output(), kernels, scalars, executor);
}

void SetScalarTensor(const OperatorCall& call, Executor& executor) {
  engine::Scalars scalars;
  SetMapScalar(call, kPowerWithScalar, call.Scalar(kScalar), scalars, 0);
  scalars.SetScalarIsFirst();
  SetMapJob(call, {kTensor}, kOut, kPowerWithScalar, scalars, executor);
}

}  // namespace

const engine::KernelTable& PowerWithScalarKernels() noexcept { return kPowerWithScalar; }
const engine::KernelTable& PowerByKernels(aclDataType promoted, const aclScalar& exponent) noexcept {
  const engine::KernelTable* const short_kernels = ShortKernels(promoted, exponent);
  return short_kernels != nullptr ? *short_kernels : kPowerWithScalar;
}

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnPowTensorScalar) {
  return RunPhase1(call, kTensorScalarChecks, workspaceSize, executor, SetTensorScalar);
}

PORTACL_PHASE_1(aclnnInplacePowTensorScalar) {
  return RunPhase1(call, kInPlaceTensorScalarChecks, workspaceSize, executor, SetTensorScalar);
}

PORTACL_PHASE_1(aclnnPowScalarTensor) {
  const aclnnStatus status = RunPhase1(call, kScalarTensorChecks, workspaceSize, executor, SetScalarTensor);
  return status == ACLNN_ERR_INNER_NULLPTR ? ACLNN_ERR_INNER : status;
}

#endif  // HWY_ONCE
