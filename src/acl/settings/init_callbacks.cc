// The registry of start and end functions (see init_callbacks.h).
// SPDX-License-Identifier: Apache-2.0
#include "acl/settings/init_callbacks.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <vector>

#include "acl/acl_rt.h"
#include "acl/settings/init_state.h"
#include "base/errors.h"
#include "base/process/cancellation.h"
#include "base/process/fork.h"
#include "base/process/no_destructor.h"

namespace portacl {
namespace {

template <class Function>
struct Registered {
  aclRegisterCallbackType type;
  Function function;
  void* user_data;
  bool called = false;  // since the last end

  bool Is(aclRegisterCallbackType other_type, Function other) const {
    return type == other_type && function == other;
  }
};

// No function is called while the mutex is held, since it may register others.
struct Registry {
  std::mutex mutex;
  std::vector<Registered<aclInitCallbackFunc>> at_start;
  std::vector<Registered<aclFinalizeCallbackFunc>> at_end;

  template <class Function>
  auto& Of();
};

template <>
auto& Registry::Of<aclInitCallbackFunc>() {
  return at_start;
}
template <>
auto& Registry::Of<aclFinalizeCallbackFunc>() {
  return at_end;
}

Registry& TheRegistry() {
  static NoDestructor<Registry> registry;
  static const bool guarded = GuardAcrossFork(registry->mutex, ForkRank::kInitCallbacks);
  (void)guarded;
  return *registry;
}

template <class Function>
aclError Register(const char* api, aclRegisterCallbackType type, Function function,
                  void* user_data) noexcept {
  if (function == nullptr) return FailNullPointer(api, "cbFunc", "a function");
  const int number = static_cast<int>(type);
  if ((number < ACL_REG_TYPE_ACL_MODEL || number > ACL_REG_TYPE_ACL_RETR) && type != ACL_REG_TYPE_OTHER) {
    return FailValue(api, "type", number, "0 to 7, or 65535 (ACL_REG_TYPE_OTHER)", ACL_ERROR_INVALID_PARAM);
  }
  try {
    Registry& registry = TheRegistry();
    std::lock_guard lock(registry.mutex);
    auto& list = registry.Of<Function>();
    for (const auto& one : list) {
      if (one.Is(type, function)) {
        return FailValue(api, "cbFunc", reinterpret_cast<const void*>(function),
                         "a function that is not registered for this type already", ACL_ERROR_INVALID_PARAM);
      }
    }
    list.push_back({type, function, user_data});
    return ACL_SUCCESS;
  } catch (...) {
    return Fail(ACL_ERROR_BAD_ALLOC, MessageClass::kAclInner, Text(api, ": not enough memory."));
  }
}

template <class Function>
aclError Unregister(const char* api, aclRegisterCallbackType type, Function function) noexcept {
  if (function == nullptr) return FailNullPointer(api, "cbFunc", "a function");
  Registry& registry = TheRegistry();
  std::lock_guard lock(registry.mutex);
  auto& list = registry.Of<Function>();
  for (auto one = list.begin(); one != list.end(); ++one) {
    if (one->Is(type, function)) {
      list.erase(one);
      return ACL_SUCCESS;
    }
  }
  return FailValue(api, "cbFunc", reinterpret_cast<const void*>(function),
                   "a function that is registered for this type", ACL_ERROR_INVALID_PARAM);
}

}  // namespace

aclError CallInitCallbacks(const std::string& configuration) {
  Registry& registry = TheRegistry();
  for (;;) {
    Registered<aclInitCallbackFunc> due{};
    {
      std::lock_guard lock(registry.mutex);
      auto& list = registry.at_start;
      const auto next = std::find_if(list.begin(), list.end(), [](const auto& one) { return !one.called; });
      if (next == list.end()) return ACL_SUCCESS;
      next->called = true;
      due = *next;
    }
    if (aclError status = due.function(configuration.c_str(), configuration.size(), due.user_data))
      return status;
  }
}

aclError CallFinalizeCallbacks() {
  Registry& registry = TheRegistry();
  std::vector<Registered<aclFinalizeCallbackFunc>> due;
  {
    std::lock_guard lock(registry.mutex);
    for (auto& one : registry.at_start) one.called = false;
    due = registry.at_end;
  }
  aclError first = ACL_SUCCESS;
  for (auto one = due.rbegin(); one != due.rend(); ++one) {
    const aclError status = one->function(one->user_data);
    if (first == ACL_SUCCESS) first = status;
  }
  return first;
}

}  // namespace portacl

using namespace portacl;

PORTACL_CATCHES_UNWINDING aclError aclInitCallbackRegister(aclRegisterCallbackType type,
                                                           aclInitCallbackFunc cbFunc, void* userData) {
  const char* const api = "aclInitCallbackRegister";
  if (aclError status = Register(api, type, cbFunc, userData)) return status;
  try {
    std::string configuration;
    if (!IsInitialised(&configuration)) return ACL_SUCCESS;
    if (aclError status = CallInitCallbacks(configuration)) {
      Unregister(api, type, cbFunc);
      return Fail(status, MessageClass::kAclReason,
                  Text(api, ": the function was called at once, since acl is initialised, and returned ",
                       status, "; it is not registered."));
    }
    return ACL_SUCCESS;
  } catch (const ThreadUnwinding&) {
    Unregister(api, type, cbFunc);
    throw;  // the function ended the thread
  } catch (const std::bad_alloc&) {
    Unregister(api, type, cbFunc);
    return Fail(ACL_ERROR_BAD_ALLOC, MessageClass::kAclInner, Text(api, ": not enough memory."));
  } catch (...) {
    Unregister(api, type, cbFunc);
    return Fail(ACL_ERROR_RT_INTERNAL_ERROR, MessageClass::kAclReason,
                Text(api,
                     ": the function was called at once, since acl is initialised, and threw an exception; "
                     "it is not registered."));
  }
}

aclError aclInitCallbackUnRegister(aclRegisterCallbackType type, aclInitCallbackFunc cbFunc) {
  return Unregister("aclInitCallbackUnRegister", type, cbFunc);
}

aclError aclFinalizeCallbackRegister(aclRegisterCallbackType type, aclFinalizeCallbackFunc cbFunc,
                                     void* userData) {
  return Register("aclFinalizeCallbackRegister", type, cbFunc, userData);
}

aclError aclFinalizeCallbackUnRegister(aclRegisterCallbackType type, aclFinalizeCallbackFunc cbFunc) {
  return Unregister("aclFinalizeCallbackUnRegister", type, cbFunc);
}
