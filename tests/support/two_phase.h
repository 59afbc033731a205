// One call of an operator through both phases, the way a CANN program does it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "fp_environment.h"
#include "operator_under_test.h"

namespace portacl::testing {

struct CallResult {
  aclnnStatus plan = -1;
  uint64_t workspace_size = 0;
  aclnnStatus run = -1;
  aclError synchronize = -1;
  bool fp_state_kept = true;  // the caller's floating-point environment was the same after the calls
  std::string message;        // what aclGetRecentErrMsg had to say

  bool Succeeded() const { return plan == 0 && run == 0 && synchronize == 0; }
};

// With `fp_mode`, both phases and the synchronisation run in that floating-point environment.
CallResult CallTwoPhase(const OperatorBinding& binding, std::span<aclTensor* const> tensors,
                        const Attributes& attributes, aclrtStream stream, const FpMode* fp_mode = nullptr);

// The thread's recent message; empty where there is none.
std::string TakeErrorMessage();

}  // namespace portacl::testing
