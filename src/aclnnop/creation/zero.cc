// aclnnInplaceZero: every element of selfRef becomes 0.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/creation/zero_functions.h"

#include "aclnn/opdev/op_errno.h"
#include "aclnnop/phase1.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "plan/move_plan.h"

namespace portacl {
namespace {

enum Tensors { kSelfRef };

constexpr DtypeSet kAll{ACL_FLOAT, ACL_FLOAT16,   ACL_BF16,      ACL_DOUBLE, ACL_INT8,
                        ACL_UINT8, ACL_INT16,     ACL_UINT16,    ACL_INT32,  ACL_INT64,
                        ACL_BOOL,  ACL_COMPLEX64, ACL_COMPLEX128};
constexpr DtypeSet k950{ACL_FLOAT,         ACL_FLOAT16,     ACL_BF16,       ACL_DOUBLE,   ACL_INT8,
                        ACL_UINT8,         ACL_INT16,       ACL_UINT16,     ACL_INT32,    ACL_INT64,
                        ACL_BOOL,          ACL_COMPLEX64,   ACL_COMPLEX128, ACL_HIFLOAT8, ACL_FLOAT8_E5M2,
                        ACL_FLOAT8_E4M3FN, ACL_FLOAT4_E2M1, ACL_FLOAT4_E1M2};
constexpr DtypeRule kZeroed = ByGeneration(kAll, kAll, k950);

// The dtypes that an NPU's vector core fills. Its CPU fills the others, and takes at most 8 dims.
constexpr DtypeSet kOfVectorCore{ACL_FLOAT,    ACL_FLOAT16,     ACL_BF16,         ACL_INT8,
                                 ACL_UINT8,    ACL_INT32,       ACL_INT64,        ACL_BOOL,
                                 ACL_HIFLOAT8, ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN};

aclnnStatus RankFitsDtype(const Check& check, OperatorCall& call) noexcept {
  const aclTensor& self = call.Tensor(kSelfRef);
  if (self.shape.rank <= kMaxLoopRank || kOfVectorCore.Contains(self.dtype)) return ACL_SUCCESS;
  Text message(call.api, ": parameter selfRef with shape ");
  AddShape(message, self.shape);
  AddDtypeName(message.Add(" and dtype "), self.dtype);
  message.Add(" has too many dims, accepted: at most ").Add(kMaxLoopRank).Add(" dims, or a dtype of ");
  AddDtypeSet(message, kOfVectorCore & kZeroed.For(call.product));
  return FailAclnn(check.code, message.Add("."));
}

// CANN does not check the rank here. 561103 where there is no loop: more than 8 dims that do not merge, and
// elements of less than a byte.
aclnnStatus HasLoop(const Check&, OperatorCall& call) noexcept {
  const aclTensor& self = call.Tensor(kSelfRef);
  if (StorageBits(self.dtype) % 8 == 0 && MergedDims(self).shape.rank <= kMaxLoopRank) return ACL_SUCCESS;
  Text message(call.api, ": parameter selfRef with shape ");
  AddShape(message, self.shape);
  AddShape(message.Add(", strides "), self.strides);
  AddDtypeName(message.Add(" and dtype "), self.dtype);
  return FailAclnn(ACLNN_ERR_INNER_NULLPTR,
                   message.Add(" is not implemented, accepted: dtypes of whole bytes, and at most ")
                       .Add(kMaxLoopRank)
                       .Add(" dims after those that continue each other are merged."));
}

constexpr Check kChecks[] = {
    NotNull(kSelfRef),  // in CANN's order
    DtypesIn(kZeroed, {kSelfRef}),
    SizesRepresentable({kSelfRef}),
    DoneIfEmpty({kSelfRef}),
    InsideStorage({kSelfRef}),
    {.run = RankFitsDtype, .code = ACLNN_ERR_INNER_NULLPTR},
    {.run = HasLoop},
};

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnInplaceZero) {
  return RunPhase1(call, kChecks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
    SetFillJob(checked, kSelfRef, ScalarValue{}, fresh);
  });
}
