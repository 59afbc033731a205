// Device memory that is freed when a stream has done its work.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "acl/stream/found_stream.h"

namespace portacl {

// Queues a task that frees the blocks, which aclrtMalloc gave. Where the stream drops its work instead, the
// next call of FreeDropped frees them.
void FreeInOrder(const char* api, const FoundStream& queue, std::vector<void*> blocks) noexcept;

void FreeDropped() noexcept;

}  // namespace portacl
