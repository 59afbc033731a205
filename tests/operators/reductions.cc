// All descriptions of reductions and scans, and what they are over: see reductions.h.
// SPDX-License-Identifier: Apache-2.0
#include "operators/reductions.h"

#include <algorithm>

#include "operators/reduction_calls.h"

namespace portacl::testing {

const std::vector<OperatorSpec>& ReductionOperators() {
  // Never destroyed: programs call operators until they have ended.
  static const auto& all = *[] {
    auto* const every = new std::vector<OperatorSpec>;
    for (const auto& some : {reductions::Sums(), reductions::Extremes(), reductions::Others(),
                             reductions::Logarithms(), reductions::Scans(), reductions::Variances()})
      every->insert(every->end(), some.begin(), some.end());
    return every;
  }();
  return all;
}

ReducedOver OverOf(const OperatorSpec& op) {
  const auto has = [&](const auto& is_one) { return std::any_of(op.valid.begin(), op.valid.end(), is_one); };
  if (has([](const PlanArgument& one) { return one.kind == ParameterKind::kArray; }))
    return ReducedOver::kDims;
  if (has([](const PlanArgument& one) { return one.name == "dim"; }))
    return op.valid.back().shape == op.valid[0].shape || op.valid[0].is_output ? ReducedOver::kLine
                                                                               : ReducedOver::kDim;
  PlanCall line = ValidCall(op, Product::kA2);
  line.arguments[0].shape = {6};
  return Expected(line).code == 0 ? ReducedOver::kAll : ReducedOver::kDiagonal;
}

PlanCall CallOver(const OperatorSpec& op, const Shape& dims, int64_t order) {
  PlanCall call = ValidCall(op, Product::kA2);
  for (PlanArgument& one : call.arguments) {
    const int64_t number = one.name != "dim" ? order : dims.empty() ? 0 : dims[0];
    if (one.kind == ParameterKind::kArray) one.values = dims;
    if (one.kind == ParameterKind::kScalar) one.number = {static_cast<long double>(number), 0};
    if (one.kind == ParameterKind::kInteger) one.integer = one.name == "dim" ? number : 1;
  }
  return call;
}

}  // namespace portacl::testing
