// What a thread keeps from call to call, until it ends: nothing is lost with a thread, and whoever calls the library
// while a thread or the process ends finds everything as ever.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <new>

namespace portacl {

// Something that a thread keeps: memory, messages. It is found through a thread_local pointer, which needs no
// destructor, so that destructors of thread_local objects, and of static objects in the thread that ends the process,
// may still use it. Destructors of pthread_key_create may come after it was freed: it is made again then.
class Kept {
 public:
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

 protected:
  Kept() = default;
  virtual ~Kept() = default;

 private:
  friend class KeptList;
  Kept** place_ = nullptr;  // the thread_local pointer to it
  pid_t thread_ = 0;        // the kernel's number of its thread; 0: that is gone
  Kept* next_ = nullptr;    // of all that threads keep
  Kept** link_ = nullptr;   // what points to it there
  Kept* next_of_thread_ = nullptr;
};

// Makes `kept`, made by new, the calling thread's: `place` refers to it until the thread ends.
void KeepUntilThreadEnds(Kept* kept, Kept*& place) noexcept;

// What `place`, a thread_local pointer that begins as null, refers to: made when there is nothing, nullptr without memory.
template <class T>
T* KeptIn(Kept*& place) noexcept {
  if (place == nullptr) [[unlikely]] {
    T* const made = new (std::nothrow) T;
    if (made == nullptr) return nullptr;
    KeepUntilThreadEnds(made, place);
  }
  return static_cast<T*>(place);
}

// How many there are, of all threads.
size_t CountKept() noexcept;

}  // namespace portacl
