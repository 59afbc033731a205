// aclnnInplaceCopy: selfRef = src, broadcast to selfRef's shape and converted to its dtype.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/creation/copy_functions.h"

#include "aclnnop/phase1.h"

namespace portacl {
namespace {

enum Tensors { kSelfRef, kSrc };

constexpr DtypeSet kAccepted{ACL_FLOAT,    ACL_FLOAT16,     ACL_BF16,          ACL_DOUBLE,     ACL_INT8,
                             ACL_UINT8,    ACL_INT16,       ACL_UINT16,        ACL_INT32,      ACL_UINT32,
                             ACL_INT64,    ACL_UINT64,      ACL_BOOL,          ACL_COMPLEX64,  ACL_COMPLEX128,
                             ACL_HIFLOAT8, ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN, ACL_FLOAT8_E8M0};
constexpr DtypeRule kEverywhere = Everywhere(kAccepted);

constexpr Check kChecks[] = {
    NotNull(kSelfRef),
    NotNull(kSrc),
    DtypesIn(kEverywhere, {kSelfRef, kSrc}),
    RankAtMost(8, {kSelfRef, kSrc}),
    Broadcasts({kSelfRef, kSrc}),
    ShapeIsBroadcast(kSelfRef),
    SizesRepresentable({kSelfRef}),
    DoneIfEmpty({kSelfRef, kSrc}),
    InsideStorage({kSrc}),
};

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnInplaceCopy) {
  return RunPhase1(call, kChecks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
    SetMoveJob(checked, kSrc, kSelfRef, fresh);
  });
}
