// Arguments that a call has neither among its tensors nor, whole, among its attributes. A recording takes them from here.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <span>
#include <string_view>

#include "aclnn/tensor.h"
#include "contract/checks.h"

namespace portacl {

// One of them. What an attribute can hold is one.
struct GivenValue {
  template <class Value>
  requires std::constructible_from<Attribute, const char*, Value> GivenValue(const char* name, Value value)
      : attribute(name, value) {}
  GivenValue(const char* name, const aclScalarList* list) : attribute(name, 0), scalars(list) {}
  GivenValue(const char* name, const aclFloatArray* array) : attribute(name, 0), floats(array) {}
  GivenValue(const char* name, const aclBoolArray* array) : attribute(name, 0), bools(array) {}
  GivenValue(const char* name, const aclTensor* given) : attribute(name, 0), tensor(given) {}

  Attribute attribute;
  const aclScalarList* scalars = nullptr;
  const aclFloatArray* floats = nullptr;
  const aclBoolArray* bools = nullptr;
  const aclTensor* tensor = nullptr;
};

// Those of a phase 1 that runs in this thread, as long as this lives.
class GivenValues {
 public:
  GivenValues(const char* api, std::span<const GivenValue> values) noexcept;
  ~GivenValues();
  GivenValues(const GivenValues&) = delete;
  GivenValues& operator=(const GivenValues&) = delete;

  // The value of a function's parameter; null if there is none.
  static const GivenValue* Find(std::string_view api, std::string_view name) noexcept;

 private:
  std::string_view api_;
  std::span<const GivenValue> values_;
  const GivenValues* outer_;
};

}  // namespace portacl
