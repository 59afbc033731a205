// The signatures of copies, casts and fills are CANN's: see signatures_test.cc.
// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "aclnnop/families/creation.h"

typedef const aclTensor* In;
typedef aclTensor* Out;
typedef aclnnStatus (*Run)(void*, uint64_t, aclOpExecutor*, aclrtStream);

#define IS(function, type) static_assert(std::is_same<decltype(&function), type>::value, #function)

typedef aclnnStatus (*PlanFromTensor)(Out, In, uint64_t*, aclOpExecutor**);
IS(aclnnInplaceCopyGetWorkspaceSize, PlanFromTensor);
IS(aclnnInplaceCopy, Run);
typedef aclnnStatus (*PlanCast)(In, const aclDataType, Out, uint64_t*, aclOpExecutor**);
IS(aclnnCastGetWorkspaceSize, PlanCast);
IS(aclnnCast, Run);
typedef aclnnStatus (*PlanFillScalar)(Out, const aclScalar*, uint64_t*, aclOpExecutor**);
IS(aclnnInplaceFillScalarGetWorkspaceSize, PlanFillScalar);
IS(aclnnInplaceFillScalar, Run);
IS(aclnnInplaceFillTensorGetWorkspaceSize, PlanFromTensor);
IS(aclnnInplaceFillTensor, Run);
typedef aclnnStatus (*PlanZero)(Out, uint64_t*, aclOpExecutor**);
IS(aclnnInplaceZeroGetWorkspaceSize, PlanZero);
IS(aclnnInplaceZero, Run);
typedef aclnnStatus (*PlanOne)(In, uint64_t*, aclOpExecutor**);
IS(aclnnInplaceOneGetWorkspaceSize, PlanOne);
IS(aclnnInplaceOne, Run);
