// Copies in stream order, for every function that queues one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "acl/acl_rt.h"

namespace portacl {

// What one task moves: `height` rows of `width` bytes, each a pitch behind the one before.
struct CopyRows {
  void* to = nullptr;
  size_t to_pitch = 0;
  const void* from = nullptr;
  size_t from_pitch = 0;
  size_t width = 0;
  size_t height = 1;
};

// Queues a copy. `completes`: it is done when this returns. 0, 107002, 107003 or 207001.
aclError SubmitCopy(const char* api, aclrtStream stream, const CopyRows& rows, bool completes) noexcept;

// Whether a copy of this kind must be done before its call returns: because of a host side that is neither
// pinned nor this library's, or because the kind promises that the source may change at once.
bool MustComplete(aclrtMemcpyKind kind, const CopyRows& rows) noexcept;

}  // namespace portacl
