// Shared code of recurrent networks: positions of their tensors and attributes among the arguments, checks of
// these, and jobs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "aclnnop/phase1.h"
#include "base/errors.h"
#include "contract/arguments.h"
#include "engine/recurrent/network.h"

namespace portacl::recurrent {

// Positions of an operator's arguments. Input is the first tensor.
struct OperandPositions {
  bool is_forward;
  int gates;  // gates of a cell
  int states;
  int input, params, hx, lengths;
  int saved, saved_count;  // lists
  int output;              // or its gradient
  int after;               // first of the states after the last step, or of their gradients
  int of_input = -1;       // the input's gradient; -1 where not written
  int of_before = -1;      // first of the states before the first step
  int of_params = -1;
  int has_bias, layers;  // attributes
  int train = -1;
  int bidirectional, batch_first;
};

// ---- checks; the operators' headers name the codes ----

using PositionalCheck = aclnnStatus (*)(const Check& check, OperatorCall& call,
                                        const OperandPositions& at) noexcept;
// Binds a check to the positions of an operator's arguments.
template <PositionalCheck check, const OperandPositions& at>
aclnnStatus BoundTo(const Check& own, OperatorCall& call) noexcept {
  return check(own, call, at);
}

// Checks that every list from `first` to `last` and every entry is given.
aclnnStatus ListsGiven(const Check& check, OperatorCall& call, int first, int last) noexcept;
template <int first, int last>
aclnnStatus ListsGiven(const Check& check, OperatorCall& call) noexcept {
  return ListsGiven(check, call, first, last);
}
// Checks that every given tensor and entry from `first` to `last` has input's dtype.
aclnnStatus DtypesAreInputs(const Check& check, OperatorCall& call, int first, int last) noexcept;
template <int first, int last>
aclnnStatus DtypesAreInputs(const Check& check, OperatorCall& call) noexcept {
  return DtypesAreInputs(check, call, first, last);
}

aclnnStatus LengthsAreInt64(const Check& check, OperatorCall& call, const OperandPositions& at) noexcept;
aclnnStatus NoLengths(const Check& check, OperatorCall& call, const OperandPositions& at) noexcept;
aclnnStatus CountsFit(const Check& check, OperatorCall& call, const OperandPositions& at) noexcept;
// The following checks require that all checks above have passed, in this order.
aclnnStatus RanksFit(const Check& check, OperatorCall& call, const OperandPositions& at) noexcept;
aclnnStatus ShapesFit(const Check& check, OperatorCall& call, const OperandPositions& at) noexcept;
// Succeeds without work if there is no batch or no hidden state: nothing is written then.
aclnnStatus DoneIfNoStates(const Check& check, OperatorCall& call, const OperandPositions& at) noexcept;

// Tells whether the steps are saved for a gradient.
bool Trains(const OperatorCall& call, const OperandPositions& at) noexcept;
template <const OperandPositions& at>
bool Trains(const OperatorCall& call) noexcept {
  return Trains(call, at);
}

// ---- jobs ----

// Returns the operand of a tensor whose dims are the last of three, or an empty operand without a tensor.
engine::RecurrentOperand OperandOf(const OperatorCall& call, int argument, int entry = 0) noexcept;

void Describe(const OperatorCall& call, const OperandPositions& at,
              engine::RecurrentForward& network) noexcept;
void Describe(const OperatorCall& call, const OperandPositions& at,
              engine::RecurrentGradient& network) noexcept;

// Stores the operands of lists in the job's memory. Returns false when there is no memory.
bool SetListed(const OperatorCall& call, const OperandPositions& at, Executor& executor) noexcept;
void MarkTouched(const OperatorCall& call, const OperandPositions& at, Executor& executor) noexcept;

template <class Job>
void SetNetworkJob(const OperatorCall& call, const OperandPositions& at, const Job& job,
                   Executor& executor) noexcept {
  if (!SetListed(call, at, executor)) return;
  executor.workspace_size = job.WorkspaceBytes();
  executor.SetJob([&] { return job; });
  MarkTouched(call, at, executor);
}

}  // namespace portacl::recurrent
