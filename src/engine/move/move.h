// Moves: a copy between two strided views, with conversion if their dtypes differ. All copying operators use
// it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/isa.h"
#include "engine/job.h"
#include "engine/move/conversion.h"
#include "plan/move_plan.h"
#include "plan/strided_view.h"

namespace portacl::engine {

// Trivially copyable, so that a job can hold it.
struct Move {
  LoopPlan plan;  // see PlanMove
  Conversion conversion;
  int threads = 1;
  bool stream = false;  // write past the caches, which cannot hold both sides

  // Runs the move, given the storage bases of the two tensors, in the default floating-point environment.
  // Every element of the destination is written once, and no other byte.
  void Run(const char* source, char* destination) const noexcept;

  // Run a move in blocks of about 128 KiB, which threads may run concurrently.
  int64_t ThreadBlocks() const noexcept;
  void RunThreadBlocks(const char* source, char* destination, int64_t first, int64_t last) const noexcept;
};

// Makes the copy of `source`, which broadcasts to `destination`'s shape, to `destination`; with `via`,
// converted to that dtype first. Views of more than kMaxLoopRank dims must merge to as many (see MergeLoop).
// The dtypes are the same and take whole bytes, or all are convertible; PlanElementwise's preconditions hold.
// Reads no data.
Move MakeMove(const StridedView& source, const StridedView& destination, Isa isa, int threads,
              aclDataType via = ACL_DT_UNDEFINED) noexcept;

// Several moves as a job. Moves on the same side of a barrier are independent: no destination overlaps
// another move's operands.
struct PlannedMove {
  Move move;
  int32_t source;  // operand of the executor; MoveJob::kValue: the job's value
  int32_t destination;
  int64_t first_thread_block;
};
struct MovesJob {
  int count;
  int threads;
  int64_t thread_blocks;           // of all moves
  int64_t barrier;                 // the first block that waits for all blocks before it; 0: none
  int64_t thread_blocks_together;  // that a thread takes at a time
  int64_t elements;
  alignas(16) unsigned char value[16];

  bool Touches(int) const noexcept { return false; }  // whoever makes the job decides
  int64_t Elements() const noexcept { return elements; }
  // context.memory holds the moves.
  void Run(const JobContext& context) const noexcept;
};

// A move as a job: between two operands of a call, or from the job's value to one.
struct MoveJob {
  static constexpr int8_t kValue = -1;

  Move move;
  int8_t source = kValue;  // operand of the executor
  int8_t destination = 0;
  alignas(16) unsigned char value[16] = {};  // of the destination's dtype

  bool Touches(int operand) const noexcept { return operand == source || operand == destination; }
  int64_t Elements() const noexcept { return move.plan.count; }
  void Run(void* const* addresses, void*) const noexcept {
    move.Run(
        source == kValue ? reinterpret_cast<const char*>(value) : static_cast<const char*>(addresses[source]),
        static_cast<char*>(addresses[destination]));
  }
};

}  // namespace portacl::engine
