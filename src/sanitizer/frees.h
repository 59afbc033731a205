// Reports wrong frees: a second one, one of an address within a block, or one of another kind of memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace portacl::sanitizer {

// `source` is the function whose memory `api` frees, such as aclrtMalloc.
void CheckWrongFree(const char* api, const char* source, const void* address) noexcept;

}  // namespace portacl::sanitizer
