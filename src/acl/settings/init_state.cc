// Tells whether the library is started (see init_state.h).
// SPDX-License-Identifier: Apache-2.0
#include "acl/settings/init_state.h"

#include "base/process/fork.h"
#include "base/process/no_destructor.h"

namespace portacl {
namespace {

// An end that another thread had begun belongs to the parent; in the child the library has not ended.
void AfterFork() {
  InitState& state = TheInitState();
  state.ends = state.ends && pthread_equal(state.ending, pthread_self()) != 0;
}

}  // namespace

InitState& TheInitState() {
  static NoDestructor<InitState> state;
  static const bool guarded = GuardAcrossFork(state->mutex, ForkRank::kInit) && CallInForkedChild(AfterFork);
  (void)guarded;
  return *state;
}

bool IsInitialised(std::string* configuration) {
  InitState& state = TheInitState();
  std::lock_guard lock(state.mutex);
  *configuration = state.content;
  return state.references > 0;
}

}  // namespace portacl
