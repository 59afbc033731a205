// Phase 1 of functions of one tensor (see unary.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/unary/unary.h"

#include "aclnnop/call_of_views.h"
#include "base/data_type.h"
#include "plan/loop_plan.h"
#include "plan/move_plan.h"

namespace portacl {
namespace {

using namespace unary;

constexpr DtypeSet kListOfSign = kFloating | kBool | DtypeSet(ACL_INT32, ACL_INT64);

aclDataType SelfDtype(const OperatorCall& call) { return call.Tensor(kSelf).dtype; }

void SetUnaryJob(const OperatorCall& call, const UnaryRules& rules, int out, Executor& executor) noexcept {
  if (call.Tensor(out).shape.rank > kMaxLoopRank) {
    // Only contiguous tensors of so many dims pass the checks (see ChecksOf). Their dims merge to one.
    const aclTensor self = AsTensor(MergedDims(call.Tensor(kSelf)));
    const aclTensor result = AsTensor(MergedDims(call.Tensor(out)));
    const TensorArgument tensors[] = {{call.Name(kSelf), &self}, {call.Name(out), &result}};
    OperatorCall merged = call;
    merged.tensors = tensors;
    return SetUnaryJob(merged, rules, kOut, executor);
  }
  if (rules.copied.Contains(call.promoted)) return SetMoveJob(call, kSelf, out, executor);
  if (rules.zeroed.Contains(call.promoted)) return SetFillJob(call, out, ScalarValue{}, executor);
  SetMapJob(call, {kSelf}, out, rules.kernels, engine::Scalars{}, executor);
}

}  // namespace

bool unary::SelfIsInteger(const OperatorCall& call) noexcept {
  return IsInteger(SelfDtype(call)) || SelfDtype(call) == ACL_BOOL;
}
bool unary::SelfIsInt64(const OperatorCall& call) noexcept { return SelfDtype(call) == ACL_INT64; }
bool unary::SelfIsComplex32(const OperatorCall& call) noexcept { return SelfDtype(call) == ACL_COMPLEX32; }
bool unary::SelfIsComplex64(const OperatorCall& call) noexcept { return SelfDtype(call) == ACL_COMPLEX64; }
bool unary::SelfIsReal(const OperatorCall& call) noexcept {
  return !SelfIsComplex32(call) && !SelfIsComplex64(call);
}
bool unary::SelfIsInListOfSign(const OperatorCall& call) noexcept {
  return kListOfSign.Contains(SelfDtype(call));
}
bool unary::SelfIsNotInListOfSign(const OperatorCall& call) noexcept { return !SelfIsInListOfSign(call); }
aclnnStatus RunUnary(OperatorCall& call, const UnaryRules& rules, const UnaryChecks& checks,
                     uint64_t* workspaceSize, aclOpExecutor** executor) noexcept {
  return RunPhase1(call, checks.All(), workspaceSize, executor,
                   [&](const OperatorCall& checked, Executor& fresh) {
                     SetUnaryJob(checked, rules, call.in_place ? kSelf : kOut, fresh);
                   });
}

}  // namespace portacl
