// Matches the parameters of a C function with the arguments of a call (see recorded_arguments.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/recorded_arguments.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "aclnnop/given_values.h"
#include "aclnnop/signatures.h"
#include "base/data_type.h"

namespace portacl {
namespace {

std::vector<int64_t> NumbersOf(const Shape& shape) { return {shape.dim, shape.dim + shape.rank}; }

// Records contiguous tensors with row-major strides, so that strides of dims of length 1 do not vary.
record::RecordedTensor RecordedTensorOf(const aclTensor* tensor) {
  if (tensor == nullptr) return {};
  const Shape strides = tensor->contiguous ? RowMajorStrides(tensor->shape) : tensor->strides;
  const bool is_plain = !IsPrivateFormat(tensor->format) || tensor->strides == strides || tensor->numel <= 1;
  return {tensor,
          tensor->dtype,
          tensor->format,
          tensor->offset,
          NumbersOf(tensor->shape),
          NumbersOf(strides),
          NumbersOf(tensor->storage),
          tensor->countable,
          /*is_shaped_later=*/false,
          is_plain};
}

template <class Value>
Value Read(const unsigned char* bytes) noexcept {
  Value value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

double WideOfHalf(uint16_t bits) noexcept {
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 0x3ff;
  if (exponent == 31) {
    return sign * (fraction == 0 ? std::numeric_limits<double>::infinity()
                                 : std::numeric_limits<double>::quiet_NaN());
  }
  return exponent == 0 ? sign * std::ldexp(fraction, -24) : sign * std::ldexp(fraction + 1024, exponent - 25);
}

double WideOfBrain(uint16_t bits) noexcept {
  return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits) << 16));
}

std::string ComplexJson(double real, double imaginary) {
  const auto text = [](double value) {
    const std::string json = record::JsonOf(value);
    const size_t from = json.find(":\"");  // infinities and NaN are {"float":"inf"}
    return from == std::string::npos ? "\"" + json + "\"" : json.substr(from + 1, json.size() - from - 2);
  };
  return R"({"complex":[)" + text(real) + "," + text(imaginary) + "]}";
}

// Returns {"scalar":[dtype, value]}.
std::string ScalarJson(const aclScalar* scalar) {
  if (scalar == nullptr) return "null";
  const unsigned char* const bytes = scalar->value;
  const auto made = [](const char* dtype, const std::string& value) {
    return R"({"scalar":[")" + std::string(dtype) + "\"," + value + "]}";
  };
  switch (scalar->dtype) {
    case ACL_FLOAT:
      return made("float32", record::JsonOf(static_cast<double>(Read<float>(bytes))));
    case ACL_DOUBLE:
      return made("float64", record::JsonOf(Read<double>(bytes)));
    case ACL_FLOAT16:
      return made("float16", record::JsonOf(WideOfHalf(Read<uint16_t>(bytes))));
    case ACL_BF16:
      return made("bfloat16", record::JsonOf(WideOfBrain(Read<uint16_t>(bytes))));
    case ACL_INT8:
      return made("int8", std::to_string(Read<int8_t>(bytes)));
    case ACL_INT16:
      return made("int16", std::to_string(Read<int16_t>(bytes)));
    case ACL_INT32:
      return made("int32", std::to_string(Read<int32_t>(bytes)));
    case ACL_INT64:
      return made("int64", std::to_string(Read<int64_t>(bytes)));
    case ACL_UINT8:
      return made("uint8", std::to_string(Read<uint8_t>(bytes)));
    case ACL_UINT16:
      return made("uint16", std::to_string(Read<uint16_t>(bytes)));
    case ACL_UINT32:
      return made("uint32", std::to_string(Read<uint32_t>(bytes)));
    case ACL_UINT64:
      return made("uint64", std::to_string(Read<uint64_t>(bytes)));
    case ACL_BOOL:
      return made("bool", bytes[0] != 0 ? "true" : "false");
    case ACL_COMPLEX64:
      return made("complex64", ComplexJson(static_cast<double>(Read<float>(bytes)),
                                           static_cast<double>(Read<float>(bytes + sizeof(float)))));
    case ACL_COMPLEX128:
      return made("complex128", ComplexJson(Read<double>(bytes), Read<double>(bytes + sizeof(double))));
    default:
      return R"({"opaque":["scalar","of a dtype that is not recorded"]})";
  }
}

// Writes a list with the JSON of each value; null for no list.
template <class List, class Json>
std::string ListJson(const List* list, const Json& json) {
  if (list == nullptr) return "null";
  std::string text;
  for (const auto& value : list->values) (text += text.empty() ? "" : ",") += json(value);
  return std::string("[").append(text).append("]");
}

std::string AttributeJson(std::string_view type, const Attribute& attribute) {
  if (type == "bool") return attribute.integer != 0 ? "true" : "false";
  if (type == "float") return record::JsonOf(static_cast<double>(attribute.real));
  if (type == "double") return record::JsonOf(attribute.wide);
  if (type == "char*")
    return attribute.text == nullptr ? "null" : record::JsonOf(std::string_view(attribute.text));
  if (type == "ints") return ListJson(attribute.array, [](int64_t value) { return std::to_string(value); });
  if (type == "scalar") return ScalarJson(attribute.scalar);
  if (type == "uint64_t") return std::to_string(static_cast<uint64_t>(attribute.integer));
  return std::to_string(attribute.integer);
}

std::string GivenJson(std::string_view type, const GivenValue& given) {
  if (type == "scalars") return ListJson(given.scalars, ScalarJson);
  if (type == "bools") {
    return ListJson(given.bools, [](unsigned char value) { return value != 0 ? "true" : "false"; });
  }
  if (type == "floats") {
    return ListJson(given.floats, [](float value) { return record::JsonOf(static_cast<double>(value)); });
  }
  return AttributeJson(type, given.attribute);
}

// Returns the JSON of an argument that is not a tensor.
std::string ValueJson(const OperatorCall& call, std::string_view type, std::string_view name) {
  if (const GivenValue* const given = GivenValues::Find(call.api, name)) return GivenJson(type, *given);
  const auto found = std::find_if(call.attributes.begin(), call.attributes.end(),
                                  [&](const Attribute& one) { return name == one.name; });
  return found == call.attributes.end()
             ? R"({"opaque":[)" + record::JsonOf(type) + R"(,"its value is not recorded"]})"
             : AttributeJson(type, *found);
}

// Splits off and returns the text before a separator.
bool AddTensors(const OperatorCall& call, const Executor& executor, record::RecordedArgument& argument) {
  for (int i = 0; i < static_cast<int>(call.tensors.size()); ++i) {
    if (argument.name != call.Name(i)) continue;
    argument.is_tensor = true;
    argument.is_list = call.IsList(i);
    argument.first_operand = executor.parameters[i].first;
    for (int entry = 0; entry < call.Count(i); ++entry) {
      argument.tensors.push_back(RecordedTensorOf(call.Entry(i, entry)));
    }
    return true;
  }
  return false;
}

// Marks the tensors whose shape phase 2 sets.
void MarkShapedLater(const Executor& executor, record::RecordedArgument& argument) {
  for (int i = 0; executor.sets_shapes && i < kMaxShaped; ++i) {
    std::unique_lock<std::mutex> lock;
    const aclTensor* const tensor = executor.shaped[i].Get(&lock);
    for (record::RecordedTensor& one : argument.tensors) {
      one.is_shaped_later = one.is_shaped_later || (tensor != nullptr && one.handle == tensor);
    }
  }
}

constinit thread_local const GivenValues* innermost = nullptr;

}  // namespace

GivenValues::GivenValues(const char* api, std::span<const GivenValue> values) noexcept
    : api_(api), values_(values), outer_(innermost) {
  innermost = this;
}

GivenValues::~GivenValues() { innermost = outer_; }

const GivenValue* GivenValues::Find(std::string_view api, std::string_view name) noexcept {
  for (const GivenValues* given = innermost; given != nullptr; given = given->outer_) {
    if (given->api_ != api) continue;
    const auto found = std::find_if(given->values_.begin(), given->values_.end(),
                                    [name](const GivenValue& one) { return name == one.attribute.name; });
    if (found != given->values_.end()) return &*found;
  }
  return nullptr;
}

record::RecordedCall RecordedArguments(const OperatorCall& call, const Executor& executor) {
  record::RecordedCall made;
  made.api = call.api;
  Signature signature(call.api);
  for (Parameter parameter; signature.Next(&parameter);) {
    record::RecordedArgument argument;
    argument.is_written = parameter.is_written;
    argument.is_read = parameter.is_read;
    argument.name = parameter.name;
    if (parameter.type != "tensor" && parameter.type != "tensors") {
      argument.value = ValueJson(call, parameter.type, parameter.name);
    } else if (!AddTensors(call, executor, argument)) {
      const GivenValue* const given = GivenValues::Find(call.api, parameter.name);
      argument.value = given != nullptr && given->tensor == nullptr
                           ? "null"
                           : R"({"opaque":["tensor","it is not recorded"]})";
    }
    MarkShapedLater(executor, argument);
    made.arguments.push_back(std::move(argument));
  }
  return made;
}

}  // namespace portacl
