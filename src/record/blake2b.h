// BLAKE2b (RFC 7693) with 16 bytes and without a key: the name of contents in recordings.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

namespace portacl::record {

using ContentHash = std::array<unsigned char, 16>;

ContentHash Blake2b(const void* content, size_t size) noexcept;

}  // namespace portacl::record
