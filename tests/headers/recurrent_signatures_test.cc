// The signatures of recurrent networks, as CANN's headers have them: another type breaks binaries.
// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "aclnnop/families/recurrent.h"

typedef const aclTensor* In;
typedef aclTensor* Out;
typedef const aclTensorList* Ins;
typedef aclTensorList* Outs;
typedef aclnnStatus (*Run)(void*, uint64_t, aclOpExecutor*, aclrtStream);

#define HAS(function, ...)                                                                     \
  static_assert(std::is_same<decltype(&function##GetWorkspaceSize),                            \
                             aclnnStatus (*)(__VA_ARGS__, uint64_t*, aclOpExecutor**)>::value, \
                #function "GetWorkspaceSize");                                                 \
  static_assert(std::is_same<decltype(&function), Run>::value, #function)

HAS(aclnnLSTM, In, Ins, Ins, In, bool, int64_t, double, bool, bool, bool, Out, Out, Out, Outs, Outs, Outs,
    Outs, Outs, Outs, Outs);
HAS(aclnnLstmBackward, In, Ins, Ins, In, In, In, Ins, Ins, Ins, Ins, Ins, Ins, Ins, In, bool, int64_t, double,
    bool, bool, bool, const aclBoolArray*, Out, Out, Out, Outs);
HAS(aclnnGRU, In, Ins, In, In, bool, int64_t, double, bool, bool, bool, Out, Out, Outs, Outs, Outs, Outs,
    Outs);
HAS(aclnnGRUBackward, In, Ins, In, In, In, Ins, Ins, Ins, Ins, Ins, In, bool, int64_t, bool, bool, Out, Out,
    Outs);
