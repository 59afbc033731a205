// Two-phase calls: see two_phase.h.
// SPDX-License-Identifier: Apache-2.0
#include "two_phase.h"

namespace portacl::testing {

std::string TakeErrorMessage() {
  const char* message = aclGetRecentErrMsg();
  return message != nullptr ? message : "";
}

CallResult CallTwoPhase(const OperatorBinding& binding, std::span<aclTensor* const> tensors,
                        const Attributes& attributes, aclrtStream stream, const FpMode* fp_mode) {
  CallResult result;
  aclOpExecutor* executor = nullptr;
  void* workspace = nullptr;
  const FpState before = FpState::Read();
  const FpState during = fp_mode != nullptr ? StateOf(*fp_mode) : before;
  if (fp_mode != nullptr) {
    during.Apply();
  }

  // No floating-point arithmetic of our own between here and the last read of the state.
  result.plan = binding.plan(tensors, attributes, &result.workspace_size, &executor);
  if (result.plan == 0) {
    const bool workspace_ready = result.workspace_size == 0 || aclrtMalloc(&workspace, result.workspace_size,
                                                                           ACL_MEM_MALLOC_HUGE_FIRST) == 0;
    if (workspace_ready) {
      result.run = binding.run(workspace, result.workspace_size, executor, stream);
      result.synchronize = aclrtSynchronizeStream(stream);
    }
  }
  result.fp_state_kept = FpState::Read() == during;
  if (fp_mode != nullptr) {
    before.Apply();
  }

  if (!result.Succeeded()) {
    result.message = TakeErrorMessage();
  }
  if (workspace != nullptr) {
    aclrtFree(workspace);
  }
  return result;
}

}  // namespace portacl::testing
