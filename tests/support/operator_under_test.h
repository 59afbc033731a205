// What the shared test machinery has to know about one operator, whatever the operator is.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "dtype_rules.h"
#include "shapes.h"

namespace portacl::testing {

// The attributes of every loss operator together; an operator looks at those that its signature has.
struct Attributes {
  int64_t reduction = 0;
  float beta = 1.0f;
  bool log_target = false;
};

// How to call an operator: its tensors are always given in the order of the C signature, the output last.
struct OperatorBinding {
  std::string name;  // "aclnnL1LossBackward"
  std::vector<std::string> tensors;
  std::function<aclnnStatus(std::span<aclTensor* const> tensors, const Attributes& attributes,
                            uint64_t* workspace_size, aclOpExecutor** executor)>
      plan;                                                                                         // phase 1
  aclnnStatus (*run)(void* workspace, uint64_t size, aclOpExecutor* executor, aclrtStream stream);  // phase 2
};

// The values of one input in row-major order: reals for floating types, integers for integer types and bool.
struct LogicalTensor {
  DtypeNumber dtype = ACL_FLOAT;
  Shape shape;
  std::vector<double> reals;
  std::vector<int64_t> integers;

  bool IsFloating() const { return IsFloatingDtype(dtype); }
};

// What an operator must give for one element of the output, in row-major order. `float32` is the value before
// the one rounding to the output's type, exact to the bit; leave it empty where only the bound is promised.
struct Prediction {
  Shape shape;
  std::vector<float> float32;
  std::vector<double> truth;  // in float64, without any rounding to float32
};

struct NumericDescription {
  OperatorBinding binding;
  std::vector<DtypeNumber> input_dtypes;    // floating types allowed in any mix
  std::vector<DtypeNumber> integer_dtypes;  // integer types and bool that may join them; empty if refused
  std::vector<DtypeNumber> output_dtypes;
  std::vector<Attributes> attributes;  // settings that differ in what is computed
  double max_ulp = 2;                  // bound of |result before the last rounding - truth| in float32 units
  std::function<Prediction(std::span<const LogicalTensor> inputs, const Attributes& attributes)> oracle;

  // Shapes of the inputs that the operator takes, and the output's shape for them.
  std::function<bool(std::span<const Shape> shapes)> accepts = [](std::span<const Shape> shapes) {
    return Broadcast(shapes).has_value();
  };
  std::function<Shape(std::span<const Shape> shapes)> output_shape = [](std::span<const Shape> shapes) {
    return *Broadcast(shapes);
  };
};

}  // namespace portacl::testing
