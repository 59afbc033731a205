// A failure in the place that work would have had in its stream.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "acl/acl_base.h"
#include "acl/stream/found_stream.h"
#include "acl/text.h"

namespace portacl {

// Lets a stream that stops on failure fail when it comes to this place; false, and nothing happens, in any other stream. What submitted
// work to such a stream may have no way to tell of an error: torch_npu's thread drops all later work without a word, or, with the queue
// off, ends the process where Python held its lock. The stream reports the failure, and goes on reporting it.
bool FailsInStream(const FoundStream& queue, aclError status, const Text& message) noexcept;

}  // namespace portacl
