// Describes an ATB operation: its tensors, and the function that builds its calls.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "atb/abi.h"
#include "atb/looked_up_arguments.h"
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

// Creates an operation. Logs a refusal, and sets *operation to null then.
Status CreateDescribed(const std::function<Description()>& describe, const char* name,
                       Operation** operation) noexcept;

}  // namespace atb
