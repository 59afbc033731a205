// The limits that a device or a stream has on cores.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace portacl {

// A limit for each aclrtDevResLimitType; 0 where none is set.
struct ResourceLimits {
  static constexpr int kTypes = 2;
  std::atomic<uint32_t> values[kTypes] = {0, 0};

  void Forget() noexcept {
    for (auto& value : values) value.store(0, std::memory_order_relaxed);
  }
};

// Those of a device; they are forgotten when it is reset.
ResourceLimits& LimitsOfDevice(int32_t device) noexcept;

}  // namespace portacl
