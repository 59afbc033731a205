// Threads that the program cancels (pthread_cancel) or ends (pthread_exit) inside the library.
//
// A cancelled thread is unwound at the next function where the system looks for cancellation: those that wait, and those
// that read and write files. Most functions here must not be left in the middle, so cancellation waits until they have
// returned. Where code of the program runs, or a function does nothing but wait for the program, the thread is unwound,
// and what it was doing is brought to an end on the way.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cxxabi.h>
#include <pthread.h>

namespace portacl {

// While it lives, the thread is not cancelled. tools/check_cancellation.py looks that one lives wherever a thread
// could be.
class CancellationDeferred {
 public:
  CancellationDeferred() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~CancellationDeferred() { pthread_setcancelstate(before_, nullptr); }
  CancellationDeferred(const CancellationDeferred&) = delete;
  CancellationDeferred& operator=(const CancellationDeferred&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

// What is thrown through a thread that ends in the middle. Who catches it must throw it again: the process ends otherwise.
using ThreadUnwinding = abi::__forced_unwind;

// For a function that catches one: the reference that is bound then refers to nothing, and nobody uses it, but
// UndefinedBehaviorSanitizer would report it.
#define PORTACL_CATCHES_UNWINDING __attribute__((no_sanitize("null")))

}  // namespace portacl
