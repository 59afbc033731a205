// The gradient of distances (see distance_gradient.h). Vectors run along the numbers of a row, so that each
// element has its own chain.
// SPDX-License-Identifier: Apache-2.0
#include "engine/gemm/distance_gradient.h"

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/gemm/distance_gradient.cc"
#include "base/foreach_target.h"

#include <hwy/highway.h>

#include "engine/functions/functions-inl.h"
#include "engine/functions/logarithmic-inl.h"
#include "engine/functions/primitives-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {
namespace distance_gradient {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, DistanceGradient::kLanes>;
using V = hn::Vec<D>;

// -1, 0 or 1; 0 of NaN.
HWY_INLINE V SignOf(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  const V zero = hn::Zero(d);
  return hn::Sub(hn::IfThenElseZero(hn::Lt(zero, x), one), hn::IfThenElseZero(hn::Lt(x, zero), one));
}

// Adds a right row's term to a chain.
template <DistanceNorm kNorm>
HWY_INLINE V WithTerm(D d, V chain, V difference, [[maybe_unused]] const GradientTerms& terms, int64_t row) {
  const V factor = hn::Set(d, terms.factor[row]);
  if constexpr (kNorm == DistanceNorm::kSquares) {
    return functions::Fma(d, factor, difference, chain);
  } else if constexpr (kNorm == DistanceNorm::kSum) {
    return functions::Fma(d, factor, SignOf(d, difference), chain);
  } else if constexpr (kNorm == DistanceNorm::kMost) {
    const V size = hn::Abs(difference);
    const auto is_most =
        hn::And(hn::Ge(size, hn::Set(d, terms.least[row])), hn::Le(size, hn::Set(d, terms.most[row])));
    return functions::Fma(d, factor, hn::IfThenElseZero(is_most, SignOf(d, difference)), chain);
  } else {
    const V power = functions::Pow(d, hn::Abs(difference), hn::Set(d, terms.power - 1));
    const V one_sided = hn::IfThenZeroElse(hn::Eq(difference, hn::Zero(d)), power);
    return functions::Fma(d, factor, hn::CopySign(one_sided, difference), chain);
  }
}

template <DistanceNorm kNorm>
HWY_INLINE void AddTermsOf(const GradientTerms& terms) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < terms.columns; i += lanes) {
    V sum = hn::LoadU(d, terms.sum + i);
    const V left = hn::LoadU(d, terms.left + i);
    const float* right = terms.right + i;
    for (int64_t row = 0; row < terms.count; ++row, right += terms.pitch) {
      sum = WithTerm<kNorm>(d, sum, hn::Sub(left, hn::LoadU(d, right)), terms, row);
    }
    hn::StoreU(sum, d, terms.sum + i);
  }
}

void AddTerms(DistanceNorm norm, const GradientTerms& terms) {
  switch (norm) {
    case DistanceNorm::kSquares:
      return AddTermsOf<DistanceNorm::kSquares>(terms);
    case DistanceNorm::kSum:
      return AddTermsOf<DistanceNorm::kSum>(terms);
    case DistanceNorm::kMost:
      return AddTermsOf<DistanceNorm::kMost>(terms);
    default:
      return AddTermsOf<DistanceNorm::kPowers>(terms);
  }
}

// All arrays have room for whole vectors.
void MakeFactors(DistanceNorm norm, float power, const float* gradient, const float* distance, float* factor,
                 int64_t n) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const bool is_divided = norm == DistanceNorm::kSquares || norm == DistanceNorm::kPowers;
  for (int64_t i = 0; i < n; i += lanes) {
    const V given = hn::LoadU(d, gradient + i);
    const V size = hn::LoadU(d, distance + i);
    V divisor = size;
    if (norm == DistanceNorm::kPowers) divisor = functions::Pow(d, size, hn::Set(d, power - 1));
    const V quotient = is_divided ? hn::Div(given, divisor) : given;
    hn::StoreU(hn::IfThenZeroElse(hn::Eq(size, hn::Zero(d)), quotient), d, factor + i);
  }
}

}  // namespace distance_gradient

DistanceGradientKernels GradientKernelsHere(Isa isa) {
  return {isa, distance_gradient::MakeFactors, distance_gradient::AddTerms};
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/float_environment.h"
#include "engine/isa_in_use.h"
#include "engine/isa_table.h"
#include "engine/parallel.h"

namespace portacl::engine {
namespace {

constexpr int64_t kRowsTogether = 256;  // right rows whose factors are made at once

struct Range {
  float least;
  float most;
};

// Returns the numbers that round to x, a number of a 16-bit type of so many mantissa bits, least exponent and
// greatest one.
Range RoundingTo(float x, int mantissa, int lowest, int highest) {
  if (std::isnan(x)) return {x, x};
  const float infinity = std::numeric_limits<float>::infinity();
  // Half a step beyond the greatest finite number.
  if (std::isinf(x)) return {std::ldexp(2.0f - std::ldexp(1.0f, -mantissa - 1), highest), infinity};
  const int exponent = x == 0 ? lowest : std::max(std::ilogb(x), lowest);
  const float step = std::ldexp(1.0f, exponent - mantissa);
  const float multiple = x / step;
  const bool is_least_of_exponent = exponent > lowest && x == std::ldexp(1.0f, exponent);
  const Range range = {x - step / (is_least_of_exponent ? 4.0f : 2.0f), x + step / 2};
  // Halfway numbers round to the even neighbour.
  if (std::fmod(multiple, 2.0f) == 0) return range;
  return {std::nextafter(range.least, infinity), std::nextafter(range.most, 0.0f)};
}
Range RoundingTo(float x, aclDataType dtype) {
  if (dtype == ACL_FLOAT16) return RoundingTo(x, 10, -14, 15);
  if (dtype == ACL_BF16) return RoundingTo(x, 7, -126, 127);
  return {x, x};
}

class GradientRun {
 public:
  GradientRun(const DistanceGradient& job, const JobContext& context) : job_(job), context_(context) {
    for (int dim = 0; dim < kDistanceBatchDims; ++dim)
      if (!job.repeats_left[dim]) left_batches_ *= job.batch[dim];
  }

  void All() const {
    const int64_t parts = (job_.depth + DistanceGradient::kColumns - 1) / DistanceGradient::kColumns;
    ForEachBlock(left_batches_ * job_.rows * parts, job_.threads, [&](int64_t block) {
      const DefaultFloatEnvironment environment;
      const int64_t column = block % parts * DistanceGradient::kColumns;
      const int64_t row = block / parts;
      Sum(row / job_.rows, row % job_.rows, column,
          std::min(DistanceGradient::kColumns, job_.depth - column));
    });
  }

 private:
  void Sum(int64_t left_batch, int64_t row, int64_t column, int64_t n) const {
    alignas(64) float left[DistanceGradient::kColumns] = {};
    alignas(64) float sum[DistanceGradient::kColumns] = {};
    const int64_t left_row = left_batch * job_.rows + row;
    const int64_t offset = (left_row * job_.depth + column) * job_.size;
    job_.load(job_.left.Address(context_) + offset, left, static_cast<size_t>(n));
    ForEachBatch(left_batch, [&](int64_t batch, int64_t right_batch) {
      AddBatch(batch * job_.rows + row, right_batch, left, sum, column, n);
    });
    job_.store(sum, job_.to.Address(context_) + offset, static_cast<size_t>(n), false);
  }

  // Calls f(batch, batch of the right operand) for the batches that a batch of the left operand takes part in.
  template <class F>
  void ForEachBatch(int64_t left_batch, const F& f) const {
    int64_t at[kDistanceBatchDims] = {};
    for (int dim = kDistanceBatchDims - 1; dim >= 0; --dim) {
      if (job_.repeats_left[dim]) continue;
      at[dim] = left_batch % job_.batch[dim];
      left_batch /= job_.batch[dim];
    }
    for (;;) {
      int64_t batch = 0;
      int64_t right = 0;
      for (int dim = 0; dim < kDistanceBatchDims; ++dim) {
        batch = batch * job_.batch[dim] + at[dim];
        if (!job_.repeats_right[dim]) right = right * job_.batch[dim] + at[dim];
      }
      f(batch, right);
      int dim = kDistanceBatchDims - 1;
      for (; dim >= 0; --dim) {
        if (!job_.repeats_left[dim]) continue;
        if (++at[dim] < job_.batch[dim]) break;
        at[dim] = 0;
      }
      if (dim < 0) return;
    }
  }

  void AddBatch(int64_t distance_row, int64_t right_batch, const float* left, float* sum, int64_t column,
                int64_t n) const {
    alignas(64) float gradient[kRowsTogether];
    alignas(64) float distance[kRowsTogether];
    alignas(64) float factor[kRowsTogether];
    float least[kRowsTogether];
    float most[kRowsTogether];
    const int64_t pitch = job_.Pitch();
    const auto* const right = reinterpret_cast<const float*>(job_.right.Address(context_)) +
                              right_batch * job_.columns * pitch + column;
    for (int64_t first = 0; first < job_.columns; first += kRowsTogether) {
      const int64_t count = std::min(kRowsTogether, job_.columns - first);
      const auto bring = [&](const BufferRef& buffer, float* to) {
        std::fill_n(to + count,
                    (DistanceGradient::kLanes - count % DistanceGradient::kLanes) % DistanceGradient::kLanes,
                    0.0f);
        std::memcpy(to,
                    buffer.Address(context_) +
                        (distance_row * job_.columns + first) * static_cast<int64_t>(sizeof(float)),
                    static_cast<size_t>(count) * sizeof(float));
      };
      bring(job_.gradient, gradient);
      bring(job_.distance, distance);
      job_.kernels.factors(job_.norm, job_.power, gradient, distance, factor, count);
      for (int64_t i = 0; job_.norm == DistanceNorm::kMost && i < count; ++i) {
        const Range range = RoundingTo(distance[i], job_.rounded);
        least[i] = range.least;
        most[i] = range.most;
      }
      job_.kernels.add(job_.norm,
                       {left, right + first * pitch, factor, least, most, sum, count, pitch, n, job_.power});
    }
  }

  const DistanceGradient& job_;
  const JobContext& context_;
  int64_t left_batches_ = 1;
};

}  // namespace

DistanceGradientKernels DistanceGradientKernelsOf(Isa isa) noexcept {
  static constexpr auto kKernels = PORTACL_ISA_TABLE(GradientKernelsHere);
  return kKernels.For(isa)(isa);
}

void DistanceGradient::Run(const JobContext& context) const noexcept {
  GradientRun(*this, context).All();
  ReportIsaThatRan(kernels.isa);
}

}  // namespace portacl::engine

#endif  // HWY_ONCE
