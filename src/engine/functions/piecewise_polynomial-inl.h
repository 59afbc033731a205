// Piecewise polynomials of sixteen intervals over float32 vectors. They need no division and no exponential;
// permutations fetch the coefficients from vectors that stay in registers.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ENGINE_FUNCTIONS_PIECEWISE_POLYNOMIAL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ENGINE_FUNCTIONS_PIECEWISE_POLYNOMIAL_INL_H_
#undef PORTACL_ENGINE_FUNCTIONS_PIECEWISE_POLYNOMIAL_INL_H_
#else
#define PORTACL_ENGINE_FUNCTIONS_PIECEWISE_POLYNOMIAL_INL_H_
#endif

#include <hwy/highway.h>
#include "engine/functions/piecewise_polynomial.h"
#include "engine/functions/primitives-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {
namespace functions {

// Looks up a table of 16 numbers by the low 4 bits of signed 32-bit lanes.
template <Float32Lanes D, class VI>
HWY_INLINE hn::Vec<D> EntryOf16(D d, VI index, const float* table) {
#if HWY_TARGET == HWY_AVX3
  return hn::Vec<D>{_mm512_permutexvar_ps(index.raw, _mm512_load_ps(table))};
#elif HWY_TARGET == HWY_AVX2
  const __m256 low = _mm256_permutevar8x32_ps(_mm256_load_ps(table), index.raw);
  const __m256 high = _mm256_permutevar8x32_ps(_mm256_load_ps(table + 8), index.raw);
  return hn::Vec<D>{_mm256_blendv_ps(low, high, _mm256_castsi256_ps(_mm256_slli_epi32(index.raw, 28)))};
#else
  return hn::GatherIndex(d, table, hn::And(index, hn::Set(hn::RebindToSigned<D>(), 15)));
#endif
}

// Evaluates the function at |x|. The result for NaN is unspecified.
template <Float32Lanes D, class V, int kDegree>
HWY_INLINE V AtMagnitude(D d, V x, const PiecewisePolynomial<kDegree>& table) {
  const V a = hn::Min(hn::Abs(x), hn::Set(d, table.limit));
  const hn::RebindToSigned<D> di;
  const auto interval = hn::BitCast(di, Fma(d, a, hn::Set(d, table.scale), RoundingShift(d)));
  const V distance = hn::Sub(a, EntryOf16(d, interval, table.node));
  V sum = EntryOf16(d, interval, table.coefficient[0]);
  for (int k = 1; k <= kDegree; ++k)
    sum = Fma(d, sum, distance, EntryOf16(d, interval, table.coefficient[k]));
  return sum;
}

}  // namespace functions
}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
