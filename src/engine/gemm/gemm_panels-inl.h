// Matrix products of packed rows and panels, in the order of float32 and in that of two 16-bit operands.
// Compiled once per instruction set.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ENGINE_GEMM_GEMM_PANELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ENGINE_GEMM_GEMM_PANELS_INL_H_
#undef PORTACL_ENGINE_GEMM_GEMM_PANELS_INL_H_
#else
#define PORTACL_ENGINE_GEMM_GEMM_PANELS_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <hwy/highway.h>
#include "engine/functions/primitives-inl.h"
#include "engine/gemm/gemm_kernel.h"
#include "engine/half_precision-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

// As many sums as fit the registers, beside a row of b and one number of a.
#if HWY_TARGET == HWY_AVX3
constexpr Isa kGemmIsa = Isa::kAvx512;
constexpr int kRows = 14, kVectors = 2;
#elif HWY_TARGET == HWY_AVX2
constexpr Isa kGemmIsa = Isa::kAvx2;
constexpr int kRows = 6, kVectors = 2;
#elif HWY_HAVE_SCALABLE
constexpr Isa kGemmIsa = Isa::kSve;
constexpr int kRows = 4, kVectors = 2;
#elif HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
constexpr Isa kGemmIsa = Isa::kPortable;
constexpr int kRows = 2, kVectors = HWY_TARGET == HWY_SCALAR ? 8 : 2;
#else
constexpr Isa kGemmIsa = Isa::kNeon;
constexpr int kRows = 6, kVectors = 4;
#endif

HWY_INLINE size_t PanelColumns() { return kVectors * hn::Lanes(DF()); }

// Writes a kernel's sums: whole vectors to c, or through a buffer for a panel that is not full.
template <class T>
HWY_INLINE void AddNumbersOf(const float* sums, float* c, int64_t columns) {
  for (int64_t j = 0; j < columns; ++j) {
    T value, sum;
    std::memcpy(&value, c + j, sizeof value);
    std::memcpy(&sum, sums + j, sizeof sum);
    value += sum;
    std::memcpy(c + j, &value, sizeof value);
  }
}
HWY_INLINE void AddNumbers(const float* sums, float* c, int64_t columns, const PackedProduct& product) {
  if (!product.adds) {
    std::memcpy(c, sums, static_cast<size_t>(columns) * sizeof(float));
  } else if (product.is_integer) {
    AddNumbersOf<uint32_t>(sums, c, columns);
  } else {
    AddNumbersOf<float>(sums, c, columns);
  }
}

HWY_INLINE void StoreSum(DF d, VF sum, float* c, bool adds, bool is_integer) {
  if (is_integer) {
    const DI di;
    const auto whole = hn::ConvertTo(di, sum);
    sum = hn::BitCast(d, adds ? hn::Add(hn::BitCast(di, hn::LoadU(d, c)), whole) : whole);
  } else if (adds) {
    sum = hn::Add(hn::LoadU(d, c), sum);
  }
  hn::StoreU(sum, d, c);
}

// c = c + (even + odd), or +0 + (even + odd).
HWY_INLINE void AddEvenOdd(DF d, const float* even, VF odd, float* c, bool goes_on) {
  const VF sum = goes_on ? hn::LoadU(d, c) : hn::Zero(d);
  hn::StoreU(hn::Add(sum, hn::Add(hn::LoadU(d, even), odd)), d, c);
}

struct I8Elements {
  using Type = int8_t;
  static HWY_INLINE VF Load(DF d, const Type* from) {
    return hn::ConvertTo(d, hn::PromoteTo(DI(), hn::LoadU(hn::Rebind<int8_t, DF>(), from)));
  }
};

#if HWY_HAVE_SCALABLE
// Uses no arrays, since scalable vectors cannot be in one.
template <int kCount>
void MultiplyRows(const float* HWY_RESTRICT a, const float* HWY_RESTRICT b, const PackedProduct& product,
                  float* c, int64_t c_row, bool adds) {
  const DF d;
  const size_t lanes = hn::Lanes(d);
  for (int r = 0; r < kCount; r += kRows) {
    // Missing rows repeat an existing one and are not written.
    const float* const a0 = a;
    const float* const a1 = a + (kCount > 1 ? 1 : 0) * kPackedRow;
    const float* const a2 = a + (kCount > 2 ? 2 : 0) * kPackedRow;
    const float* const a3 = a + (kCount > 3 ? 3 : 0) * kPackedRow;
    VF s00 = hn::Zero(d), s01 = s00, s10 = s00, s11 = s00, s20 = s00, s21 = s00, s30 = s00, s31 = s00;
    for (int64_t k = 0; k < product.depth; ++k, b += 2 * lanes) {
      const VF b0 = hn::LoadU(d, b);
      const VF b1 = hn::LoadU(d, b + lanes);
      const VF x0 = hn::Set(d, a0[k]), x1 = hn::Set(d, a1[k]), x2 = hn::Set(d, a2[k]), x3 = hn::Set(d, a3[k]);
      s00 = hn::MulAdd(x0, b0, s00);
      s01 = hn::MulAdd(x0, b1, s01);
      s10 = hn::MulAdd(x1, b0, s10);
      s11 = hn::MulAdd(x1, b1, s11);
      s20 = hn::MulAdd(x2, b0, s20);
      s21 = hn::MulAdd(x2, b1, s21);
      s30 = hn::MulAdd(x3, b0, s30);
      s31 = hn::MulAdd(x3, b1, s31);
    }
    StoreSum(d, s00, c, adds, product.is_integer);
    StoreSum(d, s01, c + lanes, adds, product.is_integer);
    if (kCount > 1) StoreSum(d, s10, c + c_row, adds, product.is_integer);
    if (kCount > 1) StoreSum(d, s11, c + c_row + lanes, adds, product.is_integer);
    if (kCount > 2) StoreSum(d, s20, c + 2 * c_row, adds, product.is_integer);
    if (kCount > 2) StoreSum(d, s21, c + 2 * c_row + lanes, adds, product.is_integer);
    if (kCount > 3) StoreSum(d, s30, c + 3 * c_row, adds, product.is_integer);
    if (kCount > 3) StoreSum(d, s31, c + 3 * c_row + lanes, adds, product.is_integer);
  }
}
#else
template <int kCount>
void MultiplyRows(const float* HWY_RESTRICT a, const float* HWY_RESTRICT b, const PackedProduct& product,
                  float* c, int64_t c_row, bool adds) {
  const DF d;
  constexpr size_t kLanes = hn::MaxLanes(DF());
  VF sum[kCount][kVectors];
  HWY_UNROLL(kRows)
  for (int r = 0; r < kCount; ++r) {
    HWY_UNROLL(kVectors)
    for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::Zero(d);
  }
  const int64_t depth = product.depth;
  for (int64_t k = 0; k < depth; ++k) {
    VF row[kVectors];
    HWY_UNROLL(kVectors)
    for (int v = 0; v < kVectors; ++v) row[v] = hn::LoadU(d, b + static_cast<size_t>(v) * kLanes);
    HWY_UNROLL(kRows)
    for (int r = 0; r < kCount; ++r) {
      const VF x = hn::Set(d, a[r * kPackedRow + k]);
      HWY_UNROLL(kVectors)
      for (int v = 0; v < kVectors; ++v) sum[r][v] = functions::Fma(d, x, row[v], sum[r][v]);
    }
    b += kVectors * kLanes;
  }
  HWY_UNROLL(kRows)
  for (int r = 0; r < kCount; ++r) {
    HWY_UNROLL(kVectors)
    for (int v = 0; v < kVectors; ++v)
      StoreSum(d, sum[r][v], c + r * c_row + v * static_cast<int64_t>(kLanes), adds, product.is_integer);
  }
}
#endif

// Products of two 16-bit operands (kEvenOddDepth): the even terms of a block, then the odd ones. The even
// sums wait in the first-level cache.
#if HWY_HAVE_SCALABLE
template <int kCount>
void MultiplyRowsEvenOdd(const float* HWY_RESTRICT a, const float* HWY_RESTRICT b,
                         const PackedProduct& product, float* c, int64_t c_row, bool adds) {
  const DF d;
  const size_t lanes = hn::Lanes(d);
  HWY_ALIGN float evens[size_t{kRows} * kMostPanelColumns];
  for (int64_t block = 0; block < product.depth; block += kEvenOddDepth) {
    const int64_t terms = HWY_MIN(kEvenOddDepth, product.depth - block);
    for (int64_t parity = 0; parity < 2; ++parity) {
      // Missing rows repeat an existing one and are not written.
      const float* const a0 = a + block;
      const float* const a1 = a0 + (kCount > 1 ? 1 : 0) * kPackedRow;
      const float* const a2 = a0 + (kCount > 2 ? 2 : 0) * kPackedRow;
      const float* const a3 = a0 + (kCount > 3 ? 3 : 0) * kPackedRow;
      VF s00 = hn::Zero(d), s01 = s00, s10 = s00, s11 = s00, s20 = s00, s21 = s00, s30 = s00, s31 = s00;
      for (int64_t k = parity; k < terms; k += 2) {
        const float* const at = b + static_cast<size_t>(k) * 2 * lanes;
        const VF b0 = hn::LoadU(d, at);
        const VF b1 = hn::LoadU(d, at + lanes);
        const VF x0 = hn::Set(d, a0[k]), x1 = hn::Set(d, a1[k]), x2 = hn::Set(d, a2[k]),
                 x3 = hn::Set(d, a3[k]);
        s00 = hn::MulAdd(x0, b0, s00);
        s01 = hn::MulAdd(x0, b1, s01);
        s10 = hn::MulAdd(x1, b0, s10);
        s11 = hn::MulAdd(x1, b1, s11);
        s20 = hn::MulAdd(x2, b0, s20);
        s21 = hn::MulAdd(x2, b1, s21);
        s30 = hn::MulAdd(x3, b0, s30);
        s31 = hn::MulAdd(x3, b1, s31);
      }
      if (parity == 0) {
        hn::StoreU(s00, d, evens);
        hn::StoreU(s01, d, evens + lanes);
        hn::StoreU(s10, d, evens + 2 * lanes);
        hn::StoreU(s11, d, evens + 3 * lanes);
        hn::StoreU(s20, d, evens + 4 * lanes);
        hn::StoreU(s21, d, evens + 5 * lanes);
        hn::StoreU(s30, d, evens + 6 * lanes);
        hn::StoreU(s31, d, evens + 7 * lanes);
        continue;
      }
      const bool goes_on = adds || block > 0;
      AddEvenOdd(d, evens, s00, c, goes_on);
      AddEvenOdd(d, evens + lanes, s01, c + lanes, goes_on);
      if (kCount > 1) AddEvenOdd(d, evens + 2 * lanes, s10, c + c_row, goes_on);
      if (kCount > 1) AddEvenOdd(d, evens + 3 * lanes, s11, c + c_row + lanes, goes_on);
      if (kCount > 2) AddEvenOdd(d, evens + 4 * lanes, s20, c + 2 * c_row, goes_on);
      if (kCount > 2) AddEvenOdd(d, evens + 5 * lanes, s21, c + 2 * c_row + lanes, goes_on);
      if (kCount > 3) AddEvenOdd(d, evens + 6 * lanes, s30, c + 3 * c_row, goes_on);
      if (kCount > 3) AddEvenOdd(d, evens + 7 * lanes, s31, c + 3 * c_row + lanes, goes_on);
    }
    b += static_cast<size_t>(terms) * 2 * lanes;
  }
}
#else
template <int kCount>
void MultiplyRowsEvenOdd(const float* HWY_RESTRICT a, const float* HWY_RESTRICT b,
                         const PackedProduct& product, float* c, int64_t c_row, bool adds) {
  const DF d;
  constexpr size_t kLanes = hn::MaxLanes(DF());
  constexpr size_t kWidth = kVectors * kLanes;
#if HWY_ARCH_ARM
  HWY_ALIGN float evens[kCount * kWidth] = {};  // g++ 12 takes them for uninitialised with NEON's intrinsics
#else
  HWY_ALIGN float evens[kCount * kWidth];
#endif
  const int64_t depth = product.depth;
  for (int64_t block = 0; block < depth; block += kEvenOddDepth) {
    const int64_t terms = HWY_MIN(kEvenOddDepth, depth - block);
    const bool goes_on = adds || block > 0;
    for (int64_t parity = 0; parity < 2; ++parity) {
      VF sum[kCount][kVectors];
      HWY_UNROLL(kRows)
      for (int r = 0; r < kCount; ++r) {
        HWY_UNROLL(kVectors)
        for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::Zero(d);
      }
      const float* at = b + static_cast<size_t>(parity) * kWidth;
      for (int64_t k = parity; k < terms; k += 2, at += 2 * kWidth) {
        VF row[kVectors];
        HWY_UNROLL(kVectors)
        for (int v = 0; v < kVectors; ++v) row[v] = hn::LoadU(d, at + static_cast<size_t>(v) * kLanes);
        HWY_UNROLL(kRows)
        for (int r = 0; r < kCount; ++r) {
          const VF x = hn::Set(d, a[r * kPackedRow + block + k]);
          HWY_UNROLL(kVectors)
          for (int v = 0; v < kVectors; ++v) sum[r][v] = functions::Fma(d, x, row[v], sum[r][v]);
        }
      }
      HWY_UNROLL(kRows)
      for (int r = 0; r < kCount; ++r) {
        HWY_UNROLL(kVectors)
        for (int v = 0; v < kVectors; ++v) {
          float* const even = evens + static_cast<size_t>(r * kVectors + v) * kLanes;
          if (parity == 0) {
            hn::Store(sum[r][v], d, even);
          } else {
            AddEvenOdd(d, even, sum[r][v], c + r * c_row + v * static_cast<int64_t>(kLanes), goes_on);
          }
        }
      }
    }
    b += static_cast<size_t>(terms) * kWidth;
  }
}
#endif

// Multiplies pairs of 16-bit integers: one instruction adds two terms.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
using VI = hn::Vec<DI>;

// Uses the processor's own vector types, because compilers keep arrays of Highway's integer vectors in
// memory.
#if HWY_TARGET == HWY_AVX3
using RawPairs = __m512i;
HWY_INLINE RawPairs AddPairs(RawPairs a, RawPairs b, RawPairs sum) {
  return _mm512_add_epi32(sum, _mm512_madd_epi16(a, b));
}
HWY_INLINE RawPairs LoadPairs(const float* from) { return _mm512_loadu_si512(from); }
HWY_INLINE RawPairs RepeatPair(const float* from) { return _mm512_castps_si512(_mm512_set1_ps(*from)); }
#else
using RawPairs = __m256i;
HWY_INLINE RawPairs AddPairs(RawPairs a, RawPairs b, RawPairs sum) {
  return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
}
HWY_INLINE RawPairs LoadPairs(const float* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}
HWY_INLINE RawPairs RepeatPair(const float* from) { return _mm256_castps_si256(_mm256_set1_ps(*from)); }
#endif

HWY_INLINE void KeepPairs(RawPairs& sum) {
  // Without this GCC stores every sum to memory in every step, although it also keeps it in a register.
  asm("" : "+v"(sum));
}

template <int kCount>
void MultiplyPairRows(const float* HWY_RESTRICT a, const float* HWY_RESTRICT b, const PackedProduct& product,
                      float* c, int64_t c_row, bool adds) {
  const DF d;
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(DF()));
  // Integers may be added in any order, so that sums start with what is already in c.
  RawPairs sum[kCount][2] = {};
  if (adds) {
    HWY_UNROLL(kRows)
    for (int r = 0; r < kCount; ++r) {
      sum[r][0] = LoadPairs(c + r * c_row);
      sum[r][1] = LoadPairs(c + r * c_row + kLanes);
    }
  }
  const int64_t pairs = (product.depth + 1) / 2;
  for (int64_t k = 0; k < pairs; ++k, b += 2 * kLanes) {
    const RawPairs first = LoadPairs(b);
    const RawPairs second = LoadPairs(b + kLanes);
    HWY_UNROLL(kRows)
    for (int r = 0; r < kCount; ++r) {
      const RawPairs x = RepeatPair(a + r * kPackedRow + k);
      sum[r][0] = AddPairs(x, first, sum[r][0]);
      sum[r][1] = AddPairs(x, second, sum[r][1]);
      KeepPairs(sum[r][0]);
      KeepPairs(sum[r][1]);
    }
  }
  HWY_UNROLL(kRows)
  for (int r = 0; r < kCount; ++r) {
    hn::StoreU(hn::BitCast(d, VI{sum[r][0]}), d, c + r * c_row);
    hn::StoreU(hn::BitCast(d, VI{sum[r][1]}), d, c + r * c_row + kLanes);
  }
}

// Turns numbers into pairs of 16-bit integers in place: adjacent terms of a row, or two terms of a panel's
// column.
void PairRows(float* rows, int64_t count, int64_t depth) {
  const DF d;
  const DI di;
  const hn::Rebind<int16_t, DI> dh;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t r = 0; r < count; ++r) {
    float* const row = rows + r * kPackedRow;
    if (depth % 2 != 0) row[depth] = 0;
    auto* const to = reinterpret_cast<int16_t*>(row);
    for (int64_t k = 0; k < depth; k += lanes)
      hn::StoreU(hn::DemoteTo(dh, hn::ConvertTo(di, hn::LoadU(d, row + k))), dh, to + k);
  }
}
void PairPanels(float* panels, int64_t count, int64_t depth) {
  const DF d;
  const DI di;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto width = static_cast<int64_t>(PanelColumns());
  for (int64_t p = 0; p < count; ++p) {
    float* const panel = panels + p * width * depth;
    for (int64_t k = 0; k < depth; k += 2) {
      for (int64_t j = 0; j < width; j += lanes) {
        const float* const from = panel + k * width + j;
        const VI low = hn::ConvertTo(di, hn::LoadU(d, from));
        const VI high = k + 1 < depth ? hn::ConvertTo(di, hn::LoadU(d, from + width)) : hn::Zero(di);
        const VI pair = hn::Or(hn::And(low, hn::Set(di, 0xFFFF)), hn::ShiftLeft<16>(high));
        hn::StoreU(hn::BitCast(d, pair), d, panel + k / 2 * width + j);
      }
    }
  }
}
#endif

using RowsFunction = void (*)(const float* a, const float* b, const PackedProduct& product, float* c,
                              int64_t c_row, bool adds);
template <int... kCounts>
struct RowsFunctions {
  static constexpr RowsFunction kOf[] = {MultiplyRows<kCounts>...};
  static constexpr int64_t kMost = kRows;
  static constexpr bool kIsEvenOdd = false;
};
template <class Counts>
struct EvenOddRowsFunctions;
template <int... kCounts>
struct EvenOddRowsFunctions<RowsFunctions<kCounts...>> {
  static constexpr RowsFunction kOf[] = {MultiplyRowsEvenOdd<kCounts>...};
  static constexpr int64_t kMost = kRows;
  static constexpr bool kIsEvenOdd = true;
};
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
template <int... kCounts>
struct PairRowsFunctions {
  static constexpr RowsFunction kOf[] = {MultiplyPairRows<kCounts>...};
  static constexpr int64_t kMost =
      sizeof...(kCounts);  // one register less than for float32, since products are not yet sums
  static constexpr bool kIsEvenOdd = false;
};
#endif
#if HWY_TARGET == HWY_AVX3
using EachCount = RowsFunctions<1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14>;
using EachCountOfPairs = PairRowsFunctions<1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12>;
#elif HWY_TARGET == HWY_AVX2
using EachCount = RowsFunctions<1, 2, 3, 4, 5, 6>;
using EachCountOfPairs = PairRowsFunctions<1, 2, 3, 4, 5>;
#elif HWY_HAVE_SCALABLE
using EachCount = RowsFunctions<1, 2, 3, 4>;
#elif HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
using EachCount = RowsFunctions<1, 2>;
#else
using EachCount = RowsFunctions<1, 2, 3, 4, 5, 6>;
#endif

// Multiplies all rows with each panel, which stays in the first-level cache. Rows are shared evenly among
// kernels, since a kernel of few rows waits for its sums.
template <class Counts>
HWY_INLINE void MultiplyEach(const PackedProduct& product) {
  const auto width = static_cast<int64_t>(PanelColumns());
  const int64_t groups = (product.rows + Counts::kMost - 1) / Counts::kMost;
  const int64_t each = product.rows / groups;
  const int64_t longer = product.rows % groups;
  HWY_ALIGN float buffer[size_t{kRows} * kVectors * HWY_MAX_BYTES / sizeof(float)];
  for (int64_t column = 0; column < product.columns; column += width) {
    const float* const b = product.b + column * product.depth;
    const int64_t columns = HWY_MIN(width, product.columns - column);
    int64_t row = 0;
    for (int64_t group = 0; group < groups; ++group) {
      const int64_t rows = each + (group < longer ? 1 : 0);
      const float* const a = product.a + row * kPackedRow;
      float* const c = product.c + row * product.c_row + column;
      // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): rows is 1 to kRows
      const RowsFunction multiply = Counts::kOf[rows - 1];
      if (columns == width) {
        multiply(a, b, product, c, product.c_row, product.adds);
      } else if (Counts::kIsEvenOdd) {
        // The blocks of a sum are added to it one by one.
        const size_t size = static_cast<size_t>(columns) * sizeof(float);
        if (product.adds) std::memset(buffer, 0, sizeof buffer);
        for (int64_t r = 0; r < rows && product.adds; ++r)
          std::memcpy(buffer + r * width, c + r * product.c_row, size);
        multiply(a, b, product, buffer, width, product.adds);
        for (int64_t r = 0; r < rows; ++r) std::memcpy(c + r * product.c_row, buffer + r * width, size);
      } else {
        multiply(a, b, product, buffer, width, false);
        for (int64_t r = 0; r < rows; ++r)
          AddNumbers(buffer + r * width, c + r * product.c_row, columns, product);
      }
      row += rows;
    }
  }
}

inline void MultiplyPacked(const PackedProduct& product) { MultiplyEach<EachCount>(product); }
inline void MultiplyEvenOdd(const PackedProduct& product) {
  MultiplyEach<EvenOddRowsFunctions<EachCount>>(product);
}
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
inline void MultiplyPairs(const PackedProduct& product) { MultiplyEach<EachCountOfPairs>(product); }
#endif

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
