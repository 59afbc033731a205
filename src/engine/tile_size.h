// The sizes of tiles.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace portacl::engine {

// Elements of a tile, and bytes of its computed elements: four tiles of float32 stay in the first-level
// cache. Tiles of wider elements hold fewer.
inline constexpr int kTile = 512;
inline constexpr size_t kTileBytes = kTile * sizeof(float);
// Bytes of a tile of stored elements.
inline constexpr size_t kRawBytes = kTile * sizeof(double);

}  // namespace portacl::engine
