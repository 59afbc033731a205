// Calls of the determinism test that are made from the descriptions in operators/. A case's tensors are the inputs in the order of the
// signature, and the last one the output that is hashed; inputs that a case lacks are null. Other outputs get a shape and a dtype that
// the description's rules accept. Attributes are those of the valid call, but for those that are named.
//
//   const DescribedCalls kNorms({
//       CallOf("aclnnRmsNorm", Cases(kFloats, {kRows, kColumns}, {kRows})),
//       CallOf("aclnnSoftmax", Cases(kFloats, {kCube}, {kCube, kCube}), {{"dim", kSetting}}),
//       CallOf("aclnnNLLLoss", LossCases(), {{"reduction", kSetting}}, {"out"}, {.not_negative = {2}}),
//   });
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <vector>

#include "determinism/calls.h"
#include "determinism/described.h"

namespace portacl::testing {

// An attribute; or a tensor: null, an input by its number, or the shape of an output that is not looked at.
struct GivenValue {
  enum class Kind : uint8_t { kNumber, kNumbers, kText, kNull, kSetting, kInput, kBySetting };

  template <class T>
  requires std::is_arithmetic_v<T> GivenValue(T value)
      : kind(Kind::kNumber), number(static_cast<double>(value)) {}
  GivenValue(const Shape& several) : kind(Kind::kNumbers), numbers(several) {}
  GivenValue(std::initializer_list<int64_t> several) : kind(Kind::kNumbers), numbers(several) {}
  GivenValue(const char* value) : kind(Kind::kText), text(value) {}
  GivenValue(std::nullptr_t) : kind(Kind::kNull) {}
  explicit GivenValue(Kind of) : kind(of) {}

  Kind kind;
  double number = 0;  // of a tensor: the input's
  Shape numbers = {};
  std::string text = {};
  std::vector<GivenValue> values = {};  // by the setting
};
// The number of the setting.
inline const GivenValue kSetting(GivenValue::Kind::kSetting);
inline GivenValue Input(size_t number) {
  GivenValue value(GivenValue::Kind::kInput);
  value.number = static_cast<double>(number);
  return value;
}
inline GivenValue BySetting(const std::vector<GivenValue>& values) {
  GivenValue value(GivenValue::Kind::kBySetting);
  value.values = values;
  return value;
}
struct GivenArgument {
  std::string name;
  GivenValue value;
};

// A function's cases, and in what its calls differ from the valid one.
struct CallOf {
  CallOf(const std::string& name, const std::vector<GivenCase>& of,
         const std::vector<GivenArgument>& given = {}, const std::vector<std::string>& outputs = {},
         const Traits& differs = {}, const std::string& further = "")
      : function(name), cases(of), arguments(given), hashed(outputs), traits(differs), what(further) {}

  std::string function;
  std::vector<GivenCase> cases;
  std::vector<GivenArgument> arguments;
  // The output that is hashed in each setting; the last one also in those that follow. None: all, in the order of the signature.
  std::vector<std::string> hashed;
  Traits traits;
  std::string what;  // of a further subject of the same function
};

// Registers subjects.
struct DescribedCalls : DescribedSubjects {
  explicit DescribedCalls(const std::vector<CallOf>& calls);
};

}  // namespace portacl::testing
