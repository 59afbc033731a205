// The operators as random programs call them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"

namespace portacl::testing {

// The attributes of all operators together.
struct CallAttributes {
  int64_t reduction = 0;
  float beta = 1.0f;
  double wide_beta = 1.0;  // the same: widening a subnormal leaves a mark in the environment of the call
  bool log_target = false;
  int misplaced =
      0;  // how many bytes behind an aligned address what a call is given besides the tensors lies
};

// What decides the output's shape.
enum class OutputShape {
  kBroadcast,
  kOperand0,
  kOperand1,
  kOperand2,
  kReduced,
  kReducedFirstAxis,
  kOne,
  kAny
};

struct OperatorCall {
  const char* name;
  int tensors;  // the output is the last one, whatever its place in the signature
  OutputShape output_shape;
  int unread;  // the input that is never read, -1: none
  aclnnStatus (*plan)(std::span<aclTensor* const> tensors, const CallAttributes& attributes,
                      uint64_t* workspace_size, aclOpExecutor** executor);
  aclnnStatus (*run)(void* workspace, uint64_t workspace_size, aclOpExecutor* executor, aclrtStream stream);
  bool has_more_operands = false;  // than these tensors: masks, indices, entries of lists
  bool keeps_state = false;        // the output may be anything: it depends on calls before
  bool takes_swapped = false;      // matrices whose last two dims are swapped count as dense
};

std::span<const OperatorCall> OperatorCalls();

// Whether a tensor of this format is taken as dense, whatever its strides.
bool IsPrivate(int32_t format);

// Destroys the tensors whose shapes phase 2 sets: they live until no executor does.
void DestroyResults();

}  // namespace portacl::testing
