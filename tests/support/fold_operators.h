// All reductions and scans behind one signature, for tests that do the same with each of them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "aclnn/aclnn_base.h"
#include "support/shapes.h"

namespace portacl::testing {

// Arguments go to the parameters of their kind: an operator of one dim takes `dim`, one of dims `dims` and, where it has one, a
// correction of 1; every bool is `flag`, every data type that of the last tensor.
struct FoldArguments {
  std::span<aclTensor* const> tensors;
  Shape dims;
  int64_t dim = 0;
  bool flag = true;    // dims are kept
  int64_t number = 2;  // a norm's order; of Cumprod it is `dim`
};

struct FoldOperator {
  enum class Over : uint8_t { kDims, kDim, kAll, kDiagonal, kLine };

  std::string name;
  Over over;
  size_t tensors;  // outputs last; one tensor is both
  std::function<aclnnStatus(const FoldArguments& arguments, uint64_t* size, aclOpExecutor** executor)> plan;
  aclnnStatus (*run)(void* workspace, uint64_t size, aclOpExecutor* executor, aclrtStream stream);
};

const std::vector<FoldOperator>& AllFolds();

}  // namespace portacl::testing
