// Adds rows times numbers to other rows (see row_terms.h). A tile of four rows and two vectors stays in registers
// while its terms are added, so that a row is read once for four and written once for all.
// SPDX-License-Identifier: Apache-2.0
#include "engine/linalg/row_terms.h"

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/linalg/row_terms.cc"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "engine/functions/primitives-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {
namespace row_terms {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
const T* FactorsOf(const RowTerms<T>& work, int64_t row) {
  return work.factors + row * work.factor_row;
}

// Four rows, two vectors of columns.
template <class D, class T = hn::TFromD<D>>
void AddToTile(D d, const RowTerms<T>& work, int64_t row, int64_t column, T sign) {
  const int64_t next = column + static_cast<int64_t>(hn::Lanes(d));
  T* const to = work.to + row * work.to_pitch;
  T* const to1 = to + work.to_pitch;
  T* const to2 = to1 + work.to_pitch;
  T* const to3 = to2 + work.to_pitch;
  auto a0 = hn::LoadU(d, to + column), b0 = hn::LoadU(d, to + next);
  auto a1 = hn::LoadU(d, to1 + column), b1 = hn::LoadU(d, to1 + next);
  auto a2 = hn::LoadU(d, to2 + column), b2 = hn::LoadU(d, to2 + next);
  auto a3 = hn::LoadU(d, to3 + column), b3 = hn::LoadU(d, to3 + next);
  const T* factor = FactorsOf(work, row);
  const T* from = work.from;
  for (int64_t k = 0; k < work.terms; ++k, factor += work.factor_term, from += work.from_pitch) {
    const auto x = hn::LoadU(d, from + column);
    const auto y = hn::LoadU(d, from + next);
    const auto f0 = hn::Set(d, sign * factor[0]);
    a0 = functions::Fma(d, f0, x, a0);
    b0 = functions::Fma(d, f0, y, b0);
    const auto f1 = hn::Set(d, sign * factor[work.factor_row]);
    a1 = functions::Fma(d, f1, x, a1);
    b1 = functions::Fma(d, f1, y, b1);
    const auto f2 = hn::Set(d, sign * factor[2 * work.factor_row]);
    a2 = functions::Fma(d, f2, x, a2);
    b2 = functions::Fma(d, f2, y, b2);
    const auto f3 = hn::Set(d, sign * factor[3 * work.factor_row]);
    a3 = functions::Fma(d, f3, x, a3);
    b3 = functions::Fma(d, f3, y, b3);
  }
  hn::StoreU(a0, d, to + column);
  hn::StoreU(b0, d, to + next);
  hn::StoreU(a1, d, to1 + column);
  hn::StoreU(b1, d, to1 + next);
  hn::StoreU(a2, d, to2 + column);
  hn::StoreU(b2, d, to2 + next);
  hn::StoreU(a3, d, to3 + column);
  hn::StoreU(b3, d, to3 + next);
}

// One row, four vectors of columns.
template <class D, class T = hn::TFromD<D>>
void AddToVectors(D d, const RowTerms<T>& work, int64_t row, int64_t column, T sign) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  T* const to = work.to + row * work.to_pitch + column;
  auto a = hn::LoadU(d, to), b = hn::LoadU(d, to + lanes);
  auto c = hn::LoadU(d, to + 2 * lanes), e = hn::LoadU(d, to + 3 * lanes);
  const T* factor = FactorsOf(work, row);
  const T* from = work.from + column;
  for (int64_t k = 0; k < work.terms; ++k, factor += work.factor_term, from += work.from_pitch) {
    const auto f = hn::Set(d, sign * *factor);
    a = functions::Fma(d, f, hn::LoadU(d, from), a);
    b = functions::Fma(d, f, hn::LoadU(d, from + lanes), b);
    c = functions::Fma(d, f, hn::LoadU(d, from + 2 * lanes), c);
    e = functions::Fma(d, f, hn::LoadU(d, from + 3 * lanes), e);
  }
  hn::StoreU(a, d, to);
  hn::StoreU(b, d, to + lanes);
  hn::StoreU(c, d, to + 2 * lanes);
  hn::StoreU(e, d, to + 3 * lanes);
}

// One row, one vector of columns.
template <class D, class T = hn::TFromD<D>>
void AddToVector(D d, const RowTerms<T>& work, int64_t row, int64_t column, T sign) {
  T* const to = work.to + row * work.to_pitch + column;
  auto sum = hn::LoadU(d, to);
  const T* factor = FactorsOf(work, row);
  const T* from = work.from + column;
  for (int64_t k = 0; k < work.terms; ++k, factor += work.factor_term, from += work.from_pitch)
    sum = functions::Fma(d, hn::Set(d, sign * *factor), hn::LoadU(d, from), sum);
  hn::StoreU(sum, d, to);
}

// The columns of a row from `column` on, by vectors, from the longest one down. A masked store would also write
// columns behind them, which may be another thread's.
template <class T>
void AddToRest(const RowTerms<T>& work, int64_t row, int64_t column, T sign) {
  const auto by = [&](auto d) HWY_ATTR {
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    for (; column + lanes <= work.columns; column += lanes) AddToVector(d, work, row, column, sign);
  };
  by(hn::ScalableTag<T>());
  by(hn::CappedTag<T, 4>());
  by(hn::CappedTag<T, 1>());
}

template <class T>
void Add(const RowTerms<T>& work) {
  constexpr int64_t kRows = 4;
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const T sign = work.subtracts ? T{-1} : T{1};
  int64_t row = 0;
  for (; row + kRows <= work.rows; row += kRows) {
    int64_t column = 0;
    for (; column + 2 * lanes <= work.columns; column += 2 * lanes) AddToTile(d, work, row, column, sign);
    for (int64_t one = row; one < row + kRows; ++one) AddToRest(work, one, column, sign);
  }
  for (; row < work.rows; ++row) {
    int64_t column = 0;
    for (; column + 4 * lanes <= work.columns; column += 4 * lanes) AddToVectors(d, work, row, column, sign);
    AddToRest(work, row, column, sign);
  }
}

}  // namespace row_terms

RowTermsKernels RowTermsKernelsHere(Isa isa) { return {isa, row_terms::Add<float>, row_terms::Add<double>}; }

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "engine/isa_table.h"

namespace portacl::engine {

RowTermsKernels RowTermsKernelsOf(Isa isa) noexcept {
  static constexpr auto kKernels = PORTACL_ISA_TABLE(RowTermsKernelsHere);
  return kKernels.For(isa)(isa);
}

}  // namespace portacl::engine

#endif  // HWY_ONCE
