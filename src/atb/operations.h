// What an ATB operation is made of.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "atb/abi.h"
#include "atb/calls.h"

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

// Makes an operation; what it refuses is logged, *operation is then null.
Status CreateDescribed(const std::function<Description()>& describe, const char* name,
                       Operation** operation) noexcept;

}  // namespace atb
