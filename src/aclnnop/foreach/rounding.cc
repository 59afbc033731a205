// aclnnForeachRoundOffNumber and aclnnForeachRoundOffNumberV2: lists of tensors, rounded as a mode says.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/pointwise/rounding.h"

#include "aclnnop/aclnn_foreach_round_off_number.h"
#include "aclnnop/aclnn_foreach_round_off_number_v2.h"
#include "aclnnop/foreach/lists.h"

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

PORTACL_LIST_FACTS(foreach_round_off_number, ForeachRoundOffNumber, kDtypes, kDtypes)
PORTACL_LIST_FACTS(foreach_round_off_number_v2, ForeachRoundOffNumberV2, kDtypesOfV2, kDtypesOfV2)

}  // namespace portacl

using namespace portacl;

aclnnStatus aclnnForeachRoundOffNumberGetWorkspaceSize(const aclTensorList* x, const aclTensor* roundMode,
                                                       const aclTensorList* out, uint64_t* workspaceSize,
                                                       aclOpExecutor** executor) {
  static constexpr ListRules kRules{.formula = kRounded,
                                    .dtypes = kDtypes,
                                    .number = ListNumber::kTensor,
                                    .number_dtypes = DtypeSet(ACL_INT8)};
  const TensorArgument tensors[] = {{"x", x}, {"roundMode", roundMode}, {"out", out}};
  ListCall call{{"aclnnForeachRoundOffNumber", tensors, {}}, &kRules};
  return RunLists(call, workspaceSize, executor);
}
PORTACL_PHASE_2(aclnnForeachRoundOffNumber)

aclnnStatus aclnnForeachRoundOffNumberV2GetWorkspaceSize(const aclTensorList* x, const aclScalar* roundMode,
                                                         aclTensorList* out, uint64_t* workspaceSize,
                                                         aclOpExecutor** executor) {
  static constexpr ListRules kRules{.formula = kRounded,
                                    .dtypes = kDtypesOfV2,
                                    .is_generated = false,
                                    .number = ListNumber::kScalar,
                                    .number_dtypes = DtypeSet(ACL_INT8, ACL_INT64),
                                    .number_is_int8 = true};
  const TensorArgument tensors[] = {{"x", x}, {"out", out}};
  const Attribute attributes[] = {{"roundMode", roundMode}};
  ListCall call{{"aclnnForeachRoundOffNumberV2", tensors, attributes}, &kRules};
  return RunLists(call, workspaceSize, executor);
}
PORTACL_PHASE_2(aclnnForeachRoundOffNumberV2)
