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

namespace portacl {
namespace {

struct InitState {
  std::mutex mutex;
  uint64_t references = 0;
  std::string content;  // of the configuration file in force, to tell a different one at a repeated aclInit
};

InitState& TheInitState() {
  static Immortal<InitState> state;
  static const bool guarded = GuardAcrossFork(state->mutex, ForkRank::kInit);
  (void)guarded;
  return *state;
}

// Empty when there is no file, or none that can be read.
std::string ContentOf(const char* path) {
  std::string content;
  if (path != nullptr && !ReadFile(path, content)) content.clear();
  return content;
}

aclError FailNotInitialised(const char* api) noexcept {
  return Fail(ACL_ERROR_REPEAT_FINALIZE, MessageClass::kAclReason,
              Text(api, ": acl is not initialised (any more), expected an earlier aclInit."));
}

void FinalizeLocked(InitState& state) noexcept {
  state.references = 0;
  state.content.clear();
  ForgetConfiguration();
}

}  // namespace
}  // namespace portacl

using namespace portacl;

aclError aclInit(const char* configPath) {
  try {
    InitState& state = TheInitState();
    std::lock_guard lock(state.mutex);
    std::string content = ContentOf(configPath);
    if (state.references > 0) {
      if (configPath != nullptr && content != state.content) {
        return Fail(ACL_ERROR_INVALID_PARAM, MessageClass::kConfiguration,
                    Text("aclInit: parameter configPath has the value [", configPath,
                         "], whose content differs from the configuration in force. Accepted: the same "
                         "content, a null pointer, or an "
                         "aclFinalize first."));
      }
      ++state.references;
      return Fail(ACL_ERROR_REPEAT_INITIALIZE, MessageClass::kAclReason,
                  Text("aclInit: acl is initialised already; this call is counted and may be ignored."));
    }
    if (aclError status = LoadConfiguration(configPath)) return status;
    state.content = std::move(content);
    state.references = 1;
    return ACL_SUCCESS;
  } catch (...) {
    return Fail(ACL_ERROR_BAD_ALLOC, MessageClass::kAclInner, Text("aclInit: not enough memory."));
  }
}

aclError aclFinalize(void) {
  InitState& state = TheInitState();
  std::lock_guard lock(state.mutex);
  if (state.references == 0) return FailNotInitialised("aclFinalize");
  FinalizeLocked(state);
  return ACL_SUCCESS;
}

aclError aclFinalizeReference(uint64_t* refCount) {
  InitState& state = TheInitState();
  std::lock_guard lock(state.mutex);
  if (state.references == 0) return FailNotInitialised("aclFinalizeReference");
  if (--state.references == 0) FinalizeLocked(state);
  if (refCount != nullptr) *refCount = state.references;
  return ACL_SUCCESS;
}

const char* aclGetRecentErrMsg(void) { return TakeRecentMessages(); }
