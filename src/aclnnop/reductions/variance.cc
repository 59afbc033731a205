// aclnnVar, aclnnVarCorrection, aclnnStd, aclnnStdMeanCorrection and aclnnVarMean: variance over dims, its
// root, and mean.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/reductions/variance_functions.h"

#include <algorithm>
#include <limits>

#include "aclnnop/given_values.h"
#include "aclnnop/jobs/reduction_call.h"

namespace portacl {
namespace {

enum Tensors { kSelf, kOut, kMeanOut };
enum Attributes { kDims, kKeep, kCorrection };

constexpr DtypeRule kVarMeanDtypes = ByGeneration(kFloatAndHalf, kFloatAndHalf, kFloatHalfAndBf16);

bool NamesDims(const OperatorCall& call) noexcept { return !call.Array(kDims).empty(); }
bool NamesNone(const OperatorCall& call) noexcept { return !NamesDims(call); }

constexpr auto kExact = List(kSetsReducedShape, ShapeIsResult(kOut));
// Without dims, CANN checks the shape only when it copies the result at the end.
constexpr auto Relaxed(int tensor) {
  return If(NamesNone, WithCode(ACLNN_ERR_INNER_NULLPTR, ShapeIsResultOrOne(tensor)));
}

constexpr auto kVarChecks = Join(List(NotNull(kSelf), NotNull(kOut), DtypesIn(kBf16SinceAtlasA2, {kSelf}),
                                      DtypesIn(kBf16SinceAtlasA2, {kOut})),
                                 DimsChecks(), List(RankAtMost(8, {kSelf}), SizesRepresentable({kOut})),
                                 kExact, List(GivesValueIfEmpty(kSelf), InsideStorage({kSelf})));
constexpr auto kStdChecks = Join(List(NotNull(kSelf), NotNull(kOut), DtypesIn(kBf16SinceAtlasA2, {kSelf}),
                                      DtypesIn(kBf16SinceAtlasA2, {kOut}), CastsTo(kSelf, kOut)),
                                 DimsChecks(),
                                 List(RankAtMost(8, {kSelf, kOut}), SizesRepresentable({kOut}),
                                      kSetsReducedShape, If(NamesDims, ShapeIsResult(kOut)),
                                      GivesValueIfEmpty(kSelf), Relaxed(kOut), InsideStorage({kSelf})));
constexpr auto kStdMeanChecks =
    Join(List(NotNull(kSelf), NotNull(kOut), NotNull(kMeanOut), DtypesIn(kBf16SinceAtlasA2, {kSelf}),
              DtypesIn(kBf16SinceAtlasA2, {kOut}), DtypesIn(kBf16SinceAtlasA2, {kMeanOut}),
              OnProducts(products::kBeforeAscend950, SameDtype(kSelf, kOut)),
              OnProducts(products::kBeforeAscend950, SameDtype(kSelf, kMeanOut))),
         DimsChecks(),
         List(RankAtMost(8, {kSelf, kOut, kMeanOut}), SizesRepresentable({kOut, kMeanOut}), kSetsReducedShape,
              If(NamesDims, ShapeIsResult(kOut)), If(NamesDims, ShapeIsResult(kMeanOut)),
              GivesValueIfEmpty(kSelf), Relaxed(kOut), Relaxed(kMeanOut), InsideStorage({kSelf})));
constexpr auto kVarMeanChecks = Join(
    List(NotNull(kSelf), NotNull(kOut), NotNull(kMeanOut), DtypesIn(kVarMeanDtypes, {kSelf}),
         DtypesIn(kVarMeanDtypes, {kOut}), DtypesIn(kVarMeanDtypes, {kMeanOut})),
    DimsChecks(),
    List(RankAtMost(8, {kSelf}), SizesRepresentable({kOut, kMeanOut}), kSetsReducedShape,
         ShapeIsResult(kMeanOut), ShapeIsResult(kOut), GivesValueIfEmpty(kSelf), InsideStorage({kSelf})));

struct Kind {
  bool is_root;
  bool has_mean;
  // On these products CANN writes NaN or infinity where too few elements are left, instead of the formula's
  // result.
  ProductSet fixed_when_few;
};

void SetVariance(const OperatorCall& call, const Kind& kind, Executor& executor) {
  using engine::ReductionEpilogue;
  using engine::ReductionOperation;
  const aclTensor& self = call.Tensor(kSelf);
  if (self.shape.IsEmpty())
    return SetReductionValue(call, std::numeric_limits<double>::quiet_NaN(), executor);
  const auto count = static_cast<double>(ReducedCount(call));
  const int64_t correction = call.attributes[kCorrection].integer;
  ReductionPassRequest mean{.operation = ReductionOperation::kSum,
                            .ending = ReductionEpilogue::kDivide,
                            .is_kept = true,
                            .divisor = count};
  if (kind.has_mean) mean.output = kMeanOut;
  ReductionPassRequest variance{
      .operation = ReductionOperation::kSumOfDeviations,
      .ending = kind.is_root ? ReductionEpilogue::kDivideAndRoot : ReductionEpilogue::kDivide,
      .divisor = std::max(0.0, count - static_cast<double>(correction)),
      .output = kOut};
  const bool is_one = count == 1 && correction >= 1;
  const bool is_few = correction > 1 && count <= static_cast<double>(correction);
  if (kind.fixed_when_few.Contains(call.product) && (is_one || is_few)) {
    variance.ending = ReductionEpilogue::kConstant;
    variance.number =
        is_one ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  }
  SetAxisReductionJob(call, {ReducedDims(call), self.dtype, {mean, variance}}, executor);
}

aclnnStatus Run(OperatorCall& call, const Attribute& dims, const Attribute& keep, int64_t correction,
                std::span<const Check> checks, const Kind& kind, uint64_t* workspaceSize,
                aclOpExecutor** executor) {
  const aclIntArray all_dims;
  const Attribute attributes[] = {
      {dims.name, dims.array == nullptr ? &all_dims : dims.array}, keep, {"correction", correction}};
  call.attributes = attributes;
  const GivenValue values[] = {{dims.name, dims.array}};
  const GivenValues recorded(call.api, values);
  return RunPhase1(call, checks, workspaceSize, executor,
                   [&](const OperatorCall& checked, Executor& fresh) { SetVariance(checked, kind, fresh); });
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnVar) {
  const GivenValue values[] = {{"unbiased", given.unbiased}};
  const GivenValues recorded("aclnnVar", values);
  return Run(call, {"dim", given.dim}, {"keepdim", given.keepdim}, given.unbiased ? 1 : 0, kVarChecks, {},
             workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnVarCorrection) {
  return Run(call, {"dim", given.dim}, {"keepdim", given.keepdim}, given.correction, kVarChecks,
             {.is_root = false, .has_mean = false, .fixed_when_few = products::kAll}, workspaceSize,
             executor);
}

PORTACL_PHASE_1(aclnnStd) {
  return Run(call, {"dim", given.dim}, {"keepdim", given.keepdim}, given.correction, kStdChecks,
             {.is_root = true, .has_mean = false, .fixed_when_few = products::kAll}, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnStdMeanCorrection) {
  return Run(call, {"dim", given.dim}, {"keepdim", given.keepdim}, given.correction, kStdMeanChecks,
             {.is_root = true, .has_mean = true, .fixed_when_few = products::kBeforeAscend950}, workspaceSize,
             executor);
}

PORTACL_PHASE_1(aclnnVarMean) {
  return Run(call, {"dim", given.dim}, {"keepdim", given.keepdim}, given.correction, kVarMeanChecks,
             {.is_root = false, .has_mean = true, .fixed_when_few = products::kBeforeAscend950},
             workspaceSize, executor);
}
