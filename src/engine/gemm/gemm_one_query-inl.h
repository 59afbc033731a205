// Products of BF16 for one query: with keys, and of its weights with values, directly in memory. Words are multiplied by
// halves: the even term, or column, is a word's lower half, the odd one its upper half. Compiled once per instruction set.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ENGINE_GEMM_GEMM_ONE_QUERY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ENGINE_GEMM_GEMM_ONE_QUERY_INL_H_
#undef PORTACL_ENGINE_GEMM_GEMM_ONE_QUERY_INL_H_
#else
#define PORTACL_ENGINE_GEMM_GEMM_ONE_QUERY_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>
#include "engine/functions/primitives-inl.h"
#include "engine/gemm/gemm_kernel.h"
#include "engine/gemm/gemm_panels-inl.h"
#include "engine/gemm/gemm_unpacked-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

constexpr int64_t kLine = 64;

// Returns the address of lines that are to be prefetched, and goes on to those behind them.
HWY_INLINE const char* NextLines(LinesAhead* ahead, int64_t lines) {
  const char* const next = ahead->row + ahead->at;
  ahead->at += lines * kLine;
  if (ahead->at >= ahead->bytes) {
    ahead->at = 0;
    ahead->row += ahead->step;
  }
  return next;
}

// Words of a block of terms.
constexpr int64_t kPairsOfBlock = kEvenOddDepth / 2;

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
// Lines are prefetched twice: when memory is to be read in its order, and shortly before they are read. Processors drop
// prefetches while too many lines are on their way, and to prefetch a line that is there costs little.

// Vectors of words whose chains stay in registers.
constexpr int64_t kMostWords = HWY_TARGET == HWY_AVX3 ? 4 : 2;

// Adds a block of terms for the columns of kWords vectors of words. A word's halves are two columns. Bytes that lie
// to_next[0] behind those of the block's first half are read soon, and to_next[1] behind those of the second half.
template <int64_t kWords>
HWY_INLINE void AddStripOfPairs(const float* a, const char* b, int64_t row, float* c, bool goes_on,
                                LinesAhead* ahead, const int64_t* to_next) {
  const DF d;
  const DI di;
  constexpr int64_t kLanes = hn::MaxLanes(DF());
  constexpr int64_t kBytes = kLanes * static_cast<int64_t>(sizeof(float));
  const auto upper = hn::Set(di, static_cast<int32_t>(0xFFFF0000u));
  VF even[2 * kWords], odd[2 * kWords];
  HWY_UNROLL(8)
  for (int64_t i = 0; i < 2 * kWords; ++i) even[i] = odd[i] = hn::Zero(d);
  const auto add = [&](float x, const char* from, const char* next, VF* sums) HWY_ATTR {
    const char* const asked = ahead != nullptr ? NextLines(ahead, kWords * kBytes / kLine) : from;
    const VF term = hn::Set(d, x);
    HWY_UNROLL(4)
    for (int64_t i = 0; i < kWords; ++i) {
      const auto word = hn::LoadU(di, reinterpret_cast<const int32_t*>(from + i * kBytes));
      if (i * kBytes % kLine == 0) {
        __builtin_prefetch(asked + i * kBytes, 0, kSecondLevel);
        __builtin_prefetch(next + i * kBytes, 0, kSecondLevel);
      }
      sums[2 * i] = functions::Fma(d, term, hn::BitCast(d, hn::ShiftLeft<16>(word)), sums[2 * i]);
      sums[2 * i + 1] = functions::Fma(d, term, hn::BitCast(d, hn::And(word, upper)), sums[2 * i + 1]);
    }
  };
  HWY_UNROLL(1)
  for (int64_t k = 0; k < kEvenOddDepth; k += 2, b += 2 * row) {
    const char* const next = b + to_next[k / (kEvenOddDepth / 2)];
    add(a[k], b, next, even);
    add(a[k + 1], b + row, next + row, odd);
  }
  HWY_ALIGN float sums[2 * kLanes];
  HWY_UNROLL(4)
  for (int64_t i = 0; i < kWords; ++i, c += 2 * kLanes) {
    hn::StoreInterleaved2(hn::Add(even[2 * i], odd[2 * i]), hn::Add(even[2 * i + 1], odd[2 * i + 1]), d,
                          sums);
    for (int64_t j = 0; j < 2 * kLanes; j += kLanes) {
      const VF sum = goes_on ? hn::LoadU(d, c + j) : hn::Zero(d);
      hn::StoreU(hn::Add(sum, hn::Load(d, sums + j)), d, c + j);
    }
  }
}

// Sets AddStripOfPairs' `to_next` for a head's block at `from`: the next head's, unless this is the last one; then the
// first head's next block, at `block` or nullptr. If there is one head, they are 16 rows behind.
HWY_INLINE void SetNext(const HeadsProduct& product, const char* from, const char* block, bool is_last,
                        bool is_only, int64_t* to_next) {
  if (!is_last) {
    to_next[0] = to_next[1] = product.columns * static_cast<int64_t>(sizeof(uint16_t));
    return;
  }
  const int64_t rows = is_only ? kEvenOddDepth / 2 * product.row : 0;
  to_next[1] = block != nullptr ? block - rows - from : 0;
  to_next[0] = is_only ? rows : to_next[1];
}

// Adds whole blocks of terms for all heads. A block of a head is added before that of the next head, and the next block
// of all heads is prefetched in the order of memory.
template <int64_t kWords>
HWY_INLINE void AddPairsOfHeads(const HeadsProduct& product) {
  constexpr int64_t kColumns = kWords * 2 * hn::MaxLanes(DF());
  constexpr int64_t kSize = sizeof(uint16_t);
  const int64_t groups = (product.first + product.heads - 1) / product.group + 1;
  const int64_t bytes = groups * product.columns * kSize;
  const int64_t depth = product.depth / kEvenOddDepth * kEvenOddDepth;
  for (int64_t term = 0; term < depth; term += kEvenOddDepth) {
    const int64_t later = term + kEvenOddDepth;
    const char* asked = later < product.depth ? product.b + later * product.row : nullptr;
    if (asked == nullptr && product.next != nullptr)
      asked = product.next + (later - product.depth) * product.row;
    LinesAhead ahead{asked, product.row, bytes};
    int64_t of_group = product.first;
    const char* from = product.b + term * product.row;
    for (int64_t head = 0; head < product.heads; ++head) {
      const float* const a = product.a + head * product.a_head + term;
      float* const c = product.c + head * product.c_head;
      const bool reads_first = head == 0 || of_group == 0;
      LinesAhead* const of_head = asked != nullptr && reads_first ? &ahead : nullptr;
      int64_t to_next[2] = {};
      const bool is_last = (product.first + head) / product.group + 1 == groups;
      if (reads_first) SetNext(product, from, asked, is_last, groups == 1, to_next);
      for (int64_t column = 0; column < product.columns; column += kColumns)
        AddStripOfPairs<kWords>(a, from + column * kSize, product.row, c + column, product.adds || term > 0,
                                of_head, to_next);
      if (++of_group == product.group) {
        of_group = 0;
        from += product.columns * kSize;
      }
    }
  }
}
#endif

// Adds whole blocks of BF16 by halves of words, if the columns are whole vectors of these. Returns the terms.
HWY_INLINE int64_t AddPairs(const HeadsProduct& product) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  constexpr int64_t kPair = 2 * hn::MaxLanes(DF());
  if (product.row % 2 != 0 || product.columns % (2 * kPair) != 0) return 0;
  const bool is_wide = product.columns % (kMostWords * kPair) == 0;
  is_wide ? AddPairsOfHeads<kMostWords>(product) : AddPairsOfHeads<2>(product);
  return product.depth / kEvenOddDepth * kEvenOddDepth;
#else
  (void)product;
  return 0;
#endif
}

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
// Multiplies kSide / kBlocks keys at a time: a lane has a block of terms, and the blocks of a key are neighbours.
template <int64_t kBlocks>
HWY_INLINE void MultiplyKeysByBlocks(const KeysProduct& product) {
  const DF d;
  const DI di;
  constexpr int64_t kBytes = kEvenOddDepth * sizeof(uint16_t);
  constexpr int64_t kWord = 2 * sizeof(uint16_t);
  constexpr int64_t kKeys = kSide / kBlocks;
  constexpr int64_t kWordsOfLine = kPairsOfBlock / kSide;  // for which a line is prefetched
  const auto upper = hn::Set(di, static_cast<int32_t>(0xFFFF0000u));
  LinesAhead ahead = product.ahead;
  const int64_t to_next = product.next != nullptr ? product.next - product.b : 0;
  const float* x = product.a;
  HWY_ALIGN float sums[kBlocks * kSide];
  for (int64_t term = 0; term < product.depth; term += kBlocks * kEvenOddDepth) {
    const char* from = product.b + term * static_cast<int64_t>(sizeof(uint16_t));
    for (int64_t i = 0; i < kBlocks; ++i, from += kKeys * product.column) {
      const char* const next = from + to_next;
      VF even = hn::Zero(d), odd = hn::Zero(d);
      const char* asked = from;
      // Otherwise compilers load all of these before the loop, for which there are too few registers.
      asm volatile("" : "+r"(x));
      for (int64_t word = 0; word < kPairsOfBlock; word += kSide) {
        VF v[kSide];
        HWY_UNROLL(16)
        for (int64_t r = 0; r < kSide; ++r)
          v[r] = hn::LoadU(d, reinterpret_cast<const float*>(from + r / kBlocks * product.column +
                                                             r % kBlocks * kBytes + word * kWord));
        TransposeVectors(v);
        HWY_UNROLL(16)
        for (int64_t r = 0; r < kSide; ++r) {
          const float* const terms = x + 2 * (word + r) * kKeyBlocks;
          const auto pair = hn::BitCast(di, v[r]);
          even = functions::Fma(d, hn::LoadDup128(d, terms), hn::BitCast(d, hn::ShiftLeft<16>(pair)), even);
          const int64_t line = (word + r) / kWordsOfLine;
          if ((word + r) % (kWordsOfLine * kBlocks) == 0) asked = NextLines(&ahead, kBlocks);
          if ((word + r) % kWordsOfLine == 0) {
            __builtin_prefetch(asked + line % kBlocks * kLine, 0, kSecondLevel);
            __builtin_prefetch(next + line / kBlocks * product.column + line % kBlocks * kLine, 0,
                               kSecondLevel);
          }
          odd = functions::Fma(d, hn::LoadDup128(d, terms + kKeyBlocks), hn::BitCast(d, hn::And(pair, upper)),
                               odd);
        }
      }
      hn::Store(hn::Add(even, odd), d, sums + i * kSide);
    }
    VF sum = term > 0 ? hn::LoadU(d, product.c) : hn::Zero(d);
    VF first, second;
    if constexpr (kBlocks == 4) {
      VF third, fourth;
      hn::LoadInterleaved4(d, sums, first, second, third, fourth);
      sum = hn::Add(hn::Add(hn::Add(hn::Add(sum, first), second), third), fourth);
    } else {
      hn::LoadInterleaved2(d, sums, first, second);
      sum = hn::Add(hn::Add(sum, first), second);
    }
    hn::StoreU(sum, d, product.c);
    x += kEvenOddDepth * kKeyBlocks;
  }
}

inline void MultiplyKeysBf16(const KeysProduct& product) {
  return product.blocks == kKeyBlocks ? MultiplyKeysByBlocks<kKeyBlocks>(product)
                                      : MultiplyKeysByBlocks<2>(product);
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
