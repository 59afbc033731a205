// How long tiles are.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace portacl::engine {

// Elements per tile, and bytes of those that are computed: four tiles of float32 stay in the first-level cache. Of wider
// elements a tile has fewer.
inline constexpr int kTile = 512;
inline constexpr size_t kTileBytes = kTile * sizeof(float);
// Of elements as they are stored.
inline constexpr size_t kRawBytes = kTile * sizeof(double);

}  // namespace portacl::engine
