// aclnnCumsum, aclnnCumsumV2, aclnnCumprod, aclnnInplaceCumprod, aclnnCummax and aclnnCummin: cumulative
// sums, products and extremes along a dim.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/reductions/scans_functions.h"

#include <cstring>

#include "aclnnop/jobs/reduction_call.h"
#include "base/data_type.h"
#include "base/errors.h"

namespace portacl {
namespace {

enum Tensors { kSelf, kOut, kIndices };
constexpr int kDim = kReducedDims;

constexpr DtypeRule kSumDtypes =
    WithBf16SinceAtlasA2(kRealNumbers | kComplex).On({Product::kNoDevice}, kNoDtype);
constexpr DtypeRule kMaxDtypes = WithBf16SinceAtlasA2(kRealNumbers | kBool);
constexpr DtypeRule kMinDtypes = Everywhere(kRealNumbers | kBool | kBf16);
constexpr DtypeSet kProductSetOfDtypes = kRealNumbers | kBf16 | kUnsignedSince16Bits;
constexpr DtypeRule kProductDtypes = Everywhere(kProductSetOfDtypes);
constexpr DtypeSet kIndexDtypes{ACL_INT32, ACL_INT64};

int DimOf(const OperatorCall& call) {
  return WrappedDim(call.attributes[kDim].integer, call.Tensor(kSelf).shape.rank);
}

// ---- Cumsum ----

enum SumAttributes { kDtype = 1 };
enum SumV2Attributes { kExclusive = 1, kReverse };

constexpr auto kSumShapes =
    List(SameShape(kSelf, kOut), RankAtMost(8, {kSelf}), DimIn(kDim, kSelf), SizesRepresentable({kOut}),
         DoneIfEmpty({kSelf}), InsideStorage({kSelf}), DtypeImplemented({kSelf, kOut}, kConvertible));
constexpr auto kCumsumChecks = Join(
    List(NotNull(kSelf), NotNull(kOut), DtypesIn(kSumDtypes, {kOut}), DtypeIs(kOut, kDtype)), kSumShapes);
constexpr auto kCumsumV2Checks = Join(List(NotNull(kSelf), NotNull(kOut), DtypesIn(kSumDtypes, {kSelf}),
                                           DtypesIn(kSumDtypes, {kOut}), SameDtype(kSelf, kOut)),
                                      kSumShapes);

void SetCumsum(const OperatorCall& call, Executor& executor) {
  SetScanJob(call,
             {.operation = engine::ScanOperation::kSum,
              .cast = call.Tensor(kOut).dtype,
              .dim = DimOf(call),
              .output = kOut},
             executor);
}
void SetCumsumV2(const OperatorCall& call, Executor& executor) {
  SetScanJob(call,
             {.operation = engine::ScanOperation::kSum,
              .cast = call.Tensor(kOut).dtype,
              .dim = DimOf(call),
              .output = kOut,
              .is_exclusive = call.attributes[kExclusive].integer != 0,
              .is_reversed = call.attributes[kReverse].integer != 0},
             executor);
}

// ---- Cumprod: its dim is a scalar ----

int64_t ScalarDim(const OperatorCall& call) noexcept {
  const ScalarValue value = ConvertScalar(call.Scalar(kDim), ACL_INT32);
  int32_t dim = 0;
  std::memcpy(&dim, value.bytes, sizeof dim);
  return dim;
}
aclnnStatus ScalarIsDim(const Check& check, OperatorCall& call) noexcept {
  const int rank = call.Tensor(kSelf).shape.rank;
  const int dims = rank > 0 ? rank : 1;
  const int64_t dim = ScalarDim(call);
  return IsDim(dim, rank) ? ACL_SUCCESS : RefuseInteger(check, call, "dim", dim, -dims, dims - 1);
}
aclnnStatus DtypeIsOutsOrNone(const Check& check, OperatorCall& call) noexcept {
  if (call.attributes[kDtype].dtype() == ACL_DT_UNDEFINED) return ACL_SUCCESS;
  Check same = DtypeIs(kOut, kDtype);
  same.code = check.code;
  return same.run(same, call);
}
aclnnStatus FewDims(const Check& check, OperatorCall& call) noexcept {
  if (call.Tensor(kSelf).shape.rank <= kMaxLoopRank) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kSelf);
  return FailAclnn(check.code,
                   message.Add(" has more than 8 dims, which is not implemented, accepted: at most 8."));
}

constexpr auto kProductFirst = List(NotNull(kSelf), ScalarNotNull(kDim));
constexpr auto kProductDim = List(ScalarDtypesIn(kIndexDtypes, {kDim}), Custom(ScalarIsDim));
constexpr auto kCumprodChecks = Join(
    kProductFirst, List(NotNull(kOut), DtypesIn(kProductDtypes, {kSelf}), DtypesIn(kProductDtypes, {kOut})),
    kProductDim,
    List(SameShape(kSelf, kOut), Custom(DtypeIsOutsOrNone), SizesRepresentable({kOut}), DoneIfEmpty({kSelf}),
         InsideStorage({kSelf}), Custom(FewDims, ACLNN_ERR_INNER_NULLPTR)));
constexpr auto kInplaceCumprodChecks =
    Join(kProductFirst, List(DtypesIn(kProductDtypes, {kSelf})), kProductDim,
         List(SizesRepresentable({kSelf}), DoneIfEmpty({kSelf}), InsideStorage({kSelf}),
              Custom(FewDims, ACLNN_ERR_INNER_NULLPTR)));

void SetCumprod(const OperatorCall& call, Executor& executor) {
  const int out = call.Output();
  SetScanJob(call,
             {.operation = engine::ScanOperation::kProduct,
              .cast = call.Tensor(out).dtype,
              .dim = WrappedDim(ScalarDim(call), call.Tensor(kSelf).shape.rank),
              .output = out},
             executor);
}

// ---- Cummax and Cummin ----

constexpr auto ExtremeChecks(const DtypeRule& dtypes, bool strict) {
  return List(NotNull(kSelf), NotNull(kOut), NotNull(kIndices), DimIn(kDim, kSelf, strict),
              DtypesIn(dtypes, {kSelf}), DtypesIn(dtypes, {kOut}), DtypesIn(kIndexDtypes, {kIndices}),
              RankAtMost(8, {kSelf}), SameShape(kSelf, kOut), SameShape(kSelf, kIndices),
              SizesRepresentable({kOut, kIndices}), DoneIfEmpty({kSelf}), InsideStorage({kSelf}));
}
constexpr auto kCummaxChecks = ExtremeChecks(kMaxDtypes, /*strict=*/true);
constexpr auto kCumminChecks = ExtremeChecks(kMinDtypes, /*strict=*/false);

template <engine::ScanOperation kOperation>
void SetExtremes(const OperatorCall& call, Executor& executor) {
  SetScanJob(call,
             {.operation = kOperation,
              .cast = call.Tensor(kSelf).dtype,
              .dim = DimOf(call),
              .output = kOut,
              .indices = kIndices},
             executor);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnCumsum) { return RunPhase1(call, kCumsumChecks, workspaceSize, executor, SetCumsum); }

PORTACL_PHASE_1(aclnnCumsumV2) {
  return RunPhase1(call, kCumsumV2Checks, workspaceSize, executor, SetCumsumV2);
}

PORTACL_PHASE_1(aclnnCumprod) { return RunPhase1(call, kCumprodChecks, workspaceSize, executor, SetCumprod); }

PORTACL_PHASE_1(aclnnInplaceCumprod) {
  return RunPhase1(call, kInplaceCumprodChecks, workspaceSize, executor, SetCumprod);
}

PORTACL_PHASE_1(aclnnCummax) {
  return RunPhase1(call, kCummaxChecks, workspaceSize, executor,
                   SetExtremes<engine::ScanOperation::kLargest>);
}

PORTACL_PHASE_1(aclnnCummin) {
  return RunPhase1(call, kCumminChecks, workspaceSize, executor, SetExtremes<engine::ScanOperation::kLeast>);
}
