// The floating-point environment of every computation: round to nearest even, gradual underflow, traps
// masked.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace portacl {

// Computes in the default environment on this thread during its lifetime, then restores the caller's, with
// its sticky flags. It costs a few cycles, so that every block and phase 1 have their own. Reading the
// register is the cheapest part, and for most callers nothing has to be changed.
class DefaultFloatEnvironment {
 public:
#if defined(__x86_64__)
  DefaultFloatEnvironment() noexcept : saved_(_mm_getcsr()) {
    if ((saved_ & ~kFlags) != kDefault) _mm_setcsr(kDefault);
  }
  ~DefaultFloatEnvironment() {
    if (_mm_getcsr() != saved_) _mm_setcsr(saved_);
  }
#elif defined(__aarch64__)
  DefaultFloatEnvironment() noexcept {
    asm volatile("mrs %0, fpcr\n\tmrs %1, fpsr" : "=r"(saved_), "=r"(saved_status_));
    asm volatile("msr fpcr, %0" ::"r"(uint64_t{0}) : "memory");
  }
  ~DefaultFloatEnvironment() {
    asm volatile("msr fpcr, %0\n\tmsr fpsr, %1" ::"r"(saved_), "r"(saved_status_) : "memory");
  }
#else
#error "Only x86-64 and aarch64 are supported: add this machine's floating-point control register."
#endif
  DefaultFloatEnvironment(const DefaultFloatEnvironment&) = delete;
  DefaultFloatEnvironment& operator=(const DefaultFloatEnvironment&) = delete;

 private:
#if defined(__x86_64__)
  static constexpr unsigned kFlags = 0x3F;  // the sticky ones
  static constexpr unsigned kDefault = 0x1F80;
  unsigned saved_;
#else
  uint64_t saved_;
  uint64_t saved_status_;
#endif
};

}  // namespace portacl
