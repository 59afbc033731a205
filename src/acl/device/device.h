// Devices, contexts and what is current on a thread. A device is the host: its memory is the process's.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "acl/acl_base.h"
#include "acl/settings/soc_profile.h"
#include "acl/settings/system_parameters.h"

namespace portacl {

// The fields are atomic because a thread may look at its current context while another thread frees it.
struct Context {
  std::atomic<int32_t> device{0};
  std::atomic<bool> is_default{false};
  std::atomic<aclrtStream> default_stream{nullptr};
  SystemParameters system_parameters;
};

// The context current on this thread, nullptr without one (no aclrtSetDevice yet, or the context is gone).
// *handle, if asked for, receives its handle.
Context* CurrentContext(aclrtContext* handle = nullptr) noexcept;

// The context of a handle, nullptr when it is gone.
Context* FindContext(aclrtContext handle) noexcept;

// While the lock is held, no context ends. Nothing that waits may be done under it.
std::unique_lock<std::mutex> KeepContexts() noexcept;

// 0 for the number of a device that there is; else reports for the API that runs and returns 107001, or
// 100000 when the environment's configuration is not acceptable.
aclError CheckDevice(const char* api, int64_t device) noexcept;

// Reports "no device is set on this thread" for the API that runs and returns 107002.
aclError FailNoDevice(const char* api) noexcept;

// The product whose contract this thread sees: the configuration's, or kNoDevice without a current context.
Product CurrentProduct() noexcept;

}  // namespace portacl
