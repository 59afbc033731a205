// aclnnInplaceFillScalar: every element of selfRef gets one host value.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/creation/fill_scalar_functions.h"

#include "aclnn/opdev/op_errno.h"
#include "aclnnop/phase1.h"
#include "base/data_type.h"
#include "base/errors.h"

namespace portacl {
namespace {

enum Tensors { kSelfRef };
enum Attributes { kValue };

constexpr DtypeSet kOld{ACL_FLOAT, ACL_INT32,  ACL_INT64, ACL_FLOAT16,   ACL_INT16,     ACL_INT8,
                        ACL_UINT8, ACL_DOUBLE, ACL_BOOL,  ACL_COMPLEX64, ACL_COMPLEX128};
constexpr DtypeSet kSinceAtlasA2{ACL_FLOAT,      ACL_INT32, ACL_INT64,  ACL_FLOAT16, ACL_INT16,
                                 ACL_INT8,       ACL_UINT8, ACL_DOUBLE, ACL_BOOL,    ACL_COMPLEX64,
                                 ACL_COMPLEX128, ACL_BF16,  ACL_UINT16, ACL_UINT32,  ACL_UINT64};
constexpr DtypeRule kFilled = SinceAtlasA2(kSinceAtlasA2, kOld);

// 561103 for scalars of dtypes that promote but have no conversion.
aclnnStatus ValueConverts(const Check&, OperatorCall& call) noexcept {
  const aclDataType dtype = call.attributes[kValue].scalar->dtype;
  if (ScalarConverts(dtype, call.Tensor(kSelfRef).dtype)) return ACL_SUCCESS;
  Text message(call.api, ": parameter value with dtype ");
  AddDtypeName(message, dtype);
  AddDtypeName(message.Add(" is not converted to "), call.Tensor(kSelfRef).dtype);
  AddDtypeSet(message.Add(", accepted: "), kConvertible);
  return FailAclnn(ACLNN_ERR_INNER_NULLPTR, message.Add("."));
}

constexpr Check kChecks[] = {
    NotNull(kSelfRef),
    ScalarNotNull(kValue),
    DtypesIn(kFilled, {kSelfRef}),
    PromotesScalar(kSelfRef, kValue),
    RankAtMost(8, {kSelfRef}),
    SizesRepresentable({kSelfRef}),
    DoneIfEmpty({kSelfRef}),
    {.run = ValueConverts},
};

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnInplaceFillScalar) {
  return RunPhase1(call, kChecks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
    SetFillJob(checked, kSelfRef, ConvertScalar(*given.value, given.selfRef->dtype), fresh);
  });
}
