// aclInit, aclFinalize and their counting; aclGetRecentErrMsg.
// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>

#include <mutex>
#include <new>
#include <string>

#include "acl/acl_rt.h"
#include "acl/settings/configuration.h"
#include "acl/settings/configuration_file.h"
#include "acl/settings/init_callbacks.h"
#include "acl/settings/init_state.h"
#include "base/errors.h"
#include "base/process/cancellation.h"
#include "base/process/unwinding.h"
#include "base/sanitizer_hooks.h"

namespace portacl {
namespace {

aclError FailNotInitialised(const char* api) noexcept {
  return Fail(ACL_ERROR_REPEAT_FINALIZE, MessageClass::kAclReason,
              Text(api, ": acl is not initialised (any more), expected an earlier aclInit."));
}

aclError FailThrown(const char* api, const char* effect) noexcept {
  return Fail(ACL_ERROR_RT_INTERNAL_ERROR, MessageClass::kAclReason,
              Text(api, ": a function that the program registered threw an exception; ", effect, "."));
}

// Ends the library at the end of the scope, unless cancelled: also if a function of the program throws
// meanwhile, or ends its thread.
class EndOfScope {
 public:
  explicit EndOfScope(InitState& state) noexcept : state_(state) {}
  ~EndOfScope() {
    if (!is_wanted_) return;
    std::lock_guard lock(state_.mutex);
    state_.references = 0;
    state_.ends = false;
    state_.content.clear();
    ForgetConfiguration();
  }
  EndOfScope(const EndOfScope&) = delete;
  EndOfScope& operator=(const EndOfScope&) = delete;

  void GiveUp() noexcept { is_wanted_ = false; }

 private:
  InitState& state_;
  bool is_wanted_ = true;
};

// Starts the library, up to the callbacks; *content receives the file's content.
aclError Start(const char* path, std::string& content) {
  InitState& state = TheInitState();
  std::lock_guard lock(state.mutex);
  const bool is_read = path == nullptr || ReadFile(path, content);
  if (state.references > 0) {
    if (!is_read) return FailUnreadableFile(path);
    if (path != nullptr && content != state.content) {
      return Fail(ACL_ERROR_INVALID_PARAM, MessageClass::kConfiguration,
                  Text("aclInit: parameter configPath has the value [", path,
                       "], whose content differs from the configuration in force. Accepted: the same "
                       "content, a null pointer, or an aclFinalize first."));
    }
    ++state.references;
    return Fail(ACL_ERROR_REPEAT_INITIALIZE, MessageClass::kAclReason,
                Text("aclInit: acl is initialised already; this call is counted and may be ignored."));
  }
  if (aclError status = LoadConfiguration(path)) return status;
  state.content = content;
  state.references = 1;
  return ACL_SUCCESS;
}

// Undoes one aclInit, or all of them; the last one ends the library.
aclError End(const char* api, bool all, uint64_t* left) {
  InitState& state = TheInitState();
  {
    std::lock_guard lock(state.mutex);
    if (state.references == 0 || state.ends) return FailNotInitialised(api);
    if (!all && state.references > 1) {
      --state.references;
      if (left != nullptr) *left = state.references;
      return ACL_SUCCESS;
    }
    state.ends = true;
    state.ending = pthread_self();
  }
  aclError of_callbacks = ACL_SUCCESS;
  {
    const EndOfScope end(state);
    of_callbacks = CallFinalizeCallbacks();
  }
  if (sanitizer::IsOn(sanitizer::kHandles)) sanitizer::hooks->ProgramEnds();
  if (left != nullptr) *left = 0;
  if (of_callbacks == ACL_SUCCESS) return ACL_SUCCESS;
  return Fail(
      of_callbacks, MessageClass::kAclReason,
      Text(api, ": acl ended, but a function of aclFinalizeCallbackRegister returned ", of_callbacks, "."));
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_CATCHES_UNWINDING aclError aclInit(const char* configPath) {
  EnsureUnwinding();
  try {
    std::string content;
    if (aclError status = Start(configPath, content)) return status;
    aclError of_callbacks = ACL_SUCCESS;
    {
      EndOfScope end(TheInitState());
      of_callbacks = CallInitCallbacks(content);
      if (of_callbacks == ACL_SUCCESS) end.GiveUp();
    }
    if (of_callbacks == ACL_SUCCESS) return ACL_SUCCESS;
    return Fail(of_callbacks, MessageClass::kAclReason,
                Text("aclInit: a function of aclInitCallbackRegister returned ", of_callbacks,
                     "; acl is not initialised."));
  } catch (const ThreadUnwinding&) {
    throw;  // a function of the program that was called ended the thread
  } catch (const std::bad_alloc&) {
    return Fail(ACL_ERROR_BAD_ALLOC, MessageClass::kAclInner, Text("aclInit: not enough memory."));
  } catch (...) {
    return FailThrown("aclInit", "acl is not initialised");
  }
}

PORTACL_CATCHES_UNWINDING aclError aclFinalize(void) {
  try {
    return End("aclFinalize", true, nullptr);
  } catch (const ThreadUnwinding&) {
    throw;  // a function of the program that was called ended the thread
  } catch (const std::bad_alloc&) {
    return Fail(ACL_ERROR_BAD_ALLOC, MessageClass::kAclInner, Text("aclFinalize: not enough memory."));
  } catch (...) {
    return FailThrown("aclFinalize", "acl ended");
  }
}

PORTACL_CATCHES_UNWINDING aclError aclFinalizeReference(uint64_t* refCount) {
  try {
    return End("aclFinalizeReference", false, refCount);
  } catch (const ThreadUnwinding&) {
    throw;  // a function of the program that was called ended the thread
  } catch (const std::bad_alloc&) {
    return Fail(ACL_ERROR_BAD_ALLOC, MessageClass::kAclInner,
                Text("aclFinalizeReference: not enough memory."));
  } catch (...) {
    return FailThrown("aclFinalizeReference", "acl ended");
  }
}

const char* aclGetRecentErrMsg(void) { return TakeRecentMessages(); }
