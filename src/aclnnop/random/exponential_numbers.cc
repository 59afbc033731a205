// aclnnSimThreadExponential: draws exponential numbers.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/random/exponential_numbers_functions.h"

#include <cmath>

#include "aclnnop/jobs/random_source.h"
#include "base/data_type.h"
#include "base/errors.h"

namespace portacl {
namespace {

using namespace random;

constexpr int kSelf = 0;
enum Attributes { kCount, kLambda };

// CANN's generated code exists only for these products.
constexpr DtypeRule kFilled = kNoneBeforeAtlasA2;

aclnnStatus CheckCount(const Check& check, OperatorCall& call) noexcept {
  const aclTensor& self = call.Tensor(kSelf);
  const int64_t count = call.attributes[kCount].integer;
  if (self.countable && self.numel == count) return ACL_SUCCESS;
  return FailAclnn(check.code, Text(call.api, ": parameter count has the value ", count,
                                    ", expected the number of elements of selfRef: ", self.numel, "."));
}

aclnnStatus CheckLambda(const Check& check, OperatorCall& call) noexcept {
  const double lambda = call.attributes[kLambda].wide;
  if (lambda > 0) return ACL_SUCCESS;
  return FailAclnn(check.code, Text(call.api, ": parameter lambda has the value ", static_cast<float>(lambda),
                                    ", accepted: above 0."));
}

constexpr auto kChecks =
    List(NotNull(kSelf), DtypesIn(kFilled, {kSelf}),
         Check{.run = CheckCount, .code = ACLNN_ERR_INNER_TILING_ERROR},
         Check{.run = CheckLambda, .code = ACLNN_ERR_INNER_TILING_ERROR}, RankAtMost(8, {kSelf}),
         SizesRepresentable({kSelf}), DoneIfEmpty({kSelf}), InsideStorage({kSelf}));

// Returns the least positive number of a dtype.
double LeastOf(aclDataType dtype) noexcept {
  return dtype == ACL_FLOAT16 ? 0x1p-24 : dtype == ACL_BF16 ? 0x1p-133 : 0x1p-149;
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnSimThreadExponential) {
  return RunPhase1(call, kChecks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
    const engine::ExponentialNumbers numbers{
        SourceOf(given.seed, given.offset), static_cast<double>(static_cast<float>(given.lambda)),
        std::isinf(static_cast<float>(given.lambda)) ? 0 : LeastOf(given.selfRef->dtype)};
    SetRandomJob(checked, numbers, {.output = kSelf}, {}, fresh);
  });
}
