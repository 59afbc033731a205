// Copies in stream order, for every function that queues one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "acl/acl_rt.h"
#include "base/copy_rows.h"

namespace portacl {

// Queues a copy. `completes`: it is done on return. Returns 0, 107002, 107003 or 207001.
aclError SubmitCopy(const char* api, aclrtStream stream, const CopyRows& rows, bool completes) noexcept;

// Tells whether a copy of this kind must be done before its call returns: because a host side is neither pinned nor
// this library's, or because the kind promises that the source may change at once.
bool MustComplete(aclrtMemcpyKind kind, const CopyRows& rows) noexcept;

}  // namespace portacl
