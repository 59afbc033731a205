// aclnnMax, aclnnMin, aclnnAmax, aclnnAmin, aclnnMaxV2, aclnnAminmax, aclnnAminmaxAll and aclnnAminmaxDim:
// maximum and minimum over dims.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/reductions/extremes_functions.h"

#include "aclnnop/jobs/reduction_call.h"
#include "base/errors.h"

namespace portacl {
namespace {

enum Tensors { kSelf, kOut, kMaxOut };
constexpr int kMinOut = kOut;
constexpr int kNoop = 2;

constexpr DtypeRule kDtypes = WithBf16SinceAtlasA2(kRealNumbers | kBool);

aclnnStatus ShapeStays(const Check&, OperatorCall& call) noexcept {
  call.broadcast = call.Tensor(kSelf).shape;
  return ACL_SUCCESS;
}

// ---- over all elements ----

constexpr auto kWholeChecks =
    List(NotNull(kSelf), NotNull(kOut), DtypesIn(kDtypes, {kSelf}), DtypesIn(kDtypes, {kOut}),
         RankAtMost(8, {kSelf, kOut}), SizesRepresentable({kOut}), DoneIfEmpty({kSelf, kOut}),
         kSetsReducedShape, ShapeIsResultOrOne(kOut), InsideStorage({kSelf}));

ReductionPassRequest StepOf(bool is_least, int output) {
  return {.operation = engine::ReductionOperation::kExtreme, .is_least = is_least, .output = output};
}

template <bool kIsLeast>
void SetExtreme(const OperatorCall& call, Executor& executor) {
  SetAxisReductionJob(call, {ReducedDims(call), call.Tensor(kSelf).dtype, {StepOf(kIsLeast, kOut)}},
                      executor);
}

// ---- over dims ----

bool IsLeftAlone(const OperatorCall& call) noexcept {
  return call.attributes.size() > kNoop && call.Array(kReducedDims).empty() &&
         call.attributes[kNoop].integer != 0;
}

constexpr auto kDimsChecks = Join(List(NotNull(kSelf), ArrayNotNull(kReducedDims), NotNull(kOut),
                                       SameDtype(kSelf, kOut), DtypesIn(kDtypes, {kSelf})),
                                  DimsChecks(),
                                  List(kNoEmptyDims, RankAtMost(8, {kSelf, kOut}), SizesRepresentable({kOut}),
                                       kSetsReducedShape, If(IsLeftAlone, Custom(ShapeStays)),
                                       ShapeIsResult(kOut), DoneIfEmpty({kSelf}), InsideStorage({kSelf})));

void SetMaxV2(const OperatorCall& call, Executor& executor) {
  const uint32_t reduced = IsLeftAlone(call) ? 0 : ReducedDims(call);
  SetAxisReductionJob(call, {reduced, call.Tensor(kSelf).dtype, {StepOf(/*is_least=*/false, kOut)}},
                      executor);
}

// ---- minimum and maximum together ----

bool HasOneDim(const OperatorCall& call) noexcept { return call.Array(kReducedDims).size() == 1; }
bool HasOtherDims(const OperatorCall& call) noexcept { return !HasOneDim(call); }
bool NamesNoDim(const OperatorCall& call) noexcept {
  return !call.attributes.empty() && call.attributes[kReducedDims].array != nullptr &&
         call.Array(kReducedDims).empty();
}

aclnnStatus NotEmptyAtAll(const Check& check, OperatorCall& call) noexcept {
  if (!call.Tensor(kSelf).shape.IsEmpty()) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kSelf);
  return FailAclnn(check.code,
                   message.Add(" has no elements while dim has not 1 value, accepted: some elements."));
}

constexpr auto kBothOuts = List(DtypesIn(kDtypes, {kSelf}), SameDtype(kSelf, kMinOut),
                                SameDtype(kSelf, kMaxOut), RankAtMost(8, {kSelf, kMinOut, kMaxOut}));
constexpr auto kBothShapes =
    List(SizesRepresentable({kMinOut, kMaxOut}), DoneIfEmpty({kSelf}), kSetsReducedShape,
         If(NamesNoDim, Custom(ShapeStays)), ShapeIsResultOrOne(kMinOut), ShapeIsResultOrOne(kMaxOut),
         InsideStorage({kSelf}));
// With several dims, CANN itself does not check their values: its kernels fail on invalid ones, at an unknown
// point.
constexpr auto kAminmaxChecks =
    Join(List(NotNull(kSelf), ArrayNotNull(kReducedDims), NotNull(kMinOut), NotNull(kMaxOut)), kBothOuts,
         List(If(HasOtherDims, Custom(NotEmptyAtAll)), If(HasOneDim, DimsIn(kReducedDims, kSelf)),
              If(HasOneDim, kNoEmptyDims),
              If(HasOtherDims, WithCode(ACLNN_ERR_INNER_NULLPTR, DimsIn(kReducedDims, kSelf)))),
         kBothShapes);
constexpr auto kAminmaxAllChecks =
    Join(List(NotNull(kSelf), NotNull(kMinOut), NotNull(kMaxOut)), kBothOuts, kBothShapes);
constexpr auto kAminmaxDimChecks = Join(List(NotNull(kSelf), NotNull(kMinOut), NotNull(kMaxOut)), kBothOuts,
                                        List(DimIn(kReducedDims, kSelf), kNoEmptyDims), kBothShapes);

void SetBoth(const OperatorCall& call, Executor& executor) {
  const uint32_t reduced = NamesNoDim(call) ? 0 : ReducedDims(call);
  SetAxisReductionJob(call,
                      {reduced,
                       call.Tensor(kSelf).dtype,
                       {StepOf(/*is_least=*/true, kMinOut), StepOf(/*is_least=*/false, kMaxOut)}},
                      executor);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnMax) {
  return RunPhase1(call, kWholeChecks, workspaceSize, executor, SetExtreme<false>);
}

PORTACL_PHASE_1(aclnnMin) { return RunPhase1(call, kWholeChecks, workspaceSize, executor, SetExtreme<true>); }

PORTACL_PHASE_1(aclnnAmax) {
  return RunPhase1(call, kDimsChecks, workspaceSize, executor, SetExtreme<false>);
}

PORTACL_PHASE_1(aclnnAmin) { return RunPhase1(call, kDimsChecks, workspaceSize, executor, SetExtreme<true>); }

PORTACL_PHASE_1(aclnnMaxV2) { return RunPhase1(call, kDimsChecks, workspaceSize, executor, SetMaxV2); }

PORTACL_PHASE_1(aclnnAminmax) { return RunPhase1(call, kAminmaxChecks, workspaceSize, executor, SetBoth); }

PORTACL_PHASE_1(aclnnAminmaxAll) {
  return RunPhase1(call, kAminmaxAllChecks, workspaceSize, executor, SetBoth);
}

PORTACL_PHASE_1(aclnnAminmaxDim) {
  return RunPhase1(call, kAminmaxDimChecks, workspaceSize, executor, SetBoth);
}
