// A device's memory: how much it has, and how much of that the processes of this machine hold.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace portacl {

// Bytes. All functions take a device as the program numbers it, and are safe to call from any thread.
struct DeviceMemory {
  size_t total = 0;  // Configuration::device_memory
  size_t free = 0;   // total less what the processes of this user hold of it; 0 when they hold more
};
DeviceMemory ReadDeviceMemory(int32_t device) noexcept;

// Accounts memory that this process is about to take. False, with nothing accounted, when the device has a size of its own
// (Configuration::limits_device_memory) and less is free.
bool TakeDeviceMemory(int32_t device, size_t bytes) noexcept;

// Accounts memory that this process gave back.
void ReturnDeviceMemory(int32_t device, size_t bytes) noexcept;

}  // namespace portacl
