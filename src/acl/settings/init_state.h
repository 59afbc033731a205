// Tells whether the library is started: the state that aclInit, aclFinalize and the functions that they call share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <cstdint>
#include <mutex>
#include <string>

namespace portacl {

struct InitState {
  std::mutex mutex;
  uint64_t references = 0;
  bool ends = false;    // the end's callbacks are running
  pthread_t ending{};   // on this thread, if `ends`
  std::string content;  // of the configuration file in force, to detect a different one at a repeated aclInit
};

InitState& TheInitState();

// Tells whether the library is started. If so, *configuration receives the content of aclInit's file.
bool IsInitialised(std::string* configuration);

}  // namespace portacl
