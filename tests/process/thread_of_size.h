// Runs a piece of a test on a thread with a stack of a given size.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <cstddef>

namespace portacl::testing {

// The least that a thread needs which calls the library (docs/runtime.md).
inline constexpr size_t kSmallStack = size_t{128} << 10;

// Whether there was such a thread; returns when it has ended. A fault where the stack ends is none that anybody could catch:
// who expects one calls this in a child.
template <class Body>
bool OnStackOf(size_t bytes, const Body& body) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0 || pthread_attr_setstacksize(&attributes, bytes) != 0) return false;
  const auto run = [](void* argument) -> void* {
    (*static_cast<const Body*>(argument))();
    return nullptr;
  };
  pthread_t thread;
  const bool started = pthread_create(&thread, &attributes, run, const_cast<Body*>(&body)) == 0;
  pthread_attr_destroy(&attributes);
  return started && pthread_join(thread, nullptr) == 0;
}

}  // namespace portacl::testing
