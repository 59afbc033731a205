// Products of INT8 by AVX512-VNNI's VPDPBUSD (see byte_dot-inl.h). It multiplies unsigned terms by signed ones,
// adds four products at full width and does not saturate.
// SPDX-License-Identifier: Apache-2.0
#include "engine/gemm/byte_kernel.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define PORTACL_TILE_NAMESPACE N_AVX3
#define PORTACL_TILE_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni"), unused))

namespace portacl::engine::N_AVX3 {
namespace {

struct Words {
  using Vector = __m512i;
  static constexpr int64_t kLanes = 16;
  PORTACL_TILE_TARGET static Vector Zero() { return _mm512_setzero_si512(); }
  PORTACL_TILE_TARGET static Vector Load(const void* from) { return _mm512_loadu_si512(from); }
  PORTACL_TILE_TARGET static void Store(Vector words, void* to) { _mm512_storeu_si512(to, words); }
  PORTACL_TILE_TARGET static Vector Repeat(const uint32_t* word) {
    return _mm512_set1_epi32(static_cast<int>(*word));
  }
  PORTACL_TILE_TARGET static Vector Add(Vector a, Vector b) { return _mm512_add_epi32(a, b); }
  PORTACL_TILE_TARGET static Vector Flip(Vector words) {
    return _mm512_xor_si512(words, _mm512_set1_epi32(static_cast<int>(kHighBits)));
  }
  PORTACL_TILE_TARGET static Vector MultiplyAdd(Vector sum, Vector b, Vector a) {
    return _mm512_dpbusd_epi32(sum, b, a);
  }
  PORTACL_TILE_TARGET static uint32_t Sum(Vector words) {
    // Goes by memory, since GCC warns of undefined vectors in its functions for halves of vectors.
    alignas(64) uint32_t all[kLanes];
    Store(words, all);
    const auto* const half = reinterpret_cast<const __m256i*>(all);
    const __m256i eight = _mm256_add_epi32(_mm256_load_si256(half), _mm256_load_si256(half + 1));
    __m128i four = _mm_add_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
    four = _mm_add_epi32(four, _mm_unpackhi_epi64(four, four));
    return static_cast<uint32_t>(_mm_cvtsi128_si32(four)) + static_cast<uint32_t>(_mm_extract_epi32(four, 1));
  }
  // Without this GCC may store every sum to memory in every step.
  PORTACL_TILE_TARGET static void Keep(Vector& sum) { asm("" : "+v"(sum)); }
};
constexpr int kRows = 14;
constexpr bool kIsUnsigned = true;

}  // namespace
}  // namespace portacl::engine::N_AVX3

#include "engine/gemm/byte_dot-inl.h"

namespace portacl::engine {

const ByteKernels& Avx512ByteKernels() noexcept;
const ByteKernels& Avx512ByteKernels() noexcept {
  static constexpr ByteKernels kKernels = N_AVX3::KernelsOfWords("avx512_vnni");
  return kKernels;
}

}  // namespace portacl::engine
#endif
