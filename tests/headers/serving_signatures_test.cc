// The C signatures of paged caches, as CANN declares them: wrong ones do not compile.
// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "aclnnop/families/serving.h"

typedef const aclTensor* In;
typedef aclTensor* Out;
typedef const aclIntArray* Array;
typedef aclnnStatus (*Run)(void*, uint64_t, aclOpExecutor*, aclrtStream);

#define HAS(function, ...)                                                                     \
  static_assert(std::is_same<decltype(&function##GetWorkspaceSize),                            \
                             aclnnStatus (*)(__VA_ARGS__, uint64_t*, aclOpExecutor**)>::value, \
                #function "GetWorkspaceSize");                                                 \
  static_assert(std::is_same<decltype(&function), Run>::value, #function)

HAS(aclnnScatterPaKvCache, In, Out, In, In, Out, In, In, In, char*, char*, Array, Array);
HAS(aclnnScatterPaCache, In, Out, In, In, In, In, char*);
HAS(aclnnApplyTopKTopP, In, In, In, Out);
