// Products of BF16 by AVX-512's VDPBF16PS (see tile_kernel.h). The instruction does two fused multiply-adds,
// that of the higher half first. Therefore a pair holds two even terms or two odd ones, which are steps of
// one chain.
// SPDX-License-Identifier: Apache-2.0
#include "engine/gemm/tile_kernel.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define PORTACL_TILE_NAMESPACE N_AVX3
#define PORTACL_TILE_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16"), unused))
#include "engine/gemm/tile_pairs-inl.h"

namespace portacl::engine {
namespace N_AVX3 {
namespace {

// A pair of even terms, then one of odd terms.
struct AlternateOrder {
  static constexpr int kLow[kPairsOfBlock] = {2, 3, 6, 7, 10, 11, 14, 15, 18, 19, 22, 23, 26, 27, 30, 31};
  static constexpr int kHigh[kPairsOfBlock] = {0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21, 24, 25, 28, 29};
  PORTACL_TILE_TARGET static void Pair(const uint32_t* terms, uint32_t* pairs) {
    for (int64_t i = 0; i < kPairsOfBlock; i += 2) {
      pairs[i] = terms[2 * i + 2] >> 16 | (terms[2 * i] & 0xFFFF0000u);
      pairs[i + 1] = terms[2 * i + 3] >> 16 | (terms[2 * i + 1] & 0xFFFF0000u);
    }
  }
  // Makes them of the pairs of terms 0 and 1, and 2 and 3.
  PORTACL_TILE_TARGET static void Order(uint32_t& first, uint32_t& second) {
    const uint32_t x = first, y = second;
    first = x << 16 | (y & 0xFFFFu);
    second = (x & 0xFFFF0000u) | y >> 16;
  }
  // Orders the adjacent pairs of a row's block likewise, in registers: the halves of two words become 2, 0, 3, 1.
  PORTACL_TILE_TARGET static void OrderBlock(uint32_t* pairs) {
    const __m512i order = _mm512_set4_epi32(0x0B0A0F0E, 0x09080D0C, 0x03020706, 0x01000504);
    _mm512_storeu_si512(pairs, _mm512_shuffle_epi8(_mm512_loadu_si512(pairs), order));
  }
};

constexpr int kDotRows = 7;
constexpr int64_t kLanes = 16;
constexpr int64_t kWidth = 2 * kLanes;

PORTACL_TILE_TARGET inline __m512 MultiplyPairs(__m512 sum, __m512i a, __m512i b) {
  return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b));
}

// Adds a word of each row times two vectors of the panel to the rows' chains.
template <int kCount>
PORTACL_TILE_TARGET inline void AddWords(const uint32_t* a, const uint32_t* b, __m512 (&sums)[kCount][2]) {
  const __m512i first = _mm512_loadu_si512(b), second = _mm512_loadu_si512(b + kLanes);
#pragma GCC unroll 8
  for (int r = 0; r < kCount; ++r) {
    const __m512i x = _mm512_set1_epi32(static_cast<int>(a[r * kPairedRow]));
    sums[r][0] = MultiplyPairs(sums[r][0], x, first);
    sums[r][1] = MultiplyPairs(sums[r][1], x, second);
    // Keeps even words before odd ones: both panels' vectors together would not fit the registers.
    asm("" : "+v"(sums[r][0]), "+v"(sums[r][1]));
  }
  asm volatile("" ::: "memory");
}

// Multiplies rows with a panel for one block of terms, whose sums it stores or adds to c.
template <int kCount, bool kAdds>
PORTACL_TILE_TARGET inline void MultiplyDotBlock(const uint32_t* a, const uint32_t* b, float* c,
                                                 int64_t c_row) {
  __m512 even[kCount][2], odd[kCount][2];
#pragma GCC unroll 8
  for (int r = 0; r < kCount; ++r) even[r][0] = even[r][1] = odd[r][0] = odd[r][1] = _mm512_setzero_ps();
#pragma GCC unroll 8
  for (int64_t i = 0; i < kPairsOfBlock - 2; i += 2, b += 2 * kWidth) {
    AddWords<kCount>(a + i, b, even);
    AddWords<kCount>(a + i + 1, b + kWidth, odd);
  }
  AddWords<kCount>(a + kPairsOfBlock - 2, b, even);
  // Finishes the rows one by one, so that the first ones are stored while the last ones are multiplied.
  const __m512i first = _mm512_loadu_si512(b + kWidth), second = _mm512_loadu_si512(b + kWidth + kLanes);
#pragma GCC unroll 8
  for (int r = 0; r < kCount; ++r) {
    const __m512i x = _mm512_set1_epi32(static_cast<int>(a[r * kPairedRow + kPairsOfBlock - 1]));
    odd[r][0] = MultiplyPairs(odd[r][0], x, first);
    odd[r][1] = MultiplyPairs(odd[r][1], x, second);
#pragma GCC unroll 2
    for (int v = 0; v < 2; ++v) {
      float* const to = c + r * c_row + v * kLanes;
      const __m512 sum = kAdds ? _mm512_loadu_ps(to) : _mm512_setzero_ps();
      _mm512_storeu_ps(to, _mm512_add_ps(sum, _mm512_add_ps(even[r][v], odd[r][v])));
    }
    asm volatile("" ::: "memory");
  }
}

template <int kCount>
PORTACL_TILE_TARGET void MultiplyDotRows(const uint32_t* a, const uint32_t* b, int64_t blocks, float* c,
                                         int64_t c_row, bool adds) {
  for (int64_t block = 0; block < blocks; ++block, a += kPairsOfBlock, b += kPairsOfBlock * kWidth) {
    if (adds || block > 0) {
      MultiplyDotBlock<kCount, true>(a, b, c, c_row);
    } else {
      MultiplyDotBlock<kCount, false>(a, b, c, c_row);
    }
  }
}

using RowsFunction = void (*)(const uint32_t* a, const uint32_t* b, int64_t blocks, float* c, int64_t c_row,
                              bool adds);
constexpr RowsFunction kRowsFunctions[kDotRows] = {MultiplyDotRows<1>, MultiplyDotRows<2>, MultiplyDotRows<3>,
                                                   MultiplyDotRows<4>, MultiplyDotRows<5>, MultiplyDotRows<6>,
                                                   MultiplyDotRows<7>};

PORTACL_TILE_TARGET void MultiplyDot(const TileProduct& product) {
  const int64_t blocks = (product.depth + kEvenOddDepth - 1) / kEvenOddDepth;
  const RowsFunction multiply = kRowsFunctions[product.rows - 1];
  if (product.columns == kWidth)
    return multiply(product.a, product.b, blocks, product.c, product.c_row, product.adds);
  alignas(64) float square[kDotRows * kWidth] = {};
  const auto size = static_cast<size_t>(product.columns) * sizeof(float);
  for (int64_t r = 0; r < product.rows && product.adds; ++r)
    std::memcpy(square + r * kWidth, product.c + r * product.c_row, size);
  multiply(product.a, product.b, blocks, square, kWidth, product.adds);
  for (int64_t r = 0; r < product.rows; ++r)
    std::memcpy(product.c + r * product.c_row, square + r * kWidth, size);
}

void DoNothing() {}

}  // namespace
}  // namespace N_AVX3

const TileKernels& DotKernels() noexcept;
const TileKernels& DotKernels() noexcept {
  using namespace N_AVX3;
  static constexpr TileKernels kKernels = {"avx512_bf16",
                                           kDotRows,
                                           kWidth,
                                           /*flushes_sums=*/false,
                                           /*takes_all_rows=*/false,
                                           PairRows<AlternateOrder>,
                                           PairPanel<AlternateOrder>,
                                           WidenRows<AlternateOrder>,
                                           WidenPanel<AlternateOrder>,
                                           OrderRows<AlternateOrder>,
                                           OrderPanel<AlternateOrder>,
                                           MultiplyDot,
                                           DoNothing,
                                           DoNothing};
  return kKernels;
}

}  // namespace portacl::engine
#endif
