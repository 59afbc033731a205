// Devices, contexts and each thread's current context. A device is the host: its memory is the process's.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "acl/acl_base.h"
#include "acl/settings/soc_profile.h"
#include "acl/settings/system_parameters.h"

namespace portacl {

// The fields are atomic, because a thread may look at its current context while another thread frees it.
struct Context {
  std::atomic<int32_t> device{0};
  std::atomic<bool> is_default{false};
  std::atomic<aclrtStream> default_stream{nullptr};
  SystemParameters system_parameters;
};

// Returns this thread's current context, or nullptr if there is none (no aclrtSetDevice yet, or the context
// was destroyed). *handle, if given, receives its handle.
Context* CurrentContext(aclrtContext* handle = nullptr) noexcept;

// Returns the context of a handle, or nullptr if it was destroyed.
Context* FindContext(aclrtContext handle) noexcept;

// No context ends while the lock is held. Nothing that waits may be done under it.
std::unique_lock<std::mutex> KeepContexts() noexcept;

// Returns 0 if the device exists. Otherwise reports an error for the running API and returns 107001, or
// 100000 if the environment's configuration is not acceptable.
aclError CheckDevice(const char* api, int64_t device) noexcept;

// Reports "no device is set on this thread" for the running API and returns 107002.
aclError FailNoDevice(const char* api) noexcept;

// Returns the product whose contract this thread sees: the configuration's, or kNoDevice without a current
// context.
Product CurrentProduct() noexcept;

}  // namespace portacl
