// Makes a stream fail at the position where work would have been.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "acl/acl_base.h"
#include "acl/stream/found_stream.h"
#include "base/text.h"

namespace portacl {

// Makes a stream that stops on failure fail when it reaches this position, and keep reporting the failure.
// Returns false, and does nothing, for any other stream and for a captured one. The submitter of work to such
// a stream may have no way to report an error: torch_npu's thread silently drops all later work, or, with its
// queue off, ends the process while Python holds its lock.
bool FailsInStream(const FoundStream& queue, aclError status, const Text& message) noexcept;

}  // namespace portacl
