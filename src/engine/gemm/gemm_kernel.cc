// The loops of matrix products for each instruction set (see gemm_kernel.h). Vectors run along the columns,
// so that each element has its own chain, whatever the vector width.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/gemm/gemm_kernel.cc"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include <cmath>
#include <cstring>

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
  HWY_ALIGN float evens[kCount * kWidth];
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

void MultiplyPacked(const PackedProduct& product) { MultiplyEach<EachCount>(product); }
void MultiplyEvenOdd(const PackedProduct& product) { MultiplyEach<EvenOddRowsFunctions<EachCount>>(product); }
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
void MultiplyPairs(const PackedProduct& product) { MultiplyEach<EachCountOfPairs>(product); }
#endif

// ---- small products, without packing ----

#if !HWY_HAVE_SCALABLE
template <int kCount>
void MultiplySmallRows(const SmallProduct& product) {
  const DF d;
  constexpr size_t kLanes = hn::MaxLanes(DF());
  VF sum[kCount][kVectors];
  HWY_UNROLL(kRows)
  for (int r = 0; r < kCount; ++r) {
    HWY_UNROLL(kVectors)
    for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::Zero(d);
  }
  const float* a = product.a;
  const float* b = product.b;
  for (int64_t k = 0; k < product.depth; ++k, a += product.a_term, b += product.b_term) {
    VF row[kVectors];
    HWY_UNROLL(kVectors)
    for (int v = 0; v < kVectors; ++v) row[v] = hn::LoadU(d, b + static_cast<size_t>(v) * kLanes);
    HWY_UNROLL(kRows)
    for (int r = 0; r < kCount; ++r) {
      const VF x = hn::Set(d, a[r * product.a_row]);
      HWY_UNROLL(kVectors)
      for (int v = 0; v < kVectors; ++v) sum[r][v] = functions::Fma(d, x, row[v], sum[r][v]);
    }
  }
  HWY_UNROLL(kRows)
  for (int r = 0; r < kCount; ++r) {
    HWY_UNROLL(kVectors)
    for (int v = 0; v < kVectors; ++v)
      hn::StoreU(sum[r][v], d, product.c + r * product.c_row + v * static_cast<int64_t>(kLanes));
  }
}

template <class Counts>
struct SmallRowsFunctions;
template <int... kCounts>
struct SmallRowsFunctions<RowsFunctions<kCounts...>> {
  static constexpr void (*kOf[])(const SmallProduct&) = {MultiplySmallRows<kCounts>...};
};

// Multiplies all rows with one panel's columns, which are there as a whole panel.
HWY_INLINE void MultiplySmallPanel(SmallProduct product) {
  const int64_t groups = (product.rows + kRows - 1) / kRows;
  const int64_t each = product.rows / groups;
  const int64_t longer = product.rows % groups;
  for (int64_t group = 0; group < groups; ++group) {
    const int64_t rows = each + (group < longer ? 1 : 0);
    SmallRowsFunctions<EachCount>::kOf[rows - 1](product);
    product.a += rows * product.a_row;
    product.c += rows * product.c_row;
  }
}

void MultiplySmall(const SmallProduct& product) {
  constexpr auto kWidth = static_cast<int64_t>(size_t{kVectors} * hn::MaxLanes(DF()));
  SmallProduct panel = product;
  int64_t column = 0;
  for (; column + kWidth <= product.columns; column += kWidth) {
    panel.b = product.b + column;
    panel.c = product.c + column;
    MultiplySmallPanel(panel);
  }
  if (column == product.columns) return;
  // Copies the last columns, behind which there may be no memory.
  HWY_ALIGN float columns[kSmallSide * kWidth];
  HWY_ALIGN float sums[kSmallSide * kWidth];
  const auto size = static_cast<size_t>(product.columns - column) * sizeof(float);
  std::memset(columns, 0, static_cast<size_t>(product.depth * kWidth) * sizeof(float));
  for (int64_t k = 0; k < product.depth; ++k)
    std::memcpy(columns + k * kWidth, product.b + k * product.b_term + column, size);
  panel.b = columns;
  panel.b_term = kWidth;
  panel.c = sums;
  panel.c_row = kWidth;
  MultiplySmallPanel(panel);
  for (int64_t r = 0; r < product.rows; ++r)
    std::memcpy(product.c + r * product.c_row + column, sums + r * kWidth, size);
}
#endif

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

void PackWordsOfBytes(const char* from, int64_t row, int64_t terms, int64_t columns, uint32_t* to) {
  const hn::CappedTag<uint8_t, 16> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto* const first = reinterpret_cast<const uint8_t*>(from);
  const auto load = [&](int64_t k, int64_t j)
                        HWY_ATTR { return k < terms ? hn::LoadU(d, first + k * row + j) : hn::Zero(d); };
  int64_t j = 0;
  for (; j + lanes <= columns; j += lanes) {
    hn::StoreInterleaved4(load(0, j), load(1, j), load(2, j), load(3, j), d,
                          reinterpret_cast<uint8_t*>(to + j));
  }
  for (; j < columns; ++j) {
    uint8_t bytes[4] = {};
    for (int64_t k = 0; k < terms; ++k) bytes[k] = first[k * row + j];
    std::memcpy(to + j, bytes, sizeof bytes);
  }
}

void PackWordsOfHalves(const char* from, int64_t row, int64_t terms, int64_t columns, uint32_t* to) {
  const hn::CappedTag<uint16_t, 8> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  // Rows of elements may begin at any byte.
  const auto* const low = reinterpret_cast<const uint16_t*>(from);
  const auto* const high = reinterpret_cast<const uint16_t*>(from + row);
  int64_t j = 0;
  for (; j + lanes <= columns; j += lanes) {
    hn::StoreInterleaved2(hn::LoadU(d, low + j), terms > 1 ? hn::LoadU(d, high + j) : hn::Zero(d), d,
                          reinterpret_cast<uint16_t*>(to + j));
  }
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

template <class Elements>
HWY_INLINE void TransposeSquare(const char* from, int64_t row, float* to, int64_t to_row) {
  const DF d;
  VF v[kSide];
  HWY_UNROLL(16)
  for (int64_t r = 0; r < kSide; ++r)
    v[r] = Elements::Load(d, reinterpret_cast<const typename Elements::Type*>(from + r * row));
  HWY_UNROLL(4)
  for (int64_t r = 0; r < kSide; r += 4) TransposeInBlocks(v + r);
  HWY_UNROLL(4)
  for (int64_t i = 0; i < 4; ++i) {
    // Block j of vector 4 * q + i belongs to column 4 * j + i, at position 4 * q.
#if HWY_TARGET == HWY_AVX3
    const __m512 a = _mm512_shuffle_f32x4(v[i].raw, v[4 + i].raw, 0x44);
    const __m512 b = _mm512_shuffle_f32x4(v[i].raw, v[4 + i].raw, 0xEE);
    const __m512 e = _mm512_shuffle_f32x4(v[8 + i].raw, v[12 + i].raw, 0x44);
    const __m512 f = _mm512_shuffle_f32x4(v[8 + i].raw, v[12 + i].raw, 0xEE);
    hn::StoreU(VF{_mm512_shuffle_f32x4(a, e, 0x88)}, d, to + i * to_row);
    hn::StoreU(VF{_mm512_shuffle_f32x4(a, e, 0xDD)}, d, to + (4 + i) * to_row);
    hn::StoreU(VF{_mm512_shuffle_f32x4(b, f, 0x88)}, d, to + (8 + i) * to_row);
    hn::StoreU(VF{_mm512_shuffle_f32x4(b, f, 0xDD)}, d, to + (12 + i) * to_row);
#elif HWY_TARGET == HWY_AVX2
    hn::StoreU(hn::ConcatLowerLower(d, v[4 + i], v[i]), d, to + i * to_row);
    hn::StoreU(hn::ConcatUpperUpper(d, v[4 + i], v[i]), d, to + (4 + i) * to_row);
#else
    hn::StoreU(v[i], d, to + i * to_row);
#endif
  }
}
#endif

// The prefetch distance within a row in bytes: the next block of terms, if terms lie side by side.
constexpr int64_t kTransposedAhead = kGemmDepth * static_cast<int64_t>(sizeof(float));

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

// Adds some terms to all whole vectors of sums, or to one vector, whose elements have been copied to a
// buffer.
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
  for (int64_t byte = 0; byte < kSide * kLineAhead; byte += 64) __builtin_prefetch(later + byte, 0, 2);
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
void MultiplyAcross(const float* a, const char* b, int64_t column, int64_t depth, int64_t columns, float* c) {
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
        if (k * kSize % 64 == 0) {
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

void MultiplyPanels(const float* a, const float* b, int64_t depth, float* c) {
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

// ---- the order of 16-bit products, without panels ----

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
void AddAcrossEvenOdd(const float* a, const char* b, int64_t column, int64_t depth, int64_t columns, float* c,
                      bool adds) {
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
        if (count == kSide && (block + k) * kSize % 64 == 0) {
          for (int64_t i = 0; i < kSide; ++i) __builtin_prefetch(from + i * column + kTransposedAhead);
        }
        TransposeSome<Elements>(from, column, count, HWY_MIN(kSide, terms - k), squares + k * kSide);
      }
      AddSideEvenOdd<false>(a + block, squares, terms, sums, true);
    }
    std::memcpy(c + j, sums, static_cast<size_t>(count) * sizeof(float));
  }
}

// The same for lines of BF16, whose words of two terms are transposed: the even term is the word's lower half, the
// odd one its upper half.
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

void AddAcrossBf16(const float* a, const char* b, int64_t column, int64_t depth, int64_t columns, float* c,
                   bool adds) {
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
        for (int64_t i = 0; i < kSide; ++i) __builtin_prefetch(from + i * column + kTransposedAhead);
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

void MultiplyPanelsEvenOdd(const float* a, const float* b, int64_t depth, float* c) {
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

const GemmKernels& KernelsHere() {
  static const GemmKernels kernels = {
    kGemmIsa,
    kRows,
    static_cast<int>(PanelColumns()),
    MultiplyPacked,
#if HWY_HAVE_SCALABLE
    nullptr,
#else
    MultiplySmall,
#endif
    {PackColumns<F32Elements>, PackColumns<F16Elements>, PackColumns<Bf16Elements>, PackColumns<I8Elements>},
    {Transpose<F32Elements>, Transpose<F16Elements>, Transpose<Bf16Elements>, Transpose<I8Elements>},
    {PackWordsOfBytes, PackWordsOfHalves},
    {MultiplyRow<F32Elements>, MultiplyRow<F16Elements>, MultiplyRow<Bf16Elements>, MultiplyRow<I8Elements>},
    {MultiplyAcross<F32Elements>, MultiplyAcross<F16Elements>, MultiplyAcross<Bf16Elements>,
     MultiplyAcross<I8Elements>},
    {MultiplyLines<F32Elements>, MultiplyLines<F16Elements>, MultiplyLines<Bf16Elements>},
    MultiplyPanels,
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
    MultiplyPairs,
    PairRows,
    PairPanels,
#else
    nullptr,
    nullptr,
    nullptr,
#endif
    {MultiplyEvenOdd,
     {AddRowEvenOdd<F32Elements>, AddRowEvenOdd<F16Elements>, AddRowEvenOdd<Bf16Elements>},
     {AddAcrossEvenOdd<F32Elements>, AddAcrossEvenOdd<F16Elements>, AddAcrossBf16},
     {MultiplyLinesEvenOdd<F32Elements>, MultiplyLinesEvenOdd<F16Elements>,
      MultiplyLinesEvenOdd<Bf16Elements>},
     MultiplyPanelsEvenOdd},
  };
  return kernels;
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "engine/isa_table.h"

namespace portacl::engine {

const GemmKernels& FindGemmKernels(Isa isa) noexcept {
  static constexpr auto kTable = PORTACL_ISA_TABLE(KernelsHere);
  return kTable.For(isa)();
}

}  // namespace portacl::engine

#endif  // HWY_ONCE
