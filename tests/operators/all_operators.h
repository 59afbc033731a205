// Every operator's description, for tests that go over all of them: one line each.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "operators/kl_div_backward.h"
#include "operators/l1_loss_backward.h"
#include "operators/smooth_l1_loss_backward.h"

namespace portacl::testing {

inline std::vector<const NumericDescription*> AllOperators() {
  return {
      &DescribeL1LossBackward(),
      &DescribeSmoothL1LossBackward(),
      &DescribeKlDivBackward(),
  };
}

}  // namespace portacl::testing
