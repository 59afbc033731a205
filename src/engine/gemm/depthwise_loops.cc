// Sums over windows and pixels without packing (see depthwise_kernel.h). Each lane is an element with a chain
// of its own, so that vectors of any width give the same bits.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/gemm/depthwise_loops.cc"
#include "base/foreach_target.h"

#include <cstring>

#include <hwy/highway.h>

#include "engine/functions/primitives-inl.h"
#include "engine/gemm/depthwise_kernel.h"
#include "engine/gemm/gemm_kernel.h"
#include "engine/half_precision-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3
constexpr Isa kDepthwiseIsa = Isa::kAvx512;
#elif HWY_TARGET == HWY_AVX2
constexpr Isa kDepthwiseIsa = Isa::kAvx2;
#elif HWY_HAVE_SCALABLE
constexpr Isa kDepthwiseIsa = Isa::kSve;
#elif HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
constexpr Isa kDepthwiseIsa = Isa::kPortable;
#else
constexpr Isa kDepthwiseIsa = Isa::kNeon;
#endif

// Rows that are computed at a time.
constexpr int64_t kRowsAtOnce = 4;

template <class D>
HWY_INLINE void StoreSums(D d, const WindowSums& sums, hn::Vec<D> sum, float* to, int64_t count) {
  if (sums.adds) sum = hn::Add(hn::Set(d, sums.added), sum);
  if (count >= static_cast<int64_t>(hn::Lanes(d))) {
    hn::StoreU(sum, d, to);
  } else {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
    hn::BlendedStore(sum, hn::FirstN(d, static_cast<size_t>(count)), d, to);
#else
    HWY_ALIGN float numbers[HWY_MAX_BYTES / sizeof(float)];
    hn::StoreU(sum, d, numbers);
    std::memcpy(to, numbers, static_cast<size_t>(count) * sizeof(float));
#endif
  }
}

#if HWY_HAVE_SCALABLE
// Computes a vector of one row. Scalable vectors cannot be in arrays.
template <bool kIsEvenOdd, class D>
HWY_INLINE void SumOneRow(D d, const WindowSums& sums, int64_t row, int64_t column, int64_t count) {
  const float* const x = sums.x + row * sums.x_row + column;
  auto sum = hn::Zero(d);
  for (int64_t block = 0; block < sums.terms && kIsEvenOdd; block += kEvenOddDepth) {
    const int64_t end = HWY_MIN(sums.terms, block + kEvenOddDepth);
    auto even = hn::Zero(d), odd = hn::Zero(d);
    for (int64_t t = block; t < end; t += 2)
      even = functions::Fma(d, hn::Set(d, sums.w[t]), hn::LoadU(d, x + sums.place[t]), even);
    for (int64_t t = block + 1; t < end; t += 2)
      odd = functions::Fma(d, hn::Set(d, sums.w[t]), hn::LoadU(d, x + sums.place[t]), odd);
    sum = hn::Add(sum, hn::Add(even, odd));
  }
  for (int64_t t = 0; t < sums.terms && !kIsEvenOdd; ++t)
    sum = functions::Fma(d, hn::Set(d, sums.w[t]), hn::LoadU(d, x + sums.place[t]), sum);
  StoreSums(d, sums, sum, sums.out + row * sums.out_row + column, count);
}

template <bool kIsEvenOdd>
void SumWindows(const WindowSums& sums) {
  const DF d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t row = 0; row < sums.rows; ++row) {
    for (int64_t column = 0; column < sums.columns; column += lanes)
      SumOneRow<kIsEvenOdd>(d, sums, row, column, HWY_MIN(lanes, sums.columns - column));
  }
}

void SumPixels(const PixelSums& sums) {
  const DF d;
  const size_t lanes = hn::Lanes(d);
  for (int64_t i = 0; i < sums.sums; ++i) {
    const float* const x = sums.x + sums.place[i];
    float* const to = sums.sum + static_cast<size_t>(i) * lanes;
    auto sum = hn::LoadU(d, to);
    for (int64_t k = 0; k < sums.count; k += sums.step) {
      sum = functions::Fma(d, hn::LoadU(d, sums.y + static_cast<size_t>(k) * lanes),
                           hn::LoadU(d, x + sums.pixel[k]), sum);
    }
    hn::StoreU(sum, d, to);
  }
}
#else
// Computes vectors that lie x_step and out_step apart, whatever the window.
template <bool kIsEvenOdd, int kCount, class D>
HWY_INLINE void SumAny(D d, const WindowSums& sums, const float* x, int64_t x_step, float* out,
                       int64_t out_step, int64_t count) {
  using V = hn::Vec<D>;
  V sum[kCount];
  HWY_UNROLL(4)
  for (int r = 0; r < kCount; ++r) sum[r] = hn::Zero(d);
  if constexpr (kIsEvenOdd) {
    for (int64_t block = 0; block < sums.terms; block += kEvenOddDepth) {
      const int64_t end = HWY_MIN(sums.terms, block + kEvenOddDepth);
      V even[kCount], odd[kCount];
      HWY_UNROLL(4)
      for (int r = 0; r < kCount; ++r) even[r] = odd[r] = hn::Zero(d);
      int64_t t = block;
      for (; t + 1 < end; t += 2) {
        const V w = hn::Set(d, sums.w[t]);
        const V next = hn::Set(d, sums.w[t + 1]);
        HWY_UNROLL(4)
        for (int r = 0; r < kCount; ++r) {
          even[r] = functions::Fma(d, w, hn::LoadU(d, x + r * x_step + sums.place[t]), even[r]);
          odd[r] = functions::Fma(d, next, hn::LoadU(d, x + r * x_step + sums.place[t + 1]), odd[r]);
        }
      }
      if (t < end) {
        const V w = hn::Set(d, sums.w[t]);
        HWY_UNROLL(4)
        for (int r = 0; r < kCount; ++r)
          even[r] = functions::Fma(d, w, hn::LoadU(d, x + r * x_step + sums.place[t]), even[r]);
      }
      HWY_UNROLL(4)
      for (int r = 0; r < kCount; ++r) sum[r] = hn::Add(sum[r], hn::Add(even[r], odd[r]));
    }
  } else {
    for (int64_t t = 0; t < sums.terms; ++t) {
      const V w = hn::Set(d, sums.w[t]);
      HWY_UNROLL(4)
      for (int r = 0; r < kCount; ++r)
        sum[r] = functions::Fma(d, w, hn::LoadU(d, x + r * x_step + sums.place[t]), sum[r]);
    }
  }
  HWY_UNROLL(4)
  for (int r = 0; r < kCount; ++r) StoreSums(d, sums, sum[r], out + r * out_step, count);
}

// Computes kRowsAtOnce rows. Row i of the image is row i - r * kStep of output row r's window: rows of the image are
// read once, in the order in which each window has them.
template <bool kIsEvenOdd, int kSide, int kStep, class D>
HWY_INLINE void SumSquare(D d, const WindowSums& sums, const float* x, float* out, int64_t count) {
  using V = hn::Vec<D>;
  constexpr int kCount = kRowsAtOnce;
  V sum[kCount], odd[kCount];
  HWY_UNROLL(4)
  for (int r = 0; r < kCount; ++r) sum[r] = odd[r] = hn::Zero(d);
  HWY_UNROLL(16)
  for (int i = 0; i < (kCount - 1) * kStep + kSide; ++i) {
    HWY_UNROLL(5)
    for (int j = 0; j < kSide; ++j) {
      const V value = hn::LoadU(d, x + sums.place[j]);
      HWY_UNROLL(4)
      for (int r = 0; r < kCount; ++r) {
        const int k = i - r * kStep;
        if (k < 0 || k >= kSide) continue;
        const int t = k * kSide + j;
        const V w = hn::Set(d, sums.w[t]);
        if (kIsEvenOdd && t % 2 != 0) {
          odd[r] = functions::Fma(d, w, value, odd[r]);
        } else {
          sum[r] = functions::Fma(d, w, value, sum[r]);
        }
      }
    }
    x += sums.place[kSide] - sums.place[0];
  }
  HWY_UNROLL(4)
  for (int r = 0; r < kCount; ++r) {
    if (kIsEvenOdd) sum[r] = hn::Add(hn::Zero(d), hn::Add(sum[r], odd[r]));
    StoreSums(d, sums, sum[r], out + r * sums.out_row, count);
  }
}

// Computes vectors of one column each of all rows.
template <bool kIsEvenOdd, int kSide, int kStep, class D>
HWY_INLINE void SumColumn(D d, const WindowSums& sums, int64_t column, int64_t count) {
  const float* const x = sums.x + column;
  float* const out = sums.out + column;
  if (sums.rows < kRowsAtOnce) {
    for (int64_t row = 0; row < sums.rows; ++row)
      SumAny<kIsEvenOdd, 1>(d, sums, x + row * sums.x_row, 0, out + row * sums.out_row, 0, count);
    return;
  }
  for (int64_t next = 0; next < sums.rows; next += kRowsAtOnce) {
    const int64_t row = HWY_MIN(next, sums.rows - kRowsAtOnce);  // computes some rows twice at the end
    if constexpr (kSide == 0) {
      SumAny<kIsEvenOdd, kRowsAtOnce>(d, sums, x + row * sums.x_row, sums.x_row, out + row * sums.out_row,
                                      sums.out_row, count);
    } else {
      SumSquare<kIsEvenOdd, kSide, kStep>(d, sums, x + row * sums.x_row, out + row * sums.out_row, count);
    }
  }
}

template <bool kIsEvenOdd, int kSide = 0, int kStep = 1>
void SumWindows(const WindowSums& sums) {
  const DF d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t column = 0;
  if (sums.rows < kRowsAtOnce) {
    constexpr int kTogether = 4;
    for (; column + kTogether * lanes <= sums.columns; column += kTogether * lanes) {
      for (int64_t row = 0; row < sums.rows; ++row)
        SumAny<kIsEvenOdd, kTogether>(d, sums, sums.x + row * sums.x_row + column, lanes,
                                      sums.out + row * sums.out_row + column, lanes, lanes);
    }
  }
  for (; column < sums.columns; column += lanes) {
    const int64_t count = HWY_MIN(lanes, sums.columns - column);
#if HWY_TARGET == HWY_AVX3
    const hn::CappedTag<float, 8> half;
    if (count <= 8) {
      SumColumn<kIsEvenOdd, kSide, kStep>(half, sums, column, count);
      continue;
    }
#endif
    SumColumn<kIsEvenOdd, kSide, kStep>(d, sums, column, count);
  }
}

template <int kCount>
HWY_INLINE void SumPixelsOf(const PixelSums& sums, int64_t first) {
  const DF d;
  constexpr size_t kLanes = hn::MaxLanes(DF());
  float* const to = sums.sum + static_cast<size_t>(first) * kLanes;
  const int64_t* const place = sums.place + first;
  VF sum[kCount];
  HWY_UNROLL(9)
  for (int i = 0; i < kCount; ++i) sum[i] = hn::LoadU(d, to + static_cast<size_t>(i) * kLanes);
  for (int64_t k = 0; k < sums.count; k += sums.step) {
    const VF y = hn::LoadU(d, sums.y + static_cast<size_t>(k) * kLanes);
    const float* const x = sums.x + sums.pixel[k];
    HWY_UNROLL(9)
    for (int i = 0; i < kCount; ++i) sum[i] = functions::Fma(d, y, hn::LoadU(d, x + place[i]), sum[i]);
  }
  HWY_UNROLL(9)
  for (int i = 0; i < kCount; ++i) hn::StoreU(sum[i], d, to + static_cast<size_t>(i) * kLanes);
}

void SumPixels(const PixelSums& sums) {
  int64_t first = 0;
  for (; first + 9 <= sums.sums; first += 9) SumPixelsOf<9>(sums, first);
  if (first + 5 <= sums.sums) {
    SumPixelsOf<5>(sums, first);
    first += 5;
  }
  for (; first + 2 <= sums.sums; first += 2) SumPixelsOf<2>(sums, first);
  if (first < sums.sums) SumPixelsOf<1>(sums, first);
}
#endif

void AddBlock(float* even, float* odd, int64_t n, bool is_first, float* sum) {
  const DF d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < n; i += lanes) {
    auto block = hn::LoadU(d, even + i);
    hn::StoreU(hn::Zero(d), d, even + i);
    if (odd != nullptr) {
      block = hn::Add(block, hn::LoadU(d, odd + i));
      hn::StoreU(hn::Zero(d), d, odd + i);
      if (is_first) block = hn::Add(hn::Zero(d), block);
    }
    hn::StoreU(is_first ? block : hn::Add(hn::LoadU(d, sum + i), block), d, sum + i);
  }
}

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
// Loads what there is of a vector, and zeros.
HWY_INLINE VF LoadSome(DF d, const float* from, int64_t count) {
  if (count >= static_cast<int64_t>(hn::Lanes(d))) return hn::LoadU(d, from);
  if (count <= 0) return hn::Zero(d);
  return hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(count)), d, from);
}

HWY_INLINE void StoreSome(DF d, VF v, float* to, int64_t count) {
  if (count >= static_cast<int64_t>(hn::Lanes(d))) return hn::StoreU(v, d, to);
  if (count > 0) hn::BlendedStore(v, hn::FirstN(d, static_cast<size_t>(count)), d, to);
}
#endif

void CopyRows(const NumberRows& from, int64_t count, float* to, int64_t to_row) {
  const DF d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t row = 0; row < from.rows; ++row, to += to_row) {
    const float* const first = from.first + row * from.row;
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes) hn::StoreU(hn::LoadU(d, first + i), d, to + i);
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
    if (i < count) hn::StoreU(LoadSome(d, first + i, count - i), d, to + i);
#else
    for (; i < count; ++i) to[i] = first[i];
#endif
  }
}

void SeparateRows(const NumberRows& from, int64_t count, float* even, float* odd, int64_t to_row) {
  [[maybe_unused]] const DF d;
  for (int64_t row = 0; row < from.rows; ++row, even += to_row, odd += to_row) {
    const float* const first = from.first + row * from.row;
    int64_t i = 0;
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    for (; i < count; i += 2 * lanes) {
      const VF low = LoadSome(d, first + i, count - i);
      const VF high = LoadSome(d, first + i + lanes, count - i - lanes);
      hn::StoreU(hn::ConcatEven(d, high, low), d, even + i / 2);
      hn::StoreU(hn::ConcatOdd(d, high, low), d, odd + i / 2);
    }
#elif HWY_TARGET != HWY_SCALAR
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    for (; i + 2 * lanes <= count; i += 2 * lanes) {
      VF evens, odds;
      hn::LoadInterleaved2(d, first + i, evens, odds);
      hn::StoreU(evens, d, even + i / 2);
      hn::StoreU(odds, d, odd + i / 2);
    }
#endif
    for (; i < count; ++i) (i % 2 == 0 ? even : odd)[i / 2] = first[i];
  }
}

void AlternateRows(const NumberRows& even, const float* odd, int64_t count, float* to, int64_t to_row) {
  [[maybe_unused]] const DF d;
  for (int64_t row = 0; row < even.rows; ++row, to += to_row) {
    const float* const evens = even.first + row * even.row;
    const float* const odds = odd + row * even.row;
    int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    for (; i + 2 * lanes <= count; i += 2 * lanes)
      hn::StoreInterleaved2(hn::LoadU(d, evens + i / 2), hn::LoadU(d, odds + i / 2), d, to + i);
#endif
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
    if (i < count) {
      HWY_ALIGN float last[2 * hn::MaxLanes(DF())];
      hn::StoreInterleaved2(LoadSome(d, evens + i / 2, (count - i + 1) / 2),
                            LoadSome(d, odds + i / 2, (count - i) / 2), d, last);
      StoreSome(d, hn::Load(d, last), to + i, count - i);
      StoreSome(d, hn::Load(d, last + lanes), to + i + lanes, count - i - lanes);
    }
#else
    for (; i < count; ++i) to[i] = (i % 2 == 0 ? evens : odds)[i / 2];
#endif
  }
}

const DepthwiseKernels& DepthwiseHere() {
#if HWY_HAVE_SCALABLE
  static const DepthwiseKernels kernels = {
      kDepthwiseIsa,
      static_cast<int64_t>(hn::Lanes(DF())),
      {{SumWindows<false>, SumWindows<false>, SumWindows<false>, SumWindows<false>, SumWindows<false>},
       {SumWindows<true>, SumWindows<true>, SumWindows<true>, SumWindows<true>, SumWindows<true>}},
      SumPixels,
      AddBlock,
      CopyRows,
      SeparateRows,
      AlternateRows};
#else
  static const DepthwiseKernels kernels = {
      kDepthwiseIsa,
      static_cast<int64_t>(hn::Lanes(DF())),
      {{SumWindows<false>, SumWindows<false, 3, 1>, SumWindows<false, 3, 2>, SumWindows<false, 5, 1>,
        SumWindows<false, 5, 2>},
       {SumWindows<true>, SumWindows<true, 3, 1>, SumWindows<true, 3, 2>, SumWindows<true, 5, 1>,
        SumWindows<true, 5, 2>}},
      SumPixels,
      AddBlock,
      CopyRows,
      SeparateRows,
      AlternateRows};
#endif
  return kernels;
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "engine/isa_table.h"

namespace portacl::engine {

const DepthwiseKernels& FindDepthwiseKernels(Isa isa) noexcept {
  static constexpr auto kTable = PORTACL_ISA_TABLE(DepthwiseHere);
  return kTable.For(isa)();
}

}  // namespace portacl::engine

#endif  // HWY_ONCE
