// The description of a copy.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace portacl {

// A copy of `height` rows of `width` bytes, each a pitch after the previous.
struct CopyRows {
  void* to = nullptr;
  size_t to_pitch = 0;
  const void* from = nullptr;
  size_t from_pitch = 0;
  size_t width = 0;
  size_t height = 1;
};

}  // namespace portacl
