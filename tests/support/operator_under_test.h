// Describes one operator for the shared test code.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "dtype_rules.h"
#include "products.h"
#include "shapes.h"

namespace portacl::testing {

// The attributes of all operators together. An operator uses those of its signature.
struct Attributes {
  int64_t reduction = 0;
  float beta = 1.0f;
  bool log_target = false;
};

// Calls an operator. Tensors are given in the order of the C signature. The output comes last, unless
// `output` gives another position.
struct OperatorBinding {
  std::string name;  // "aclnnL1LossBackward"
  std::vector<std::string> tensors;
  std::function<aclnnStatus(std::span<aclTensor* const> tensors, const Attributes& attributes,
                            uint64_t* workspace_size, aclOpExecutor** executor)>
      plan;                                                                                         // phase 1
  aclnnStatus (*run)(void* workspace, uint64_t size, aclOpExecutor* executor, aclrtStream stream);  // phase 2

  int output = -1;  // which tensor; -1: the last

  // Inputs that the operator never reads: they need no data address.
  std::vector<std::string> unread_inputs = {};
};

// The values of one input in row-major order: reals for floating types, integers for integer types and bool.
struct LogicalTensor {
  DtypeNumber dtype = ACL_FLOAT;
  Shape shape;
  std::vector<double> reals;
  std::vector<int64_t> integers;

  bool IsFloating() const { return IsFloatingDtype(dtype); }
};

// The expected elements of the output, in row-major order.
struct Prediction {
  Shape shape;

  // The value before the final rounding to the output's type, exact to the bit. Where only a bound is
  // promised, `upper` is not empty, and the value lies between the two.
  std::vector<double> value;
  std::vector<double> upper;

  // The mathematical value, in float64. The value before the last rounding is at most max_ulp units in the
  // last place of float32 and `slack` away from it; an empty slack means 0. The slack is infinite where an
  // intermediate result leaves the range of float32, which no bound covers.
  std::vector<double> truth;
  std::vector<double> slack;
};

struct NumericDescription {
  OperatorBinding binding;
  std::vector<DtypeNumber> input_dtypes;    // floating types, which may be mixed
  std::vector<DtypeNumber> integer_dtypes;  // integer types and bool that may be mixed in; empty if refused
  std::vector<DtypeNumber> output_dtypes;
  std::vector<Attributes> attributes;  // attribute values that change the computation
  double max_ulp = 2;                  // see Prediction::truth
  std::function<Prediction(std::span<const LogicalTensor> inputs, const Attributes& attributes)> oracle;

  // The loss whose gradient the operator computes: for one element in float64, and the divisor of the sum of
  // all elements, each weighted with its gradOutput. `kink_distance` returns the distance of a pair of self
  // and target from a point where the loss has no derivative.
  std::function<double(double self, double target, const Attributes& attributes)> loss;
  std::function<double(std::span<const Shape> shapes, const Attributes& attributes)> loss_divisor;
  std::function<double(double self, double target, const Attributes& attributes)> kink_distance;
  // The input for which the operator computes the gradient, and the magnitude of the terms whose sum is the
  // derivative. Where they cancel, the derivative is less exact accordingly.
  size_t gradient_by = 1;
  std::function<double(double self, double target, const Attributes& attributes)> derivative_parts =
      [](double, double, const Attributes&) { return 0.0; };

  // Tells whether the operator combines these types of inputs.
  std::function<bool(std::span<const DtypeNumber> dtypes)> accepts_dtypes = [](std::span<const DtypeNumber>) {
    return true;
  };

  // Tells whether a product has these types of inputs and of the output. Calls that it has not are refused.
  std::function<bool(Product product, const std::vector<DtypeNumber>& inputs, DtypeNumber output)> takes =
      [](Product, const std::vector<DtypeNumber>&, DtypeNumber) { return true; };

  // The input whose type the output must have; -1: the output's type is free.
  int output_has_dtype_of = -1;

  // Tells whether the operator accepts these shapes of inputs, and computes the output's shape.
  std::function<bool(std::span<const Shape> shapes)> accepts = [](std::span<const Shape> shapes) {
    return Broadcast(shapes).has_value();
  };
  std::function<Shape(std::span<const Shape> shapes)> output_shape = [](std::span<const Shape> shapes) {
    return *Broadcast(shapes);
  };
};

// Lets GoogleTest name the operator that is a test's parameter.
inline void PrintTo(const NumericDescription* op, std::ostream* out) { *out << op->binding.name; }

}  // namespace portacl::testing
