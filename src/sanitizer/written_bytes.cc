// Tracks which bytes of device memory a program wrote (see device_memory.h): a bit for each unit.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "sanitizer/device_memory.h"
#include "sanitizer/written_bits.h"

namespace portacl::sanitizer {

namespace {

// A signalling NaN as FLOAT and as BF16, a quiet NaN as FLOAT16, and about 1e306 as DOUBLE. No pattern is a
// NaN in all four.
constexpr uint32_t kPattern = 0x7FA17FA1u;

// Sets or clears the bits of units first to last. Other units of the first and last byte may belong to other
// threads; whole bytes belong to the thread that writes the memory.
void SetBits(size_t first, size_t last, bool value) noexcept {
  const auto change = [value](size_t byte, unsigned mask) {
    if (value) {
      shadow[byte].fetch_or(static_cast<uint8_t>(mask), std::memory_order_relaxed);
    } else {
      shadow[byte].fetch_and(static_cast<uint8_t>(~mask), std::memory_order_relaxed);
    }
  };
  const size_t first_byte = first / 8;
  const size_t last_byte = last / 8;
  const unsigned from_first = 0xFFu << (first % 8) & 0xFFu;
  const unsigned to_last = 0xFFu >> (7 - last % 8);
  if (first_byte == last_byte) {
    change(first_byte, from_first & to_last);
    return;
  }
  change(first_byte, from_first);
  std::memset(reinterpret_cast<void*>(shadow + first_byte + 1), value ? 0xFF : 0, last_byte - first_byte - 1);
  change(last_byte, to_last);
}

}  // namespace

void MarkWritten(const void* address, size_t size) noexcept {
  if (size == 0 || !IsOn(kInit) || !IsInDeviceRange(address)) return;
  const size_t offset = OffsetOf(reinterpret_cast<uintptr_t>(address));
  SetBits(offset / kUnit, (offset + size - 1) / kUnit, true);
}

void MarkWrittenToEnd(const void* address) noexcept {
  Block block;
  if (!IsOn(kInit) || !FindBlock(address, &block) || block.is_freed) return;
  const uintptr_t end = block.begin + LengthOf(block.size);
  MarkWritten(address, end - reinterpret_cast<uintptr_t>(address));
}

void MarkUnwritten(void* address, size_t size) noexcept {
  if (size == 0 || !IsOn(kInit) || !IsInDeviceRange(address)) return;
  const size_t offset = OffsetOf(reinterpret_cast<uintptr_t>(address));
  SetBits(offset / kUnit, (offset + size - 1) / kUnit, false);
}

const void* FirstUnwritten(const void* address, size_t size) noexcept {
  if (size == 0 || !IsOn(kInit) || !IsInDeviceRange(address)) return nullptr;
  const size_t offset = OffsetOf(reinterpret_cast<uintptr_t>(address));
  const size_t last = (offset + size - 1) / kUnit;
  for (size_t unit = offset / kUnit; unit <= last;) {
    if (unit % 64 == 0 && last - unit >= 63) {
      uint64_t word = 0;
      std::memcpy(&word, reinterpret_cast<const void*>(shadow + unit / 8), sizeof word);
      if (word == ~uint64_t{0}) {
        unit += 64;
        continue;
      }
    }
    if ((shadow[unit / 8].load(std::memory_order_relaxed) >> (unit % 8) & 1) == 0) {
      return reinterpret_cast<const void*>(
          std::max(device_range.begin + unit * kUnit, reinterpret_cast<uintptr_t>(address)));
    }
    ++unit;
  }
  return nullptr;
}

void FillUnwritten(void* address, size_t size) noexcept {
  if (!IsOn(kInit)) return;
  auto* at = static_cast<char*>(Working(address));
  size_t left = size;
  if (left >= sizeof kPattern && reinterpret_cast<uintptr_t>(at) % alignof(uint32_t) == 0) {
    // Fills one page and copies it to the others.
    char* const first = at;
    const size_t words = std::min(left, kPage) / sizeof kPattern;
    std::fill_n(reinterpret_cast<uint32_t*>(at), words, kPattern);
    at += words * sizeof kPattern;
    left -= words * sizeof kPattern;
    for (size_t length = 0; left >= sizeof kPattern; at += length, left -= length) {
      length = std::min(left, kPage) / sizeof kPattern * sizeof kPattern;
      std::memcpy(at, first, length);
    }
  }
  std::memset(at, 0x7F, left);
  MarkUnwritten(address, size);
}

}  // namespace portacl::sanitizer
