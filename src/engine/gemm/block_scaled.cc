// Products of INT8 with a scale for each block of terms (see block_scaled.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/gemm/block_scaled.h"

#include <algorithm>

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/gemm/block_scaled.cc"
#include "base/foreach_target.h"

#include <hwy/highway.h>
#include "engine/half_precision-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

namespace block_scaled {

namespace hn = hwy::HWY_NAMESPACE;

// Sets sums to the products of a row's n terms and those of each of four columns, which are `stride` bytes apart.
// Integer sums are exact in any order.
void Dots(const int8_t* row, const int8_t* columns, int64_t stride, size_t n, int32_t* sums) {
  const int8_t* const c0 = columns;
  const int8_t* const c1 = columns + stride;
  const int8_t* const c2 = columns + 2 * stride;
  const int8_t* const c3 = columns + 3 * stride;
  size_t i = 0;
#if HWY_TARGET == HWY_SCALAR
  std::fill(sums, sums + 4, 0);
#else
  const DI d;
  const hn::Repartition<int16_t, DI> wide;
  const hn::Rebind<int8_t, decltype(wide)> bytes;
  const size_t lanes = hn::Lanes(wide);
  auto s0 = hn::Zero(d);
  auto s1 = hn::Zero(d);
  auto s2 = hn::Zero(d);
  auto s3 = hn::Zero(d);
  auto t0 = hn::Zero(d);
  auto t1 = hn::Zero(d);
  auto t2 = hn::Zero(d);
  auto t3 = hn::Zero(d);
  for (; i + lanes <= n; i += lanes) {
    const auto term = hn::PromoteTo(wide, hn::LoadU(bytes, row + i));
    s0 = hn::ReorderWidenMulAccumulate(d, term, hn::PromoteTo(wide, hn::LoadU(bytes, c0 + i)), s0, t0);
    s1 = hn::ReorderWidenMulAccumulate(d, term, hn::PromoteTo(wide, hn::LoadU(bytes, c1 + i)), s1, t1);
    s2 = hn::ReorderWidenMulAccumulate(d, term, hn::PromoteTo(wide, hn::LoadU(bytes, c2 + i)), s2, t2);
    s3 = hn::ReorderWidenMulAccumulate(d, term, hn::PromoteTo(wide, hn::LoadU(bytes, c3 + i)), s3, t3);
  }
  sums[0] = hn::GetLane(hn::SumOfLanes(d, hn::Add(s0, t0)));
  sums[1] = hn::GetLane(hn::SumOfLanes(d, hn::Add(s1, t1)));
  sums[2] = hn::GetLane(hn::SumOfLanes(d, hn::Add(s2, t2)));
  sums[3] = hn::GetLane(hn::SumOfLanes(d, hn::Add(s3, t3)));
#endif
  for (; i < n; ++i) {
    sums[0] += row[i] * c0[i];
    sums[1] += row[i] * c1[i];
    sums[2] += row[i] * c2[i];
    sums[3] += row[i] * c3[i];
  }
}

}  // namespace block_scaled
}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "base/data_type.h"
#include "base/float_environment.h"
#include "engine/conversions.h"
#include "engine/isa_in_use.h"
#include "engine/isa_table.h"
#include "engine/parallel.h"

namespace portacl::engine {
namespace {

constexpr auto kDots = PORTACL_ISA_TABLE(block_scaled::Dots);
constexpr int64_t kRowsAtATime = 16;
constexpr int64_t kColumnsAtOnce = 4;

int64_t QuotientUp(int64_t a, int64_t b) { return (a + b - 1) / b; }
float FloatAt(const char* base, int64_t at) { return Load<float>(base + at * int64_t{sizeof(float)}); }

}  // namespace

void BlockScaledProduct::Run(const JobContext& context) const noexcept {
  const auto* const a = reinterpret_cast<const int8_t*>(left.Address(context));
  const auto* const b = reinterpret_cast<const int8_t*>(right.Address(context));
  const char* const of_rows = row_scale.Address(context);
  const char* const of_columns = column_scale.Address(context);
  const char* const added = has_bias ? bias.Address(context) : nullptr;
  char* const to = out.Address(context);
  const auto size = static_cast<int64_t>(StorageBits(dtype) / 8);
  const auto dots = kDots.For(isa);
  ReportIsaThatRan(isa);
  const StoreFunction store = FindStore(isa, dtype);
  const int64_t blocks = QuotientUp(terms, term_block);
  const int64_t across = QuotientUp(columns, kBlock);
  ForEachBlock(QuotientUp(rows, kRowsAtATime) * across, threads, [&](int64_t unit) {
    const DefaultFloatEnvironment environment;
    const int64_t first = unit / across * kRowsAtATime;
    const int64_t last = std::min(rows, first + kRowsAtATime);
    const int64_t from = unit % across * kBlock;
    const int64_t n = std::min(columns, from + kBlock) - from;
    float sums[kRowsAtATime][kBlock] = {};
    for (int64_t block = 0; block < blocks; ++block) {
      const int64_t begin = block * term_block;
      const auto length = static_cast<size_t>(std::min(terms, begin + term_block) - begin);
      for (int64_t row = first; row < last; ++row) {
        const float of_row = FloatAt(of_rows, row * blocks + block);
        const auto scale = [&](int64_t column) {
          const int64_t own = (from + column) / column_block;
          return of_row * FloatAt(of_columns, repeats_columns ? own : own * blocks + block);
        };
        float* const own = sums[row - first];
        for (int64_t column = 0; column < n; column += kColumnsAtOnce) {
          // The last columns are computed one by one.
          const int64_t some = std::min(kColumnsAtOnce, n - column);
          int32_t exact[kColumnsAtOnce];
          const int8_t* const terms_of = b + (from + column) * terms + begin;
          if (some == kColumnsAtOnce) {
            dots(a + row * terms + begin, terms_of, terms, length, exact);
            for (int64_t k = 0; k < some; ++k)
              own[column + k] += static_cast<float>(exact[k]) * scale(column + k);
          } else {
            for (int64_t k = 0; k < some; ++k) {
              dots(a + row * terms + begin, terms_of + k * terms, 0, length, exact);
              own[column + k] += static_cast<float>(exact[0]) * scale(column + k);
            }
          }
        }
      }
    }
    for (int64_t row = first; row < last; ++row) {
      float* const own = sums[row - first];
      for (int64_t i = 0; added != nullptr && i < n; ++i) own[i] += FloatAt(added, from + i);
      store(own, to + (row * columns + from) * size, static_cast<size_t>(n), false);
    }
  });
}

}  // namespace portacl::engine

#endif  // HWY_ONCE
