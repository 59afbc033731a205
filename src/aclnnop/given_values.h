// Arguments that are neither tensors nor complete attributes of an OperatorCall, kept for recordings.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <span>
#include <string_view>

#include "aclnn/tensor.h"
#include "contract/checks.h"

namespace portacl {

// A named argument. Values that an attribute can hold are in `attribute`.
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

// Makes the values known to recordings, for the phase 1 that runs in this thread, until it is destroyed.
class GivenValues {
 public:
  GivenValues(const char* api, std::span<const GivenValue> values) noexcept;
  ~GivenValues();
  GivenValues(const GivenValues&) = delete;
  GivenValues& operator=(const GivenValues&) = delete;

  // Returns the value of a function's parameter, or nullptr.
  static const GivenValue* Find(std::string_view api, std::string_view name) noexcept;

 private:
  std::string_view api_;
  std::span<const GivenValue> values_;
  const GivenValues* outer_;
};

}  // namespace portacl
