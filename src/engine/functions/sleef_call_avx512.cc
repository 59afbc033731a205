// Calls SLEEF's functions of __m512d (see sleef.h): with clang compiled for that instruction set, with gcc empty.
// SPDX-License-Identifier: Apache-2.0
#if defined(__clang__) && defined(__x86_64__)
#include <immintrin.h>

// Includes nothing else. The linker could choose an inline function compiled here for the whole library.
namespace portacl::engine::N_AVX3 {

void CallSleef(void* function, double* x, const double* y) noexcept;

void CallSleef(void* function, double* x, const double* y) noexcept {
  const __m512d first = _mm512_loadu_pd(x);
  const __m512d result =
      y == nullptr ? reinterpret_cast<__m512d (*)(__m512d)>(function)(first)
                   : reinterpret_cast<__m512d (*)(__m512d, __m512d)>(function)(first, _mm512_loadu_pd(y));
  _mm512_storeu_pd(x, result);
}

}  // namespace portacl::engine::N_AVX3
#endif
