// Counts the cases of a numeric test, and records them as its properties. docs/conformance.md is generated
// from them.
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

// Records the counts since the last call as properties of the running test. Call it at the test's end.
void RecordNumericCounts();

}  // namespace portacl::testing
