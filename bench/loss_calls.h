// The operators as this folder calls them: through the public C functions alone.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"

namespace portacl::bench {

// One operator with its attributes set. Tensors are given in the order of the signature, the output last:
// gradOutput, self, target, output of a gradient; self, target, output of a loss.
struct LossCall {
  const char* name;  // that of the operator's source file and tests, then its attributes
  aclnnStatus (*plan)(aclTensor* const* tensors, uint64_t* workspace_size, aclOpExecutor** executor);
  aclnnStatus (*run)(void* workspace, uint64_t workspace_size, aclOpExecutor* executor, aclrtStream stream);
  bool is_gradient = false;
  int unread_input = -1;  // an input whose values are never read; -1: there is none
  int summed_like = -1;   // the input whose shape the output has, over the others' broadcast axes; -1: none
  bool uses_exp_or_log = false;
  enum class Output { kEveryElement, kOneElement, kWithoutFirstAxis } output = Output::kEveryElement;
  bool inputs_share_dtype = false;
  int output_has_dtype_of = -1;

  int InputCount() const { return is_gradient ? 3 : 2; }
};

std::span<const LossCall> LossCalls();

}  // namespace portacl::bench
