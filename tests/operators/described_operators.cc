// The descriptions by name: see described_operators.h.
// SPDX-License-Identifier: Apache-2.0
#include "operators/described_operators.h"

#include <map>
#include <stdexcept>

#include "operators/norms.h"
#include "operators/reductions.h"
#include "operators/sorts.h"

namespace portacl::testing {

const OperatorSpec& OperatorNamed(const std::string& function) {
  // Never destroyed: programs call operators until they have ended.
  static const auto& all = *[] {
    auto* const by_name = new std::map<std::string, const OperatorSpec*>;
    for (const auto* family :
         {&ReductionOperators(), &RowOperators(), &FusedRowOperators(), &AffineOperators(),
          &ChannelOperators(), &SyncBatchNormOperators(), &ClassOperators(), &BinaryLossOperators(),
          &CtcOperators(), &LinearCrossEntropyOperators(), &OrderedOperators(), &SearchedOperators(),
          &CountedOperators(), &MembershipOperators()}) {
      for (const OperatorSpec& op : *family) by_name->emplace(op.function.name, &op);
    }
    return by_name;
  }();
  const auto found = all.find(function);
  if (found == all.end()) throw std::logic_error(function + " has no description");
  return *found->second;
}

}  // namespace portacl::testing
