// What the descriptions of forward losses share: how their reductions are called and predicted.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "support/loss_terms.h"
#include "support/operator_under_test.h"

namespace portacl::testing {

using TermsOf = LossTerms (*)(std::span<const LogicalTensor> inputs, const Attributes& attributes);

// The operator without a reduction.
inline NumericDescription WithoutReduction(NumericDescription op, TermsOf terms) {
  op.oracle = [terms](std::span<const LogicalTensor> inputs, const Attributes& attributes) {
    return Elements(terms(inputs, attributes));
  };
  return op;
}

// The operator with reductions over everything; batchmean counts R's first dim.
inline NumericDescription WithReduction(NumericDescription op, TermsOf terms) {
  op.binding.may_need_workspace = [](std::span<const Shape>) { return true; };
  op.output_shape = [](std::span<const Shape>) { return Shape{}; };
  op.oracle = [terms](std::span<const LogicalTensor> inputs, const Attributes& attributes) {
    const LossTerms all = terms(inputs, attributes);
    float c = 1.0f;
    if (attributes.reduction == 1) {
      c = MeanFactor(NumElements(all.shape));
    } else if (attributes.reduction == 3) {
      // Without any term it is self's first dim that counts.
      const Shape& batches = all.value.empty() ? inputs[0].shape : all.shape;
      c = MeanFactor(batches.empty() ? 1 : batches.front());
    }
    return Sums(all, Shape{}, Shape{}, c);
  };
  op.max_ulp = 1;  // c rounds once; the terms are taken as they are
  return op;
}

}  // namespace portacl::testing
