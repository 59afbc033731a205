// aclnnLogicalAnd, aclnnLogicalOr, aclnnLogicalXor, aclnnLogicalNot and their in-place forms. Every number
// but 0 is true.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/logic/logical.cc"
#include "base/foreach_target.h"

#include "engine/map/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace logic {

using namespace engine::HWY_NAMESPACE;

// The types that are read as they are; other dtypes are converted to bool.
using LogicalLanes = LaneTypes<float, double, int32_t, int64_t, Bool>;

// NaN is true.
template <class D, class V>
HWY_INLINE auto IsFalse(D d, V v) {
  return hn::Eq(v, hn::Zero(d));
}

struct Both : Elementwise<Both> {
  using Parameters = engine::Scalars;
  using Lanes = LogicalLanes;
  static constexpr int kInputs = 2;
  static constexpr bool kTakes16BitFloats = true;
  static constexpr bool kWritesBool = true;
  explicit Both(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE auto operator()(D d, V a, V b) const {
    return hn::Not(hn::Or(IsFalse(d, a), IsFalse(d, b)));
  }
};

struct Either : Elementwise<Either> {
  using Parameters = engine::Scalars;
  using Lanes = LogicalLanes;
  static constexpr int kInputs = 2;
  static constexpr bool kTakes16BitFloats = true;
  static constexpr bool kWritesBool = true;
  explicit Either(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE auto operator()(D d, V a, V b) const {
    return hn::Not(hn::And(IsFalse(d, a), IsFalse(d, b)));
  }
};

struct OneAlone : Elementwise<OneAlone> {
  using Parameters = engine::Scalars;
  using Lanes = LogicalLanes;
  static constexpr int kInputs = 2;
  static constexpr bool kTakes16BitFloats = true;
  static constexpr bool kWritesBool = true;
  explicit OneAlone(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE auto operator()(D d, V a, V b) const {
    return hn::Xor(IsFalse(d, a), IsFalse(d, b));
  }
};

struct Neither : Elementwise<Neither> {
  using Parameters = engine::Scalars;
  using Lanes = LogicalLanes;
  static constexpr int kInputs = 1;
  static constexpr bool kTakes16BitFloats = true;
  static constexpr bool kWritesBool = true;
  explicit Neither(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE auto operator()(D d, V a) const {
    return IsFalse(d, a);
  }
};

}  // namespace logic
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/logic/logical_functions.h"
#include "aclnnop/phase1.h"

namespace portacl {
namespace {

constexpr auto kBoth = PORTACL_VALUE_KERNELS(logic::Both);
constexpr auto kEither = PORTACL_VALUE_KERNELS(logic::Either);
constexpr auto kOneAlone = PORTACL_VALUE_KERNELS(logic::OneAlone);
constexpr auto kNeither = PORTACL_VALUE_KERNELS(logic::Neither);

enum Tensors { kSelf, kOther, kOut };
enum UnaryTensors { kUnarySelf, kUnaryOut };

constexpr DtypeRule kWithBf16 = Everywhere(kArithmetic | kBf16);
constexpr DtypeRule kOrOut =
    kArithmeticDtypes.On(products::kAscend950, kArithmetic | kBf16 | kUnsignedSince16Bits);
constexpr DtypeRule kNotDtypes = Everywhere(kRealArithmetic | kBf16);

constexpr auto Tests(const DtypeRule& in, int out) {
  return List(NotNull(kSelf), NotNull(kOther), NotNull(out), DtypesIn(in, {kSelf, kOther}));
}
constexpr auto TestsOfShapes(int out) {
  return List(RankAtMost(8, {kSelf, kOther}), Broadcasts({kSelf, kOther}), ShapeIsBroadcast(out),
              SizesRepresentable({out}), DoneIfEmpty({kSelf, kOther}), InsideStorage({kSelf, kOther}));
}
// The result of aclnnLogicalAnd may have any dtype to which bool converts.
constexpr auto AndChecks(int out) {
  return Join(Tests(kWithBf16, out), TestsOfShapes(out), List(DtypeImplemented({out}, kConvertible)));
}
constexpr auto OrChecks(int out) {
  return Join(Tests(kArithmeticDtypes, out), List(DtypesIn(kOrOut, {out})), TestsOfShapes(out));
}
constexpr auto kAndChecks = AndChecks(kOut);
constexpr auto kInplaceAndChecks = AndChecks(kSelf);
constexpr auto kOrChecks = OrChecks(kOut);
constexpr auto kInplaceOrChecks = OrChecks(kSelf);

bool IsComplex(const OperatorCall& call) noexcept {
  return kComplex.Contains(call.Tensor(kSelf).dtype) || kComplex.Contains(call.Tensor(kOther).dtype);
}
constexpr auto kXorChecks = Join(Tests(kArithmeticDtypes, kOut), List(DtypesIn(kArithmeticDtypes, {kOut})),
                                 TestsOfShapes(kOut), List(If(IsComplex, RankAtMost(7, {kSelf, kOther}))));

constexpr auto NotChecks(int out) {
  return List(NotNull(kUnarySelf), NotNull(out), Broadcasts({kUnarySelf}), SameShape(kUnarySelf, out),
              DtypesIn(kNotDtypes, {kUnarySelf, out}), RankAtMostUnlessContiguous(8, {kUnarySelf, out}),
              SizesRepresentable({out}), DoneIfEmpty({kUnarySelf}), InsideStorage({kUnarySelf}));
}
constexpr auto kNotChecks = NotChecks(kUnaryOut);
constexpr auto kInplaceNotChecks = NotChecks(kUnarySelf);

// Sets a job of logical operations. If all inputs have one dtype of kCompared, they are compared with 0 in
// it; otherwise they are converted to bool.
void SetLogical(OperatorCall call, Operands inputs, int output, const engine::KernelTable& kernels,
                Executor& executor) {
  constexpr DtypeSet kCompared{ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE, ACL_INT32, ACL_INT64};
  call.promoted = call.Tensor(kSelf).dtype;
  if (!kCompared.Contains(call.promoted)) call.promoted = ACL_BOOL;
  for (const int i : inputs) {
    if (call.Tensor(i).dtype != call.promoted) call.promoted = ACL_BOOL;
  }
  SetMapJob(call, inputs, output, kernels, {}, executor);
}

aclnnStatus Combine(OperatorCall& call, std::span<const Check> checks, const engine::KernelTable& kernels,
                    uint64_t* workspaceSize, aclOpExecutor** executor) {
  return RunPhase1(call, checks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
    SetLogical(checked, {kSelf, kOther}, checked.in_place ? kSelf : kOut, kernels, fresh);
  });
}

// Supports any number of dims of contiguous tensors, which a loop merges to one.
aclnnStatus Negate(OperatorCall& call, std::span<const Check> checks, uint64_t* workspaceSize,
                   aclOpExecutor** executor) {
  return RunPhase1(call, checks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
    SetLogical(checked, {kUnarySelf}, checked.in_place ? kUnarySelf : kUnaryOut, kNeither, fresh);
  });
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnLogicalAnd) { return Combine(call, kAndChecks, kBoth, workspaceSize, executor); }

PORTACL_PHASE_1(aclnnInplaceLogicalAnd) {
  return Combine(call, kInplaceAndChecks, kBoth, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnLogicalOr) { return Combine(call, kOrChecks, kEither, workspaceSize, executor); }

PORTACL_PHASE_1(aclnnInplaceLogicalOr) {
  return Combine(call, kInplaceOrChecks, kEither, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnLogicalXor) { return Combine(call, kXorChecks, kOneAlone, workspaceSize, executor); }

PORTACL_PHASE_1(aclnnLogicalNot) { return Negate(call, kNotChecks, workspaceSize, executor); }

PORTACL_PHASE_1(aclnnInplaceLogicalNot) { return Negate(call, kInplaceNotChecks, workspaceSize, executor); }

#endif  // HWY_ONCE
