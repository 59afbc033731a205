// Data that a thread keeps from call to call until it ends. Nothing leaks when a thread ends, and calls work
// even while a thread or the process ends.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <new>

namespace portacl {

// Data that a thread keeps: memory, messages. A thread_local pointer refers to it, which needs no destructor.
// Destructors of thread_local objects, and of static objects in the thread that ends the process, may
// therefore still use it. Destructors of pthread_key_create may run after it was freed; then it is created
// again.
class Kept {
 public:
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

 protected:
  Kept() = default;
  virtual ~Kept() = default;

 private:
  friend class KeptList;
  Kept** slot_ = nullptr;  // the thread_local pointer to it
  pid_t thread_ = 0;       // the kernel's number of its thread; 0: that does not exist any more
  Kept* next_ = nullptr;   // in the list of all threads' data
  Kept** link_ = nullptr;  // the pointer to this object in that list
  Kept* next_of_thread_ = nullptr;
};

// Gives `kept`, made by new, to the calling thread: `slot` refers to it until the thread ends.
void KeepUntilThreadEnds(Kept* kept, Kept*& slot) noexcept;

// Returns the object to which `slot`, a thread_local pointer that starts as null, refers. Creates it if
// necessary; returns nullptr if memory is exhausted.
template <class T>
T* KeptIn(Kept*& slot) noexcept {
  if (slot == nullptr) [[unlikely]] {
    T* const made = new (std::nothrow) T;
    if (made == nullptr) return nullptr;
    KeepUntilThreadEnds(made, slot);
  }
  return static_cast<T*>(slot);
}

// The number of such objects, of all threads.
size_t CountKept() noexcept;

}  // namespace portacl
