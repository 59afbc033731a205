// The handlers around fork (see fork.h).
// SPDX-License-Identifier: Apache-2.0
#include "base/process/fork.h"

#include <pthread.h>

#include <atomic>
#include <cstddef>

namespace portacl {
namespace {

constexpr size_t kMutexes = static_cast<size_t>(ForkRank::kCount);
constexpr size_t kHandlers = 24;
constexpr size_t kInitialisers = 16;

std::atomic<std::mutex*> guarded[kMutexes];
std::atomic<void (*)()> handlers[kHandlers];
std::atomic<void (*)()> initialisers[kInitialisers];
std::atomic<bool> is_forked_child{false};

template <size_t count>
void CallAll(const std::atomic<void (*)()> (&functions)[count]) {
  for (const auto& function : functions) {
    if (void (*call)() = function.load(std::memory_order_acquire)) call();
  }
}

template <size_t count>
bool Add(std::atomic<void (*)()> (&functions)[count], void (*added)()) {
  for (auto& free : functions) {
    void (*expected)() = nullptr;
    if (free.compare_exchange_strong(expected, added, std::memory_order_acq_rel)) return true;
  }
  return false;
}

// A mutex may be registered during a fork: exactly those that were locked must be unlocked.
std::mutex* taken[kMutexes];

void Prepare() {
  CallAll(initialisers);
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
  is_forked_child.store(true, std::memory_order_relaxed);
  CallAll(handlers);
}

}  // namespace

bool NoticeForks() noexcept {
  static const bool noticed = pthread_atfork(Prepare, Free, InChild) == 0;
  return noticed;
}

bool IsForkedChild() noexcept { return is_forked_child.load(std::memory_order_relaxed); }

bool GuardAcrossFork(std::mutex& mutex, ForkRank rank) noexcept {
  NoticeForks();
  guarded[static_cast<size_t>(rank)].store(&mutex, std::memory_order_release);
  return true;
}

bool CallInForkedChild(void (*handler)()) noexcept {
  NoticeForks();
  return Add(handlers, handler);
}

bool InitialiseBeforeFork(void (*initialise)()) noexcept { return Add(initialisers, initialise); }

}  // namespace portacl
