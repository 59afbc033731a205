// Arguments and checks that operators with random numbers share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "support/rules.h"

namespace portacl::testing {

inline const DtypeList kReals = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE};
inline const DtypeList kWords = {ACL_INT64, ACL_UINT64};
inline const Shape kMatrix = {2, 3};

// ---- arguments ----

inline PlanArgument Seed() { return IntegerArg("seed", 7); }
inline PlanArgument Offset() { return IntegerArg("offset", 12); }
// The same in tensors.
inline std::vector<PlanArgument> SeedTensors() {
  return {TensorArg("seedTensor", {1}, ACL_INT64), TensorArg("offsetTensor", {1}, ACL_INT64), Offset()};
}
inline const char* const kSeedTensors = "seedTensor offsetTensor";
inline std::vector<PlanArgument> Seeds(bool by_tensor) {
  return by_tensor ? SeedTensors() : std::vector<PlanArgument>{Seed(), Offset()};
}
inline std::vector<PlanArgument> operator+(std::vector<PlanArgument> first,
                                           const std::vector<PlanArgument>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// ---- rules ----

inline Rules If(bool condition, const Rule& rule) { return condition ? Rules{rule} : Rules{}; }

// Refuses a real attribute by its value.
inline Rule RefusesReal(const std::string& name, bool (*wrong)(double), aclnnStatus code = 161002) {
  return [=](PlanCall& call) -> std::optional<Verdict> {
    if (!wrong(call[name].real)) return std::nullopt;
    std::vector<std::string> says = Shown(call[name].real);
    says.push_back(name);
    return Verdict{code, {}, says};
  };
}
inline bool IsNoProbability(double value) { return value < 0 || value > 1; }  // NaN is one

inline Rule RefusesInteger(const std::string& name, const std::function<bool(const PlanCall&)>& wrong,
                           aclnnStatus code = 161002) {
  return [=](PlanCall& call) -> std::optional<Verdict> {
    if (!wrong(call)) return std::nullopt;
    return Verdict{code, {}, {name, std::to_string(call[name].integer)}};
  };
}

// Each of these tensors has one element of a dtype in the list.
inline Rule OneOf(const std::string& names, const DtypeList& list) {
  return [=](PlanCall& call) -> std::optional<Verdict> {
    for (const std::string& name : Words(names)) {
      const PlanArgument& one = call[name];
      if (IsOneOf(one.dtype, list) && CountedElements(one.shape) == 1) continue;
      std::vector<std::string> says = NamesOf({one.dtype});
      says.push_back(name);
      return Verdict{161002, {}, says};
    }
    return std::nullopt;
  };
}

inline Rule ShapeOf(const std::string& name, const std::string& other) {
  return HasShape(name, [=](const PlanCall& call) { return call[other].shape; });
}

// What fills, draws and drops, in two sources.
std::vector<OperatorSpec> DropoutOperators();

}  // namespace portacl::testing
