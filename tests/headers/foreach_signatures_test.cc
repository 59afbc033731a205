// The signatures of operators over lists of tensors are CANN's: see signatures_test.cc.
// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "aclnnop/families/foreach.h"
#include "aclnnop/families/optimizers.h"

typedef const aclTensorList* In;
typedef aclTensorList* Out;
typedef const aclTensorList* OutOfGenerated;  // where phase 1 of CANN's operator is generated
typedef const aclTensor* Number;
typedef aclTensor* Rewritten;
typedef const aclScalar* Scalar;
typedef const aclScalarList* Scalars;
typedef aclnnStatus (*Run)(void*, uint64_t, aclOpExecutor*, aclrtStream);

#define HAS(function, ...)                                                                     \
  static_assert(std::is_same<decltype(&function##GetWorkspaceSize),                            \
                             aclnnStatus (*)(__VA_ARGS__, uint64_t*, aclOpExecutor**)>::value, \
                #function "GetWorkspaceSize");                                                 \
  static_assert(std::is_same<decltype(&function), Run>::value, #function)

HAS(aclnnForeachAbs, In, OutOfGenerated);
HAS(aclnnForeachReciprocal, In, OutOfGenerated);
HAS(aclnnForeachAcos, In, OutOfGenerated);
HAS(aclnnForeachAsin, In, OutOfGenerated);
HAS(aclnnForeachAtan, In, OutOfGenerated);
HAS(aclnnForeachCos, In, OutOfGenerated);
HAS(aclnnForeachCosh, In, OutOfGenerated);
HAS(aclnnForeachErf, In, OutOfGenerated);
HAS(aclnnForeachErfc, In, OutOfGenerated);
HAS(aclnnForeachExp, In, OutOfGenerated);
HAS(aclnnForeachExpm1, In, OutOfGenerated);
HAS(aclnnForeachLog, In, OutOfGenerated);
HAS(aclnnForeachLog10, In, OutOfGenerated);
HAS(aclnnForeachLog1p, In, OutOfGenerated);
HAS(aclnnForeachLog2, In, OutOfGenerated);
HAS(aclnnForeachNeg, In, OutOfGenerated);
HAS(aclnnForeachSigmoid, In, OutOfGenerated);
HAS(aclnnForeachSign, In, OutOfGenerated);
HAS(aclnnForeachSin, In, OutOfGenerated);
HAS(aclnnForeachSinh, In, OutOfGenerated);
HAS(aclnnForeachSqrt, In, Out);
HAS(aclnnForeachTan, In, OutOfGenerated);
HAS(aclnnForeachTanh, In, OutOfGenerated);
HAS(aclnnForeachAddListV2, In, In, Scalar, Out);
HAS(aclnnForeachSubListV2, In, In, Scalar, Out);
HAS(aclnnForeachAddList, In, In, Number, Out);
HAS(aclnnForeachSubList, In, In, Number, OutOfGenerated);
HAS(aclnnForeachMulList, In, In, Out);
HAS(aclnnForeachDivList, In, In, Out);
HAS(aclnnForeachMaximumList, In, In, OutOfGenerated);
HAS(aclnnForeachMinimumList, In, In, OutOfGenerated);
HAS(aclnnForeachPowList, In, In, OutOfGenerated);
HAS(aclnnForeachAddScalarV2, In, Scalar, Out);
HAS(aclnnForeachSubScalarV2, In, Scalar, Out);
HAS(aclnnForeachMulScalarV2, In, Scalar, Out);
HAS(aclnnForeachDivScalarV2, In, Scalar, Out);
HAS(aclnnForeachMaximumScalarV2, In, Scalar, Out);
HAS(aclnnForeachMinimumScalarV2, In, Scalar, Out);
HAS(aclnnForeachPowScalarV2, In, Scalar, Out);
HAS(aclnnForeachAddScalar, In, Number, OutOfGenerated);
HAS(aclnnForeachSubScalar, In, Number, OutOfGenerated);
HAS(aclnnForeachMulScalar, In, Number, OutOfGenerated);
HAS(aclnnForeachDivScalar, In, Number, Out);
HAS(aclnnForeachMaximumScalar, In, Number, OutOfGenerated);
HAS(aclnnForeachRoundOffNumber, In, Number, OutOfGenerated);
HAS(aclnnForeachRoundOffNumberV2, In, Scalar, Out);
HAS(aclnnForeachMinimumScalar, In, Number, OutOfGenerated);
HAS(aclnnForeachPowScalar, In, Number, OutOfGenerated);
HAS(aclnnForeachAddScalarList, In, Scalars, OutOfGenerated);
HAS(aclnnForeachSubScalarList, In, Scalars, OutOfGenerated);
HAS(aclnnForeachMulScalarList, In, Scalars, OutOfGenerated);
HAS(aclnnForeachDivScalarList, In, Scalars, OutOfGenerated);
HAS(aclnnForeachMaximumScalarList, In, Scalars, OutOfGenerated);
HAS(aclnnForeachMinimumScalarList, In, Scalars, OutOfGenerated);
HAS(aclnnForeachPowScalarList, In, Scalars, OutOfGenerated);
HAS(aclnnForeachAddcmulScalarV2, In, In, In, Scalar, Out);
HAS(aclnnForeachAddcdivScalarV2, In, In, In, Scalar, Out);
HAS(aclnnForeachAddcmulScalar, In, In, In, Number, OutOfGenerated);
HAS(aclnnForeachAddcdivScalar, In, In, In, Number, Out);
HAS(aclnnForeachAddcmulScalarList, In, In, In, Number, OutOfGenerated);
HAS(aclnnForeachAddcdivScalarList, In, In, In, Number, Out);
HAS(aclnnForeachAddcmulList, In, In, In, Number, OutOfGenerated);
HAS(aclnnForeachAddcdivList, In, In, In, Number, OutOfGenerated);
HAS(aclnnForeachLerpScalar, In, In, Scalar, Out);
HAS(aclnnForeachLerpList, In, In, In, Out);
HAS(aclnnForeachPowScalarAndTensor, Scalar, In, OutOfGenerated);
HAS(aclnnForeachCopy, In, Out);
HAS(aclnnForeachZeroInplace, In);
HAS(aclnnForeachNorm, In, Scalar, OutOfGenerated);
HAS(aclnnForeachNonFiniteCheckAndUnscale, In, Number, Number);
HAS(aclnnApplyAdamWV2, Rewritten, Rewritten, Rewritten, Rewritten, Number, Number, float, float, float, float,
    float, bool, bool);
HAS(aclnnFusedSgd, In, In, In, Number, float, float, float, float, bool, bool, bool);
HAS(aclnnFusedAdam, In, In, In, In, In, In, Number, Number, double, double, double, double, double, bool,
    bool);
HAS(aclnnFusedAdamw, In, In, In, In, In, In, Number, Number, double, double, double, double, double, bool,
    bool);
HAS(aclnnApplyAdamW, Rewritten, Rewritten, Rewritten, Number, Number, Number, Number, Number, Number, Number,
    Number, Number, bool, bool);
HAS(aclnnApplyAdam, Rewritten, Number, Number, Number, Number, Number, Number, Number, Number, Number, bool,
    bool);
HAS(aclnnApplyFusedEmaAdam, Number, Rewritten, Rewritten, Rewritten, Rewritten, Number, double, double,
    double, double, double, int64_t, bool, double);
HAS(aclnnAmpUpdateScale, Number, Number, Number, double, double, int64_t, Rewritten, Rewritten);
