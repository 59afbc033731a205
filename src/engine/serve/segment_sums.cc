// Exponentials of sums of segments, and their gradients (see segment_sums.h). One thread computes a column of a matrix, or the gradient
// of a vector, so bits do not depend on the number of threads.
// SPDX-License-Identifier: Apache-2.0
#include "engine/serve/segment_sums.h"

#include <algorithm>
#include <limits>

#include "base/float_environment.h"
#include "engine/parallel.h"

namespace portacl::engine {
namespace {

constexpr int64_t kTile = 512;  // elements at a time

void Bring(const NumberRows& rows, const JobContext& context, int64_t at, int64_t n, float* to) {
  rows.load(rows.buffer.Address(context) + at * rows.size, to, static_cast<size_t>(n));
}

// Writes columns `first` to first + n of a vector's matrix, row after row.
void SumColumns(const SumSegments& sums, const JobContext& context, int64_t vector, int64_t first,
                int64_t n) {
  float sum[kTile];
  float power[kTile];
  float x[kTile];
  std::fill_n(sum, kTile, -std::numeric_limits<float>::infinity());
  for (int64_t i = 0; i < sums.length; ++i) {
    if (i % kTile == 0)
      Bring(sums.from, context, vector * sums.length + i, std::min(kTile, sums.length - i), x);
    const int64_t below = std::clamp<int64_t>(i - first, 0, n);  // columns whose segment has begun
    for (int64_t j = 0; j < below; ++j) sum[j] += x[i % kTile];
    if (i >= first && i < first + n) sum[i - first] = 0;
    sums.exponentials(sum, 0, power, n);
    const int64_t at = (vector * sums.length + i) * sums.length + first;
    sums.to.store(power, sums.to.buffer.Address(context) + at * sums.to.size, static_cast<size_t>(n), false);
  }
}

// Adds the part of columns `first` to first + n to the gradient. Row k is the last of the rows that count for element
// k, so rows go upwards.
void AddColumns(const SegmentGradients& gradients, const JobContext& context, int64_t vector, int64_t first,
                int64_t n, double* sums) {
  double column[kTile] = {};
  float g[kTile];
  float y[kTile];
  for (int64_t k = gradients.length - 1; k > first; --k) {
    const int64_t count = std::min(n, k - first);
    const int64_t at = (vector * gradients.length + k) * gradients.length + first;
    Bring(gradients.gradient, context, at, count, g);
    Bring(gradients.result, context, at, count, y);
    double sum = 0;
    for (int64_t j = 0; j < count; ++j) {
      column[j] += static_cast<double>(g[j]) * static_cast<double>(y[j]);
      sum += column[j];
    }
    sums[k] += sum;
  }
}

}  // namespace

void SumSegments::Run(const JobContext& context) const noexcept {
  const int64_t parts = (length + kTile - 1) / kTile;
  ForEachBlock(vectors * parts, threads, [&](int64_t block) {
    const DefaultFloatEnvironment environment;
    const int64_t first = block % parts * kTile;
    SumColumns(*this, context, block / parts, first, std::min(kTile, length - first));
  });
}

void SegmentGradients::Run(const JobContext& context) const noexcept {
  ForEachBlock(vectors, threads, [&](int64_t vector) {
    const DefaultFloatEnvironment environment;
    double* const of_vector = reinterpret_cast<double*>(sums.Address(context)) + vector * length;
    std::fill_n(of_vector, length, 0.0);
    for (int64_t first = 0; first < length; first += kTile)
      AddColumns(*this, context, vector, first, std::min(kTile, length - first), of_vector);
    float rounded[kTile];
    for (int64_t k = 0; k < length; k += kTile) {
      const int64_t n = std::min(kTile, length - k);
      for (int64_t i = 0; i < n; ++i) rounded[i] = static_cast<float>(of_vector[k + i]);
      to.store(rounded, to.buffer.Address(context) + (vector * length + k) * to.size, static_cast<size_t>(n),
               false);
    }
  });
}

}  // namespace portacl::engine
