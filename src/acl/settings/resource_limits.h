// Limits of devices and streams on cores.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace portacl {

// A limit for each aclrtDevResLimitType; 0: not set.
struct ResourceLimits {
  static constexpr int kTypes = 2;
  std::atomic<uint32_t> values[kTypes] = {0, 0};

  void Forget() noexcept {
    for (auto& value : values) value.store(0, std::memory_order_relaxed);
  }
};

// Returns the limits of a device; a reset clears them.
ResourceLimits& LimitsOfDevice(int32_t device) noexcept;

}  // namespace portacl
