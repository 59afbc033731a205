// Every operator's description, for tests that go over all of them: one line each.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "operators/kl_div.h"
#include "operators/kl_div_backward.h"
#include "operators/kl_div_target_backward.h"
#include "operators/l1_loss.h"
#include "operators/l1_loss_backward.h"
#include "operators/moves.h"
#include "operators/mse_loss.h"
#include "operators/mse_loss_backward.h"
#include "operators/mse_loss_out.h"
#include "operators/smooth_l1_loss.h"
#include "operators/smooth_l1_loss_backward.h"

namespace portacl::testing {

// Those whose first input is gradOutput.
inline std::vector<const NumericDescription*> AllGradients() {
  return {
      &DescribeL1LossBackward(),      &DescribeSmoothL1LossBackward(), &DescribeKlDivBackward(),
      &DescribeKlDivTargetBackward(), &DescribeMseLossBackward(),
  };
}

// Those of self and target alone, without a reduction.
inline std::vector<const NumericDescription*> AllLosses() {
  return {
      &DescribeL1Loss(), &DescribeSmoothL1Loss(), &DescribeKlDiv(), &DescribeMseLoss(), &DescribeMseLossOut(),
  };
}

// The same with a reduction.
inline std::vector<const NumericDescription*> AllReducedLosses() {
  return {
      &DescribeReducedL1Loss(),  &DescribeReducedSmoothL1Loss(), &DescribeReducedKlDiv(),
      &DescribeReducedMseLoss(), &DescribeReducedMseLossOut(),
  };
}

// Every operator that computes in floats once, called without a reduction.
inline std::vector<const NumericDescription*> AllOperators() {
  std::vector<const NumericDescription*> all = AllGradients();
  for (const NumericDescription* loss : AllLosses()) {
    all.push_back(loss);
  }
  return all;
}

// Every operator of the library: how it is called, which is all that some tests ask.
inline std::vector<OperatorBinding> AllBindings() {
  std::vector<OperatorBinding> all;
  for (const NumericDescription* op : AllOperators()) all.push_back(op->binding);
  for (const OperatorBinding& move : {BindInplaceCopy(), BindCast(), BindInplaceFillScalar(),
                                      BindInplaceFillTensor(), BindInplaceZero(), BindInplaceOne()})
    all.push_back(move);
  return all;
}

}  // namespace portacl::testing
