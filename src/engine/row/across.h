// Rows that lie across: their elements of one index are neighbours in memory, and are worked on side by side.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace portacl::engine {

// They are taken in groups, one after the other: element i of row r of a group is at i * kRowsOfGroup + r.
inline constexpr int64_t kRowsOfGroup = 16;

}  // namespace portacl::engine
