// What a numeric test has tried, recorded as properties of its test: docs/conformance.md is made of them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace portacl::testing {

struct NumericCounts {
  std::atomic<int64_t> cases{0};           // calls whose every result element was compared
  std::atomic<int64_t> refused{0};         // calls that were refused, as they must be on this product
  std::atomic<int64_t> special_values{0};  // combinations of special values, out of the cases
};

NumericCounts& CountsOfThisProcess();

// Records what was counted since the last time as properties of the test that runs. Called at its end.
void RecordNumericCounts();

}  // namespace portacl::testing
