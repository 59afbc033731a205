// aclnnGlobalAveragePool and aclnnGlobalMaxPool: the mean and the maximum of each channel of images.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/pooling/global_pool_functions.h"

#include "aclnnop/jobs/reduction_call.h"
#include "base/errors.h"

namespace portacl {
namespace {

enum Tensors { kSelf, kOut };

constexpr DtypeRule kMeans = WithBf16SinceAtlasA2(kFloatAndHalf | kDouble);
constexpr DtypeRule kMaxima = Everywhere(kFloatAndHalf | kDouble);
constexpr int kLeadingDims = 2;

aclnnStatus OneEach(const Check& check, OperatorCall& call) noexcept {
  Shape accepted = call.Tensor(kSelf).shape;
  for (int dim = kLeadingDims; dim < accepted.rank; ++dim) accepted.dim[dim] = 1;
  return call.Tensor(kOut).shape == accepted ? ACL_SUCCESS : RefuseShape(check, call, kOut, accepted);
}

constexpr auto Checks(const DtypeRule& rule) {
  return List(NotNull(kSelf), NotNull(kOut), DtypesIn(rule, {kSelf}), SameDtype(kSelf, kOut),
              RankAtLeast(4, {kSelf}), RankAtMost(8, {kSelf}), Custom(OneEach), SizesRepresentable({kOut}),
              DoneIfEmpty({kSelf}), InsideStorage({kSelf}));
}
constexpr auto kMeanChecks = Checks(kMeans);
constexpr auto kMaximumChecks = Checks(kMaxima);

// Returns the dims behind the channels, a bit each.
uint32_t PooledDims(const OperatorCall& call) {
  return (uint32_t{1} << call.Tensor(kSelf).shape.rank) - (uint32_t{1} << kLeadingDims);
}

void SetMean(const OperatorCall& call, Executor& executor) {
  SetSumJob(call, PooledDims(call), call.Tensor(kSelf).dtype, /*is_mean=*/true, executor);
}
void SetMaximum(const OperatorCall& call, Executor& executor) {
  SetAxisReductionJob(call,
                      {PooledDims(call),
                       call.Tensor(kSelf).dtype,
                       {{.operation = engine::ReductionOperation::kExtreme, .output = kOut}}},
                      executor);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnGlobalAveragePool) {
  return RunPhase1(call, kMeanChecks, workspaceSize, executor, SetMean);
}

PORTACL_PHASE_1(aclnnGlobalMaxPool) {
  return RunPhase1(call, kMaximumChecks, workspaceSize, executor, SetMaximum);
}
