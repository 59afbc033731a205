// A device's memory: its size, and how much of it the processes of this machine use.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace portacl {

// Sizes in bytes. All functions take the program's device number, and may be called from any thread.
struct DeviceMemory {
  size_t total = 0;  // Configuration::device_memory
  size_t free = 0;   // total minus the use by all processes of this user; 0 if they use more
};
DeviceMemory ReadDeviceMemory(int32_t device) noexcept;

// Accounts memory that this process is about to allocate. Returns false, and accounts nothing, if the device
// has a configured size (Configuration::limits_device_memory) and less is free.
bool TakeDeviceMemory(int32_t device, size_t bytes) noexcept;

// Accounts memory that this process has freed.
void ReturnDeviceMemory(int32_t device, size_t bytes) noexcept;

// Tells a profile that begins how much of the device this process holds, unless it is nothing.
void RecordDeviceMemory(int32_t device) noexcept;

}  // namespace portacl
