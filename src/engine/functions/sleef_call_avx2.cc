// Calls SLEEF's functions of __m256d (see sleef.h): with clang compiled for that instruction set, with gcc empty.
// SPDX-License-Identifier: Apache-2.0
#if defined(__clang__) && defined(__x86_64__)
#include <immintrin.h>

// Includes nothing else. The linker could choose an inline function compiled here for the whole library.
namespace portacl::engine::N_AVX2 {

void CallSleef(void* function, double* x, const double* y) noexcept;

void CallSleef(void* function, double* x, const double* y) noexcept {
  const __m256d first = _mm256_loadu_pd(x);
  const __m256d result =
      y == nullptr ? reinterpret_cast<__m256d (*)(__m256d)>(function)(first)
                   : reinterpret_cast<__m256d (*)(__m256d, __m256d)>(function)(first, _mm256_loadu_pd(y));
  _mm256_storeu_pd(x, result);
}

}  // namespace portacl::engine::N_AVX2
#endif
