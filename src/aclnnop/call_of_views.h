// A call whose tensors are views of another call's tensors, for maps over parts of tensors.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "aclnnop/phase1.h"

namespace portacl {

// A view, and the executor's operand (OperatorCall::OperandOf) whose storage holds it.
struct MappedView {
  aclTensor tensor;
  int operand;
};

// Copies the call, with the views as its tensors. The output comes last.
struct CallOfViews {
  CallOfViews(const OperatorCall& whole, std::initializer_list<MappedView> inputs, const MappedView& output)
      : call(whole) {
    for (const MappedView& input : inputs) {
      tensors[count] = {nullptr, &input.tensor};
      indices.index[indices.count++] = static_cast<int8_t>(count);
      ++count;
    }
    tensors[count] = {nullptr, &output.tensor};
    call.tensors = {tensors, static_cast<size_t>(count) + 1};
  }

  TensorArgument tensors[kMaxLoopOperands];
  Operands indices;
  int count = 0;
  OperatorCall call;
};

template <class Job>
void Bind(std::initializer_list<MappedView> inputs, Job& job) noexcept {
  int k = 0;
  for (const MappedView& input : inputs) job.formula.argument[k++] = static_cast<int8_t>(input.operand);
}

}  // namespace portacl
