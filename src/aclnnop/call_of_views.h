// A call whose tensors are views of another call's tensors, for maps over parts of tensors.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "aclnnop/phase1.h"

namespace portacl {

// A view, and the number of the executor's operand (OperatorCall::OperandOf) whose storage holds it.
struct MappedView {
  StridedView tensor;
  int operand;
};

// Returns a tensor of which only the view is set, for calls that use nothing else.
inline aclTensor AsTensor(const StridedView& view) {
  aclTensor tensor;
  static_cast<StridedView&>(tensor) = view;
  return tensor;
}

// Copies the call, with the views as its tensors. The output comes last.
struct CallOfViews {
  CallOfViews(const OperatorCall& whole, std::initializer_list<MappedView> inputs, const MappedView& output)
      : call(whole) {
    for (const MappedView& input : inputs) {
      indices.index[indices.count++] = static_cast<int8_t>(count);
      Add(input.tensor);
    }
    Add(output.tensor);
    call.tensors = {tensors, static_cast<size_t>(count)};
    --count;
  }
  CallOfViews(const CallOfViews&) = delete;
  CallOfViews& operator=(const CallOfViews&) = delete;

  aclTensor views[kMaxLoopOperands];
  TensorArgument tensors[kMaxLoopOperands];
  Operands indices;
  int count = 0;  // of the inputs
  OperatorCall call;

 private:
  void Add(const StridedView& view) {
    static_cast<StridedView&>(views[count]) = view;
    tensors[count] = {nullptr, &views[count]};
    ++count;
  }
};

template <class Job>
void Bind(std::initializer_list<MappedView> inputs, Job& job) noexcept {
  int k = 0;
  for (const MappedView& input : inputs) job.formula.argument[k++] = static_cast<int8_t>(input.operand);
}

}  // namespace portacl
