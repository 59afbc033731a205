// Computes one call of an operator whose workspace ends at a guard page, and waits for its stream.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "gtest/gtest.h"
#include "guarded_buffer.h"
#include "two_phase.h"

namespace portacl::testing {

// `plan(&size, &executor)` is phase 1 with its operands, `run` the function of phase 2. Both must succeed.
template <class Plan, class Run>
void Compute(const Plan& plan, const Run& run, aclrtStream stream) {
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(plan(&size, &executor), 0) << TakeErrorMessage();
  const GuardedBuffer workspace(size);
  ASSERT_EQ(run(workspace.device(), size, executor, stream), 0) << TakeErrorMessage();
  ASSERT_EQ(aclrtSynchronizeStream(stream), 0) << TakeErrorMessage();
}

}  // namespace portacl::testing
