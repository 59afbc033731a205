// One call of an operator: see plan_call.h.
// SPDX-License-Identifier: Apache-2.0
#include "plan_call.h"

#include <algorithm>
#include <sstream>

#include "gtest/gtest.h"
#include "operator_spec.h"

template class std::vector<portacl::testing::PlanArgument>;
template class std::vector<portacl::testing::Rule>;

namespace portacl::testing {

PlanArgument::PlanArgument() = default;
PlanArgument::PlanArgument(const PlanArgument& other) = default;
PlanArgument::PlanArgument(PlanArgument&& other) noexcept = default;
PlanArgument& PlanArgument::operator=(const PlanArgument& other) = default;
PlanArgument& PlanArgument::operator=(PlanArgument&& other) noexcept = default;
PlanArgument::~PlanArgument() = default;

PlanCall::PlanCall() = default;
PlanCall::PlanCall(const PlanCall& other) = default;
PlanCall::PlanCall(PlanCall&& other) noexcept = default;
PlanCall& PlanCall::operator=(const PlanCall& other) = default;
PlanCall& PlanCall::operator=(PlanCall&& other) noexcept = default;
PlanCall::~PlanCall() = default;

namespace {

PlanArgument Make(ParameterKind kind, const std::string& name) {
  PlanArgument argument;
  argument.kind = kind;
  argument.name = name;
  return argument;
}

}  // namespace

PlanArgument TensorArg(const std::string& name, const Shape& shape, DtypeNumber dtype) {
  PlanArgument argument = Make(ParameterKind::kTensor, name);
  argument.shape = shape;
  argument.dtype = dtype;
  return argument;
}
PlanArgument OutputArg(const std::string& name, const Shape& shape, DtypeNumber dtype) {
  PlanArgument argument = TensorArg(name, shape, dtype);
  argument.is_output = true;
  return argument;
}
PlanArgument ListArg(const std::string& name, const std::vector<Shape>& shapes, bool is_output,
                     DtypeNumber dtype) {
  PlanArgument argument = Make(ParameterKind::kList, name);
  argument.is_output = is_output;
  for (const Shape& shape : shapes) {
    argument.entries.push_back(TensorArg(name, shape, dtype));
    argument.entries.back().is_output = is_output;
  }
  return argument;
}
PlanArgument ArrayArg(const std::string& name, const std::vector<int64_t>& values) {
  PlanArgument argument = Make(ParameterKind::kArray, name);
  argument.values = values;
  return argument;
}
PlanArgument IntegerArg(const std::string& name, int64_t value) {
  PlanArgument argument = Make(ParameterKind::kInteger, name);
  argument.integer = value;
  return argument;
}
PlanArgument RealArg(const std::string& name, double value) {
  PlanArgument argument = Make(ParameterKind::kReal, name);
  argument.real = value;
  return argument;
}
PlanArgument TextArg(const std::string& name, const std::string& text) {
  PlanArgument argument = Make(ParameterKind::kText, name);
  argument.text = text;
  return argument;
}
PlanArgument ScalarArg(const std::string& name, Number value, DtypeNumber dtype) {
  PlanArgument argument = Make(ParameterKind::kScalar, name);
  argument.number = value;
  argument.dtype = dtype;
  return argument;
}
PlanArgument ScalarsArg(const std::string& name, const std::vector<Number>& values, DtypeNumber dtype) {
  PlanArgument argument = Make(ParameterKind::kScalarList, name);
  for (const Number& value : values) argument.scalars.push_back(ScalarArg(name, value, dtype));
  return argument;
}

size_t PlanCall::Index(const std::string& name) const {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].name == name) return i;
  }
  const bool is_output = name == "out" || name == "selfRef";
  if (op->has_aliases && (is_output || name == "self")) {
    const auto found = std::find_if(arguments.begin(), arguments.end(),
                                    [&](const PlanArgument& one) { return !is_output || one.is_output; });
    return static_cast<size_t>(found - arguments.begin());
  }
  ADD_FAILURE() << op->function.name << " has no " << name;
  return 0;
}

bool PlanCall::Has(const std::string& name) const {
  return std::any_of(arguments.begin(), arguments.end(),
                     [&](const PlanArgument& one) { return one.name == name; });
}

bool PlanCall::Is(std::initializer_list<Product> products) const {
  return std::find(products.begin(), products.end(), product) != products.end();
}

std::vector<const PlanArgument*> TensorsOf(const PlanCall& call) {
  std::vector<const PlanArgument*> tensors;
  for (const PlanArgument& one : call.arguments) {
    if (one.kind == ParameterKind::kTensor) tensors.push_back(&one);
    for (const PlanArgument& entry : one.entries) tensors.push_back(&entry);
  }
  return tensors;
}

std::vector<std::string> Words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

}  // namespace portacl::testing
