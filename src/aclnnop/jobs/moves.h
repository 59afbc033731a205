// A job of several moves between views of a call's operands, as operators that join, cut, pad or repeat put it together.
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
  // For at most `most` moves of the executor's job. Where there is no memory for them, phase 1 fails and nothing below does
  // anything.
  MoveList(Executor& executor, int64_t most) noexcept;

  // Views without elements are left out. Operands are those of the executor (OperatorCall::OperandOf).
  void Copy(const StridedView& source, int source_operand, const StridedView& destination,
            int destination_operand, aclDataType via = ACL_DT_UNDEFINED) noexcept;
  // Every element becomes the value that SetJob is given.
  void Fill(const StridedView& destination, int destination_operand) noexcept;

  // What follows is done when all that was added before is.
  void Barrier() noexcept { barrier_ = shares_; }

  // Ends the list: sets the executor's job. Without moves there is none.
  void SetJob(const ScalarValue& value = {}) noexcept;

 private:
  void Add(const engine::Move& move, int source, int destination) noexcept;

  Executor& executor_;
  engine::PlannedMove* moves_;
  int64_t count_ = 0;
  int64_t shares_ = 0;
  int64_t barrier_ = 0;
  int64_t bytes_ = 0;
  int64_t elements_ = 0;
};

}  // namespace portacl
