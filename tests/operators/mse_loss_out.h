// aclnnMseLossOut as the tests see it: (self - target)^2, or its sum over the first axis.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aclnnop/aclnn_mse_loss_out.h"
#include "operators/mse_loss.h"

namespace portacl::testing {
namespace mse_loss_out {

inline NumericDescription Common() {
  NumericDescription op = mse_loss::Common();
  op.binding.name = "aclnnMseLossOut";
  op.binding.plan = [](std::span<aclTensor* const> t, const Attributes& a, uint64_t* size,
                       aclOpExecutor** executor) {
    return aclnnMseLossOutGetWorkspaceSize(t[0], t[1], a.reduction, t[2], size, executor);
  };
  op.binding.run = aclnnMseLossOut;
  return op;
}

inline Shape WithoutFirst(const Shape& shape) {
  return shape.empty() ? Shape{} : Shape(shape.begin() + 1, shape.end());
}

}  // namespace mse_loss_out

inline const NumericDescription& DescribeMseLossOut() {
  static const NumericDescription description = [] {
    NumericDescription op = WithoutReduction(mse_loss_out::Common(), mse_loss::Terms);
    op.attributes = {{.reduction = 0}};
    return op;
  }();
  return description;
}

inline const NumericDescription& DescribeReducedMseLossOut() {
  static const NumericDescription description = [] {
    NumericDescription op = mse_loss_out::Common();
    op.binding.may_need_workspace = [](std::span<const Shape>) { return true; };
    op.attributes = {{.reduction = 1}, {.reduction = 2}};
    op.max_ulp = 1;
    // Where an input is empty, nothing is written, also where out has elements: a test of its own.
    op.accepts = [](std::span<const Shape> shapes) {
      const std::optional<Shape> r = Broadcast(shapes);
      return r && NumElements(*r) > 0;
    };
    op.output_shape = [](std::span<const Shape> shapes) {
      return mse_loss_out::WithoutFirst(*Broadcast(shapes));
    };
    op.oracle = [](std::span<const LogicalTensor> inputs, const Attributes& attributes) {
      const LossTerms terms = mse_loss::Terms(inputs, attributes);
      Shape kept = terms.shape;
      float c = 1.0f;
      if (!kept.empty()) {
        c = attributes.reduction == 1 ? MeanFactor(kept.front()) : 1.0f;
        kept.front() = 1;
      }
      return Sums(terms, kept, mse_loss_out::WithoutFirst(terms.shape), c);
    };
    return op;
  }();
  return description;
}

}  // namespace portacl::testing
