// aclnnPrecisionCompare: tells whether two tensors have the same bits.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/logic/precision_compare_functions.h"

#include "aclnnop/jobs/dense_op_list.h"
#include "engine/move/same_bytes.h"

namespace portacl {
namespace {

using namespace dense;

enum Tensors { kGolden, kReal, kOut };

constexpr DtypeRule kCompared = WithBf16SinceAtlasA2(kFloatAndHalf | DtypeSet{ACL_UINT32});
constexpr DtypeSet kAnswer{ACL_UINT32};

constexpr auto kChecks =
    List(NotNull(kGolden), NotNull(kReal), NotNull(kOut), DtypesIn(kCompared, {kGolden}),
         SameDtype(kGolden, kReal), DtypesIn(kAnswer, {kOut}), RankAtMost(8, {kGolden}),
         SameShape(kGolden, kReal), OneElement(kOut, ACLNN_ERR_PARAM_INVALID), SizesRepresentable({kOut}),
         DoneIfEmpty({kGolden}), InsideStorage({kGolden, kReal}));

void SetCompare(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  engine::CompareBytes compare;
  compare.first = ops.In(kGolden);
  compare.second = ops.In(kReal);
  compare.to = ops.Out(kOut);
  compare.bytes = call.Tensor(kGolden).numel * SizeOf(call, kGolden);
  compare.threads = ops.threads();
  ops.Compute(compare, {compare.first, compare.second, compare.to}, call.Tensor(kGolden).numel);
  ops.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnPrecisionCompare) {
  return dense::RunOpList(call, kChecks, workspaceSize, executor, SetCompare);
}
