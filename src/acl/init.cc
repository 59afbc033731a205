// aclInit, aclFinalize and their counting; aclGetRecentErrMsg.
// SPDX-License-Identifier: Apache-2.0
#include <mutex>
#include <string>

#include "acl/acl_rt.h"
#include "acl/configuration.h"
#include "acl/configuration_file.h"
#include "acl/errors.h"
#include "acl/fork.h"
#include "acl/immortal.h"
#include "acl/init_callbacks.h"

namespace portacl {
namespace {

struct InitState {
  std::mutex mutex;
  uint64_t references = 0;
  bool ends = false;    // callbacks of the end are being called
  std::string content;  // of the configuration file in force, to tell a different one at a repeated aclInit
};

InitState& TheInitState() {
  static Immortal<InitState> state;
  static const bool guarded = GuardAcrossFork(state->mutex, ForkRank::kInit);
  (void)guarded;
  return *state;
}

aclError FailNotInitialised(const char* api) noexcept {
  return Fail(ACL_ERROR_REPEAT_FINALIZE, MessageClass::kAclReason,
              Text(api, ": acl is not initialised (any more), expected an earlier aclInit."));
}

void EndLocked(InitState& state) noexcept {
  state.references = 0;
  state.ends = false;
  state.content.clear();
  ForgetConfiguration();
}

// The start, up to the callbacks; *content receives that of the file.
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

// Takes back one aclInit, or all of them; the last one ends the library.
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
  }
  const aclError of_callbacks = CallFinalizeCallbacks();
  {
    std::lock_guard lock(state.mutex);
    EndLocked(state);
  }
  if (left != nullptr) *left = 0;
  if (of_callbacks == ACL_SUCCESS) return ACL_SUCCESS;
  return Fail(
      of_callbacks, MessageClass::kAclReason,
      Text(api, ": acl ended, but a function of aclFinalizeCallbackRegister returned ", of_callbacks, "."));
}

}  // namespace

bool IsInitialised(std::string* configuration) {
  InitState& state = TheInitState();
  std::lock_guard lock(state.mutex);
  *configuration = state.content;
  return state.references > 0;
}

}  // namespace portacl

using namespace portacl;

aclError aclInit(const char* configPath) {
  try {
    std::string content;
    if (aclError status = Start(configPath, content)) return status;
    const aclError of_callbacks = CallInitCallbacks(content);
    if (of_callbacks == ACL_SUCCESS) return ACL_SUCCESS;
    InitState& state = TheInitState();
    std::lock_guard lock(state.mutex);
    EndLocked(state);
    return Fail(of_callbacks, MessageClass::kAclReason,
                Text("aclInit: a function of aclInitCallbackRegister returned ", of_callbacks,
                     "; acl is not initialised."));
  } catch (...) {
    return Fail(ACL_ERROR_BAD_ALLOC, MessageClass::kAclInner, Text("aclInit: not enough memory."));
  }
}

aclError aclFinalize(void) {
  try {
    return End("aclFinalize", true, nullptr);
  } catch (...) {
    return Fail(ACL_ERROR_BAD_ALLOC, MessageClass::kAclInner, Text("aclFinalize: not enough memory."));
  }
}

aclError aclFinalizeReference(uint64_t* refCount) {
  try {
    return End("aclFinalizeReference", false, refCount);
  } catch (...) {
    return Fail(ACL_ERROR_BAD_ALLOC, MessageClass::kAclInner,
                Text("aclFinalizeReference: not enough memory."));
  }
}

const char* aclGetRecentErrMsg(void) { return TakeRecentMessages(); }
