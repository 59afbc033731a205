// A static object that needs no heap and is never destroyed: calls and worker threads may use it while the
// process exits.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <new>

namespace portacl {

template <class T>
class NoDestructor {
 public:
  NoDestructor() { new (storage_) T; }
  NoDestructor(const NoDestructor&) = delete;
  NoDestructor& operator=(const NoDestructor&) = delete;

  T& operator*() noexcept { return *std::launder(reinterpret_cast<T*>(storage_)); }
  T* operator->() noexcept { return &**this; }

 private:
  alignas(T) unsigned char storage_[sizeof(T)];
};

}  // namespace portacl
