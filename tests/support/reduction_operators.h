// All reductions and scans behind one signature, for tests that treat each of them alike.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "aclnn/aclnn_base.h"
#include "support/shapes.h"

namespace portacl::testing {

// Passes arguments to the parameters of their kind. An operator of one dim takes `dim`, one of several dims
// `dims` and, where it has one, a correction of 1. Every bool is `flag`, and every data type is that of the
// last tensor.
struct ReductionArguments {
  std::span<aclTensor* const> tensors;
  Shape dims;
  int64_t dim = 0;
  bool flag = true;    // keeps the dims
  int64_t number = 2;  // a norm's order; Cumprod uses `dim`
};

struct ReductionOperator {
  enum class Over : uint8_t { kDims, kDim, kAll, kDiagonal, kLine };

  std::string name;
  Over over;
  size_t tensors;  // outputs come last; a single tensor is input and output
  std::function<aclnnStatus(const ReductionArguments& arguments, uint64_t* size, aclOpExecutor** executor)>
      plan;
  aclnnStatus (*run)(void* workspace, uint64_t size, aclOpExecutor* executor, aclrtStream stream);
};

const std::vector<ReductionOperator>& AllReductions();

}  // namespace portacl::testing
