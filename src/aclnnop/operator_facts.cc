// The list of all operators' facts (see operator_facts.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/operator_facts.h"

namespace portacl {

namespace facts {
#define OPERATOR(name, family, source, repository) extern const OperatorFacts name;
#include "aclnnop/operators.def"
#undef OPERATOR
// Those whose dtypes the schema has; the others are defined in the operators' files.
#define FACTS(stem, api, by_promotion, inputs_only, ...) \
  const OperatorFacts stem = {#api, "aclnnop/aclnn_" #stem ".h", __VA_ARGS__, by_promotion, inputs_only};
#include "aclnnop/facts.def"
#undef FACTS
}  // namespace facts

std::span<const OperatorFacts* const> AllOperators() noexcept {
  static constexpr const OperatorFacts* kAll[] = {
#define OPERATOR(name, family, source, repository) &facts::name,
#include "aclnnop/operators.def"
#undef OPERATOR
  };
  return kAll;
}

}  // namespace portacl
