// Sums of float32 terms in memory (see term_sums.h). Compiled once per instruction set.
// SPDX-License-Identifier: Apache-2.0
#include "engine/reduction/term_sums.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/reduction/term_sums.cc"
#include "base/foreach_target.h"

#include <hwy/highway.h>
#include "engine/reduction/sum_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

void SumShortTiles(const float* terms, size_t length, size_t count, double* sums) {
  for (size_t s = 0; s < count; ++s) {
    Sums16 lanes;
    lanes.Clear();
    lanes.Add(Keep(LoadTerms(terms + s * length), 0, length));
    sums[s] = lanes.Total();
  }
}

// The additions of one sum wait for each other, so that four groups take turns.
void AddNarrowRows(const float* terms, size_t stride, size_t groups, size_t rows, size_t width,
                   double* sums) {
  const hn::CappedTag<double, kLanes> dd;
  const hn::Rebind<float, decltype(dd)> df;
  const size_t lanes = hn::Lanes(dd);
  for (size_t i = 0; i < width; i += lanes) {
    const auto term = [&](size_t at) HWY_ATTR { return hn::PromoteTo(dd, hn::LoadU(df, terms + at + i)); };
    size_t g = 0;
    for (; g + 4 <= groups; g += 4) {
      double* const to = sums + g * kLanes + i;
      auto sum0 = hn::LoadU(dd, to);
      auto sum1 = hn::LoadU(dd, to + kLanes);
      auto sum2 = hn::LoadU(dd, to + 2 * kLanes);
      auto sum3 = hn::LoadU(dd, to + 3 * kLanes);
      for (size_t at = g * stride, end = at + rows * width; at < end; at += width) {
        sum0 = hn::Add(sum0, term(at));
        sum1 = hn::Add(sum1, term(at + stride));
        sum2 = hn::Add(sum2, term(at + 2 * stride));
        sum3 = hn::Add(sum3, term(at + 3 * stride));
      }
      hn::StoreU(sum0, dd, to);
      hn::StoreU(sum1, dd, to + kLanes);
      hn::StoreU(sum2, dd, to + 2 * kLanes);
      hn::StoreU(sum3, dd, to + 3 * kLanes);
    }
    for (; g < groups; ++g) {
      double* const to = sums + g * kLanes + i;
      auto sum = hn::LoadU(dd, to);
      for (size_t at = g * stride, end = at + rows * width; at < end; at += width) {
        sum = hn::Add(sum, term(at));
      }
      hn::StoreU(sum, dd, to);
    }
  }
}

void AddAcrossOneByOne(const float* terms, size_t pitch, size_t rows, double* sums) {
  for (size_t r = 0; r < rows; ++r) {
    for (size_t i = 0; i < kLanes; ++i) sums[i] += static_cast<double>(terms[i * pitch + r]);
  }
}

#if HWY_TARGET == HWY_SCALAR || HWY_HAVE_SCALABLE

void AddAcross(const float* terms, size_t pitch, size_t rows, double* sums) {
  AddAcrossOneByOne(terms, pitch, rows, sums);
}

#else

// Loads four terms of every fourth column, from the given one on.
template <class D>
HWY_INLINE hn::Vec<D> LoadFours(D d, const float* terms, size_t pitch) {
  if constexpr (hn::MaxLanes(D()) == 4) {
    return hn::LoadU(d, terms);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, LoadFours(half, terms + hn::MaxLanes(half) * pitch, pitch),
                       LoadFours(half, terms, pitch));
  }
}

void AddAcross(const float* terms, size_t pitch, size_t rows, double* sums) {
  const DF d;
  Sums16 total;
  total.Load(sums);
  size_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    // Takes four rows. Transposing the square in each 16 bytes gives whole rows.
    Terms16 row[4];
    for (size_t i = 0; i < kLanes / kFloatLanes; ++i) {
      const float* const from = terms + i * kFloatLanes * pitch + r;
      const VF first = LoadFours(d, from, pitch);
      const VF second = LoadFours(d, from + pitch, pitch);
      const VF third = LoadFours(d, from + 2 * pitch, pitch);
      const VF fourth = LoadFours(d, from + 3 * pitch, pitch);
      const VF odd_low = hn::InterleaveLower(d, first, third);
      const VF odd_high = hn::InterleaveUpper(d, first, third);
      const VF even_low = hn::InterleaveLower(d, second, fourth);
      const VF even_high = hn::InterleaveUpper(d, second, fourth);
      row[0].term[i] = hn::InterleaveLower(d, odd_low, even_low);
      row[1].term[i] = hn::InterleaveUpper(d, odd_low, even_low);
      row[2].term[i] = hn::InterleaveLower(d, odd_high, even_high);
      row[3].term[i] = hn::InterleaveUpper(d, odd_high, even_high);
    }
    for (const Terms16& one : row) total.Add(one);
  }
  total.Store(sums);
  AddAcrossOneByOne(terms + r, pitch, rows - r, sums);
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "engine/isa_table.h"

namespace portacl::engine {
namespace {

constexpr auto kSumShortTiles = PORTACL_ISA_TABLE(SumShortTiles);
constexpr auto kAddNarrowRows = PORTACL_ISA_TABLE(AddNarrowRows);
constexpr auto kAddAcross = PORTACL_ISA_TABLE(AddAcross);

}  // namespace

TermSums FindTermSums(Isa isa) noexcept {
  return {kSumShortTiles.For(isa), kAddNarrowRows.For(isa), kAddAcross.For(isa)};
}

}  // namespace portacl::engine

#endif  // HWY_ONCE
