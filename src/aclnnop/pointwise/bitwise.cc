// aclnnBitwiseAnd..., aclnnBitwiseOr..., aclnnBitwiseXor... with tensors and scalars, their in-place forms,
// and aclnnBitwiseNot.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/aclnn_bitwise_and_scalar.h"
#include "aclnnop/aclnn_bitwise_and_tensor.h"
#include "aclnnop/aclnn_bitwise_not.h"
#include "aclnnop/aclnn_bitwise_or_scalar.h"
#include "aclnnop/aclnn_bitwise_or_tensor.h"
#include "aclnnop/aclnn_bitwise_xor_scalar.h"
#include "aclnnop/aclnn_bitwise_xor_tensor.h"
#include "aclnnop/aclnn_bitwiseand.h"

#include "acl/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/pointwise/bitwise.cc"
#include <hwy/foreach_target.h>

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

// (a & kept) ^ flipped: with the right bits, every operation with a scalar.
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
#include "aclnnop/operator_facts.h"
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
// Of the formula with a scalar.
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

// Here alone a null tensor is an inner error.
constexpr auto kNotChecks = Join(List(WithCode(ACLNN_ERR_INNER_NULLPTR, NotNull(kScalarSelf)),
                                      WithCode(ACLNN_ERR_INNER_NULLPTR, NotNull(kScalarOut)),
                                      DtypesIn(kXorDtypes, {kScalarSelf}), SameDtype(kScalarSelf, kScalarOut),
                                      NotPrivate({kScalarSelf, kScalarOut}), PromotesToDtypeOf(kScalarSelf)),
                                 ShapesOfSelf(kScalarOut));

aclnnStatus Combine(const char* api, std::span<const TensorArgument> tensors, std::span<const Check> checks,
                    const engine::KernelTable& kernels, uint64_t* workspaceSize, aclOpExecutor** executor) {
  OperatorCall call{api, tensors, {}};
  call.in_place = tensors.size() == kOut;
  return RunPhase1(call, checks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
    SetMapJob(checked, {kSelf, kOther}, checked.in_place ? kSelf : kOut, kernels, {}, fresh);
  });
}

// All bits, or those that scalar number i does not have.
void SetBits(engine::Scalars& scalars, int to) {
  std::memset(scalars.bytes[to], 0xFF, sizeof scalars.bytes[to]);
}
void SetOthers(engine::Scalars& scalars, int i, int to) {
  for (size_t k = 0; k < sizeof scalars.bytes[to]; ++k) {
    scalars.bytes[to][k] = static_cast<unsigned char>(~scalars.bytes[i][k]);
  }
}

enum class Operation { kAnd, kOr, kExclusiveOr };

aclnnStatus Combine(const char* api, std::span<const TensorArgument> tensors, const aclScalar* other,
                    std::span<const Check> checks, Operation operation, uint64_t* workspaceSize,
                    aclOpExecutor** executor) {
  const Attribute attributes[] = {{"other", other}};
  OperatorCall call{api, tensors, attributes};
  call.in_place = tensors.size() == kScalarOut;
  return RunPhase1(call, checks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
    engine::Scalars scalars;
    SetMapScalar(checked, kKeepAndFlip, *other, scalars, operation == Operation::kAnd ? kKept : kFlipped);
    if (operation == Operation::kOr) SetOthers(scalars, kFlipped, kKept);
    if (operation == Operation::kExclusiveOr) SetBits(scalars, kKept);
    SetMapJob(checked, {kScalarSelf}, checked.in_place ? kScalarSelf : kScalarOut, kKeepAndFlip, scalars,
              fresh);
  });
}

}  // namespace

namespace facts {
extern const OperatorFacts bitwise_and_tensor, bitwise_and_scalar, bitwise_or_tensor, bitwise_or_scalar,
    bitwise_xor_tensor, bitwise_xor_scalar, bitwiseand, bitwise_not;
}

const OperatorFacts facts::bitwise_and_tensor = {
    "aclnnBitwiseAndTensor", "aclnnop/aclnn_bitwise_and_tensor.h", kAndDtypes, kAndDtypes,
    /*by_promotion=*/false,
    /*inputs_only=*/true};
const OperatorFacts facts::bitwise_and_scalar = {
    "aclnnBitwiseAndScalar", "aclnnop/aclnn_bitwise_and_scalar.h", kAndDtypes, kAndDtypes,
    /*by_promotion=*/false,
    /*inputs_only=*/true};
const OperatorFacts facts::bitwise_or_tensor = {
    "aclnnBitwiseOrTensor", "aclnnop/aclnn_bitwise_or_tensor.h", kOrDtypes, kOrDtypes, /*by_promotion=*/false,
    /*inputs_only=*/true};
const OperatorFacts facts::bitwise_or_scalar = {"aclnnBitwiseOrScalar", "aclnnop/aclnn_bitwise_or_scalar.h",
                                                kOrScalarDtypes,        kOrScalarDtypes,
                                                /*by_promotion=*/false, /*inputs_only=*/true};
const OperatorFacts facts::bitwise_xor_tensor = {
    "aclnnBitwiseXorTensor", "aclnnop/aclnn_bitwise_xor_tensor.h", kXorDtypes, kXorDtypes,
    /*by_promotion=*/false,
    /*inputs_only=*/true};
const OperatorFacts facts::bitwise_xor_scalar = {
    "aclnnBitwiseXorScalar", "aclnnop/aclnn_bitwise_xor_scalar.h", kXorDtypes, kXorDtypes,
    /*by_promotion=*/false,
    /*inputs_only=*/true};
constexpr DtypeRule kAscend950Alone = kAndDtypes.OnlyOn(products::kAscend950);
const OperatorFacts facts::bitwiseand = {
    "aclnnBitwiseAndTensorOut", "aclnnop/aclnn_bitwiseand.h", kAscend950Alone, kAndDtypes,
    /*by_promotion=*/false,     /*inputs_only=*/true};
const OperatorFacts facts::bitwise_not = {"aclnnBitwiseNot", "aclnnop/aclnn_bitwise_not.h", kXorDtypes,
                                          kXorDtypes, /*by_promotion=*/false};

}  // namespace portacl

using namespace portacl;

aclnnStatus aclnnBitwiseAndTensorGetWorkspaceSize(const aclTensor* self, const aclTensor* other,
                                                  aclTensor* out, uint64_t* workspaceSize,
                                                  aclOpExecutor** executor) {
  const TensorArgument tensors[] = {{"self", self}, {"other", other}, {"out", out}};
  return Combine("aclnnBitwiseAndTensor", tensors, kAndTensorChecks, kAndKernels, workspaceSize, executor);
}
PORTACL_PHASE_2(aclnnBitwiseAndTensor)

aclnnStatus aclnnBitwiseAndScalarGetWorkspaceSize(const aclTensor* self, const aclScalar* other,
                                                  aclTensor* out, uint64_t* workspaceSize,
                                                  aclOpExecutor** executor) {
  const TensorArgument tensors[] = {{"self", self}, {"out", out}};
  return Combine("aclnnBitwiseAndScalar", tensors, other, kAndScalarChecks, Operation::kAnd, workspaceSize,
                 executor);
}
PORTACL_PHASE_2(aclnnBitwiseAndScalar)

aclnnStatus aclnnInplaceBitwiseAndTensorGetWorkspaceSize(const aclTensor* selfRef, const aclTensor* other,
                                                         uint64_t* workspaceSize, aclOpExecutor** executor) {
  const TensorArgument tensors[] = {{"selfRef", selfRef}, {"other", other}};
  return Combine("aclnnInplaceBitwiseAndTensor", tensors, kInplaceAndTensorChecks, kAndKernels, workspaceSize,
                 executor);
}
PORTACL_PHASE_2(aclnnInplaceBitwiseAndTensor)

aclnnStatus aclnnInplaceBitwiseAndScalarGetWorkspaceSize(const aclTensor* selfRef, const aclScalar* other,
                                                         uint64_t* workspaceSize, aclOpExecutor** executor) {
  const TensorArgument tensors[] = {{"selfRef", selfRef}};
  return Combine("aclnnInplaceBitwiseAndScalar", tensors, other, kInplaceAndScalarChecks, Operation::kAnd,
                 workspaceSize, executor);
}
PORTACL_PHASE_2(aclnnInplaceBitwiseAndScalar)

aclnnStatus aclnnBitwiseOrTensorGetWorkspaceSize(const aclTensor* self, const aclTensor* other,
                                                 aclTensor* out, uint64_t* workspaceSize,
                                                 aclOpExecutor** executor) {
  const TensorArgument tensors[] = {{"self", self}, {"other", other}, {"out", out}};
  return Combine("aclnnBitwiseOrTensor", tensors, kOrTensorChecks, kOrKernels, workspaceSize, executor);
}
PORTACL_PHASE_2(aclnnBitwiseOrTensor)

aclnnStatus aclnnBitwiseOrScalarGetWorkspaceSize(const aclTensor* self, const aclScalar* other,
                                                 aclTensor* out, uint64_t* workspaceSize,
                                                 aclOpExecutor** executor) {
  const TensorArgument tensors[] = {{"self", self}, {"out", out}};
  return Combine("aclnnBitwiseOrScalar", tensors, other, kOrScalarChecks, Operation::kOr, workspaceSize,
                 executor);
}
PORTACL_PHASE_2(aclnnBitwiseOrScalar)

aclnnStatus aclnnInplaceBitwiseOrTensorGetWorkspaceSize(aclTensor* selfRef, const aclTensor* other,
                                                        uint64_t* workspaceSize, aclOpExecutor** executor) {
  const TensorArgument tensors[] = {{"selfRef", selfRef}, {"other", other}};
  return Combine("aclnnInplaceBitwiseOrTensor", tensors, kInplaceOrTensorChecks, kOrKernels, workspaceSize,
                 executor);
}
PORTACL_PHASE_2(aclnnInplaceBitwiseOrTensor)

aclnnStatus aclnnInplaceBitwiseOrScalarGetWorkspaceSize(aclTensor* selfRef, const aclScalar* other,
                                                        uint64_t* workspaceSize, aclOpExecutor** executor) {
  const TensorArgument tensors[] = {{"selfRef", selfRef}};
  return Combine("aclnnInplaceBitwiseOrScalar", tensors, other, kInplaceOrScalarChecks, Operation::kOr,
                 workspaceSize, executor);
}
PORTACL_PHASE_2(aclnnInplaceBitwiseOrScalar)

aclnnStatus aclnnBitwiseXorTensorGetWorkspaceSize(const aclTensor* self, const aclTensor* other,
                                                  aclTensor* out, uint64_t* workspaceSize,
                                                  aclOpExecutor** executor) {
  const TensorArgument tensors[] = {{"self", self}, {"other", other}, {"out", out}};
  return Combine("aclnnBitwiseXorTensor", tensors, kXorTensorChecks, kExclusiveOrKernels, workspaceSize,
                 executor);
}
PORTACL_PHASE_2(aclnnBitwiseXorTensor)

aclnnStatus aclnnBitwiseXorScalarGetWorkspaceSize(const aclTensor* self, const aclScalar* other,
                                                  aclTensor* out, uint64_t* workspaceSize,
                                                  aclOpExecutor** executor) {
  const TensorArgument tensors[] = {{"self", self}, {"out", out}};
  return Combine("aclnnBitwiseXorScalar", tensors, other, kXorScalarChecks, Operation::kExclusiveOr,
                 workspaceSize, executor);
}
PORTACL_PHASE_2(aclnnBitwiseXorScalar)

aclnnStatus aclnnInplaceBitwiseXorTensorGetWorkspaceSize(aclTensor* selfRef, const aclTensor* other,
                                                         uint64_t* workspaceSize, aclOpExecutor** executor) {
  const TensorArgument tensors[] = {{"selfRef", selfRef}, {"other", other}};
  return Combine("aclnnInplaceBitwiseXorTensor", tensors, kInplaceXorTensorChecks, kExclusiveOrKernels,
                 workspaceSize, executor);
}
PORTACL_PHASE_2(aclnnInplaceBitwiseXorTensor)

aclnnStatus aclnnInplaceBitwiseXorScalarGetWorkspaceSize(aclTensor* selfRef, const aclScalar* other,
                                                         uint64_t* workspaceSize, aclOpExecutor** executor) {
  const TensorArgument tensors[] = {{"selfRef", selfRef}};
  return Combine("aclnnInplaceBitwiseXorScalar", tensors, other, kInplaceXorScalarChecks,
                 Operation::kExclusiveOr, workspaceSize, executor);
}
PORTACL_PHASE_2(aclnnInplaceBitwiseXorScalar)

aclnnStatus aclnnBitwiseAndTensorOutGetWorkspaceSize(const aclTensor* self, const aclTensor* other,
                                                     aclTensor* out, uint64_t* workspaceSize,
                                                     aclOpExecutor** executor) {
  const TensorArgument tensors[] = {{"self", self}, {"other", other}, {"out", out}};
  return Combine("aclnnBitwiseAndTensorOut", tensors, kAndTensorOutChecks, kAndKernels, workspaceSize,
                 executor);
}
PORTACL_PHASE_2(aclnnBitwiseAndTensorOut)

aclnnStatus aclnnInplaceBitwiseAndTensorOutGetWorkspaceSize(const aclTensor* self, const aclTensor* other,
                                                            uint64_t* workspaceSize,
                                                            aclOpExecutor** executor) {
  const TensorArgument tensors[] = {{"self", self}, {"other", other}};
  return Combine("aclnnInplaceBitwiseAndTensorOut", tensors, kInplaceAndTensorOutChecks, kAndKernels,
                 workspaceSize, executor);
}
PORTACL_PHASE_2(aclnnInplaceBitwiseAndTensorOut)

aclnnStatus aclnnBitwiseNotGetWorkspaceSize(const aclTensor* self, aclTensor* out, uint64_t* workspaceSize,
                                            aclOpExecutor** executor) {
  const TensorArgument tensors[] = {{"self", self}, {"out", out}};
  OperatorCall call{"aclnnBitwiseNot", tensors, {}};
  return RunPhase1(call, kNotChecks, workspaceSize, executor,
                   [&](const OperatorCall& checked, Executor& fresh) {
                     engine::Scalars scalars;
                     SetBits(scalars, kKept);
                     SetBits(scalars, kFlipped);
                     // Of bool there is but one bit.
                     if (checked.promoted == ACL_BOOL) scalars.bytes[kFlipped][0] = 1;
                     SetMapJob(checked, {kScalarSelf}, kScalarOut, kKeepAndFlip, scalars, fresh);
                   });
}
PORTACL_PHASE_2(aclnnBitwiseNot)

#endif  // HWY_ONCE
