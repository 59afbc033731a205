// Calls an operator through both phases, as a CANN program does.
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
  bool fp_state_kept = true;  // the calls preserved the caller's floating-point environment
  std::string message;        // the text of aclGetRecentErrMsg

  bool Succeeded() const { return plan == 0 && run == 0 && synchronize == 0; }
};

// With `fp_mode`, both phases and the synchronisation run in that floating-point environment.
CallResult CallTwoPhase(const OperatorBinding& binding, std::span<aclTensor* const> tensors,
                        const Attributes& attributes, aclrtStream stream, const FpMode* fp_mode = nullptr);

// Returns the thread's recent message, or an empty text.
std::string TakeErrorMessage();

}  // namespace portacl::testing
