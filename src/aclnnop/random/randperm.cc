// aclnnRandperm: a random permutation.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/random/randperm_functions.h"

#include "aclnnop/jobs/random_source.h"
#include "base/errors.h"
#include "engine/random/permutation.h"

namespace portacl {
namespace {

using namespace random;

constexpr int kOut = 0;
constexpr int kN = 0;

constexpr DtypeRule kNumbered = WithBf16SinceAtlasA2(kFillable);

aclnnStatus CheckShape(const Check& check, OperatorCall& call) noexcept {
  const Shape& shape = call.Tensor(kOut).shape;
  const int64_t n = call.attributes[kN].integer;
  if (shape.rank == 1 && shape[0] == n) return ACL_SUCCESS;
  Text message(call.api, ": parameter out has the shape ");
  AddShape(message, shape);
  return FailAclnn(check.code, message.Add(", expected [n] with n ").Add(n).Add("."));
}

constexpr auto kChecks = List(WithCode(ACLNN_ERR_INNER_NULLPTR, NotNull(kOut)), DtypesIn(kNumbered, {kOut}),
                              Check{.run = CheckShape}, IntegerIn(kN, 0, int64_t{1} << 60),
                              SizesRepresentable({kOut}), DoneIfEmpty({kOut}));

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnRandperm) {
  return RunPhase1(call, kChecks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
    fresh.workspace_size = engine::PermutationJob::WorkspaceBytes(given.n);
    fresh.SetJob([&] {
      engine::PermutationJob job;
      const engine::ListedNumbers listed{};
      job.copy = MakeSequenceJob(checked, engine::TypeOf(listed), {.output = kOut});
      job.copy.Set(checked.isa, listed);
      job.draw = engine::FindSequence(checked.isa, engine::IntegerNumbers{});
      job.source = SourceOf(given.seed, given.offset);
      return job;
    });
  });
}
