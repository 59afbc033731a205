// aclnnInplaceFillTensor: every element of selfRef gets the one element of value.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/creation/fill_tensor_functions.h"

#include "aclnnop/phase1.h"

namespace portacl {
namespace {

enum Tensors { kSelfRef, kValue };

constexpr DtypeSet kOld{ACL_FLOAT, ACL_INT32,  ACL_INT64, ACL_FLOAT16,   ACL_INT16,     ACL_INT8,
                        ACL_UINT8, ACL_DOUBLE, ACL_BOOL,  ACL_COMPLEX64, ACL_COMPLEX128};
constexpr DtypeSet kSinceAtlasA2{ACL_FLOAT, ACL_INT32,  ACL_INT64, ACL_FLOAT16,   ACL_INT16,      ACL_INT8,
                                 ACL_UINT8, ACL_DOUBLE, ACL_BOOL,  ACL_COMPLEX64, ACL_COMPLEX128, ACL_BF16};
constexpr DtypeRule kFilled = SinceAtlasA2(kSinceAtlasA2, kOld);

constexpr Check kChecks[] = {
    NotNull(kSelfRef),
    NotNull(kValue),
    DtypesIn(kFilled, {kSelfRef}),
    RankAtMost(8, {kSelfRef}),
    IsValue(kValue),
    SizesRepresentable({kSelfRef}),
    DoneIfEmpty({kSelfRef}),
    Converts(kValue, kSelfRef, kConvertible),
};

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnInplaceFillTensor) {
  return RunPhase1(call, kChecks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
    SetMoveJob(checked, kValue, kSelfRef, fresh);
  });
}
