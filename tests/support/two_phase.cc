// Two-phase calls: see two_phase.h.
// SPDX-License-Identifier: Apache-2.0
#include "two_phase.h"

#include <memory>

#include "guarded_buffer.h"

namespace portacl::testing {

std::string TakeErrorMessage() {
  const char* message = aclGetRecentErrMsg();
  return message != nullptr ? message : "";
}

CallResult CallTwoPhase(const OperatorBinding& binding, std::span<aclTensor* const> tensors,
                        const Attributes& attributes, aclrtStream stream, const FpMode* fp_mode) {
  CallResult result;
  aclOpExecutor* executor = nullptr;
  std::unique_ptr<GuardedBuffer> workspace;  // exactly as large as requested
  const FpState before = FpState::Read();
  const FpState during = fp_mode != nullptr ? StateOf(*fp_mode) : before;
  if (fp_mode != nullptr) {
    during.Apply();
  }

  // From here to the last read of the state, the test does no floating-point arithmetic of its own.
  result.plan = binding.plan(tensors, attributes, &result.workspace_size, &executor);
  if (result.plan == 0) {
    workspace = std::make_unique<GuardedBuffer>(result.workspace_size);
    result.run = binding.run(result.workspace_size > 0 ? workspace->device() : nullptr, result.workspace_size,
                             executor, stream);
    result.synchronize = aclrtSynchronizeStream(stream);
  }
  result.fp_state_kept = FpState::Read() == during;
  if (fp_mode != nullptr) {
    before.Apply();
  }

  if (!result.Succeeded()) {
    result.message = TakeErrorMessage();
  }
  return result;
}

}  // namespace portacl::testing
