// Descriptions of elementwise operators: see map_operator.h.
// SPDX-License-Identifier: Apache-2.0
#include "map_operator.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace portacl::testing {
namespace {

void SetValidCall(MapOperator& op) {
  PlanCall call;
  call.op = &op;
  call.arguments = std::move(op.valid);
  size_t scalars = 0;
  size_t integers = 0;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    PlanArgument& one = call.arguments[i];
    one.dtype = op.dtype;
    one.shape = PlanArgument{}.shape;
    one.is_output = one.name == op.output;
    one.is_unread = std::find(op.ignored.begin(), op.ignored.end(), one.name) != op.ignored.end();
    const bool is_attribute = one.kind != ParameterKind::kTensor && one.kind != ParameterKind::kScalar;
    if (is_attribute && !op.integers.empty())
      SetValue(one, op.integers[integers++ % op.integers.size()]);
    else if (one.kind != ParameterKind::kTensor)
      SetValue(one, op.values[scalars++ % op.values.size()]);
  }
  for (const auto& [name, dtype] : op.dtypes) call[name].dtype = dtype;
  for (const auto& [name, shape] : op.shapes) call[name].shape = shape;
  op.valid = std::move(call.arguments);
}

}  // namespace

size_t MapOperator::Output() const {
  return static_cast<size_t>(
      std::find_if(valid.begin(), valid.end(), [](const PlanArgument& one) { return one.is_output; }) -
      valid.begin());
}

bool MapOperator::Ignores(size_t parameter) const { return valid[parameter].is_unread; }

bool MapOperator::IsInput(size_t parameter) const {
  return (in_place || parameter != Output()) && !Ignores(parameter);
}

Number ValueOf(const PlanArgument& argument) {
  switch (argument.kind) {
    case ParameterKind::kInteger:
      return {static_cast<long double>(argument.integer), 0};
    case ParameterKind::kReal:
      return {static_cast<long double>(argument.real), 0};
    case ParameterKind::kText:
      return {argument.text == "none" ? 0.0L : argument.text == "tanh" ? 1.0L : 2.0L, 0};
    default:
      return argument.number;
  }
}

void SetValue(PlanArgument& argument, Number value) {
  switch (argument.kind) {
    case ParameterKind::kInteger:
      argument.integer = static_cast<int64_t>(value.real);
      break;
    case ParameterKind::kReal:
      argument.real = static_cast<double>(value.real);
      break;
    case ParameterKind::kText:
      argument.text = value.real == 0 ? "none" : value.real == 1 ? "tanh" : "Tanh";
      break;
    default:
      argument.number = value;
  }
}

MapOperator Describe(const CFunction& function, const std::string& names, const Rules& rules,
                     const Oracle& formula) {
  MapOperator op;
  op.function = function;
  op.rules = rules;
  op.formula = formula;
  op.has_aliases = true;
  op.is_worded = true;
  for (const std::string& name : Words(names)) {
    PlanArgument argument;
    argument.kind = function.parameters[op.valid.size()];
    argument.name = name;
    op.valid.push_back(argument);
    if (name == "out" || name == "result") op.output = name;
  }
  return op;
}

MapOperator InPlace(const CFunction& function, const MapOperator& base, const std::string& names,
                    const Rules& first) {
  MapOperator op = base;
  op.function = function;
  op.rules = first + base.rules;
  op.valid = Describe(function, names, {}, {}).valid;
  op.output = op.valid.front().name;
  op.in_place = true;
  return op;
}

Rules InPlaceFirst(const std::string& names) {
  return {NoNulls(names), Broadcasts(names), ResultIs("selfRef")};
}

Rule AlphaFits(bool bool_case) {
  return Refuses(161002, "alpha", [=](const PlanCall& call) {
    const DtypeNumber alpha = call["alpha"].dtype;
    if (bool_case && call.promoted == ACL_BOOL) return !IsIntegral(alpha);
    return !CanCastDtype(alpha, call.promoted);
  });
}

std::vector<MapOperator> Completed(std::vector<MapOperator> operators) {
  for (MapOperator& op : operators) {
    SetValidCall(op);
    std::string read;
    for (const PlanArgument& one : op.valid) {
      if (one.kind == ParameterKind::kTensor && !one.is_unread) read += one.name + " ";
    }
    op.rules.push_back([names = Words(read)](const PlanCall& call) -> std::optional<Verdict> {
      for (const std::string& name : names) {
        const PlanArgument& one = call[name];
        if (!one.null && (ElementSize(one.dtype) == 0 || one.dtype == ACL_COMPLEX32))
          return Verdict{561103, {name}};
      }
      return std::nullopt;
    });
  }
  return operators;
}

MapOperator OfDtype(MapOperator op, DtypeNumber dtype) {
  op.dtype = dtype;
  SetValidCall(op);
  return op;
}

DtypeNumber CastOf(const MapOperator& op, const PlanCall& call, size_t operand) {
  for (const auto& [name, dtype] : op.casts) {
    if (call.Index(name) == operand) return dtype;
  }
  return call.promoted;
}

}  // namespace portacl::testing
