// aclnnBitwiseAnd..., aclnnBitwiseOr..., aclnnBitwiseXor... with tensors and scalars, their in-place forms,
// and aclnnBitwiseNot.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/logic/bitwise.cc"
#include "base/foreach_target.h"

#include "engine/map/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace bits {

using namespace engine::HWY_NAMESPACE;

// Wider unsigned numbers are computed as int32 or int64.
using BitLanes = LaneTypes<int8_t, uint8_t, int16_t, int32_t, int64_t, Bool>;

struct And : Elementwise<And> {
  using Parameters = engine::Scalars;
  using Lanes = BitLanes;
  static constexpr int kInputs = 2;
  explicit And(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::And(a, b);
  }
};

struct Or : Elementwise<Or> {
  using Parameters = engine::Scalars;
  using Lanes = BitLanes;
  static constexpr int kInputs = 2;
  explicit Or(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Or(a, b);
  }
};

struct ExclusiveOr : Elementwise<ExclusiveOr> {
  using Parameters = engine::Scalars;
  using Lanes = BitLanes;
  static constexpr int kInputs = 2;
  explicit ExclusiveOr(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Xor(a, b);
  }
};

enum Bits { kKept, kFlipped };

// Computes (a & kept) ^ flipped. Suitable bits make this every operation with a scalar.
struct KeepAndFlip : Elementwise<KeepAndFlip> {
  using Parameters = engine::Scalars;
  using Lanes = BitLanes;
  static constexpr int kInputs = 1;
  explicit KeepAndFlip(const Parameters& parameters) : scalars(parameters) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    using T = hn::TFromD<D>;
    return hn::Xor(hn::And(a, hn::Set(d, scalars.Get<T>(kKept))), hn::Set(d, scalars.Get<T>(kFlipped)));
  }

  engine::Scalars scalars;
};

}  // namespace bits
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <cstring>

#include "aclnn/opdev/op_errno.h"
#include "aclnnop/logic/bitwise_functions.h"
#include "aclnnop/phase1.h"

namespace portacl {
namespace {

constexpr auto kAndKernels = PORTACL_VALUE_KERNELS(bits::And);
constexpr auto kOrKernels = PORTACL_VALUE_KERNELS(bits::Or);
constexpr auto kExclusiveOrKernels = PORTACL_VALUE_KERNELS(bits::ExclusiveOr);
constexpr auto kKeepAndFlip = PORTACL_VALUE_KERNELS(bits::KeepAndFlip);

enum Tensors { kSelf, kOther, kOut };
enum ScalarTensors { kScalarSelf, kScalarOut };
enum Attributes { kScalarOther };
// Scalars of KeepAndFlip.
enum Bits { kKept, kFlipped };

constexpr DtypeRule kAndDtypes = Everywhere(kIntegersAndBool | DtypeSet{ACL_UINT16});
constexpr DtypeRule kOrDtypes = Everywhere(kIntegersAndBool | kUnsignedSince16Bits);
constexpr DtypeRule kOrScalarDtypes =
    kAndDtypes.On(products::kAscend950, kIntegersAndBool | kUnsignedSince16Bits);
constexpr DtypeRule kXorDtypes =
    Everywhere(kIntegersAndBool).On(products::kAscend950, kIntegersAndBool | kUnsignedSince16Bits);

constexpr auto Dtypes(const DtypeRule& in, int out) {
  return List(NotNull(kSelf), NotNull(kOther), NotNull(out), DtypesIn(in, {kSelf, kOther}),
              Promotes({kSelf, kOther}), PromotedCastsTo(out));
}
constexpr auto Shapes(int out, Operands ranks) {
  return List(RankAtMost(8, ranks), Broadcasts({kSelf, kOther}), ShapeIsBroadcast(out),
              SizesRepresentable({out}), DoneIfEmpty({kSelf, kOther}), InsideStorage({kSelf, kOther}),
              DtypeImplemented({out}, kConvertible));
}
constexpr auto AndChecks(int out) {
  return Join(Dtypes(kAndDtypes, out), List(NotPrivate({kSelf, kOther, out})), Shapes(out, {kSelf, kOther}));
}
constexpr auto AndOutChecks(int out) {
  return Join(Dtypes(kAndDtypes, out),
              List(SameFormat({kSelf, kOther, out}), NotPrivate({kSelf, kOther, out})),
              Shapes(out, {kSelf, kOther}));
}
constexpr auto OrChecks(const DtypeRule& in, int out) {
  return Join(Dtypes(in, out), Shapes(out, {kSelf, kOther, out}));
}
constexpr auto kAndTensorChecks = AndChecks(kOut);
constexpr auto kInplaceAndTensorChecks = AndChecks(kSelf);
constexpr auto kAndTensorOutChecks = AndOutChecks(kOut);
constexpr auto kInplaceAndTensorOutChecks = AndOutChecks(kSelf);
constexpr auto kOrTensorChecks = OrChecks(kOrDtypes, kOut);
constexpr auto kInplaceOrTensorChecks = OrChecks(kOrDtypes, kSelf);
constexpr auto kXorTensorChecks = OrChecks(kXorDtypes, kOut);
constexpr auto kInplaceXorTensorChecks = OrChecks(kXorDtypes, kSelf);

constexpr auto DtypesWithScalar(const DtypeRule& in, ScalarRule rule, int out) {
  return List(NotNull(kScalarSelf), ScalarNotNull(kScalarOther), NotNull(out), DtypesIn(in, {kScalarSelf}),
              ScalarDtypesIn(in, {kScalarOther}), PromotesScalarBy(rule, kScalarSelf, {kScalarOther}, out),
              PromotedCastsTo(out));
}
constexpr auto ShapesOfSelf(int out) {
  return List(RankAtMost(8, {kScalarSelf}), Broadcasts({kScalarSelf}), SameShape(kScalarSelf, out),
              SizesRepresentable({out}), DoneIfEmpty({kScalarSelf}), InsideStorage({kScalarSelf}),
              DtypeImplemented({out}, kConvertible));
}
constexpr auto AndScalarChecks(int out) {
  return Join(DtypesWithScalar(kAndDtypes, ScalarRule::kBitwiseAndScalar, out),
              List(NotPrivate({kScalarSelf, out})), ShapesOfSelf(out));
}
constexpr auto OrScalarChecks(const DtypeRule& in, int out) {
  return Join(DtypesWithScalar(in, ScalarRule::kBitwiseOrScalar, out), ShapesOfSelf(out));
}
constexpr auto kAndScalarChecks = AndScalarChecks(kScalarOut);
constexpr auto kInplaceAndScalarChecks = AndScalarChecks(kScalarSelf);
constexpr auto kOrScalarChecks = OrScalarChecks(kOrScalarDtypes, kScalarOut);
constexpr auto kInplaceOrScalarChecks = OrScalarChecks(kOrScalarDtypes, kScalarSelf);
constexpr auto kXorScalarChecks = OrScalarChecks(kXorDtypes, kScalarOut);
constexpr auto kInplaceXorScalarChecks = OrScalarChecks(kXorDtypes, kScalarSelf);

// Only here is a null tensor an internal error.
constexpr auto kNotChecks = Join(List(WithCode(ACLNN_ERR_INNER_NULLPTR, NotNull(kScalarSelf)),
                                      WithCode(ACLNN_ERR_INNER_NULLPTR, NotNull(kScalarOut)),
                                      DtypesIn(kXorDtypes, {kScalarSelf}), SameDtype(kScalarSelf, kScalarOut),
                                      NotPrivate({kScalarSelf, kScalarOut}), PromotesToDtypeOf(kScalarSelf)),
                                 ShapesOfSelf(kScalarOut));

aclnnStatus Combine(OperatorCall& call, std::span<const Check> checks, const engine::KernelTable& kernels,
                    uint64_t* workspaceSize, aclOpExecutor** executor) {
  return RunPhase1(call, checks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
    SetMapJob(checked, {kSelf, kOther}, checked.in_place ? kSelf : kOut, kernels, {}, fresh);
  });
}

// Set all bits, or the inverted bits of scalar number i.
void SetBits(engine::Scalars& scalars, int to) {
  std::memset(scalars.bytes[to], 0xFF, sizeof scalars.bytes[to]);
}
void SetOthers(engine::Scalars& scalars, int i, int to) {
  for (size_t k = 0; k < sizeof scalars.bytes[to]; ++k) {
    scalars.bytes[to][k] = static_cast<unsigned char>(~scalars.bytes[i][k]);
  }
}

enum class Operation { kAnd, kOr, kExclusiveOr };

aclnnStatus Combine(OperatorCall& call, std::span<const Check> checks, Operation operation,
                    uint64_t* workspaceSize, aclOpExecutor** executor) {
  return RunPhase1(call, checks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
    engine::Scalars scalars;
    SetMapScalar(checked, kKeepAndFlip, checked.Scalar(0), scalars,
                 operation == Operation::kAnd ? kKept : kFlipped);
    if (operation == Operation::kOr) SetOthers(scalars, kFlipped, kKept);
    if (operation == Operation::kExclusiveOr) SetBits(scalars, kKept);
    SetMapJob(checked, {kScalarSelf}, checked.in_place ? kScalarSelf : kScalarOut, kKeepAndFlip, scalars,
              fresh);
  });
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnBitwiseAndTensor) {
  return Combine(call, kAndTensorChecks, kAndKernels, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnBitwiseAndScalar) {
  return Combine(call, kAndScalarChecks, Operation::kAnd, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnInplaceBitwiseAndTensor) {
  return Combine(call, kInplaceAndTensorChecks, kAndKernels, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnInplaceBitwiseAndScalar) {
  return Combine(call, kInplaceAndScalarChecks, Operation::kAnd, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnBitwiseOrTensor) {
  return Combine(call, kOrTensorChecks, kOrKernels, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnBitwiseOrScalar) {
  return Combine(call, kOrScalarChecks, Operation::kOr, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnInplaceBitwiseOrTensor) {
  return Combine(call, kInplaceOrTensorChecks, kOrKernels, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnInplaceBitwiseOrScalar) {
  return Combine(call, kInplaceOrScalarChecks, Operation::kOr, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnBitwiseXorTensor) {
  return Combine(call, kXorTensorChecks, kExclusiveOrKernels, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnBitwiseXorScalar) {
  return Combine(call, kXorScalarChecks, Operation::kExclusiveOr, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnInplaceBitwiseXorTensor) {
  return Combine(call, kInplaceXorTensorChecks, kExclusiveOrKernels, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnInplaceBitwiseXorScalar) {
  return Combine(call, kInplaceXorScalarChecks, Operation::kExclusiveOr, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnBitwiseAndTensorOut) {
  return Combine(call, kAndTensorOutChecks, kAndKernels, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnInplaceBitwiseAndTensorOut) {
  return Combine(call, kInplaceAndTensorOutChecks, kAndKernels, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnBitwiseNot) {
  return RunPhase1(call, kNotChecks, workspaceSize, executor,
                   [&](const OperatorCall& checked, Executor& fresh) {
                     engine::Scalars scalars;
                     SetBits(scalars, kKept);
                     SetBits(scalars, kFlipped);
                     // Bool has only one bit.
                     if (checked.promoted == ACL_BOOL) scalars.bytes[kFlipped][0] = 1;
                     SetMapJob(checked, {kScalarSelf}, kScalarOut, kKeepAndFlip, scalars, fresh);
                   });
}

#endif  // HWY_ONCE
