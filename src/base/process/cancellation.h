// Handles threads that the program cancels (pthread_cancel) or ends (pthread_exit) inside the library.
//
// A cancelled thread is unwound at the next cancellation point: functions that wait, and functions that read
// and write files. Most functions of this library must not be left in the middle, so that cancellation is
// deferred until they return. A thread is unwound at once while it runs code of the program, or while it only
// waits for the program; its unfinished work is completed on the way.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cxxabi.h>
#include <pthread.h>

namespace portacl {

// Defers cancellation of the thread during its lifetime. tools/check_cancellation.py verifies that one exists
// wherever a thread could be cancelled.
class CancellationDeferred {
 public:
  CancellationDeferred() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~CancellationDeferred() { pthread_setcancelstate(before_, nullptr); }
  CancellationDeferred(const CancellationDeferred&) = delete;
  CancellationDeferred& operator=(const CancellationDeferred&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

// The exception that unwinds an ending thread. A catch block must rethrow it, or the process ends.
using ThreadUnwinding = abi::__forced_unwind;

// Marks a function that catches one. The bound reference refers to nothing and is not used, but
// UndefinedBehaviorSanitizer would report it.
#define PORTACL_CATCHES_UNWINDING __attribute__((no_sanitize("null")))

}  // namespace portacl
