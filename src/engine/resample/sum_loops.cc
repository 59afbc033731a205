// Sums, products and combinations of a tile's columns (see sum_loops.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/resample/sum_loops.h"

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/resample/sum_loops.cc"
#include "base/foreach_target.h"

#include <hwy/highway.h>

#include "engine/half_precision-inl.h"

// The loops over a tile: mostly plain ones that the compiler vectorises for each instruction set.
HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

template <class T>
void Add(T* __restrict sum, const T* __restrict value, size_t n) {
  for (size_t i = 0; i < n; ++i) sum[i] += value[i];
}
template <class T>
void AddScaled(T* __restrict sum, const T* __restrict value, T weight, size_t n) {
  for (size_t i = 0; i < n; ++i) sum[i] += weight * value[i];
}
// Adds products, but nothing for a weight of 0, whatever the value.
template <class T>
void AddPresent(T* __restrict sum, const T* __restrict value, const T* __restrict weight, size_t n) {
  for (size_t i = 0; i < n; ++i) sum[i] += weight[i] != 0 ? weight[i] * value[i] : T{0};
}
template <class T>
void AddWeighted(T* __restrict sum, const T* __restrict value, const T* __restrict weight, size_t n) {
  for (size_t i = 0; i < n; ++i) sum[i] += weight[i] * value[i];
}
// Adds two adjacent values for each sum.
template <class T>
void SumPairs(T* __restrict sum, const T* __restrict value, size_t n) {
  for (size_t i = 0; i < n; ++i) sum[i] = (T{0} + value[2 * i]) + value[2 * i + 1];
}

// Adds kRows rows, each with a weight, to +0. With `stream`, writes whole cache lines past the caches.
template <int kRows, class T>
HWY_INLINE void CombineSome(T* HWY_RESTRICT to, const T* const* row, const T* weight, size_t n, bool stream) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    auto sum = hn::Zero(d);
    for (int k = 0; k < kRows; ++k)
      sum = hn::Add(sum, hn::Mul(hn::Set(d, weight[k]), hn::LoadU(d, row[k] + i)));
    if (stream) {
      StoreWhole(d, sum, to + i, true);
    } else {
      hn::StoreU(sum, d, to + i);
    }
  }
  for (; i < n; ++i) {
    T sum = 0;
    for (int k = 0; k < kRows; ++k) sum += weight[k] * row[k][i];
    to[i] = sum;
  }
}
template <class T>
HWY_INLINE void Combine(T* to, const T* const* row, const T* weight, int rows, size_t n, bool stream) {
  stream = kCanStream && stream && reinterpret_cast<uintptr_t>(to) % 64 == 0;
  if (rows == 2) return CombineSome<2>(to, row, weight, n, stream);
  CombineSome<4>(to, row, weight, n, stream);
}

// Sums columns' taps along a row whose elements [begin, end) start at `from`. The indices and weights of a
// tap are listed column by column, and indices do not descend. Therefore a vector of indices lies within a
// few vectors of elements, mostly one, whose lanes are permuted.
void SumNear(float* HWY_RESTRICT sum, const float* from, int64_t begin, int64_t end, const int32_t* index,
             const float* weight, int64_t taps, size_t n) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const size_t lanes = hn::Lanes(d);
  const auto width = static_cast<int64_t>(lanes);
  from -= begin;
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    auto total = hn::Zero(d);
    for (int64_t tap = 0; tap < taps; ++tap) {
      const size_t at = static_cast<size_t>(tap) * n + i;
      const int64_t first = HWY_MIN(int64_t{index[at]}, end - width);
      auto value = hn::Undefined(d);
      if (first >= begin && index[at + lanes - 1] - first < width) {
        const auto lane = hn::Sub(hn::LoadU(di, index + at), hn::Set(di, static_cast<int32_t>(first)));
        value = hn::TableLookupLanes(hn::LoadU(d, from + first), hn::IndicesFromVec(d, lane));
      } else {
        HWY_ALIGN float gathered[HWY_MAX_BYTES / sizeof(float)];
        for (size_t k = 0; k < lanes; ++k) gathered[k] = from[index[at + k]];
        value = hn::Load(d, gathered);
      }
      total = hn::Add(total, hn::Mul(hn::LoadU(d, weight + at), value));
    }
    hn::StoreU(total, d, sum + i);
  }
  for (; i < n; ++i) {
    float total = 0;
    for (size_t at = i; at < static_cast<size_t>(taps) * n; at += n) total += weight[at] * from[index[at]];
    sum[i] = total;
  }
}

void CombineFloat(float* to, const float* const* row, const float* weight, int rows, size_t n, bool stream) {
  Combine(to, row, weight, rows, n, stream);
}
void CombineDouble(double* to, const double* const* row, const double* weight, int rows, size_t n,
                   bool stream) {
  Combine(to, row, weight, rows, n, stream);
}
void AddFloat(float* sum, const float* value, size_t n) { Add(sum, value, n); }
void AddDouble(double* sum, const double* value, size_t n) { Add(sum, value, n); }
void SumPairsFloat(float* sum, const float* value, size_t n) { SumPairs(sum, value, n); }
void SumPairsDouble(double* sum, const double* value, size_t n) { SumPairs(sum, value, n); }
void AddScaledFloat(float* sum, const float* value, float weight, size_t n) {
  AddScaled(sum, value, weight, n);
}
void AddScaledDouble(double* sum, const double* value, double weight, size_t n) {
  AddScaled(sum, value, weight, n);
}
void AddPresentFloat(float* sum, const float* value, const float* weight, size_t n) {
  AddPresent(sum, value, weight, n);
}
void AddWeightedFloat(float* sum, const float* value, const float* weight, size_t n) {
  AddWeighted(sum, value, weight, n);
}
void AddPresentDouble(double* sum, const double* value, const double* weight, size_t n) {
  AddPresent(sum, value, weight, n);
}
void AddWeightedDouble(double* sum, const double* value, const double* weight, size_t n) {
  AddWeighted(sum, value, weight, n);
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <type_traits>

#include "engine/isa_table.h"

namespace portacl::engine {

template <class T>
TileLoops<T> LoopsFor(Isa isa) {
  if constexpr (std::is_same_v<T, float>) {
    static constexpr auto kAdd = PORTACL_ISA_TABLE(AddFloat);
    static constexpr auto kSumPairs = PORTACL_ISA_TABLE(SumPairsFloat);
    static constexpr auto kAddScaled = PORTACL_ISA_TABLE(AddScaledFloat);
    static constexpr auto kAddWeighted = PORTACL_ISA_TABLE(AddWeightedFloat);
    static constexpr auto kAddPresent = PORTACL_ISA_TABLE(AddPresentFloat);
    static constexpr auto kCombine = PORTACL_ISA_TABLE(CombineFloat);
    static constexpr auto kSumNear = PORTACL_ISA_TABLE(SumNear);
    return {kAdd.For(isa),        kSumPairs.For(isa), kAddScaled.For(isa), kAddWeighted.For(isa),
            kAddPresent.For(isa), kCombine.For(isa),  kSumNear.For(isa)};
  } else {
    static constexpr auto kAdd = PORTACL_ISA_TABLE(AddDouble);
    static constexpr auto kSumPairs = PORTACL_ISA_TABLE(SumPairsDouble);
    static constexpr auto kAddScaled = PORTACL_ISA_TABLE(AddScaledDouble);
    static constexpr auto kAddWeighted = PORTACL_ISA_TABLE(AddWeightedDouble);
    static constexpr auto kAddPresent = PORTACL_ISA_TABLE(AddPresentDouble);
    static constexpr auto kCombine = PORTACL_ISA_TABLE(CombineDouble);
    return {kAdd.For(isa),
            kSumPairs.For(isa),
            kAddScaled.For(isa),
            kAddWeighted.For(isa),
            kAddPresent.For(isa),
            kCombine.For(isa),
            nullptr};
  }
}

template TileLoops<float> LoopsFor<float>(Isa isa);
template TileLoops<double> LoopsFor<double>(Isa isa);

}  // namespace portacl::engine

#endif  // HWY_ONCE
