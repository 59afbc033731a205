// What the tests of operators that route rows to experts share: numbers to fill in, and how oracles, which compute in float64, read and
// write elements.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "aclnnop/families/moe.h"
#include "gtest/gtest.h"
#include "support/contract_suite.h"
#include "support/environment.h"
#include "support/guarded_buffer.h"
#include "support/made.h"
#include "support/map_values.h"
#include "support/rules.h"
#include "support/two_phase.h"

namespace portacl::testing {

inline const DtypeList kRowDtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
inline const Listed kSinceA2 = {{}, kRowDtypes};
inline const Listed kInt32Alone = {{ACL_INT32}};
inline const Listed kInt64Alone = {{ACL_INT64}};
inline const Listed kEitherIndex = {{ACL_INT32, ACL_INT64}};
inline const Listed kFloatAlone = {{ACL_FLOAT}};

inline bool IsOn950(const PlanCall& call) { return call.product == Product::k950; }
inline bool IsOnA2OrA3(const PlanCall& call) {
  return call.product == Product::kA2 || call.product == Product::kA3;
}

inline Rule RefusedDtype(const std::string& name, std::function<bool(const PlanCall&, DtypeNumber)> takes) {
  return Refuses(161002, name, [=](PlanCall& call) { return !takes(call, call[name].dtype); });
}
// A tensor no two of whose elements share memory.
inline PlanArgument DistinctArg(const std::string& name, const Shape& shape, DtypeNumber dtype = ACL_FLOAT) {
  PlanArgument argument = TensorArg(name, shape, dtype);
  argument.is_distinct = true;
  return argument;
}

inline size_t PlaceOf(const PlanCall& call, const std::string& name) {
  const auto tensors = TensorsOf(call);
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i]->name == name) return i;
  }
  ADD_FAILURE() << name;
  return 0;
}

// A tensor of a call as an oracle reads it.
class Numbers {
 public:
  Numbers(const PlanCall& call, const std::vector<TensorValues>& tensors, const std::string& name)
      : values_(&tensors[PlaceOf(call, name)]), is_given_(!call[name].null) {}
  bool is_given() const { return is_given_; }
  const Shape& shape() const { return values_->shape; }
  int64_t size() const { return std::ssize(values_->elements); }
  double operator[](int64_t i) const {
    if (IsIntegerDtype(values_->dtype)) return static_cast<double>(Integer(i));
    return DecodeReal(values_->dtype, values_->elements[static_cast<size_t>(i)].data());
  }
  double At(int64_t row, int64_t column) const { return (*this)[row * shape().back() + column]; }
  int64_t Integer(int64_t i) const { return values_->Integer(i); }
  const Element& Bytes(int64_t i) const { return values_->elements[static_cast<size_t>(i)]; }
  DtypeNumber dtype() const { return values_->dtype; }

 private:
  const TensorValues* values_;
  bool is_given_;
};

inline Element Encoded(DtypeNumber dtype, double value) {
  Element element(static_cast<size_t>(ElementSize(dtype)));
  if (IsIntegerDtype(dtype) || dtype == ACL_BOOL)
    EncodeIntegerElement(dtype, static_cast<int64_t>(value), element.data());
  else
    EncodeElement(dtype, value, element.data());
  return element;
}
inline Outcome EncodedAll(DtypeNumber dtype, const std::vector<double>& values) {
  Outcome outcome;
  for (const double value : values) outcome.emplace_back(Encoded(dtype, value));
  return outcome;
}
inline Outcome EncodedIntegers(DtypeNumber dtype, const std::vector<int64_t>& values) {
  Outcome outcome;
  for (const int64_t value : values) {
    Element element(static_cast<size_t>(ElementSize(dtype)));
    EncodeIntegerElement(dtype, value, element.data());
    outcome.emplace_back(element);
  }
  return outcome;
}

inline void SetNumbers(HostTensor& tensor, RandomNumbers& random, int percent_nan = 0) {
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const double value = static_cast<double>(random.Between(-256, 256)) / 128.0;
    tensor.Set(i, random.Chance(percent_nan) ? std::numeric_limits<double>::quiet_NaN() : value);
  }
}
inline void SetIntegers(HostTensor& tensor, int64_t low, int64_t below, RandomNumbers& random) {
  for (int64_t i = 0; i < tensor.size(); ++i)
    EncodeIntegerElement(tensor.dtype(), below > low ? random.Between(low, below - 1) : low,
                         tensor.Element(i));
}
// Each of 0 .. size - 1 once, in any order.
inline void SetPermutation(HostTensor& tensor, RandomNumbers& random) {
  std::vector<int64_t> order(static_cast<size_t>(tensor.size()));
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  for (size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[static_cast<size_t>(random.Below(static_cast<int64_t>(i)))]);
  for (int64_t i = 0; i < tensor.size(); ++i)
    EncodeIntegerElement(tensor.dtype(), order[static_cast<size_t>(i)], tensor.Element(i));
}

inline int64_t DrawColumns(RandomNumbers& random) {
  return random.Chance(6) ? random.Between(500, 1100) : random.Between(1, 9);
}

// The order of a stable sort.
inline std::vector<int64_t> StableOrder(const std::vector<int64_t>& keys) {
  std::vector<int64_t> order(keys.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return keys[static_cast<size_t>(a)] < keys[static_cast<size_t>(b)];
  });
  return order;
}
inline std::vector<int64_t> IntegersOf(const Numbers& numbers) {
  std::vector<int64_t> all;
  for (int64_t i = 0; i < numbers.size(); ++i) all.push_back(numbers.Integer(i));
  return all;
}

// Runs what phase 1 gave, and waits for it.
inline aclError RunAndWait(const ScopedEnvironment& environment,
                           aclnnStatus (*run)(void*, uint64_t, aclOpExecutor*, aclrtStream), uint64_t size,
                           aclOpExecutor* executor) {
  const GuardedBuffer workspace(size);
  EXPECT_EQ(run(workspace.device(), size, executor, environment.stream()), 0) << TakeErrorMessage();
  return aclrtSynchronizeStream(environment.stream());
}

inline void ExpectMessage(const std::string& words) {
  const std::string message = TakeErrorMessage();
  EXPECT_NE(message.find(words), std::string::npos) << message;
}

}  // namespace portacl::testing
