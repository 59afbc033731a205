// Moves: a copy between two strided views, converted where their dtypes differ, is one function, whatever an operator calls it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/isa.h"
#include "aclnn/tensor.h"
#include "engine/move/conversion.h"
#include "plan/move_plan.h"

namespace portacl::engine {

// Trivially copyable, so that a job can hold it.
struct Move {
  LoopPlan plan;  // see PlanMove
  Conversion conversion;
  int threads = 1;
  bool stream = false;  // write past the caches: both sides together do not fit them

  // From the storage bases of the two tensors that it was made for; in the default floating-point environment,
  // whatever the caller's. Every element of the destination is written once, no other byte is.
  void Run(const char* source, char* destination) const noexcept;
};

// The copy of `source`, which broadcasts to `destination`'s shape, to `destination`. Preconditions: the dtypes are the same
// and take whole bytes, or both are convertible; those of PlanElementwise. Reads no data.
Move MakeMove(const aclTensor& source, const aclTensor& destination, Isa isa, int threads) noexcept;

// A move as a job: between two operands of a call, or of a value that the job holds to one.
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
