// aclnnInplaceOne: every element of selfRef becomes 1.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/creation/one_functions.h"

#include "aclnnop/phase1.h"

namespace portacl {
namespace {

enum Tensors { kSelfRef };

constexpr DtypeSet kOld{ACL_FLOAT, ACL_FLOAT16, ACL_INT8, ACL_INT16, ACL_INT32,
                        ACL_INT64, ACL_UINT8,   ACL_BOOL, ACL_DOUBLE};
constexpr DtypeSet kSinceAtlasA2{ACL_FLOAT, ACL_FLOAT16, ACL_INT8, ACL_INT16,  ACL_INT32,
                                 ACL_INT64, ACL_UINT8,   ACL_BOOL, ACL_DOUBLE, ACL_BF16};
constexpr DtypeRule kFilled = SinceAtlasA2(kSinceAtlasA2, kOld);

constexpr Check kChecks[] = {
    NotNull(kSelfRef),  // in CANN's order
    DtypesIn(kFilled, {kSelfRef}),
    RankAtMost(8, {kSelfRef}),
    SizesRepresentable({kSelfRef}),
    DoneIfEmpty({kSelfRef}),
};

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnInplaceOne) {
  return RunPhase1(call, kChecks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
    aclScalar one;
    one.dtype = ACL_BOOL;
    one.value[0] = 1;
    SetFillJob(checked, kSelfRef, ConvertScalar(one, given.selfRef->dtype), fresh);
  });
}
