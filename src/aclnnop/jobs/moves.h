// Builds a job of several copies between views of a call's operands, for operators that concatenate, split,
// pad or repeat.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "aclnn/executor.h"
#include "aclnnop/phase1.h"
#include "engine/move/move.h"
#include "plan/views.h"

namespace portacl {

class MoveList {
 public:
  // Reserves room for `most` copies. Without memory phase 1 fails, and the functions below do nothing.
  MoveList(Executor& executor, int64_t most) noexcept;

  // Copies a view. Views without elements are skipped. Operands are the executor's (OperatorCall::OperandOf).
  void Copy(const StridedView& source, int source_operand, const StridedView& destination,
            int destination_operand, aclDataType via = ACL_DT_UNDEFINED) noexcept;
  // Fills a view with the value that SetJob gets.
  void Fill(const StridedView& destination, int destination_operand) noexcept;

  // Makes all later copies wait for the earlier ones.
  void Barrier() noexcept { barrier_ = thread_blocks_; }

  // Sets the executor's job, unless there are no copies.
  void SetJob(const ScalarValue& value = {}) noexcept;

 private:
  void Add(const engine::Move& move, int source, int destination) noexcept;

  Executor& executor_;
  engine::PlannedMove* moves_;
  int64_t count_ = 0;
  int64_t thread_blocks_ = 0;
  int64_t barrier_ = 0;
  int64_t bytes_ = 0;
  int64_t elements_ = 0;
};

}  // namespace portacl
