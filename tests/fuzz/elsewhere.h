// Runs something in another thread of a random program.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <future>
#include <thread>

namespace portacl::testing {

// In another thread, with its own messages and no device; or here. Not joined: clang 14's sanitizer keeps the number of
// every thread that was, and once the system gives it to another thread, what that one holds is taken for a leak.
template <class Function>
void MaybeElsewhere(bool elsewhere, const Function& function) {
  if (!elsewhere) {
    function();
    return;
  }
  std::promise<void> ended;
  std::thread([&] {
    function();
    ended.set_value_at_thread_exit();
  }).detach();
  ended.get_future().wait();
}

}  // namespace portacl::testing
