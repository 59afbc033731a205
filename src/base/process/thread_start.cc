// Starts the library's own threads (see thread_start.h).
// SPDX-License-Identifier: Apache-2.0
#include "base/process/thread_start.h"

#include <pthread.h>
#include <signal.h>

#include <initializer_list>

namespace portacl {

bool StartThread(void* (*body)(void*), void* argument) noexcept {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  size_t stack = 0;
  if (pthread_attr_getstacksize(&attributes, &stack) == 0 && stack < kLeastStack) {
    pthread_attr_setstacksize(&attributes, kLeastStack);
  }
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) sigdelset(&all, fault);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const bool started = pthread_create(&thread, &attributes, body, argument) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return started;
}

}  // namespace portacl
