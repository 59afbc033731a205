// Rows divided by their root mean square (see normed_rows.h). One thread computes a row, in ascending columns.
// SPDX-License-Identifier: Apache-2.0
#include "engine/route/normed_rows.h"

#include <algorithm>
#include <cmath>

#include "base/float_environment.h"
#include "engine/parallel.h"

namespace portacl::engine {
namespace {

constexpr int64_t kColumns = 512;  // of a row, loaded at a time

void Bring(const NumberRows& rows, const JobContext& context, int64_t first, int64_t n, float* to) {
  rows.load(rows.buffer.Address(context) + first * rows.size, to, static_cast<size_t>(n));
}
void Put(const NumberRows& rows, const JobContext& context, int64_t first, int64_t n, const float* from) {
  rows.store(from, rows.buffer.Address(context) + first * rows.size, static_cast<size_t>(n), false);
}

}  // namespace

void NormedRows::Run(const JobContext& context) const noexcept {
  ForEachBlock(rows, threads, [&](int64_t row) {
    const DefaultFloatEnvironment environment;
    float sums[kColumns];
    float other[kColumns];
    // Calls body(first, n) with `sums` filled, for parts of the row.
    const auto for_each_part = [&](const auto& body) {
      for (int64_t first = 0; first < columns; first += kColumns) {
        const int64_t n = std::min(kColumns, columns - first);
        Bring(source, context, row * columns + first, n, sums);
        Bring(added, context, row * columns + first, n, other);
        for (int64_t i = 0; i < n; ++i) sums[i] += other[i];
        body(first, n);
      }
    };
    double squares = 0;
    for_each_part([&](int64_t, int64_t n) {
      for (int64_t i = 0; i < n; ++i) squares += static_cast<double>(sums[i]) * static_cast<double>(sums[i]);
    });
    const double mean = squares / static_cast<double>(columns);
    const auto factor = static_cast<float>(1.0 / std::sqrt(mean + static_cast<double>(epsilon)));
    if (reciprocal.is_there) Store(reciprocal.buffer.Address(context) + row * int64_t{sizeof(float)}, factor);
    for_each_part([&](int64_t first, int64_t n) {
      const int64_t at = row * columns + first;
      // The sum may be written where `added` is read, which is done.
      if (sum.is_there) Put(sum, context, at, n, sums);
      for (int64_t i = 0; i < n; ++i) sums[i] *= factor;
      if (rounds_quotient) {
        Put(normed, context, at, n, sums);
        Bring(normed, context, at, n, sums);
      }
      Bring(gamma, context, first, n, other);
      for (int64_t i = 0; i < n; ++i) sums[i] *= other[i];
      Put(normed, context, at, n, sums);
    });
  });
}

}  // namespace portacl::engine
