// The signatures of operators that sort, select, search and count are CANN's: see signatures_test.cc.
// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "aclnnop/families/sort.h"

typedef const aclTensor* In;
typedef aclTensor* Out;
typedef const aclScalar* Scalar;
typedef aclnnStatus (*Run)(void*, uint64_t, aclOpExecutor*, aclrtStream);

#define HAS(function, ...)                                                                     \
  static_assert(std::is_same<decltype(&function##GetWorkspaceSize),                            \
                             aclnnStatus (*)(__VA_ARGS__, uint64_t*, aclOpExecutor**)>::value, \
                #function "GetWorkspaceSize");                                                 \
  static_assert(std::is_same<decltype(&function), Run>::value, #function)

HAS(aclnnSort, In, bool, int64_t, bool, Out, Out);
HAS(aclnnArgsort, In, int64_t, bool, Out);
HAS(aclnnTopk, In, int64_t, int64_t, bool, bool, Out, Out);
HAS(aclnnTopkV2, In, int64_t, int64_t, bool, bool, bool, Out, Out);
HAS(aclnnMedian, In, Out);
HAS(aclnnMedianDim, In, int64_t, bool, Out, Out);
HAS(aclnnNanMedian, In, Out);
HAS(aclnnNanMedianDim, In, int64_t, bool, Out, Out);
HAS(aclnnKthvalue, In, int64_t, int64_t, bool, Out, Out);
HAS(aclnnSearchSorted, In, In, bool, bool, In, Out);
HAS(aclnnSearchSorteds, In, Scalar, bool, bool, In, Out);
HAS(aclnnBucketize, In, In, bool, bool, Out);
HAS(aclnnBincount, In, In, int64_t, Out);
HAS(aclnnHistc, In, int64_t, Scalar, Scalar, Out);
