// The rates that bound products of matrices, for products.py and attention.py: multiplications in registers, and reading memory.
// SPDX-License-Identifier: Apache-2.0
#include <stdint.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

// Each function makes kChains independent chains of `steps` steps, and returns how many multiplications that were; 0: the processor has no such instruction.
enum { kChains = 12 };

// Keeps the compiler from doing the steps at once, or not at all.
#define KEEP(sum) __asm__ volatile("" : "+" REGISTER(sum))
#if defined(__x86_64__)
#define REGISTER "v"
#else
#define REGISTER "w"
#endif

#if defined(__AVX512F__)
typedef float Floats __attribute__((vector_size(64)));
#elif defined(__AVX__)
typedef float Floats __attribute__((vector_size(32)));
#else
typedef float Floats __attribute__((vector_size(16)));
#endif

// Fused multiply-adds of float32.
double multiply_float32(int64_t steps) {
  Floats sum[kChains] = {};
  Floats x = {}, y = {};
  KEEP(x);
  KEEP(y);
  for (int64_t step = 0; step < steps; ++step) {
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) {
      sum[i] = x * y + sum[i];
      KEEP(sum[i]);
    }
  }
  return (double)steps * kChains * (double)(sizeof(Floats) / sizeof(float));
}

// Pairs of BF16 (VDPBF16PS).
double multiply_bfloat16(int64_t steps) {
#if defined(__AVX512BF16__)
  __m512 sum[kChains] = {};
  __m512i pairs = _mm512_setzero_si512();
  KEEP(pairs);
  for (int64_t step = 0; step < steps; ++step) {
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) {
      sum[i] = _mm512_dpbf16_ps(sum[i], (__m512bh)pairs, (__m512bh)pairs);
      KEEP(sum[i]);
    }
  }
  return (double)steps * kChains * 32;
#else
  (void)steps;
  return 0;
#endif
}

// Words of INT8 (VPDPBUSD).
double multiply_int8(int64_t steps) {
#if defined(__AVX512VNNI__)
  __m512i sum[kChains] = {};
  __m512i words = _mm512_setzero_si512();
  KEEP(words);
  for (int64_t step = 0; step < steps; ++step) {
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) {
      sum[i] = _mm512_dpbusd_epi32(sum[i], words, words);
      KEEP(sum[i]);
    }
  }
  return (double)steps * kChains * 64;
#else
  (void)steps;
  return 0;
#endif
}

// Reads `bytes` bytes and returns something that depends on all of them.
int64_t read_memory(const char* from, int64_t bytes) {
  typedef int64_t Words __attribute__((vector_size(64), aligned(1)));
  Words sum[4] = {};
  for (int64_t at = 0; at + 256 <= bytes; at += 256) {
    for (int i = 0; i < 4; ++i) sum[i] ^= *(const Words*)(from + at + 64 * i);
  }
  sum[0] ^= sum[1] ^ sum[2] ^ sum[3];
  int64_t all = 0;
  for (int i = 0; i < 8; ++i) all ^= sum[0][i];
  return all;
}
