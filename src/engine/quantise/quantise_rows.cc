// Quantises normalised rows to codes, and turns codes into numbers (see quantise.h). One thread computes a
// row, and nothing depends on where a vector begins, so bits do not depend on the number of threads.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine/quantise/code_rows.h"
#include "engine/quantise/coder.h"
#include "engine/thread_memory.h"

namespace portacl::engine {

using namespace quantise;

void QuantiseNormed::Run(const JobContext& context) const noexcept {
  const View first(x1, isa, context);
  const View second(x2, isa, context);
  const View scale(gamma, isa, context);
  const View shift(beta, isa, context);
  const View sums(sum, isa, context);
  const View plain(normed, isa, context);
  const View reciprocals(rstd, isa, context);
  const TileFunctions functions = FunctionsFor(isa);
  const auto bring_sum = [&](int64_t row, int64_t column, int64_t n, float* to) {
    float memory[kTileColumns];
    const int64_t at = row * columns + column;
    first.Bring(at, n, to);
    if (second.is_there()) {
      second.Bring(at, n, memory);
      functions.add(to, memory, static_cast<size_t>(n), static_cast<size_t>(n));
    }
    if (rounds_sum) first.Round(to, n, reinterpret_cast<char*>(memory));
  };
  // Each block of rows has its own coders, since these hold the reciprocal of the current row.
  ForEachRows(rows, columns, threads, [&](int64_t from, int64_t to) {
    const Coder coders[] = {Coder(*this, quantiser[0], context), Coder(*this, quantiser[1], context)};
    char* const memory = ThreadMemory(MemoryUse::kRows);
    auto* const kept = memory != nullptr && columns <= kMostKept ? reinterpret_cast<float*>(memory) : nullptr;
    for (int64_t row = from; row < to; ++row) {
      float tile[kTileColumns];
      double lanes[kSquareLanes] = {};
      ForEachTile(0, columns, [&](int64_t column, int64_t n) {
        float* const numbers = kept != nullptr ? kept + column : tile;
        bring_sum(row, column, n, numbers);
        functions.add_squares(numbers, static_cast<size_t>(n), lanes);
      });
      for (size_t width = kSquareLanes / 2; width > 0; width /= 2) {
        for (size_t i = 0; i < width; ++i) lanes[i] += lanes[i + width];
      }
      const auto reciprocal =
          static_cast<float>(1.0 / std::sqrt(lanes[0] / static_cast<double>(columns) + eps));
      if (reciprocals.is_there()) reciprocals.Put(row, 1, &reciprocal);
      const auto bring = [&](int64_t column, int64_t n, float* numbers, bool is_first) {
        float other[kTileColumns];
        const auto count = static_cast<size_t>(n);
        const int64_t at = row * columns + column;
        if (is_first && sums.is_there()) sums.Put(at, n, numbers);
        functions.multiply(numbers, &reciprocal, 1, count);
        if (rounds_steps) first.Round(numbers, n, reinterpret_cast<char*>(other));
        scale.Bring(column, n, other);
        functions.multiply(numbers, other, count, count);
        if (rounds_steps) first.Round(numbers, n, reinterpret_cast<char*>(other));
        if (is_first && plain.is_there() && !normed_has_beta) plain.Put(at, n, numbers);
        if (shift.is_there()) {
          shift.Bring(column, n, other);
          functions.add(numbers, other, count, count);
        }
        if (is_first && plain.is_there() && normed_has_beta) plain.Put(at, n, numbers);
      };
      if (kept != nullptr) {
        ForEachTile(0, columns, [&](int64_t column, int64_t n) { bring(column, n, kept + column, true); });
        for (const Coder& coder : coders)
          coder.Row(row, 0, 0, columns, [&](int64_t column, int64_t) { return kept + column; });
        continue;
      }
      ForEachTile(0, columns, [&](int64_t column, int64_t n) {
        bring_sum(row, column, n, tile);
        bring(column, n, tile, true);
      });
      for (const Coder& coder : coders) {
        coder.Row(row, 0, 0, columns, [&](int64_t column, int64_t n) {
          bring_sum(row, column, n, tile);
          bring(column, n, tile, false);
          return tile;
        });
      }
    }
  });
}

void Dequantise::Run(const JobContext& context) const noexcept {
  const View source(x, isa, context);
  const View target(to, isa, context);
  const FactorRow before(first, isa, context, columns);
  const FactorRow factors(scale, isa, context, columns);
  const FactorRow others(second_scale, isa, context, columns);
  const FactorRow behind(last, isa, context, columns);
  const TileFunctions functions = FunctionsFor(isa);
  const int64_t blocks = QuotientUp(columns, kBlock);
  ForEachRows(rows * blocks, std::min(columns, kBlock), threads, [&](int64_t from, int64_t until) {
    for (int64_t unit = from; unit < until; ++unit) {
      const int64_t row = unit / blocks;
      const int64_t begin = unit % blocks * kBlock;
      ForEachTile(begin, std::min(columns, begin + kBlock), [&](int64_t column, int64_t n) {
        float numbers[kTileColumns];
        float memory[kTileColumns];
        const auto count = static_cast<size_t>(n);
        if (before.IsInteger() && source.IsInteger()) {
          before.AddTo(source, row * columns + column, row, 0, column, n, numbers);
        } else {
          source.Bring(row * columns + column, n, numbers);
        }
        if (before.is_there() && !before.IsInteger()) {
          const FactorRow::Numbers term = before.Bring(row, 0, column, n, memory);
          functions.add(numbers, term.number, term.count, count);
        }
        if (factors.is_there()) {
          const FactorRow::Numbers factor = factors.Bring(row, 0, column, n, memory);
          if (squares_scale) {
            for (size_t i = 0; i < factor.count; ++i) memory[i] *= memory[i];
          }
          functions.multiply(numbers, memory, factor.count, count);
          if (multiplies_twice) functions.multiply(numbers, memory, factor.count, count);
        }
        if (others.is_there()) {
          const FactorRow::Numbers factor = others.Bring(row, 0, column, n, memory);
          functions.multiply(numbers, factor.number, factor.count, count);
        }
        if (behind.is_there()) {
          const FactorRow::Numbers term = behind.Bring(row, 0, column, n, memory);
          functions.add(numbers, term.number, term.count, count);
        }
        target.Put(row * columns + column, n, numbers);
      });
    }
  });
}

int64_t TensorExtremes::Blocks(int64_t rows, int64_t columns) noexcept {
  return QuotientUp(rows, RowsOfBlock(columns));
}

void TensorExtremes::Run(const JobContext& context) const noexcept {
  const View source(x, isa, context);
  const FactorRow factors(factor, isa, context, columns);
  const TileFunctions functions = FunctionsFor(isa);
  const CodeRowFunctions in_memory = FindCodeRows(isa, x.dtype, ACL_INT8);
  char* const found = pairs.Address(context);
  const int64_t blocks = Blocks(rows, columns);
  ForEachRows(rows, columns, threads, [&](int64_t from, int64_t until) {
    float least = std::numeric_limits<float>::infinity();
    float greatest = -least;
    Groups of_rows(groups, context);
    for (int64_t row = from; row < until; ++row) {
      const int64_t group = of_rows.Of(row);
      if (group < 0) continue;
      if (in_memory.range != nullptr && !factors.is_there()) {
        const char* const numbers =
            x.buffer.Address(context) + row * columns * static_cast<int64_t>(StorageBits(x.dtype) / 8);
        in_memory.range(numbers, nullptr, static_cast<size_t>(columns), &least, &greatest);
        continue;
      }
      ForEachTile(0, columns, [&](int64_t column, int64_t n) {
        float numbers[kTileColumns];
        float memory[kTileColumns];
        source.Bring(row * columns + column, n, numbers);
        if (factors.is_there()) {
          const FactorRow::Numbers some = factors.Bring(row, group, column, n, memory);
          functions.multiply(numbers, some.number, some.count, static_cast<size_t>(n));
        }
        functions.extremes(numbers, static_cast<size_t>(n), &least, &greatest);
      });
    }
    const float pair[] = {least, greatest};
    std::memcpy(found + from / RowsOfBlock(columns) * int64_t{sizeof pair}, pair, sizeof pair);
  });
  float all[] = {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()};
  for (int64_t block = 0; block < blocks; ++block) {
    float pair[2];
    std::memcpy(pair, found + block * int64_t{sizeof pair}, sizeof pair);
    all[0] = std::min(all[0], pair[0]);
    all[1] = std::max(all[1], pair[1]);
  }
  std::memcpy(to.Address(context), all, sizeof all);
}

}  // namespace portacl::engine
