// Describes an ATB operation: its tensors, and the function that builds its calls.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "atb/abi.h"
#include "atb/native_calls.h"

namespace atb {

struct Counts {
  uint32_t in;
  uint32_t out;
};

struct Description {
  const char* name;
  Counts counts;
  // Adds the calls for these tensors; throws Refusal.
  std::function<void(const VariantPack&, Calls&)> make;
};

// Arguments of a function that clients look up by name (looked_up.cc), for which ATB has no structure. Inputs
// are x and addNum, outputs are y and indices.
struct FusedAddTopkDivParam {
  int64_t groupNum;
  int64_t groupTopk;
  int64_t n;  // members per group whose sum is the group's score
  int64_t k;
  int activationType;
  bool isNorm;
  float scale;
  bool enableExpertMapping;
};

// Creates an operation. Logs a refusal, and sets *operation to null then.
Status CreateDescribed(const std::function<Description()>& describe, const char* name,
                       Operation** operation) noexcept;

}  // namespace atb
