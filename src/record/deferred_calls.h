// Calls that are written when the device has done them. (deferred_calls.cc)
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace portacl::record {

// Hands over requests for summaries and the text of a call to what PortaclDeferBegin returned. `is_later`: in the order
// of the stream's work; else that was waited for. Returns false where the device takes no more work, or without memory.
bool HandOverCall(void* recording, void* stream, std::vector<std::int64_t> words, std::string_view text,
                  bool is_later);

// Why the last call was refused by the device; empty where memory was short.
const char* DeferredError(void* recording);

// Returns whether the file takes no more calls.
bool IsInTrouble(void* recording);

}  // namespace portacl::record
