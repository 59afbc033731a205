// The table of operator info (see operator_info.h), made from the schema.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/operator_info.h"

namespace portacl {

std::span<const OperatorInfo> AllOperators() noexcept {
  static constexpr OperatorInfo kAll[] = {
#define OPERATOR_INFO(stem, api, by_promotion, inputs_only, ...) \
  {#api, "aclnnop/aclnn_" #stem ".h", __VA_ARGS__, by_promotion, inputs_only},
#include "aclnnop/operator_info.def"
#undef OPERATOR_INFO
  };
  return kAll;
}

}  // namespace portacl
