// Gradients of scaled and shifted rows (see row_gradients.h). One thread sums a column, in the order of the rows, so bits
// do not depend on the number of threads.
// SPDX-License-Identifier: Apache-2.0
#include "engine/route/row_gradients.h"

#include <algorithm>

#include "base/float_environment.h"
#include "engine/parallel.h"

namespace portacl::engine {
namespace {

constexpr int64_t kColumns = 512;  // of a row, summed at a time

void Bring(const NumberRows& rows, const JobContext& context, int64_t at, int64_t n, float* to) {
  rows.load(rows.buffer.Address(context) + at * rows.size, to, static_cast<size_t>(n));
}
void Put(const NumberRows& rows, const JobContext& context, int64_t at, int64_t n, const float* from) {
  rows.store(from, rows.buffer.Address(context) + at * rows.size, static_cast<size_t>(n), false);
}
void PutSums(const NumberRows& rows, const JobContext& context, int64_t at, int64_t n, const double* sums) {
  float rounded[kColumns];
  for (int64_t k = 0; k < n; ++k) rounded[k] = static_cast<float>(sums[k]);
  Put(rows, context, at, n, rounded);
}

}  // namespace

void ScaledRowGradients::Run(const JobContext& context) const noexcept {
  const int64_t parts = (columns + kColumns - 1) / kColumns;
  ForEachBlock(batches * parts, threads, [&](int64_t block) {
    const DefaultFloatEnvironment environment;
    const int64_t batch = block / parts;
    const int64_t column = block % parts * kColumns;
    const int64_t n = std::min(kColumns, columns - column);
    const int64_t of_batch = batch * columns + column;
    float factor[kColumns];
    float g[kColumns];
    float x[kColumns];
    double of_scale[kColumns] = {};
    double of_shift[kColumns] = {};
    Bring(scale, context, of_batch, n, factor);
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t at = (batch * rows + row) * columns + column;
      Bring(gradient, context, at, n, g);
      Bring(input, context, at, n, x);
      for (int64_t k = 0; k < n; ++k) {
        of_scale[k] += static_cast<double>(g[k]) * static_cast<double>(x[k]);
        of_shift[k] += static_cast<double>(g[k]);
        g[k] *= factor[k];
      }
      Put(to_input, context, at, n, g);
    }
    PutSums(to_scale, context, of_batch, n, of_scale);
    PutSums(to_shift, context, of_batch, n, of_shift);
  });
}

}  // namespace portacl::engine
