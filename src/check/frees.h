// Frees that free nothing: a second one, one inside of a block, one of another kind of memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace portacl::sanitizer {

// `source` is the function whose memory `api` frees, such as aclrtMalloc.
void CheckWrongFree(const char* api, const char* source, const void* address) noexcept;

}  // namespace portacl::sanitizer
