// Views of a call's tensors as operands of maps and sums.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>

#include "contract/checks.h"
#include "engine/map/map_job.h"

namespace portacl {

// A view, and the number of the executor's operand (OperatorCall::OperandOf) whose storage holds it.
struct MappedView {
  StridedView tensor;
  int operand;

  engine::ViewOperand AsOperand() const noexcept { return {&tensor, operand}; }
};

// Returns a tensor of the call as an operand.
inline engine::ViewOperand TensorOperand(const OperatorCall& call, int tensor) noexcept {
  return {&call.Tensor(tensor), tensor};
}

// The inputs of a map or a sum as the engine takes them: views, which must outlive them, or tensors of a call.
class MapInputs {
 public:
  explicit MapInputs(std::initializer_list<MappedView> views) noexcept {
    for (const MappedView& view : views) inputs_[count_++] = view.AsOperand();
  }
  MapInputs(const OperatorCall& call, Operands tensors) noexcept {
    for (const int tensor : tensors) inputs_[count_++] = TensorOperand(call, tensor);
  }
  std::span<const engine::ViewOperand> All() const noexcept { return {inputs_, count_}; }

 private:
  engine::ViewOperand inputs_[Operands::kMost];
  size_t count_ = 0;
};

// Returns what the jobs of the call's formulas are made for.
inline engine::FormulaSettings SettingsOf(const OperatorCall& call) noexcept {
  return {call.isa, call.threads, call.promoted};
}

}  // namespace portacl
