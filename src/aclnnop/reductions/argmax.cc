// aclnnMaxDim, aclnnMinDim, aclnnArgMax and aclnnArgMin: maximum or minimum along a dim, and the index of its
// first occurrence.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/reductions/argmax_functions.h"

#include "aclnnop/jobs/reduction_call.h"

namespace portacl {
namespace {

enum Tensors { kSelf, kOut, kIndices };

constexpr DtypeSet kValues = kFloatAndHalf | DtypeSet{ACL_INT64} | kBool;
constexpr DtypeRule kDimDtypes =
    ByGeneration(kValues, kValues | kBf16, kValues | kBf16 | DtypeSet{ACL_INT32});
constexpr DtypeRule kArgMinDtypes = WithBf16SinceAtlasA2(kRealNumbers)
                                        .On({Product::kAtlas200I500A2}, kRealNumbers | kBf16)
                                        .On({Product::kNoDevice}, kRealNumbers);
constexpr DtypeRule kArgMaxDtypes =
    kArgMinDtypes.On({Product::kNoDevice}, kNoDtype)
        .On(products::kAscend950, kRealNumbers | kBf16 | DtypeSet{ACL_UINT16});

// Refusals with 561103 in other operators are 161001 here.
constexpr auto kDimChecks = List(
    NotNull(kSelf), NotNull(kOut), NotNull(kIndices), DtypesIn(kDimDtypes, {kSelf}), SameDtype(kSelf, kOut),
    RankAtMost(8, {kSelf, kOut, kIndices}), DimIn(kReducedDims, kSelf), SizesRepresentable({kOut, kIndices}),
    DoneIfEmpty({kSelf}), kSetsReducedShape, ShapeIsResultOrOne(kIndices), ShapeIsResultOrOne(kOut),
    WithCode(ACLNN_ERR_PARAM_NULLPTR, DtypesIn(kConvertible, {kIndices})),
    WithCode(ACLNN_ERR_PARAM_NULLPTR, InsideStorage({kSelf})));

constexpr auto kArgMaxChecks = List(
    NotNull(kSelf), NotNull(kOut), DtypesIn(kArgMaxDtypes, {kSelf}), RankAtMost(8, {kSelf, kOut}),
    DimIn(kReducedDims, kSelf), SizesRepresentable({kOut}), DoneIfEmpty({kSelf, kOut}), kSetsReducedShape,
    ShapeIsResultOrOne(kOut), InsideStorage({kSelf}), DtypeImplemented({kOut}, kConvertible));

constexpr auto kArgMinChecks =
    List(NotNull(kSelf), NotNull(kOut), DimIn(kReducedDims, kSelf), DtypesIn(kArgMinDtypes, {kSelf}),
         DtypesIn(DtypeSet{ACL_INT32, ACL_INT64}, {kOut}), NotPrivate({kSelf, kOut}),
         RankAtMost(8, {kSelf, kOut}), kNoEmptyDims, SizesRepresentable({kOut}), DoneIfEmpty({kSelf}),
         kSetsReducedShape, ShapeIsResultOrOne(kOut), InsideStorage({kSelf}));

template <bool kIsLeast>
void SetWithArgIndices(const OperatorCall& call, Executor& executor) {
  SetAxisReductionJob(call,
                      {ReducedDims(call),
                       call.Tensor(kSelf).dtype,
                       {{.operation = engine::ReductionOperation::kFirstExtreme,
                         .is_least = kIsLeast,
                         .output = kOut,
                         .indices = kIndices}}},
                      executor);
}
template <bool kIsLeast>
void SetArgExtreme(const OperatorCall& call, Executor& executor) {
  SetAxisReductionJob(
      call,
      {ReducedDims(call),
       call.Tensor(kSelf).dtype,
       {{.operation = engine::ReductionOperation::kFirstExtreme, .is_least = kIsLeast, .indices = kOut}}},
      executor);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnMaxDim) {
  return RunPhase1(call, kDimChecks, workspaceSize, executor, SetWithArgIndices<false>);
}

PORTACL_PHASE_1(aclnnMinDim) {
  return RunPhase1(call, kDimChecks, workspaceSize, executor, SetWithArgIndices<true>);
}

PORTACL_PHASE_1(aclnnArgMax) {
  return RunPhase1(call, kArgMaxChecks, workspaceSize, executor, SetArgExtreme<false>);
}

PORTACL_PHASE_1(aclnnArgMin) {
  return RunPhase1(call, kArgMinChecks, workspaceSize, executor, SetArgExtreme<true>);
}
