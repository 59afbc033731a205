// What an ATB operation is made of.
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

// What clients have no structure for: the arguments of a function that they look up (looked_up.cc). Tensors in are x and addNum, those out
// y and indices.
struct FusedAddTopkDivParam {
  int64_t groupNum;
  int64_t groupTopk;
  int64_t n;  // of a group, whose sum is its score
  int64_t k;
  int activationType;
  bool isNorm;
  float scale;
  bool enableExpertMapping;
};

// Makes an operation; what it refuses is logged, *operation is then null.
Status CreateDescribed(const std::function<Description()>& describe, const char* name,
                       Operation** operation) noexcept;

}  // namespace atb
