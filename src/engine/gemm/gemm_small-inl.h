// Small matrix products of float32 whose operands are not packed. Compiled once per instruction set.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ENGINE_GEMM_GEMM_SMALL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ENGINE_GEMM_GEMM_SMALL_INL_H_
#undef PORTACL_ENGINE_GEMM_GEMM_SMALL_INL_H_
#else
#define PORTACL_ENGINE_GEMM_GEMM_SMALL_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <hwy/highway.h>
#include "engine/functions/primitives-inl.h"
#include "engine/gemm/gemm_panels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

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

inline void MultiplySmall(const SmallProduct& product) {
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

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#endif
