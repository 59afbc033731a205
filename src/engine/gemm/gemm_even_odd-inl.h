// Matrix products without panels in the order of two 16-bit operands: two chains, one of the even and one of
// the odd indices of the inner (K) axis. Compiled once per instruction set.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ENGINE_GEMM_GEMM_EVEN_ODD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ENGINE_GEMM_GEMM_EVEN_ODD_INL_H_
#undef PORTACL_ENGINE_GEMM_GEMM_EVEN_ODD_INL_H_
#else
#define PORTACL_ENGINE_GEMM_GEMM_EVEN_ODD_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <hwy/highway.h>
#include "engine/functions/primitives-inl.h"
#include "engine/gemm/gemm_panels-inl.h"
#include "engine/gemm/gemm_unpacked-inl.h"
#include "engine/half_precision-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

// ---- the order of two 16-bit operands, without panels ----

// Terms that are added at a time, in the columns' order: half of them to each of two chains.
constexpr int64_t kEvenOddTogether = 8;
static_assert(kEvenOddDepth % kEvenOddTogether == 0);
// Columns whose chains and sums stay in the first-level cache.
constexpr int64_t kEvenOddColumns = 2048;

// Continues the chains of a block. They begin with its first terms and are added to c with its last ones.
template <class Elements>
HWY_INLINE void AddSomeEvenOdd(const float* a, const typename Elements::Type* b, int64_t row, int64_t columns,
                               float* even, float* odd, bool begins, bool ends, float* c, bool goes_on) {
  const DF d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t j = 0; j < columns; j += lanes) {
    VF e = begins ? hn::Zero(d) : hn::LoadU(d, even + j);
    VF o = begins ? hn::Zero(d) : hn::LoadU(d, odd + j);
    for (int64_t k = 0; k < kEvenOddTogether; k += 2) {
      e = functions::Fma(d, hn::Set(d, a[k]), Elements::Load(d, b + k * row + j), e);
      o = functions::Fma(d, hn::Set(d, a[k + 1]), Elements::Load(d, b + (k + 1) * row + j), o);
    }
    hn::StoreU(e, d, even + j);
    if (ends) {
      AddEvenOdd(d, even + j, o, c + j, goes_on);
    } else {
      hn::StoreU(o, d, odd + j);
    }
  }
}

// Adds a block of any number of terms for one vector of columns. element(k) is the address of the elements of
// term k.
template <class Elements, class F>
HWY_INLINE void AddBlockEvenOdd(const float* a, int64_t terms, float* c, bool goes_on, const F& element) {
  const DF d;
  HWY_ALIGN float even[HWY_MAX_BYTES / sizeof(float)];
  VF e = hn::Zero(d), o = hn::Zero(d);
  for (int64_t k = 0; k < terms; k += 2) {
    e = functions::Fma(d, hn::Set(d, a[k]), Elements::Load(d, element(k)), e);
    if (k + 1 < terms) o = functions::Fma(d, hn::Set(d, a[k + 1]), Elements::Load(d, element(k + 1)), o);
  }
  hn::Store(e, d, even);
  AddEvenOdd(d, even, o, c, goes_on);
}

template <class Elements>
void AddRowEvenOdd(const float* a, const char* b, int64_t row, int64_t depth, int64_t columns, float* c,
                   bool adds) {
  using Element = typename Elements::Type;
  constexpr auto kSize = static_cast<int64_t>(sizeof(Element));
  const DF d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t whole = columns / lanes * lanes;
  HWY_ALIGN float even[kEvenOddColumns];
  HWY_ALIGN float odd[kEvenOddColumns];
  for (int64_t column = 0; column < whole; column += kEvenOddColumns) {
    const int64_t some = HWY_MIN(kEvenOddColumns, whole - column);
    for (int64_t block = 0; block < depth; block += kEvenOddDepth) {
      const int64_t terms = HWY_MIN(kEvenOddDepth, depth - block);
      const bool goes_on = adds || block > 0;
      const char* const first = b + block * row + column * kSize;
      if (terms == kEvenOddDepth && row % kSize == 0) {
        const auto* const elements = reinterpret_cast<const Element*>(first);
        const int64_t step = row / kSize;
        for (int64_t k = 0; k < terms; k += kEvenOddTogether) {
          AddSomeEvenOdd<Elements>(a + block + k, elements + k * step, step, some, even, odd, k == 0,
                                   k + kEvenOddTogether == terms, c + column, goes_on);
        }
        continue;
      }
      for (int64_t j = 0; j < some; j += lanes) {
        // Rows of elements may begin at any byte.
        AddBlockEvenOdd<Elements>(a + block, terms, c + column + j, goes_on, [&](int64_t k) HWY_ATTR {
          return reinterpret_cast<const Element*>(first + k * row) + j;
        });
      }
    }
  }
  if (whole == columns) return;
  HWY_ALIGN Element last[kEvenOddDepth][HWY_MAX_BYTES / sizeof(float)];
  HWY_ALIGN float sums[HWY_MAX_BYTES / sizeof(float)] = {};
  const auto rest = static_cast<size_t>(columns - whole);
  if (adds) std::memcpy(sums, c + whole, rest * sizeof(float));
  std::memset(last, 0, sizeof last);
  for (int64_t block = 0; block < depth; block += kEvenOddDepth) {
    const int64_t terms = HWY_MIN(kEvenOddDepth, depth - block);
    for (int64_t k = 0; k < terms; ++k)
      std::memcpy(last[k], b + (block + k) * row + whole * kSize, rest * sizeof(Element));
    AddBlockEvenOdd<Elements>(a + block, terms, sums, adds || block > 0,
                              [&](int64_t k) HWY_ATTR { return last[k]; });
  }
  std::memcpy(c + whole, sums, rest * sizeof(float));
}

// Computes sums = sums + (even + odd) for kSide lanes. With kEachLane every lane has its own x, else all
// share it. If not `is_added`, the result is the block's own sums.
template <bool kEachLane>
HWY_INLINE void AddSideEvenOdd(const float* x, const float* y, int64_t terms, float* sums, bool is_added) {
  const hn::CappedTag<float, kSide> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto at = [&](int64_t k, int64_t lane)
                      HWY_ATTR { return kEachLane ? hn::LoadU(d, x + k * kSide + lane) : hn::Set(d, x[k]); };
  for (int64_t lane = 0; lane < kSide; lane += lanes) {
    auto even = hn::Zero(d);
    auto odd = hn::Zero(d);
    for (int64_t k = 0; k + 1 < terms; k += 2) {
      even = functions::Fma(d, at(k, lane), hn::LoadU(d, y + k * kSide + lane), even);
      odd = functions::Fma(d, at(k + 1, lane), hn::LoadU(d, y + (k + 1) * kSide + lane), odd);
    }
    if (terms % 2 != 0)
      even = functions::Fma(d, at(terms - 1, lane), hn::LoadU(d, y + (terms - 1) * kSide + lane), even);
    const auto both = hn::Add(even, odd);
    hn::StoreU(is_added ? hn::Add(hn::LoadU(d, sums + lane), both) : both, d, sums + lane);
  }
}

template <class Elements>
void AddAcrossEvenOdd(const float* a, const char* b, int64_t column, int64_t rest, int64_t depth,
                      int64_t columns, float* c, bool adds) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(typename Elements::Type));
  HWY_ALIGN float squares[kEvenOddDepth * kSide];
  for (int64_t j = 0; j < columns; j += kSide) {
    const int64_t count = HWY_MIN(kSide, columns - j);
    HWY_ALIGN float sums[kSide] = {};
    if (adds) std::memcpy(sums, c + j, static_cast<size_t>(count) * sizeof(float));
    for (int64_t block = 0; block < depth; block += kEvenOddDepth) {
      const int64_t terms = HWY_MIN(kEvenOddDepth, depth - block);
      for (int64_t k = 0; k < terms; k += kSide) {
        const char* const from = b + j * column + (block + k) * kSize;
        if (count == kSide && (block + k) * kSize % 64 == 0 &&
            IsOfUseAhead(column, (block + k) * kSize, rest)) {
          for (int64_t i = 0; i < kSide; ++i) __builtin_prefetch(from + i * column + kTransposedAhead);
        }
        TransposeSome<Elements>(from, column, count, HWY_MIN(kSide, terms - k), squares + k * kSide);
      }
      AddSideEvenOdd<false>(a + block, squares, terms, sums, true);
    }
    std::memcpy(c + j, sums, static_cast<size_t>(count) * sizeof(float));
  }
}

// Lines of BF16 are transposed as words of two terms: the even term is the word's lower half, the odd one its upper half.
constexpr int64_t kPairsOfBlock = kEvenOddDepth / 2;

// Copies the words of a block that lacks lines or terms, padded with 0.
HWY_INLINE void CopyPairs(const char* from, int64_t line, int64_t lines, int64_t terms, float* squares) {
  std::memset(squares, 0, kPairsOfBlock * kSide * sizeof(float));
  for (int64_t i = 0; i < lines; ++i) {
    for (int64_t k = 0; k < terms; k += 2) {
      std::memcpy(squares + k / 2 * kSide + i, from + i * line + k * 2,
                  static_cast<size_t>(2 * HWY_MIN(int64_t{2}, terms - k)));
    }
  }
}

HWY_INLINE void AddSidePairs(const float* x, const float* pairs, int64_t terms, float* sums) {
  const hn::CappedTag<float, kSide> d;
  const hn::RebindToSigned<decltype(d)> di;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto upper = hn::Set(di, static_cast<int32_t>(0xFFFF0000u));
  for (int64_t lane = 0; lane < kSide; lane += lanes) {
    auto even = hn::Zero(d);
    auto odd = hn::Zero(d);
    for (int64_t k = 0; k < terms; k += 2) {
      const auto word = hn::BitCast(di, hn::LoadU(d, pairs + k / 2 * kSide + lane));
      even = functions::Fma(d, hn::Set(d, x[k]), hn::BitCast(d, hn::ShiftLeft<16>(word)), even);
      if (k + 1 < terms)
        odd = functions::Fma(d, hn::Set(d, x[k + 1]), hn::BitCast(d, hn::And(word, upper)), odd);
    }
    hn::StoreU(hn::Add(hn::LoadU(d, sums + lane), hn::Add(even, odd)), d, sums + lane);
  }
}

inline void AddAcrossBf16(const float* a, const char* b, int64_t column, int64_t rest, int64_t depth,
                          int64_t columns, float* c, bool adds) {
  constexpr int64_t kWord = 2 * sizeof(uint16_t);
  HWY_ALIGN float squares[kPairsOfBlock * kSide];
  for (int64_t j = 0; j < columns; j += kSide) {
    const int64_t count = HWY_MIN(kSide, columns - j);
    HWY_ALIGN float sums[kSide] = {};
    for (int64_t i = 0; i < count && adds; ++i) sums[i] = c[j + i];
    for (int64_t block = 0; block < depth; block += kEvenOddDepth) {
      const int64_t terms = HWY_MIN(kEvenOddDepth, depth - block);
      const char* const from = b + j * column + block * 2;
      if (count == kSide && terms == kEvenOddDepth) {
        if (IsOfUseAhead(column, block * 2, rest)) {
          for (int64_t i = 0; i < kSide; ++i) __builtin_prefetch(from + i * column + kTransposedAhead);
        }
        for (int64_t word = 0; word < kPairsOfBlock; word += kSide)
          TransposeSquare<F32Elements>(from + word * kWord, column, squares + word * kSide, kSide);
      } else {
        CopyPairs(from, column, count, terms, squares);
      }
      AddSidePairs(a + block, squares, terms, sums);
    }
    std::memcpy(c + j, sums, static_cast<size_t>(count) * sizeof(float));
  }
}

// Reads lines one after the other, which hardware prefetchers follow.
template <class Elements>
void MultiplyLinesEvenOdd(const char* a, int64_t a_line, const char* b, int64_t b_line, int64_t depth,
                          int64_t lines, float* c) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(typename Elements::Type));
  HWY_ALIGN float x[kEvenOddDepth * kSide], y[kEvenOddDepth * kSide];
  for (; lines > 0; lines -= kSide, a += kSide * a_line, b += kSide * b_line, c += kSide) {
    const int64_t some = HWY_MIN(kSide, lines);
    HWY_ALIGN float sums[kSide];
    for (int64_t k = 0; k < depth; k += kSide) {
      const int64_t terms = HWY_MIN(kSide, depth - k);
      TransposeSome<Elements>(a + k * kSize, a_line, some, terms, x + k * kSide);
      TransposeSome<Elements>(b + k * kSize, b_line, some, terms, y + k * kSide);
    }
    AddSideEvenOdd<true>(x, y, depth, sums, false);
    std::memcpy(c, sums, static_cast<size_t>(some) * sizeof(float));
  }
}

inline void MultiplyPanelsEvenOdd(const float* a, const float* b, int64_t depth, float* c) {
  const DF d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto width = static_cast<int64_t>(PanelColumns());
  for (int64_t j = 0; j < width; j += lanes) {
    VF even = hn::Zero(d), odd = hn::Zero(d);
    for (int64_t k = 0; k < depth; ++k) {
      const VF x = hn::LoadU(d, a + k * width + j);
      const VF y = hn::LoadU(d, b + k * width + j);
      if (k % 2 == 0) {
        even = functions::Fma(d, x, y, even);
      } else {
        odd = functions::Fma(d, x, y, odd);
      }
    }
    hn::StoreU(hn::Add(even, odd), d, c + j);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
