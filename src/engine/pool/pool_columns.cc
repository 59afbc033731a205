// Maxima, sums and quotients over the columns of a pool's tile (see pool_columns.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/pool/pool_columns.h"

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/pool/pool_columns.cc"
#include "base/foreach_target.h"

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using PoolVector = hn::CappedTag<float, kPoolLanes>;

// Calls f(window, first, end) with the columns of each window that are among these.
template <class F>
HWY_INLINE void ForEachWindow(const PoolColumns& columns, const F& f) {
  const int64_t step = columns.dilation;
  const int64_t end = columns.first + columns.count;
  for (int64_t x = 0; x < columns.window_count; ++x) {
    int64_t at = columns.windows[x].first;
    int64_t behind = at + columns.windows[x].count * step;
    if (at < columns.first) at += (columns.first - at + step - 1) / step * step;
    if (behind > end) behind = end;
    if (at < behind) f(static_cast<size_t>(x), at, behind);
  }
}

template <bool kWithIndices>
void AddMaxima(const PoolColumns& columns, float* HWY_RESTRICT largest, int32_t* HWY_RESTRICT indices) {
  const PoolVector d;
  const hn::RebindToSigned<PoolVector> di;
  ForEachWindow(columns, [&](size_t x, int64_t first, int64_t end) HWY_ATTR {
    for (size_t lane = 0; lane < kPoolLanes; lane += hn::Lanes(d)) {
      auto best = hn::Load(d, largest + x * kPoolLanes + lane);
      auto max_index = hn::Load(di, indices + x * kPoolLanes + lane);
      const auto row = hn::Load(di, columns.row_indices + lane);
      for (int64_t c = first; c < end; c += columns.dilation) {
        const auto value =
            hn::Load(d, columns.values + static_cast<size_t>(c - columns.first) * kPoolLanes + lane);
        const auto wins = hn::Or(hn::Gt(value, best), hn::IsNaN(value));
        best = hn::IfThenElse(wins, value, best);
        if constexpr (kWithIndices) {
          const auto here = hn::Add(row, hn::Set(di, static_cast<int32_t>(c)));
          max_index = hn::IfThenElse(hn::RebindMask(di, wins), here, max_index);
        }
      }
      hn::Store(best, d, largest + x * kPoolLanes + lane);
      if constexpr (kWithIndices) hn::Store(max_index, di, indices + x * kPoolLanes + lane);
    }
  });
}
void AddMaximaAlone(const PoolColumns& columns, float* largest, int32_t* indices) {
  AddMaxima<false>(columns, largest, indices);
}
void AddMaximaWithIndices(const PoolColumns& columns, float* largest, int32_t* indices) {
  AddMaxima<true>(columns, largest, indices);
}

void AddSums(const PoolColumns& columns, float* HWY_RESTRICT sums, int32_t*) {
  const PoolVector d;
  ForEachWindow(columns, [&](size_t x, int64_t first, int64_t end) HWY_ATTR {
    for (size_t lane = 0; lane < kPoolLanes; lane += hn::Lanes(d)) {
      auto sum = hn::Load(d, sums + x * kPoolLanes + lane);
      for (int64_t c = first; c < end; c += columns.dilation)
        sum = hn::Add(
            sum, hn::Load(d, columns.values + static_cast<size_t>(c - columns.first) * kPoolLanes + lane));
      hn::Store(sum, d, sums + x * kPoolLanes + lane);
    }
  });
}

// values[c][lane] /= by_column[c] * by_lane[lane]
void DivideTile(float* HWY_RESTRICT values, size_t count, const float* HWY_RESTRICT by_column,
                const float* HWY_RESTRICT by_lane) {
  const PoolVector d;
  for (size_t lane = 0; lane < kPoolLanes; lane += hn::Lanes(d)) {
    const auto of_lane = hn::Load(d, by_lane + lane);
    for (size_t c = 0; c < count; ++c) {
      float* const at = values + c * kPoolLanes + lane;
      hn::Store(hn::Div(hn::Load(d, at), hn::Mul(of_lane, hn::Set(d, by_column[c]))), d, at);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "engine/isa_table.h"

namespace portacl::engine {

PoolLoops FindPoolLoops(Isa isa) noexcept {
  static constexpr auto kMaxima = PORTACL_ISA_TABLE(AddMaximaAlone);
  static constexpr auto kMaximaWithIndices = PORTACL_ISA_TABLE(AddMaximaWithIndices);
  static constexpr auto kSums = PORTACL_ISA_TABLE(AddSums);
  static constexpr auto kDivide = PORTACL_ISA_TABLE(DivideTile);
  return {kMaxima.For(isa), kMaximaWithIndices.For(isa), kSums.For(isa), kDivide.For(isa)};
}

}  // namespace portacl::engine

#endif  // HWY_ONCE
