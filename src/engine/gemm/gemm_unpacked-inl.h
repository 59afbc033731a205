// Matrix products with an operand that is not packed, in the order of float32; and the packing and
// transposing of the others. Compiled once per instruction set.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ENGINE_GEMM_GEMM_UNPACKED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ENGINE_GEMM_GEMM_UNPACKED_INL_H_
#undef PORTACL_ENGINE_GEMM_GEMM_UNPACKED_INL_H_
#else
#define PORTACL_ENGINE_GEMM_GEMM_UNPACKED_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <hwy/highway.h>
#include "engine/functions/primitives-inl.h"
#include "engine/gemm/gemm_panels-inl.h"
#include "engine/half_precision-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

template <class Elements>
void PackColumns(const char* from, int64_t row, int64_t depth, int64_t columns, float* to) {
  using Element = typename Elements::Type;
  const DF d;
  const size_t lanes = hn::Lanes(d);
  const auto width = static_cast<int64_t>(PanelColumns());
  const int64_t whole = columns / width * width;
  for (int64_t k = 0; k < depth; ++k) {
    const auto* const elements = reinterpret_cast<const Element*>(from + k * row);
    for (int64_t column = 0; column < whole; column += width) {
      float* const panel = to + column * depth + k * width;
      for (size_t v = 0; v < kVectors; ++v)
        hn::StoreU(Elements::Load(d, elements + column + v * lanes), d, panel + v * lanes);
    }
    if (whole == columns) continue;
    HWY_ALIGN Element last[size_t{kVectors} * HWY_MAX_BYTES / sizeof(float)] = {};
    std::memcpy(last, elements + whole, static_cast<size_t>(columns - whole) * sizeof(Element));
    float* const panel = to + whole * depth + k * width;
    for (size_t v = 0; v < kVectors; ++v)
      hn::StoreU(Elements::Load(d, last + v * lanes), d, panel + v * lanes);
  }
}

inline void PackWordsOfBytes(const char* from, int64_t row, int64_t terms, int64_t columns, uint32_t* to) {
  const auto* const first = reinterpret_cast<const uint8_t*>(from);
  int64_t j = 0;
  const auto pack = [&](auto d) HWY_ATTR {
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    const auto load = [&](int64_t k)
                          HWY_ATTR { return k < terms ? hn::LoadU(d, first + k * row + j) : hn::Zero(d); };
    for (; j + lanes <= columns; j += lanes) {
      const auto bytes = load(0);
      hn::StoreInterleaved4(bytes, load(1), load(2), load(3), d, reinterpret_cast<uint8_t*>(to + j));
    }
  };
  // Packs 32 columns at a time, then 16, then single ones.
  pack(hn::CappedTag<uint8_t, 32>());
  pack(hn::CappedTag<uint8_t, 16>());
  for (; j < columns; ++j) {
    uint8_t bytes[4] = {};
    for (int64_t k = 0; k < terms; ++k) bytes[k] = first[k * row + j];
    std::memcpy(to + j, bytes, sizeof bytes);
  }
}

inline void PackWordsOfHalves(const char* from, int64_t row, int64_t terms, int64_t columns, uint32_t* to) {
  // Rows of elements may begin at any byte.
  const auto* const low = reinterpret_cast<const uint16_t*>(from);
  const auto* const high = reinterpret_cast<const uint16_t*>(from + row);
  int64_t j = 0;
  const auto pack = [&](auto d) HWY_ATTR {
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    for (; j + lanes <= columns; j += lanes) {
      hn::StoreInterleaved2(hn::LoadU(d, low + j), terms > 1 ? hn::LoadU(d, high + j) : hn::Zero(d), d,
                            reinterpret_cast<uint16_t*>(to + j));
    }
  };
  pack(hn::CappedTag<uint16_t, 32>());
  pack(hn::CappedTag<uint16_t, 8>());
  for (; j < columns; ++j) {
    uint16_t halves[2] = {};
    std::memcpy(halves, low + j, sizeof halves[0]);
    if (terms > 1) std::memcpy(halves + 1, high + j, sizeof halves[1]);
    std::memcpy(to + j, halves, sizeof halves);
  }
}

// Squares whose side is a vector's length, so that each takes one transposition in registers.
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 || HWY_HAVE_SCALABLE
constexpr int64_t kSide = 4;

template <class Elements>
void TransposeSquare(const char* from, int64_t row, float* to, int64_t to_row) {
  float numbers[kSide * kMostPanelColumns / 2];
  const DF d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t r = 0; r < kSide; ++r) {
    const auto* const elements = reinterpret_cast<const typename Elements::Type*>(from + r * row);
    HWY_ALIGN typename Elements::Type some[kSide * kMostPanelColumns / 2] = {};
    std::memcpy(some, elements, kSide * sizeof(typename Elements::Type));
    for (int64_t c = 0; c < kSide; c += lanes) hn::StoreU(Elements::Load(d, some + c), d, numbers + c);
    for (int64_t c = 0; c < kSide; ++c) to[c * to_row + r] = numbers[c];
  }
}
#else
constexpr int64_t kSide = hn::MaxLanes(DF());

// Transposes the four 16-byte blocks at the same position of four vectors as a square.
HWY_INLINE void TransposeInBlocks(VF* v) {
  const DF d;
  const hn::RepartitionToWide<DF> pairs;
  const auto low = hn::BitCast(pairs, hn::InterleaveLower(d, v[0], v[1]));
  const auto high = hn::BitCast(pairs, hn::InterleaveUpper(d, v[0], v[1]));
  const auto low2 = hn::BitCast(pairs, hn::InterleaveLower(d, v[2], v[3]));
  const auto high2 = hn::BitCast(pairs, hn::InterleaveUpper(d, v[2], v[3]));
  v[0] = hn::BitCast(d, hn::InterleaveLower(pairs, low, low2));
  v[1] = hn::BitCast(d, hn::InterleaveUpper(pairs, low, low2));
  v[2] = hn::BitCast(d, hn::InterleaveLower(pairs, high, high2));
  v[3] = hn::BitCast(d, hn::InterleaveUpper(pairs, high, high2));
}

// Transposes a square of kSide vectors.
HWY_INLINE void TransposeVectors(VF* v) {
  HWY_UNROLL(4)
  for (int64_t r = 0; r < kSide; r += 4) TransposeInBlocks(v + r);
    // 16-byte block j of v[4 * q + i] now holds rows 4 * q to 4 * q + 3 of column 4 * j + i.
#if HWY_TARGET == HWY_AVX3
  HWY_UNROLL(4)
  for (int64_t i = 0; i < 4; ++i) {
    const __m512 a = _mm512_shuffle_f32x4(v[i].raw, v[4 + i].raw, 0x44);
    const __m512 b = _mm512_shuffle_f32x4(v[i].raw, v[4 + i].raw, 0xEE);
    const __m512 e = _mm512_shuffle_f32x4(v[8 + i].raw, v[12 + i].raw, 0x44);
    const __m512 f = _mm512_shuffle_f32x4(v[8 + i].raw, v[12 + i].raw, 0xEE);
    v[i] = VF{_mm512_shuffle_f32x4(a, e, 0x88)};
    v[4 + i] = VF{_mm512_shuffle_f32x4(a, e, 0xDD)};
    v[8 + i] = VF{_mm512_shuffle_f32x4(b, f, 0x88)};
    v[12 + i] = VF{_mm512_shuffle_f32x4(b, f, 0xDD)};
  }
#elif HWY_TARGET == HWY_AVX2
  const DF d;
  HWY_UNROLL(4)
  for (int64_t i = 0; i < 4; ++i) {
    const VF low = v[i];
    v[i] = hn::ConcatLowerLower(d, v[4 + i], low);
    v[4 + i] = hn::ConcatUpperUpper(d, v[4 + i], low);
  }
#endif
}

template <class Elements>
HWY_INLINE void TransposeSquare(const char* from, int64_t row, float* to, int64_t to_row) {
  const DF d;
  VF v[kSide];
  HWY_UNROLL(16)
  for (int64_t r = 0; r < kSide; ++r)
    v[r] = Elements::Load(d, reinterpret_cast<const typename Elements::Type*>(from + r * row));
  TransposeVectors(v);
  HWY_UNROLL(16)
  for (int64_t i = 0; i < kSide; ++i) hn::StoreU(v[i], d, to + i * to_row);
}
#endif

// The prefetch distance within a row in bytes: the next block of terms, if terms are contiguous.
constexpr int64_t kTransposedAhead = kGemmDepth * static_cast<int64_t>(sizeof(float));

// Tells whether the loop will read the bytes that lie kTransposedAhead behind byte `first`. They belong to the same
// column, which has `rest` bytes, or to a later one. Prefetching others would waste bandwidth.
HWY_INLINE bool IsOfUseAhead(int64_t column, int64_t first, int64_t rest) {
  return column <= kTransposedAhead || first + kTransposedAhead < rest;
}

template <class Elements>
void Transpose(const char* from, int64_t row, int64_t rows, int64_t columns, float* to, int64_t to_row) {
  using Element = typename Elements::Type;
  constexpr auto kSize = static_cast<int64_t>(sizeof(Element));
  for (int64_t r = 0; r < rows; r += kSide) {
    const int64_t some_rows = HWY_MIN(kSide, rows - r);
    for (int64_t c = 0; c < columns; c += kSide) {
      const int64_t some_columns = HWY_MIN(kSide, columns - c);
      const char* const square = from + r * row + c * kSize;
      float* const target = to + c * to_row + r;
      if (some_rows == kSide && some_columns == kSide) {
        if (c * kSize % 64 == 0) {
          for (int64_t i = 0; i < kSide; ++i) __builtin_prefetch(square + i * row + kTransposedAhead);
        }
        TransposeSquare<Elements>(square, row, target, to_row);
        continue;
      }
      HWY_ALIGN Element elements[kSide * kSide] = {};
      HWY_ALIGN float numbers[kSide * kSide];
      for (int64_t i = 0; i < some_rows; ++i)
        std::memcpy(elements + i * kSide, square + i * row, static_cast<size_t>(some_columns * kSize));
      TransposeSquare<Elements>(reinterpret_cast<const char*>(elements), kSide * kSize, numbers, kSide);
      for (int64_t i = 0; i < some_columns; ++i)
        std::memcpy(target + i * to_row, numbers + i * kSide, static_cast<size_t>(kSide) * sizeof(float));
    }
  }
}

// Columns whose sums stay in the first-level cache, and terms that are added to them at a time.
constexpr int64_t kRowColumns = 4096;
constexpr int64_t kTermsTogether = 4;

// Adds kTerms terms to the sums of `columns` columns, which are whole vectors. The caller copies a partial vector
// to a buffer first.
template <class Elements, int64_t kTerms>
HWY_INLINE void AddTerms(const float* a, const typename Elements::Type* b, int64_t row, int64_t columns,
                         float* c, bool begins) {
  const DF d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t j = 0; j < columns; j += lanes) {
    VF sum = begins ? hn::Zero(d) : hn::LoadU(d, c + j);
    for (int64_t k = 0; k < kTerms; ++k)
      sum = functions::Fma(d, hn::Set(d, a[k]), Elements::Load(d, b + k * row + j), sum);
    hn::StoreU(sum, d, c + j);
  }
}

template <class Elements>
void MultiplyRow(const float* a, const char* b, int64_t row, int64_t depth, int64_t columns, float* c) {
  using Element = typename Elements::Type;
  const DF d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t whole = columns / lanes * lanes;
  for (int64_t column = 0; column < whole; column += kRowColumns) {
    const int64_t some = HWY_MIN(kRowColumns, whole - column);
    int64_t k = 0;
    // Rows of elements may begin at any byte.
    const auto at = [&](int64_t term)
                        HWY_ATTR { return reinterpret_cast<const Element*>(b + term * row) + column; };
    if (row % static_cast<int64_t>(sizeof(Element)) == 0) {
      const int64_t step = row / static_cast<int64_t>(sizeof(Element));
      for (; k + kTermsTogether <= depth; k += kTermsTogether)
        AddTerms<Elements, kTermsTogether>(a + k, at(k), step, some, c + column, k == 0);
    }
    for (; k < depth; ++k) AddTerms<Elements, 1>(a + k, at(k), 0, some, c + column, k == 0);
  }
  if (whole == columns) return;
  HWY_ALIGN float sums[HWY_MAX_BYTES / sizeof(float)];
  for (int64_t k = 0; k < depth; ++k) {
    HWY_ALIGN Element last[HWY_MAX_BYTES / sizeof(float)] = {};
    std::memcpy(last, reinterpret_cast<const Element*>(b + k * row) + whole,
                static_cast<size_t>(columns - whole) * sizeof(Element));
    AddTerms<Elements, 1>(a + k, last, 0, lanes, sums, k == 0);
  }
  std::memcpy(c + whole, sums, static_cast<size_t>(columns - whole) * sizeof(float));
}

// Transposes a square of terms by lines, which may be partial.
template <class Elements>
HWY_INLINE void TransposeSome(const char* from, int64_t line, int64_t lines, int64_t terms, float* square) {
  if (lines == kSide && terms == kSide) {
    TransposeSquare<Elements>(from, line, square, kSide);
  } else {
    Transpose<Elements>(from, line, lines, terms, square, kSide);
  }
}

// Makes __builtin_prefetch fetch into the second-level cache, to which more lines may be on their way from memory than
// to the first level. Lines that lie far ahead would leave that one before they are read.
constexpr int kSecondLevel = 2;

// Prefetch distances, in bytes of a line. Only a few next bytes go to the first-level cache, because lines 1
// KiB apart share few of its sets. As many of the bytes that follow in memory go to the second-level cache,
// in their order.
constexpr int64_t kLineAhead = 256;

HWY_INLINE void AskAhead(const char* lines, int64_t line, int64_t count, int64_t at, bool is_last) {
  const char* const next = is_last ? lines + kSide * line : lines + at + kLineAhead;
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t byte = 0; byte < kLineAhead; byte += 64) __builtin_prefetch(next + i * line + byte);
  }
  const char* const later = lines + kSide * line + at * kSide;
  for (int64_t byte = 0; byte < kSide * kLineAhead; byte += 64)
    __builtin_prefetch(later + byte, 0, kSecondLevel);
}

template <class Elements>
void MultiplyLines(const char* a, int64_t a_line, const char* b, int64_t b_line, int64_t depth, int64_t lines,
                   float* c) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(typename Elements::Type));
  HWY_ALIGN float x[kSide * kSide], y[kSide * kSide];
  for (; lines > 0; lines -= kSide, a += kSide * a_line, b += kSide * b_line, c += kSide) {
    const int64_t some = HWY_MIN(kSide, lines);
    HWY_ALIGN float sums[kSide] = {};
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128 && !HWY_HAVE_SCALABLE
    const DF d;
    VF sum = hn::Zero(d);
#endif
    for (int64_t k = 0; k < depth; k += kSide) {
      const int64_t terms = HWY_MIN(kSide, depth - k);
      if (const int64_t at = k * kSize; at % kLineAhead == 0) {
        const bool is_last = at + kLineAhead >= depth * kSize;
        AskAhead(a, a_line, some, at, is_last);
        AskAhead(b, b_line, some, at, is_last);
      }
      TransposeSome<Elements>(a + k * kSize, a_line, some, terms, x);
      TransposeSome<Elements>(b + k * kSize, b_line, some, terms, y);
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 || HWY_HAVE_SCALABLE
      for (int64_t i = 0; i < terms; ++i) {
        for (int64_t l = 0; l < kSide; ++l) sums[l] = std::fma(x[i * kSide + l], y[i * kSide + l], sums[l]);
      }
#else
      for (int64_t i = 0; i < terms; ++i)
        sum = functions::Fma(d, hn::Load(d, x + i * kSide), hn::Load(d, y + i * kSide), sum);
#endif
    }
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128 && !HWY_HAVE_SCALABLE
    hn::Store(sum, d, sums);
#endif
    std::memcpy(c, sums, static_cast<size_t>(some) * sizeof(float));
  }
}

// Transposes squares and uses them at once. Data from memory passes through registers and one kilobyte of the
// first-level cache.
template <class Elements>
void MultiplyAcross(const float* a, const char* b, int64_t column, int64_t rest, int64_t depth,
                    int64_t columns, float* c) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(typename Elements::Type));
  HWY_ALIGN float square[kSide * kSide];
  for (int64_t j = 0; j < columns; j += kSide) {
    const int64_t count = HWY_MIN(kSide, columns - j);
    HWY_ALIGN float sums[kSide] = {};
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128 && !HWY_HAVE_SCALABLE
    const DF d;
    VF sum = hn::Zero(d);
#endif
    for (int64_t k = 0; k < depth; k += kSide) {
      const int64_t terms = HWY_MIN(kSide, depth - k);
      const char* const from = b + j * column + k * kSize;
      if (count == kSide && terms == kSide) {
        if (k * kSize % 64 == 0 && IsOfUseAhead(column, k * kSize, rest)) {
          for (int64_t i = 0; i < kSide; ++i) __builtin_prefetch(from + i * column + kTransposedAhead);
        }
        TransposeSquare<Elements>(from, column, square, kSide);
      } else {
        Transpose<Elements>(from, column, count, terms, square, kSide);
      }
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 || HWY_HAVE_SCALABLE
      for (int64_t i = 0; i < terms; ++i) {
        for (int64_t l = 0; l < kSide; ++l) sums[l] = std::fma(a[k + i], square[i * kSide + l], sums[l]);
      }
#else
      for (int64_t i = 0; i < terms; ++i)
        sum = functions::Fma(d, hn::Set(d, a[k + i]), hn::LoadU(d, square + i * kSide), sum);
#endif
    }
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128 && !HWY_HAVE_SCALABLE
    hn::StoreU(sum, d, sums);
#endif
    std::memcpy(c + j, sums, static_cast<size_t>(count) * sizeof(float));
  }
}

inline void MultiplyPanels(const float* a, const float* b, int64_t depth, float* c) {
  const DF d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto width = static_cast<int64_t>(PanelColumns());
  for (int64_t j = 0; j < width; j += lanes) {
    VF sum = hn::Zero(d);
    for (int64_t k = 0; k < depth; ++k)
      sum = functions::Fma(d, hn::LoadU(d, a + k * width + j), hn::LoadU(d, b + k * width + j), sum);
    hn::StoreU(sum, d, c + j);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
