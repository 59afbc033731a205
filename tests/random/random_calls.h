// Calls of the operators that draw random numbers, for tests of their values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "engine/isa_in_use.h"
#include "support/c_function.h"
#include "support/environment.h"
#include "support/map_values.h"
#include "support/tensor_view.h"
#include "support/two_phase.h"

namespace portacl::testing {

inline Argument Tensor(HostTensor& tensor) { return {.tensor = tensor.Handle()}; }
inline Argument NoTensor() { return {}; }
inline Argument Whole(int64_t number) { return {.integer = number}; }
inline Argument Real(double number) { return {.real = number}; }

// A scalar of the C interface.
class Scalar {
 public:
  explicit Scalar(double value) : value_(value), scalar_(aclCreateScalar(&value_, ACL_DOUBLE)) {}
  ~Scalar() { aclDestroyScalar(scalar_); }
  Scalar(const Scalar&) = delete;
  Scalar& operator=(const Scalar&) = delete;
  Argument argument() const { return {.scalar = scalar_}; }

 private:
  double value_;
  aclScalar* scalar_;
};

class Dims {
 public:
  explicit Dims(const Shape& shape) : array_(aclCreateIntArray(shape.data(), shape.size())) {}
  ~Dims() { aclDestroyIntArray(array_); }
  Dims(const Dims&) = delete;
  Dims& operator=(const Dims&) = delete;
  Argument argument() const { return {.array = array_}; }

 private:
  aclIntArray* array_;
};

inline CallResult CallOf(const CFunction& function, const std::vector<Argument>& arguments,
                         aclrtStream stream) {
  OperatorBinding binding;
  binding.name = function.name;
  binding.plan = [&](std::span<aclTensor* const>, const Attributes&, uint64_t* size,
                     aclOpExecutor** executor) { return function.plan(arguments, size, executor); };
  binding.run = function.run;
  return CallTwoPhase(binding, {}, {}, stream);
}

inline HostTensor MakeTensor(DtypeNumber dtype, const Shape& shape, Layout layout = Layout::kDense,
                             uint64_t seed = 1) {
  RandomNumbers random(seed);
  return HostTensor(dtype, MakeView(shape, layout, random));
}

// A tensor of one 64-bit integer.
inline HostTensor IntegerTensor(DtypeNumber dtype, int64_t value) {
  HostTensor tensor = MakeTensor(dtype, {1}, Layout::kDenseOffset);
  std::memcpy(tensor.Element(0), &value, sizeof value);
  return tensor;
}

inline int64_t BytesOfMask(int64_t n) { return (n + 127) / 128 * 16; }

}  // namespace portacl::testing
