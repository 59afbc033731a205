// The C signatures of operators that communicate, as CANN declares them: wrong ones do not compile.
// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "aclnnop/families/communication.h"

typedef const aclTensor* In;
typedef aclTensor* Out;
typedef const aclIntArray* Array;
typedef const char* Name;
typedef int64_t I;
typedef aclnnStatus (*Run)(void*, uint64_t, aclOpExecutor*, aclrtStream);

#define HAS(function, ...)                                                                     \
  static_assert(std::is_same<decltype(&function##GetWorkspaceSize),                            \
                             aclnnStatus (*)(__VA_ARGS__, uint64_t*, aclOpExecutor**)>::value, \
                #function "GetWorkspaceSize");                                                 \
  static_assert(std::is_same<decltype(&function), Run>::value, #function)

HAS(aclnnMatmulAllReduce, In, In, In, Name, Name, I, I, In);
HAS(aclnnMatmulAllReduceV2, In, In, In, In, Name, Name, I, I, In);
HAS(aclnnMatmulAllReduceV3, In, In, In, In, Name, Name, Name, I, I, In);
HAS(aclnnQuantMatmulAllReduce, In, In, In, In, In, Name, Name, I, I, In);
HAS(aclnnQuantMatmulAllReduceV2, In, In, In, In, In, In, Name, Name, I, I, In);
HAS(aclnnQuantMatmulAllReduceV3, In, In, In, In, In, In, In, In, Name, Name, I, I, In);
HAS(aclnnQuantMatmulAllReduceV4, In, In, In, In, In, In, In, In, Name, Name, I, I, I, I, In);
HAS(aclnnQuantMatmulAllReduceV5, In, In, In, In, In, In, In, In, Name, Name, Name, I, I, I, I, In);
HAS(aclnnWeightQuantMatmulAllReduce, In, In, In, In, In, In, Name, Name, I, I, I, In);
HAS(aclnnWeightQuantMatmulAllReduceV2, In, In, In, In, In, In, Name, Name, Name, I, I, I, In);
HAS(aclnnMatmulAllReduceAddRmsNorm, In, In, In, In, In, double, Name, Name, I, I, In, In);
HAS(aclnnInplaceMatmulAllReduceAddRmsNorm, In, In, In, In, In, double, Name, Name, I, I, In);
HAS(aclnnQuantMatmulAllReduceAddRmsNorm, In, In, In, In, In, In, double, Name, Name, I, I, In, In);
HAS(aclnnInplaceQuantMatmulAllReduceAddRmsNorm, In, In, In, In, In, In, double, Name, Name, I, I, In);
HAS(aclnnWeightQuantMatmulAllReduceAddRmsNorm, In, In, In, In, In, In, In, double, Name, Name, I, I, I, In,
    In);
HAS(aclnnInplaceWeightQuantMatmulAllReduceAddRmsNorm, In, In, In, In, In, In, In, double, Name, Name, I, I, I,
    In);
HAS(aclnnAllGatherMatmul, In, In, In, Name, I, I, I, In, In);
HAS(aclnnAllGatherMatmulV2, In, In, In, In, In, In, I, Name, I, I, I, I, Name, Out, Out, Out);
HAS(aclnnMatmulReduceScatter, In, In, In, Name, Name, I, I, In);
HAS(aclnnMatmulReduceScatterV2, In, In, In, In, In, In, I, Name, Name, I, I, I, Name, Out, Out);
HAS(aclnnAlltoAllMatmul, In, In, In, Array, Name, bool, bool, Out, Out);
HAS(aclnnAlltoAllMatmulV2, In, In, In, Array, Name, Name, bool, bool, Out, Out);
HAS(aclnnMatmulAlltoAll, In, In, In, Array, Name, bool, bool, Out);
HAS(aclnnMatmulAlltoAllV2, In, In, In, Array, Name, Name, bool, bool, Out);
HAS(aclnnAlltoAllQuantMatmul, In, In, In, In, In, In, In, In, Name, Array, I, I, I, I, I, I, bool, bool, Out,
    Out);
HAS(aclnnAlltoAllQuantMatmulV2, In, In, In, In, In, In, In, In, Name, Name, Array, I, I, I, I, I, I, bool,
    bool, Out, Out);
HAS(aclnnQuantMatmulAlltoAll, In, In, In, In, In, In, In, In, Array, Name, I, I, I, I, I, bool, bool, Out);
HAS(aclnnQuantMatmulAlltoAllV2, In, In, In, In, In, In, In, In, Array, Name, Name, I, I, I, I, I, bool, bool,
    Out);
HAS(aclnnAlltoAllvGroupedMatMul, In, In, In, In, In, In, Name, I, Array, Array, bool, bool, bool, Out, Out,
    Out);
HAS(aclnnAlltoAllvGroupedMatMulV2, In, In, In, In, In, In, Name, Name, I, Array, Array, bool, bool, bool, Out,
    Out, Out);
HAS(aclnnGroupedMatMulAlltoAllv, In, In, In, In, In, In, Name, I, Array, Array, bool, bool, Out, Out);
HAS(aclnnGroupedMatMulAlltoAllvV2, In, In, In, In, In, In, Name, Name, I, Array, Array, bool, bool, Out, Out);
HAS(aclnnAlltoAllvQuantGroupedMatMul, In, In, In, In, In, In, In, In, In, In, I, I, I, I, Name, I, Array,
    Array, bool, bool, I, bool, Out, Out, Out);
HAS(aclnnAlltoAllvQuantGroupedMatMulV2, In, In, In, In, In, In, In, In, In, In, I, I, I, I, Name, Name, I,
    Array, Array, bool, bool, I, bool, Out, Out, Out);
HAS(aclnnQuantGroupedMatMulAlltoAllv, In, In, In, In, In, In, In, In, In, In, In, I, I, I, I, I, I, I, Name,
    I, Array, Array, bool, bool, Out, Out);
HAS(aclnnQuantGroupedMatMulAlltoAllvV2, In, In, In, In, In, In, In, In, In, In, In, I, I, I, I, I, I, I, Name,
    Name, I, Array, Array, bool, bool, Out, Out);
HAS(aclnnAlltoAllAllGatherBatchMatMul, In, In, In, Name, Name, I, I, I, I, Out, Out, Out);
HAS(aclnnBatchMatMulReduceScatterAlltoAll, In, In, In, Name, Name, I, I, I, Out);
HAS(aclnnDistributeBarrier, Out, Name, I);
HAS(aclnnDistributeBarrierV2, Out, In, In, Name, I);
HAS(aclnnMoeDistributeDispatch, In, In, In, In, In, Name, I, I, I, Name, I, I, I, I, I, I, I, I, Out, Out,
    Out, Out, Out, Out, Out);
HAS(aclnnMoeDistributeDispatchV2, In, In, In, In, In, Name, I, I, I, Name, I, I, I, I, I, I, I, I, Name, Out,
    Out, Out, Out, Out, Out, Out);
HAS(aclnnMoeDistributeDispatchV3, In, In, In, In, In, In, Name, I, I, I, Name, I, I, I, I, I, I, I, I, Name,
    I, I, I, Out, Out, Out, Out, Out, Out, Out);
HAS(aclnnMoeDistributeDispatchV4, In, In, In, In, In, In, In, Name, I, I, I, Name, I, I, I, I, I, I, I, I,
    Name, I, I, I, Out, Out, Out, Out, Out, Out, Out);
HAS(aclnnMoeDistributeCombine, In, In, In, In, In, In, In, In, In, In, In, Name, I, I, I, Name, I, I, I, I, I,
    I, I, I, I, Out);
HAS(aclnnMoeDistributeCombineV2, In, In, In, In, In, In, In, In, In, In, In, In, Name, I, I, I, Name, I, I, I,
    I, I, I, I, I, I, Name, Out);
HAS(aclnnMoeDistributeCombineV3, In, In, In, In, In, In, In, In, In, In, In, In, In, In, In, In, In, Name, I,
    I, I, Name, I, I, I, I, I, I, I, I, I, Name, I, I, I, Out);
HAS(aclnnMoeDistributeCombineAddRmsNorm, In, In, In, In, In, In, In, In, In, In, In, In, In, In, Name, I, I,
    I, Name, I, I, I, I, I, I, I, I, I, Name, float, Out, Out, Out);
HAS(aclnnMoeDistributeCombineAddRmsNormV2, In, In, In, In, In, In, In, In, In, In, In, In, In, In, In, In, In,
    In, In, Name, I, I, I, Name, I, I, I, I, I, I, I, I, I, Name, float, I, I, I, Out, Out, Out);
HAS(aclnnMoeDistributeCombineV4, In, In, In, In, In, In, In, In, In, In, In, In, In, In, In, In, In, In, Name,
    I, I, I, Name, I, I, I, I, I, I, I, I, I, Name, I, I, I, Out);
