// Holds the hooks in force and the functions that register them (see sanitizer_hooks.h).
// SPDX-License-Identifier: Apache-2.0
#include "base/sanitizer_hooks.h"

namespace portacl::sanitizer {

constinit std::atomic<uint32_t> parts_in_force{0};
constinit Hooks* hooks = nullptr;
constinit DeviceRange device_range;

namespace {

constinit StartFunction registered = nullptr;
constinit MemoryMap memory = {};

}  // namespace

void RegisterStart(StartFunction start) noexcept { registered = start; }

const char* StartChecks() noexcept { return registered == nullptr ? nullptr : registered(); }

void RegisterMemory(const MemoryMap& map) noexcept { memory = map; }

uintptr_t BlockOf(uintptr_t address) noexcept {
  return memory.block_of == nullptr ? 0 : memory.block_of(address);
}

MemoryRange RangeOf(const void* address) noexcept {
  return memory.range_of == nullptr ? MemoryRange{} : memory.range_of(address);
}

std::vector<Access> AccessesOfCopy(const CopyRows& rows) noexcept {
  std::vector<Access> accesses;
  const bool has_pitch = rows.height > 1;
  if (rows.from != nullptr) {
    accesses.push_back({.bytes = StridedBytes::Rows(rows.from, rows.width, rows.height,
                                                    has_pitch ? rows.from_pitch : rows.width),
                        .role = "the source"});
  }
  accesses.push_back(
      {.bytes = StridedBytes::Rows(rows.to, rows.width, rows.height, has_pitch ? rows.to_pitch : rows.width),
       .writes = true,
       .role = "the destination"});
  return accesses;
}

}  // namespace portacl::sanitizer
