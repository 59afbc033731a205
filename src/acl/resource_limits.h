// How much of the machine a device, a stream or a thread may use: the limits of acl_rt.h on cores.
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

// The most threads for an operator whose phase 1 runs on this thread: the configuration's number, or less
// where the stream in use in this thread, or else its device, has a limit on vector cores.
int ThreadLimit() noexcept;

// The device is reset: so are its limits.
void ForgetDeviceLimits(int32_t device) noexcept;

}  // namespace portacl
