// aclnnL1Loss as the tests see it, where its inputs promote to a floating type: |self - target|, or its sum.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "aclnnop/aclnn_l1_loss.h"
#include "operators/forward_losses.h"
#include "support/float_formats.h"

namespace portacl::testing {
namespace l1_loss {

// Integers go to the common type by one rounding, floating values are exact in float32 as they are.
inline LogicalTensor InCommonType(LogicalTensor tensor, DtypeNumber promoted) {
  if (!tensor.IsFloating()) {
    for (const int64_t value : tensor.integers) {
      tensor.reals.push_back(IntegerConvertedTo(promoted, value));
    }
  }
  return tensor;
}

inline LossTerms Terms(std::span<const LogicalTensor> inputs, const Attributes&) {
  const DtypeNumber promoted = PromoteDtypes(inputs[0].dtype, inputs[1].dtype);
  LossTerms terms;
  terms.shape = ForEachPair(
      InCommonType(inputs[0], promoted), InCommonType(inputs[1], promoted),
      [&](double x, double y) { terms.Add(NearestFloat(std::fabs(InFloat(x - y))), std::fabs(x - y), 0); });
  return terms;
}

inline NumericDescription Common() {
  NumericDescription op;
  op.binding.name = "aclnnL1Loss";
  op.binding.tensors = {"self", "target", "out"};
  op.binding.plan = [](std::span<aclTensor* const> t, const Attributes& a, uint64_t* size,
                       aclOpExecutor** executor) {
    return aclnnL1LossGetWorkspaceSize(t[0], t[1], a.reduction, t[2], size, executor);
  };
  op.binding.run = aclnnL1Loss;
  op.input_dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
  op.integer_dtypes = {ACL_INT8, ACL_UINT8, ACL_INT16, ACL_INT32, ACL_INT64, ACL_BOOL};
  op.max_ulp = 0.5;
  return op;
}

}  // namespace l1_loss

inline const NumericDescription& DescribeL1Loss() {
  static const NumericDescription description = [] {
    NumericDescription op = WithoutReduction(l1_loss::Common(), l1_loss::Terms);
    op.output_dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE, ACL_COMPLEX64, ACL_COMPLEX128};
    op.attributes = {{.reduction = 0}};
    // A floating target asks for a floating self.
    op.accepts_dtypes = [](std::span<const DtypeNumber> dtypes) {
      return IsFloatingDtype(dtypes[0]) || !IsFloatingDtype(dtypes[1]);
    };
    return op;
  }();
  return description;
}

inline const NumericDescription& DescribeReducedL1Loss() {
  static const NumericDescription description = [] {
    NumericDescription op = WithReduction(l1_loss::Common(), l1_loss::Terms);
    op.output_dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_COMPLEX64};
    op.attributes = {{.reduction = 1}, {.reduction = 2}};
    return op;
  }();
  return description;
}

}  // namespace portacl::testing
