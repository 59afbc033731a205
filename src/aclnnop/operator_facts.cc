// The table of operator info (see operator_facts.h), made from the schema.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/operator_facts.h"

namespace portacl {

std::span<const OperatorFacts> AllOperators() noexcept {
  static constexpr OperatorFacts kAll[] = {
#define FACTS(stem, api, by_promotion, inputs_only, ...) \
  {#api, "aclnnop/aclnn_" #stem ".h", __VA_ARGS__, by_promotion, inputs_only},
#include "aclnnop/facts.def"
#undef FACTS
  };
  return kAll;
}

}  // namespace portacl
