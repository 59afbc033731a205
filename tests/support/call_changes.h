// Change calls of an operator's description: for its bases and draws.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "plan_check.h"

namespace portacl::testing {

inline Change Together(const std::vector<Change>& changes) {
  return [=](PlanCall& call) {
    for (const Change& change : changes) change(call);
  };
}
inline Change OfShape(const std::string& name, const Shape& shape) {
  return [=](PlanCall& call) { call[name].shape = shape; };
}
inline Change OfShapes(const std::vector<std::pair<std::string, Shape>>& shapes) {
  return [=](PlanCall& call) {
    for (const auto& [name, shape] : shapes) call[name].shape = shape;
  };
}
inline Change OfDtype(const std::string& name, DtypeNumber dtype) {
  return [=](PlanCall& call) { call[name].dtype = dtype; };
}
inline Change Real(const std::string& name, double value) {
  return [=](PlanCall& call) { call[name].real = value; };
}
inline Change OfNumber(const std::string& name, long double value) {
  return [=](PlanCall& call) { call[name].number = {value, 0}; };
}
inline Change Integer(const std::string& name, int64_t value) {
  return [=](PlanCall& call) { call[name].integer = value; };
}

}  // namespace portacl::testing
