// The bits that say which units of device memory were written, and where they lie.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sanitizer/device_memory.h"

namespace portacl::sanitizer {

inline constexpr size_t kPage = kDevicePage;

inline std::atomic<uint8_t>* shadow = nullptr;  // a bit for each unit of the range

inline size_t OffsetOf(uintptr_t address) noexcept { return address - device_range.begin; }
inline size_t LengthOf(size_t size) noexcept { return (size + kPage - 1) & ~(kPage - 1); }

}  // namespace portacl::sanitizer
