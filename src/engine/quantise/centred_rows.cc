// Quantises rows of a layer norm, and computes gradients of rows that were divided by their root mean square (see
// quantise.h). One thread computes a row, or a column of sums.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "engine/quantise/coder.h"

namespace portacl::engine {

using namespace quantise;

void QuantiseCentred::Run(const JobContext& context) const noexcept {
  const View first(x1, isa, context);
  const View second(x2, isa, context);
  const View shift(bias, isa, context);
  const View scale(gamma, isa, context);
  const View behind(beta, isa, context);
  const View sums(sum, isa, context);
  const TileFunctions functions = FunctionsFor(isa);
  const auto bring_sum = [&](int64_t row, int64_t column, int64_t n, float* to) {
    float memory[kTileColumns];
    const auto count = static_cast<size_t>(n);
    const int64_t at = row * columns + column;
    first.Bring(at, n, to);
    second.Bring(at, n, memory);
    functions.add(to, memory, count, count);
    if (!shift.is_there()) return;
    shift.Bring(has_bias_each ? at : column, n, memory);
    functions.add(to, memory, count, count);
  };
  ForEachRows(rows, columns, threads, [&](int64_t from, int64_t to) {
    const Coder coders[] = {Coder(*this, quantiser[0], context), Coder(*this, quantiser[1], context)};
    for (int64_t row = from; row < to; ++row) {
      float tile[kTileColumns];
      double total = 0;
      ForEachTile(0, columns, [&](int64_t column, int64_t n) {
        bring_sum(row, column, n, tile);
        for (int64_t i = 0; i < n; ++i) total += static_cast<double>(tile[i]);
      });
      const double mean = total / static_cast<double>(columns);
      double squares = 0;
      ForEachTile(0, columns, [&](int64_t column, int64_t n) {
        bring_sum(row, column, n, tile);
        for (int64_t i = 0; i < n; ++i) {
          const double distance = static_cast<double>(tile[i]) - mean;
          squares += distance * distance;
        }
      });
      const auto reciprocal =
          static_cast<float>(1.0 / std::sqrt(squares / static_cast<double>(columns) + eps));
      const auto less = static_cast<float>(-mean);
      for (const Coder& coder : coders) {
        coder.Row(row, 0, 0, columns, [&](int64_t column, int64_t n) {
          float other[kTileColumns];
          const auto count = static_cast<size_t>(n);
          bring_sum(row, column, n, tile);
          functions.add(tile, &less, 1, count);
          functions.multiply(tile, &reciprocal, 1, count);
          scale.Bring(column, n, other);
          functions.multiply(tile, other, count, count);
          behind.Bring(column, n, other);
          functions.add(tile, other, count, count);
          return tile;
        });
      }
      if (!sums.is_there()) continue;
      // At last, as the sum may lie where an operand does.
      ForEachTile(0, columns, [&](int64_t column, int64_t n) {
        bring_sum(row, column, n, tile);
        sums.Put(row * columns + column, n, tile);
      });
    }
  });
}

void RmsGradient::Run(const JobContext& context) const noexcept {
  const View slopes(gradient, isa, context);
  const View source(x, isa, context);
  const View reciprocals(rstd, isa, context);
  const View scale(gamma, isa, context);
  const View target(to, isa, context);
  const View of_gamma(gamma_gradient, isa, context);
  ForEachRows(rows, columns, threads, [&](int64_t from, int64_t until) {
    for (int64_t row = from; row < until; ++row) {
      float slope[kTileColumns];
      float number[kTileColumns];
      float factor[kTileColumns];
      const float reciprocal = reciprocals.At(row);
      const auto bring = [&](int64_t column, int64_t n) {
        slopes.Bring(row * columns + column, n, slope);
        source.Bring(row * columns + column, n, number);
        scale.Bring(column, n, factor);
        for (int64_t i = 0; i < n; ++i) {
          slope[i] *= factor[i];
          number[i] *= reciprocal;
        }
      };
      double total = 0;
      ForEachTile(0, columns, [&](int64_t column, int64_t n) {
        bring(column, n);
        for (int64_t i = 0; i < n; ++i)
          total += static_cast<double>(slope[i]) * static_cast<double>(number[i]);
      });
      const auto mean = static_cast<float>(total / static_cast<double>(columns));
      ForEachTile(0, columns, [&](int64_t column, int64_t n) {
        bring(column, n);
        for (int64_t i = 0; i < n; ++i) slope[i] = (slope[i] - number[i] * mean) * reciprocal;
        target.Put(row * columns + column, n, slope);
      });
    }
  });
  const int64_t tiles = QuotientUp(columns, kTileColumns);
  ForEachBlock(tiles, threads, [&](int64_t tile) {
    const DefaultFloatEnvironment environment;
    const int64_t column = tile * kTileColumns;
    const int64_t n = std::min(columns, column + kTileColumns) - column;
    double totals[kTileColumns] = {};
    float slope[kTileColumns];
    float number[kTileColumns];
    for (int64_t row = 0; row < rows; ++row) {
      const float reciprocal = reciprocals.At(row);
      slopes.Bring(row * columns + column, n, slope);
      source.Bring(row * columns + column, n, number);
      for (int64_t i = 0; i < n; ++i)
        totals[i] += static_cast<double>(slope[i]) * static_cast<double>(number[i] * reciprocal);
    }
    for (int64_t i = 0; i < n; ++i) number[i] = static_cast<float>(totals[i]);
    of_gamma.Put(column, n, number);
  });
}

}  // namespace portacl::engine
