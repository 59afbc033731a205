// Mean and variance of a row of float32 numbers; the reciprocal of its root mean square. Compiled once per instruction set.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ACLNNOP_NORM_MOMENTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ACLNNOP_NORM_MOMENTS_INL_H_
#undef PORTACL_ACLNNOP_NORM_MOMENTS_INL_H_
#else
#define PORTACL_ACLNNOP_NORM_MOMENTS_INL_H_
#endif

#include <cmath>

#include "aclnnop/jobs/statistics.h"
#include "engine/rowwise/rowwise_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {

struct Moments {
  double exact_mean;  // before rounding to float32
  float mean;
  double variance;  // biased
};

// Computes the moments of numbers that are made from a row's inputs. Sums squared distances from the rounded
// mean, and corrects the variance for the mean's rounding error.
template <size_t... kInput, class Row, class F>
HWY_INLINE Moments MomentsOf(Row& row, const F& number) {
  namespace hn = hwy::HWY_NAMESPACE;
  using V = typename Row::V;
  const typename Row::D d;
  const auto n = static_cast<double>(row.n());
  Moments moments;
  moments.exact_mean =
      row.template Sum<kInput...>([&](auto, auto... x) HWY_ATTR { return number(x...); }) / n;
  moments.mean = static_cast<float>(moments.exact_mean);
  const V mean = hn::Set(d, moments.mean);
  const double squares = row.template Sum<kInput...>([&](auto, auto... x) HWY_ATTR {
    const V distance = hn::Sub(number(x...), mean);
    return hn::Mul(distance, distance);
  });
  const double rounded_off = moments.exact_mean - static_cast<double>(moments.mean);
  const double variance = squares / n - rounded_off * rounded_off;
  moments.variance = variance < 0 ? 0 : variance;
  return moments;
}

template <class Row>
HWY_INLINE Moments MomentsOf(Row& row) {
  return MomentsOf<0>(row, [](typename Row::V x) HWY_ATTR { return x; });
}

// Computes 1 / sqrt(mean of squares + eps) from the sum of squares. Stores it as the row's first number, and
// returns it.
template <class Row>
HWY_INLINE float SetReciprocal(Row& row, double squares, double eps) {
  const double mean = squares / static_cast<double>(row.n());
  const float rstd = static_cast<float>(1.0 / std::sqrt(mean + eps));
  row.SetValue(0, static_cast<double>(rstd));
  return rstd;
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
