// Transposed rows: their elements of one index are adjacent in memory, and are processed together.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace portacl::engine {

// Rows per group. Groups follow each other; element i of row r of a group is at i * kRowsOfGroup + r.
inline constexpr int64_t kRowsOfGroup = 16;

}  // namespace portacl::engine
