// Dtypes per product: see product_dtypes.h.
// SPDX-License-Identifier: Apache-2.0
#include "product_dtypes.h"

#include <algorithm>
#include <cstdlib>

namespace portacl::testing {

bool ProductTakes(const std::string& op, const std::vector<DtypeNumber>& inputs, DtypeNumber output) {
  const char* variable = std::getenv("PORTACL_SOC");
  const std::string soc = variable != nullptr ? variable : "";
  const bool is_310b = soc == "Ascend310B1";
  const bool without_bf16 = is_310b || soc == "Ascend310P3" || soc == "Ascend910A";
  if (!without_bf16) {
    return true;
  }
  if (op == "aclnnKlDivTargetBackward" || (op == "aclnnKlDivBackward" && is_310b)) {
    return false;
  }
  const auto is_any_of = [](DtypeNumber dtype, std::initializer_list<DtypeNumber> dtypes) {
    return std::find(dtypes.begin(), dtypes.end(), dtype) != dtypes.end();
  };
  if (op == "aclnnInplaceCopy" || op == "aclnnInplaceZero") {
    return true;
  }
  if (op == "aclnnCast") {
    return inputs.front() != ACL_BF16 && output != ACL_BF16;
  }
  if (op.starts_with("aclnnInplace")) {  // fills depend only on the filled tensor
    return !is_any_of(output, {ACL_BF16, ACL_UINT16, ACL_UINT32, ACL_UINT64});
  }
  // The L1 losses check the promoted dtype, so BF16 passes beside FLOAT. The others check each input.
  if (op == "aclnnL1Loss" || op == "aclnnL1LossBackward") {
    DtypeNumber promoted = inputs.front();
    for (const DtypeNumber dtype : inputs) {
      promoted = PromoteDtypes(dtype, promoted);
    }
    return promoted != ACL_BF16;
  }
  if (std::find(inputs.begin(), inputs.end(), ACL_BF16) != inputs.end()) {
    return false;
  }
  return op == "aclnnSmoothL1Loss" ||
         output != ACL_BF16;  // its result only needs to be castable, as for the L1 losses
}

}  // namespace portacl::testing
