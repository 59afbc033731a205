// What a copy moves.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace portacl {

// What one copy moves: `height` rows of `width` bytes, each a pitch behind the one before.
struct CopyRows {
  void* to = nullptr;
  size_t to_pitch = 0;
  const void* from = nullptr;
  size_t from_pitch = 0;
  size_t width = 0;
  size_t height = 1;
};

}  // namespace portacl
