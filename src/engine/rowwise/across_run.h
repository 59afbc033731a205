// Runs rowwise jobs whose rows are transposed: the elements of one index are adjacent in memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/rowwise/across.h"
#include "engine/rowwise/rowwise.h"

namespace portacl::engine {

// The fewest adjacent rows that are worth it.
inline constexpr int64_t kGroup = kRowsOfGroup;

// Computes the rows [first, last). Returns false if not even one group fits the thread's memory.
bool RunAcross(const RowwiseJob& job, void* const* addresses, int64_t first, int64_t last);

}  // namespace portacl::engine
