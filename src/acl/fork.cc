// The handlers around fork (see fork.h).
// SPDX-License-Identifier: Apache-2.0
#include "acl/fork.h"

#include <pthread.h>

#include <atomic>
#include <cstddef>

namespace portacl {
namespace {

constexpr size_t kMutexes = static_cast<size_t>(ForkRank::kCount);
constexpr size_t kHandlers = 16;

std::atomic<std::mutex*> guarded[kMutexes];
std::atomic<void (*)()> handlers[kHandlers];

// A mutex may be registered while a fork is under way: what is freed must be exactly what was taken.
std::mutex* taken[kMutexes];

void Prepare() {
  for (size_t i = 0; i < kMutexes; ++i) {
    taken[i] = guarded[i].load(std::memory_order_acquire);
    if (taken[i] != nullptr) taken[i]->lock();
  }
}

void Free() {
  for (size_t i = kMutexes; i-- > 0;) {
    if (taken[i] != nullptr) taken[i]->unlock();
  }
}

void InChild() {
  Free();
  for (auto& handler : handlers) {
    if (void (*call)() = handler.load(std::memory_order_acquire)) call();
  }
}

void RegisterOnce() noexcept {
  static const int registered = pthread_atfork(Prepare, Free, InChild);
  (void)registered;
}

}  // namespace

bool GuardAcrossFork(std::mutex& mutex, ForkRank rank) noexcept {
  RegisterOnce();
  guarded[static_cast<size_t>(rank)].store(&mutex, std::memory_order_release);
  return true;
}

bool CallInForkedChild(void (*handler)()) noexcept {
  RegisterOnce();
  for (auto& free : handlers) {
    void (*expected)() = nullptr;
    if (free.compare_exchange_strong(expected, handler, std::memory_order_acq_rel)) return true;
  }
  return false;
}

}  // namespace portacl
