// What recurrent networks have in common: where their tensors and attributes stand among the arguments, the checks of those, and their
// jobs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/errors.h"
#include "aclnnop/phase1.h"
#include "contract/arguments.h"
#include "engine/recurrent/network.h"

namespace portacl::recurrent {

// An operator's arguments, by their indices. Input is the first tensor.
struct Places {
  bool is_forward;
  int gates;  // of a cell
  int states;
  int input, params, hx, lengths;
  int saved, saved_count;  // lists
  int output;              // or its gradient
  int after;               // the first of the states after the last step, or of their gradients
  int of_input = -1;       // gradients that are written
  int of_before = -1;      // the first of the states before the first step
  int of_params = -1;
  int has_bias, layers;  // attributes
  int train = -1;
  int bidirectional, batch_first;
};

// ---- checks; the codes are in the operators' headers ----

using PlacedCheck = aclnnStatus (*)(const Check& check, OperatorCall& call, const Places& at) noexcept;
// The check of an operator whose arguments are there.
template <PlacedCheck check, const Places& at>
aclnnStatus Placed(const Check& own, OperatorCall& call) noexcept {
  return check(own, call, at);
}

// Every list from `first` to `last` and every entry is given.
aclnnStatus ListsGiven(const Check& check, OperatorCall& call, int first, int last) noexcept;
template <int first, int last>
aclnnStatus ListsGiven(const Check& check, OperatorCall& call) noexcept {
  return ListsGiven(check, call, first, last);
}
// Every tensor and entry from `first` to `last` that is there has input's dtype.
aclnnStatus DtypesAreInputs(const Check& check, OperatorCall& call, int first, int last) noexcept;
template <int first, int last>
aclnnStatus DtypesAreInputs(const Check& check, OperatorCall& call) noexcept {
  return DtypesAreInputs(check, call, first, last);
}

aclnnStatus LengthsAreInt64(const Check& check, OperatorCall& call, const Places& at) noexcept;
aclnnStatus NoLengths(const Check& check, OperatorCall& call, const Places& at) noexcept;
aclnnStatus CountsFit(const Check& check, OperatorCall& call, const Places& at) noexcept;
// Preconditions of the rest: those before it, in this order.
aclnnStatus RanksFit(const Check& check, OperatorCall& call, const Places& at) noexcept;
aclnnStatus ShapesFit(const Check& check, OperatorCall& call, const Places& at) noexcept;
// Nothing is written where there is nothing: no batch, or no hidden state.
aclnnStatus DoneIfNoStates(const Check& check, OperatorCall& call, const Places& at) noexcept;

// Whether steps are saved.
bool Trains(const OperatorCall& call, const Places& at) noexcept;
template <const Places& at>
bool Trains(const OperatorCall& call) noexcept {
  return Trains(call, at);
}

// ---- jobs ----

// Where a tensor lies whose dims are the last ones of three; without one, nowhere.
engine::RecurrentOperand OperandOf(const OperatorCall& call, int argument, int entry = 0) noexcept;

void Describe(const OperatorCall& call, const Places& at, engine::RecurrentForward& network) noexcept;
void Describe(const OperatorCall& call, const Places& at, engine::RecurrentGradient& network) noexcept;

// The operands of lists in the job's memory. False when there is no memory.
bool SetListed(const OperatorCall& call, const Places& at, Executor& executor) noexcept;
void MarkTouched(const OperatorCall& call, const Places& at, Executor& executor) noexcept;

template <class Job>
void SetNetworkJob(const OperatorCall& call, const Places& at, const Job& job, Executor& executor) noexcept {
  if (!SetListed(call, at, executor)) return;
  executor.workspace_size = job.WorkspaceBytes();
  executor.SetJob([&] { return job; });
  MarkTouched(call, at, executor);
}

}  // namespace portacl::recurrent
