// Products of INT8 by AVX-VNNI's VPDPBUSD (see byte_dot-inl.h and byte_dot_avx512.cc).
// SPDX-License-Identifier: Apache-2.0
#include "engine/gemm/byte_kernel.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define PORTACL_TILE_NAMESPACE N_AVX2
#define PORTACL_TILE_TARGET __attribute__((target("avx2,avxvnni"), unused))

namespace portacl::engine::N_AVX2 {
namespace {

struct Words {
  using Vector = __m256i;
  static constexpr int64_t kLanes = 8;
  PORTACL_TILE_TARGET static Vector Zero() { return _mm256_setzero_si256(); }
  PORTACL_TILE_TARGET static Vector Load(const void* from) {
    return _mm256_loadu_si256(static_cast<const __m256i*>(from));
  }
  PORTACL_TILE_TARGET static void Store(Vector words, void* to) {
    _mm256_storeu_si256(static_cast<__m256i*>(to), words);
  }
  PORTACL_TILE_TARGET static Vector Repeat(const uint32_t* word) {
    return _mm256_set1_epi32(static_cast<int>(*word));
  }
  PORTACL_TILE_TARGET static Vector Add(Vector a, Vector b) { return _mm256_add_epi32(a, b); }
  PORTACL_TILE_TARGET static Vector Flip(Vector words) {
    return _mm256_xor_si256(words, _mm256_set1_epi32(static_cast<int>(kHighBits)));
  }
  PORTACL_TILE_TARGET static Vector MultiplyAdd(Vector sum, Vector b, Vector a) {
    return _mm256_dpbusd_avx_epi32(sum, b, a);
  }
  PORTACL_TILE_TARGET static uint32_t Sum(Vector words) {
    __m128i four = _mm_add_epi32(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
    four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4E));
    four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0xB1));
    return static_cast<uint32_t>(_mm_cvtsi128_si32(four));
  }
  // Without this GCC may store every sum to memory in every step.
  PORTACL_TILE_TARGET static void Keep(Vector& sum) { asm("" : "+x"(sum)); }
};
constexpr int kRows = 6;
constexpr bool kIsUnsigned = true;

}  // namespace
}  // namespace portacl::engine::N_AVX2

#include "engine/gemm/byte_dot-inl.h"

namespace portacl::engine {

const ByteKernels& Avx2ByteKernels() noexcept;
const ByteKernels& Avx2ByteKernels() noexcept {
  static constexpr ByteKernels kKernels = N_AVX2::KernelsOfWords("avx_vnni");
  return kKernels;
}

}  // namespace portacl::engine
#endif
