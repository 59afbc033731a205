// Frames of a recording as bytes; python/portacl/recording/_frames.py describes the file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "record/blake2b.h"

namespace portacl::record {

inline constexpr std::string_view kMagic = "portacl recording 1\n";

// Loads zlib if the machine has it; otherwise contents are stored uncompressed, in zlib's format. Call it
// once, before the others.
void PrepareCompression() noexcept;

inline constexpr std::size_t kStoredJson = 4096;  // compressing less takes longer than many an operator

// Makes a frame of JSON, compressed if it is longer than `stored`. The functions below throw std::bad_alloc.
std::string JsonFrame(std::string_view kind, std::string_view json, std::size_t stored = kStoredJson);
// Makes a frame of a tensor's elements.
std::string DataFrame(const ContentHash& hash, std::string_view content);

std::string HexOf(const ContentHash& hash);
std::string Base64Of(std::string_view bytes);
// Returns a JSON string with its quotes. Invalid UTF-8 becomes U+FFFD.
std::string Quoted(std::string_view text);

}  // namespace portacl::record
