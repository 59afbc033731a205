// aclnnForeachRoundOffNumber and aclnnForeachRoundOffNumberV2: round lists of tensors by a mode.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/foreach/list_rounding_functions.h"

#include "aclnnop/jobs/rounding.h"

#include "aclnnop/jobs/lists.h"

namespace portacl {
namespace {

constexpr DtypeRule kDtypes = DtypeRule{}
                                  .On(products::kAtlasA2AndA3, kFloatHalfAndBf16 | DtypeSet(ACL_INT16))
                                  .On(products::kAscend950, kFloatHalfAndBf16);
constexpr DtypeRule kDtypesOfV2 =
    DtypeRule{}
        .On(products::kAtlasA2AndA3, kFloatHalfAndBf16 | DtypeSet(ACL_INT32, ACL_INT16))
        .On(products::kAscend950, kFloatHalfAndBf16 | DtypeSet(ACL_INT32));

constexpr ListFormula kRounded{
    .kernels = [](const OperatorCall&, const aclScalar*) noexcept -> const engine::KernelTable& {
      return RoundOffKernels();
    }};

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnForeachRoundOffNumber) {
  static constexpr ListRules kRules{.formula = kRounded,
                                    .dtypes = kDtypes,
                                    .number = ListNumber::kTensor,
                                    .number_dtypes = DtypeSet(ACL_INT8)};
  return RunLists(call, kRules, nullptr, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnForeachRoundOffNumberV2) {
  static constexpr ListRules kRules{.formula = kRounded,
                                    .dtypes = kDtypesOfV2,
                                    .is_generated = false,
                                    .number = ListNumber::kScalar,
                                    .number_dtypes = DtypeSet(ACL_INT8, ACL_INT64),
                                    .number_is_int8 = true};
  return RunLists(call, kRules, nullptr, workspaceSize, executor);
}
